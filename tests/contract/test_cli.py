"""The command line: lazy and quick, one sentence and exit 2 for a mistake, JSON for a program."""

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from evenhand.graph_store.records import Measurement
from evenhand.ui.cli import VERBS, root, run

BARE = "import sys; from evenhand.ui.cli import run; run(['--help'])"
LOADED = f"{BARE}; print(sorted(sys.modules), file=sys.stderr)"
PRINTS_RESULTS = (
    "plan",
    "audit",
    "resume",
    "runs",
    "show",
    "report",
    "measure",
    "compare",
    "sync",
    "finetune",
    "score",
    "mitigate",
)


def _python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)


def test_help_imports_nothing_but_click_and_names_every_verb() -> None:
    done = _python(LOADED)
    ours = {"evenhand", "evenhand.ui", "evenhand.ui.cli"}
    loaded = {name.strip("' ") for name in done.stderr.strip("[]\n").split(",")}
    assert {name for name in loaded if name.startswith("evenhand")} == ours
    assert not loaded & {"pydantic", "numpy", "rich", "gradio", "langgraph", "spacy"}
    for verb, (_, line) in VERBS.items():
        assert verb in done.stdout
        assert line in done.stdout


def test_help_is_quick() -> None:
    def seconds(code: str) -> float:
        began = resource.getrusage(resource.RUSAGE_CHILDREN)
        _python(code)
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        return ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime

    # Processor time, and the least of several: other work on the machine only ever adds.
    assert min(seconds(BARE) for _ in range(7)) - min(seconds("0") for _ in range(7)) < 0.15


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_a_command_that_explains_itself(
    verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([verb, "--help"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("Usage: evenhand")
    assert ("--json" in shown) == (verb in PRINTS_RESULTS)


def test_the_verbs_are_listed_in_the_order_of_the_work() -> None:
    assert root.list_commands(root.make_context("evenhand", ["runs"], resilient_parsing=True))[
        :2
    ] == ["plan", "audit"]


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.startswith("evenhand 0.")


MISTAKES = {
    "unknown verb": (["aduit"], "expected one of: audit"),
    "unknown flag": (["audit", "--bogus"], "--bogus"),
    "unknown recipe": (["audit", "--yes", "--recipe", "kgg"], "expected one of: kg"),
    "unknown data set": (["audit", "--yes", "--dataset", "demoo"], "expected one of: demo"),
    "unknown attribute": (["audit", "--yes", "--attributes", "aeg"], "expected one of: age"),
    "unknown provider": (["audit", "--yes", "--target", "plantd/fair"], "planted"),
    "unknown mimic": (
        ["finetune", "--out", "m", "--dataset", "demo_visits", "--mimic", "forest"],
        "expected one of: random_forest",
    ),
    "nothing to fit to": (["finetune", "--out", "m"], "--dataset"),
    "no visits": (["finetune", "--out", "m", "--dataset", "demo"], "not visits"),
    "unknown profile": (["audit", "--yes", "--target", "planted/nobody"], "expected one of"),
    "target by rules": (["audit", "--yes", "--target", "rules"], "The target cannot be 'rules'"),
    "no number": (["audit", "--yes", "--n", "many"], "expected 1 or more, or 'all'"),
    "zero samples": (["audit", "--yes", "--n", "0"], "expected 1 or more, or 'all'"),
    "one is no group": (["audit", "--yes", "--intersections", "age"], "two or more"),
    "missing file": (["audit", "--yes", "--dataset", "trinds", "--path", "no.csv"], "no such file"),
    "missing path": (["audit", "--yes", "--dataset", "trinds"], "needs --path"),
    "missing settings": (["audit", "--yes", "--config", "no.toml"], "No file 'no.toml'"),
    "missing weights": (["audit", "--yes", "--gguf", "no.gguf"], "no.gguf"),
    "nothing listens": (
        ["audit", "--yes", "--n", "2", "--target", "http/http://127.0.0.1:9/v1"],
        "127.0.0.1:9",
    ),
    "no approval": (["audit", "--n", "2", "--target", "planted/fair"], "expected --yes"),
    "no run": (["resume", "last"], "Start one with `evenhand audit`"),
    "no run to show": (["show", "kg-demo-0"], "Start one with `evenhand audit`"),
    "no score file": (["measure", "no.csv"], "No file 'no.csv'"),
    "no scores in the file": (["measure", "../questions.csv"], "no column of scores"),
    "two files of one arm": (["measure", "a=../scores.csv", "a=../scores.csv"], "both 'a'"),
    "recipe without scores": (
        ["measure", "../scores.csv", "--recipe", "kgg"],
        "expected one of: kg",
    ),
    "no run to compare": (["compare", "a", "b"], "Start one with `evenhand audit`"),
    "one way of asking": (["compare", "a", "b", "--asked", "no_hop"], "names 1 ways of asking"),
    "missing plan": (["plan", "drop age", "--given", "no.json"], "No file 'no.json'"),
    "no run to sync": (["sync", "kg-demo-0"], "Start one with `evenhand audit`"),
    "no graph": (["graph", "stats"], "No graph evenhand-runs/graph.sqlite"),
    "no graph there": (
        ["graph", "drop", "kg", "--yes", "--graph", "sqlite:no.db"],
        "No graph no.db",
    ),
    "unknown graph": (["graph", "stats", "--graph", "http://127.0.0.1"], "http://127.0.0.1"),
    "unknown query": (["graph", "query", "lineag", "x"], "expected one of: lineage"),
    "too few words": (["graph", "query", "only", "x"], "graph query only SAMPLE ATTRIBUTE"),
    "too many words": (["graph", "query", "changed", "a", "b"], "graph query changed ATTRIBUTE"),
    "a needless option": (["graph", "query", "changed", "a", "--hops", "1"], "takes no --hops"),
    "runs are named": (
        ["graph", "query", "side-by-side", "a", "b", "--run", "a"],
        "takes no --run",
    ),
    "unknown format": (["graph", "export", "--format", "csv"], "'graphml', 'json'"),
    "open to others": (["chat", "--host", "0.0.0.0"], "expected --auth USER"),  # noqa: S104
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_sentence_exit_2_and_nothing_written(
    mistake: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments, part = MISTAKES[mistake]
    (tmp_path / "scores.csv").write_text("age\n0.5\n")
    (tmp_path / "questions.csv").write_text("question\nwhy\n")
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    assert run(arguments) == 2
    shown = capsys.readouterr().err.splitlines()
    # The plan of an audit may stand above it; the mistake itself is the last line, whole.
    assert shown[-1].startswith("Error: ")
    assert part in shown[-1]
    assert not list(work.iterdir())


def test_an_empty_file_and_one_without_questions_are_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    for name in ("empty.csv", "other.csv"):
        arguments = ["audit", "--yes", "--dataset", "trinds", "--path", name]
        assert run([*arguments, "--target", "planted/fair"]) == 2
        assert name in capsys.readouterr().err
    assert not (tmp_path / "evenhand-runs").exists()


def test_no_secret_reaches_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOME_API_KEY", "very-secret-value")
    assert run(["audit", "--yes", "--dataset", "very-secret-value"]) == 2
    assert "very-secret-value" not in capsys.readouterr().err


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("workspace") / "runs"
    arguments = ["audit", "--target", "planted/location", "--n", "3", "--attributes", "location"]
    assert run([*arguments, "--runs-dir", str(folder), "--yes", "--json"]) == 0
    return folder


def _json(capsys: pytest.CaptureFixture[str], *arguments: str) -> object:
    capsys.readouterr()
    assert run(arguments) == 0
    return json.loads(capsys.readouterr().out)


def test_show_prints_every_measurement_as_an_object_of_one_list(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = _json(capsys, "show", "last", "--json", "--runs-dir", str(workspace))
    assert isinstance(shown, list)
    lines = next(workspace.glob("*/measurements.jsonl")).read_text("utf-8").splitlines()
    assert [Measurement.model_validate(item).id for item in shown] == [
        json.loads(line)["id"] for line in lines
    ]


def test_runs_lists_the_run_as_done(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = _json(capsys, "runs", "--json", "--runs-dir", str(workspace))
    assert isinstance(rows, list)
    assert [(row["state"], row["target"]) for row in rows] == [("done", "planted/location")]


def test_a_record_is_shown_with_its_lineage(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = next(workspace.glob("*/answers.jsonl")).read_text("utf-8").splitlines()
    answer = next(a for a in map(json.loads, answers) if "/v1-" in a["id"])
    chain = _json(capsys, "show", "last", answer["id"], "--json", "--runs-dir", str(workspace))
    assert isinstance(chain, list)
    ids = [record["id"] for record in chain]
    sample, variant = answer["id"].split("/")[0], answer["variant_id"]
    assert {sample, variant, answer["id"]} <= set(ids)
    assert any(record.get("rubric") == "paired_change" for record in chain)
    # The answer that the verdict compares it with belongs to the story.
    compared = {record["against_id"] for record in chain if record.get("against_id")}
    assert compared <= set(ids)
    assert run(["show", "last", answer["id"], "--runs-dir", str(workspace)]) == 0
    text = capsys.readouterr().out
    assert "<question>" in text
    assert "paired_change" in text
    assert run(["show", "last", "nobody", "--runs-dir", str(workspace)]) == 2


def test_tables_and_report_of_a_finished_run(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["resume", "last", "--runs-dir", str(workspace)]) == 0
    shown = capsys.readouterr().out
    assert "net of the control" in shown
    assert "location" in shown
    assert "report.html" in shown
    page = _json(capsys, "report", "--json", "--runs-dir", str(workspace))
    assert isinstance(page, dict)
    assert Path(page["html"]).is_file()
    assert run(["show", "--runs-dir", str(workspace)]) == 0
    assert "measurements" in capsys.readouterr().out


def test_measure_prints_means_with_intervals_and_names_what_it_leaves_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, other = tmp_path / "scores_nohop.csv", tmp_path / "scores_multihop.csv"
    file.write_text("id,age,total\n1,0.2,0.1\n2,high,0.4\n3,0.4,7\n")
    other.write_text("id,age\n1,0.3\n2,0.5\n3,0.9\n")
    assert run(["measure", str(file), str(other)]) == 0
    shown = capsys.readouterr().out
    assert "multi-hop less no hop" in shown
    assert "row 2, age: 'high' is no number" in shown
    assert "row 3, total: 7 lies outside 0 to 1" in shown
    found = _json(capsys, "measure", str(file), str(other), "--json")
    assert isinstance(found, dict)
    assert [Measurement.model_validate(m).n for m in found["measurements"]] == [2, 2, 3, 2, 2]
    assert [p["row"] for p in found["files"][0]["problems"]] == [2, 3]


def test_compare_sets_two_runs_side_by_side(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["compare", "last", "last", "--asked", "no_hop,multi_hop"]
    assert run([*words, "--runs-dir", str(workspace)]) == 0
    assert "second less first" in capsys.readouterr().out
    found = _json(capsys, *words, "--json", "--runs-dir", str(workspace))
    assert isinstance(found, dict)
    assert found["shared_samples"] == 3
    assert {one["second_arm"] for one in found["contrasts"]} == {"multi_hop"}


def test_plan_prints_intent_plan_and_questions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    read = _json(capsys, "plan", "audit local on demo for age, 12 questions", "--json")
    assert isinstance(read, dict)
    assert set(read) == {"intent", "plan", "questions"}
    assert read["plan"]["n"] == 12
    given = tmp_path / "given.json"
    given.write_text(json.dumps(read))
    revised = _json(capsys, "plan", "make it 20", "--json", "--given", str(given))
    assert isinstance(revised, dict)
    assert revised["plan"] == {**read["plan"], "n": 20}
    given.write_text("[]")
    assert run(["plan", "make it 20", "--given", str(given)]) == 2
    assert run(["plan", "audit local"]) == 0
    assert "? On which data?" in capsys.readouterr().out
