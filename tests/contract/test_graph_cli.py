"""`evenhand sync` and `evenhand graph` on a finished audit of a planted target."""

import json
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from evenhand.graph_store.run_directory import RunDirectory, list_runs
from evenhand.graph_store.sqlite_store import SqliteStore
from evenhand.ui.cli import run
from evenhand.ui.commands.graph import QUERIES


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("audited") / "runs"
    arguments = ["audit", "--target", "planted/location", "--n", "4", "--attributes", "location"]
    options = ["--draws", "location=1", "--runs-dir", str(folder), "--yes", "--json"]
    assert run([*arguments, *options]) == 0
    return folder


@pytest.fixture
def workspace(audited: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy that a test may change; the working directory holds it."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(audited, tmp_path / "evenhand-runs")
    return tmp_path / "evenhand-runs"


@pytest.fixture
def the_run(workspace: Path) -> RunDirectory:
    return list_runs(workspace)[0]


@pytest.fixture
def say(workspace: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """Run `evenhand` with words; return what it printed, read as JSON where that was asked."""

    def command(*words: str, exits: int = 0) -> Any:
        capsys.readouterr()
        assert run(words) == exits
        shown = capsys.readouterr()
        if exits:
            return shown.err
        return json.loads(shown.out) if "--json" in words else shown.out

    return command


def test_a_graph_that_was_lost_is_completed_from_the_run_directory(
    workspace: Path, the_run: RunDirectory, say: Any
) -> None:
    before = say("graph", "stats", "--json")
    with SqliteStore(workspace / "graph.sqlite") as store:
        whole = store.checksum()
    for file in workspace.glob("graph.sqlite*"):
        file.unlink()
    done = say("sync", "last", "--json")
    assert done["run"] == the_run.run_id
    assert done["written"] > 0
    assert done["skipped"] == 0
    assert done["nodes"] == sum(before["nodes"].values())
    assert done["relationships"] == sum(before["relationships"].values())
    with SqliteStore(workspace / "graph.sqlite") as store:
        assert store.checksum() == whole
    again = say("sync")
    assert f"{the_run.run_id}: 0 records written" in again
    assert "sqlite in the workspace now has" in again


def test_sync_takes_the_store_of_the_flag_then_the_settings_then_the_run(
    workspace: Path, the_run: RunDirectory, say: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = the_run.manifest
    plan = manifest.plan | {"graph": "sqlite:of-the-plan.sqlite"}
    the_run.write_manifest(manifest.model_copy(update={"plan": plan}))
    assert "sqlite at of-the-plan.sqlite" in say("sync")
    monkeypatch.setenv("EVENHAND_GRAPH", "sqlite:of-the-settings.sqlite")
    assert "sqlite at of-the-settings.sqlite" in say("sync")
    assert say("sync", "--graph", "sqlite", "--json")["graph"] == "sqlite in the workspace"
    assert Path("of-the-plan.sqlite").is_file()
    assert Path("of-the-settings.sqlite").is_file()


def test_a_store_that_cannot_be_reached_is_one_sentence_and_exit_2(
    say: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    nobody = "bolt://127.0.0.1:9"
    monkeypatch.setenv("EVENHAND_NEO4J", nobody)
    for words in (["sync"], ["graph", "stats"], ["graph", "export"]):
        shown = say(*words, exits=2)
        assert len(shown.splitlines()) == 1
        assert shown.startswith("Error: ")
        assert nobody in shown
    assert "sqlite in the workspace" in say("graph", "stats", "--graph", "sqlite")
    assert "sqlite at no/where.db" not in say("sync", "--graph", "sqlite:no/where.db", exits=2)


def test_stats_of_all_runs_and_of_one(say: Any, the_run: RunDirectory) -> None:
    assert say("graph", "stats", "--run", the_run.run_id[:12], "--json")["nodes"]["Sample"] == 4
    assert "4 " in say("graph", "stats")
    assert the_run.run_id in say("graph", "stats", "--run", "nobody", exits=2)


def test_every_query_answers_as_text_and_as_json(say: Any, the_run: RunDirectory) -> None:
    sample, variant = the_run.samples()[0].id, the_run.variants()[1].id
    words = {
        "neighbourhood": ["Patient", "--hops", "2", "--limit", "5"],
        "lineage": [variant],
        "only": [sample, "location"],
        "difference": ["location"],
        "changed": ["location"],
        "side-by-side": ["last", "last"],
    }
    assert set(words) == set(QUERIES)
    for name, arguments in words.items():
        assert say("graph", "query", name, *arguments).strip()
        assert say("graph", "query", name, *arguments, "--json")


def test_a_change_is_followed_from_the_number_to_the_triples(
    say: Any, the_run: RunDirectory
) -> None:
    number = next(m for m in the_run.measurements() if m.metric == "paired_change")
    traced = say("graph", "query", "lineage", number.id, "--json")
    assert traced["measurement"]["id"] == number.id
    assert len(traced["rows"]) == traced["total"] == 4
    assert all(row["lineage"]["sample"]["id"] == row["row"]["sample_id"] for row in traced["rows"])
    answer = traced["rows"][0]["row"]["answer_id"]
    chain = say("graph", "query", "lineage", answer, "--json")
    assert chain["answer"]["id"] == answer
    assert chain["variant"]["group"] == "location"
    assert any(triple["hop"] == 0 for triple in chain["triples"])
    assert "4 rows behind it, 2 shown" in say(
        "graph", "query", "lineage", number.id, "--limit", "2"
    )
    wrong = say("graph", "query", "lineage", f"{the_run.run_id}/m9-00000000", exits=2)
    assert "expected the whole id" in wrong


def test_an_entity_is_found_in_any_letters_and_an_unknown_one_names_the_nearest(say: Any) -> None:
    found = say("graph", "query", "neighbourhood", " PATIENT ", "--json", "--limit", "3")
    assert len(found["triples"]) == 3
    assert found["more"] is True
    page = say(
        "graph", "query", "neighbourhood", "patient", "--json", "--limit", "1", "--offset", "1"
    )
    assert page["triples"] == found["triples"][1:2]
    assert "patient" in say("graph", "query", "neighbourhood", "pateint", exits=2)


def test_what_is_not_there_is_nothing_found_and_no_error(say: Any) -> None:
    assert say("graph", "query", "changed", "age") == "Nothing found.\n"
    assert say("graph", "query", "changed", "age", "--json") == []
    assert say("graph", "query", "difference", "age", "--json")["rows"] == []


def test_export_in_both_forms(say: Any, the_run: RunDirectory) -> None:
    plain = say("graph", "export", "--json")
    assert plain["run"] == the_run.run_id
    assert len(ElementTree.fromstring(say("graph", "export"))) > 2  # noqa: S314
    done = say("graph", "export", "--out", "graph.xml", "--json")
    assert (done["format"], done["nodes"]) == ("graphml", len(plain["nodes"]))
    assert done["relationships"] == len(plain["relationships"])
    root = ElementTree.parse("graph.xml").getroot()  # noqa: S314
    tags = [element.tag.rpartition("}")[2] for element in root.iter()]
    assert (tags.count("node"), tags.count("edge")) == (done["nodes"], done["relationships"])
    assert "as json" in say("graph", "export", "last", "--format", "json", "--out", "graph.json")
    assert json.loads(Path("graph.json").read_text("utf-8")) == plain
    assert "no/where.xml cannot be written" in say(
        "graph", "export", "--out", "no/where.xml", exits=2
    )


def test_a_sample_is_drawn_with_its_changed_fact(say: Any, the_run: RunDirectory) -> None:
    sample = the_run.samples()[0]
    drawn = ElementTree.fromstring(say("graph", "picture", sample.id))  # noqa: S314
    texts = {element.text for element in drawn.iter() if element.text}
    variant = next(v for v in the_run.variants() if v.attributes and v.sample_id == sample.id)
    (change,) = variant.changes
    assert {"lives in", change.before, change.after} <= texts
    short = f"demo-{sample.position}"
    done = say("graph", "picture", short, "--out", "one.svg", "--json")
    assert (done["sample"], done["run"]) == (sample.id, the_run.run_id)
    assert ElementTree.parse("one.svg").getroot().get("role") == "group"  # noqa: S314
    for words, part in (
        (["demo"], "expected one of"),
        (["nobody"], "expected one of"),
        ([short, "--attribute", "age"], "changes age alone"),
        ([short, "--attribute", "locatoin"], "location"),
        ([short, "--asked", "no_way"], "no no_way answer"),
        ([short, "--out", "no/where.svg"], "cannot be written"),
    ):
        assert part in say("graph", "picture", *words, exits=2)


def test_a_run_is_dropped_only_with_approval_and_comes_back(
    say: Any, the_run: RunDirectory
) -> None:
    before = say("graph", "stats", "--json")
    assert "expected --yes" in say("graph", "drop", the_run.run_id, exits=2)
    assert say("graph", "stats", "--json") == before
    gone = say("graph", "drop", the_run.run_id, "--yes", "--json")
    assert gone["nodes"] == sum(before["nodes"].values())
    assert say("graph", "stats", "--json")["nodes"] == {}
    assert "(none)" in say("graph", "drop", the_run.run_id, "--yes", exits=2)
    say("sync")
    assert say("graph", "stats", "--json") == before


def test_the_commands_explain_themselves(say: Any) -> None:
    listed = say("graph", "--help")
    for name in ("stats", "query", "export", "drop", "picture"):
        assert name in listed
        assert "--json" in say("graph", name, "--help")
    help_text = " ".join(say("graph", "query", "--help").split())
    assert all(f"{name} {query.needs}" in help_text for name, query in QUERIES.items())
