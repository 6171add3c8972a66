"""Run directory -> graph: complete, incremental, and never in an audit's way."""

import logging
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evenhand.graph_store.records import Triple
from evenhand.graph_store.rows import Batch, RunRow
from evenhand.graph_store.run_directory import RunDirectory
from evenhand.graph_store.sqlite_store import SqliteStore
from evenhand.graph_store.store import GraphStore
from evenhand.graph_store.sync import GRAPH_STAGES, batch_of, sync

MakeRun = Callable[..., RunDirectory]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[GraphStore]:
    with SqliteStore(tmp_path / "graph.sqlite") as opened:
        yield opened


def afresh(run: RunDirectory, tmp_path: Path) -> str:
    """The checksum that an undisturbed sync of the run's files gives."""
    path = tmp_path / "afresh.sqlite"
    path.unlink(missing_ok=True)
    with SqliteStore(path) as fresh:
        assert sync(run, fresh).error is None
        return fresh.checksum(run.run_id)


def test_everything_in_the_files_is_in_the_graph(store: GraphStore, make_run: MakeRun) -> None:
    run = make_run("one")
    report = sync(run, store)
    assert report.error is None
    assert report.skipped == 0
    assert report.written == sum(len(run.ids(stage)) for stage in GRAPH_STAGES)
    stats = store.stats("one")
    judgements = len(run.judgements()) + len(run.gate())
    assert stats.nodes == {
        "Run": 1,
        "Sample": 3,
        "Variant": 15,
        "Answer": 30,
        "Judgement": judgements,
        "Entity": 6,
    }
    assert {name: stats.relationships[name] for name in ("INCLUDES", "VARIANT_OF", "ANSWERS")} == {
        "INCLUDES": 3,
        "VARIANT_OF": 15,
        "ANSWERS": 30,
    }
    assert stats.relationships["PERTURBS"] == 3 * 5
    assert stats.relationships["JUDGES"] == judgements
    assert stats.relationships["HAS_AGE"] == 3
    assert stats.triples == 6 + 15


def test_stage_after_stage_sends_only_what_is_new(store: GraphStore, make_run: MakeRun) -> None:
    run = make_run("one")
    sent = [sync(run, store, [stage]).written for stage in GRAPH_STAGES]
    assert sent == [len(run.ids(stage)) for stage in GRAPH_STAGES]
    again = sync(run, store)
    assert (again.written, again.skipped) == (0, sum(sent))
    extra = run.triples()[0].model_copy(update={"id": "demo-0-x/t9-00000000", "object_key": "new"})
    run.append("triples", [extra])
    assert sync(run, store).written == 1


def test_a_run_without_files_is_known(store: GraphStore, make_run: MakeRun) -> None:
    run = make_run("one", samples=0)
    assert sync(run, store).written == 0
    assert [row.recipe for row in store.runs()] == ["kg"]


def test_a_graph_that_forgot_is_merged(
    store: GraphStore, make_run: MakeRun, tmp_path: Path
) -> None:
    run = make_run("one")
    sync(run, store)
    store.write_batch(Batch(nodes=[RunRow(run="one", id="one")]))
    report = sync(run, store)
    assert report.skipped == 0
    assert store.checksum() == afresh(run, tmp_path)


@pytest.mark.parametrize("stage", GRAPH_STAGES)
@pytest.mark.parametrize("line", [0, -1])
def test_a_line_deleted_and_done_again(
    store: GraphStore, make_run: MakeRun, tmp_path: Path, stage: str, line: int
) -> None:
    run = make_run("one")
    sync(run, store)
    path = run.path / f"{stage}.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    removed = lines.pop(line)
    path.write_text("".join(lines) + removed.replace('"rules"', '"other"').replace("fever", "flu"))
    assert sync(run, store, [stage]).error is None  # type: ignore[list-item]
    assert store.checksum() == afresh(run, tmp_path)


def test_a_run_folder_made_anew_replaces_the_old_one(
    store: GraphStore, make_run: MakeRun, tmp_path: Path
) -> None:
    run = make_run("one", said="Malaria")
    sync(run, store)
    shutil.rmtree(run.path)
    again = make_run("one", samples=2, said="Flu", created="2026-02-02T00:00:00Z")
    sync(again, store, ["samples"])
    assert store.stats("one").nodes["Sample"] == 2
    assert store.checksum() == afresh(again, tmp_path)


def test_a_torn_last_line_waits_for_its_end(store: GraphStore, make_run: MakeRun) -> None:
    run = make_run("one")
    path = run.stage_path("answers")
    whole = path.read_text()
    path.write_text(whole[:-40])
    assert sync(run, store).error is None
    assert store.stats().nodes["Answer"] == 30, "the last one is there, bare, as JUDGES names it"
    path.write_text(whole)
    assert sync(run, store).written == 1
    lineage = store.lineage(run.answers()[-1].id, "one")
    assert lineage is not None
    assert lineage.answer is not None
    assert lineage.answer.status == "ok"


def test_a_graph_that_is_down_is_a_report_and_a_warning(
    store: GraphStore, make_run: MakeRun, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run = make_run("one")
    store.close()
    with caplog.at_level(logging.WARNING):
        report = sync(run, store)
    assert report.written == 0
    assert report.error is not None
    assert "closed database" in report.error
    assert "run one: its graph is not complete yet" in caplog.text
    with SqliteStore(tmp_path / "graph.sqlite") as back:
        assert sync(run, back).error is None
        assert back.checksum() == afresh(run, tmp_path)


def test_a_disk_that_is_full_in_mid_sync(
    make_run: MakeRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evenhand.graph_store.sync._RECORDS_A_BATCH", 10)
    run = make_run("one", samples=20)
    with SqliteStore(tmp_path / "graph.sqlite") as store:
        store._connection.execute("PRAGMA max_page_count = 60")
        report = sync(run, store)
        assert report.error is not None
        assert "full" in report.error
        assert 0 < report.written < sum(len(run.ids(stage)) for stage in GRAPH_STAGES)
        store._connection.execute("PRAGMA max_page_count = 1000000")
        rest = sync(run, store)
        assert rest.error is None
        assert rest.skipped == report.written
        assert store.checksum() == afresh(run, tmp_path)


def test_a_damaged_file_is_a_report_too(store: GraphStore, make_run: MakeRun) -> None:
    run = make_run("one")
    path = run.stage_path("answers")
    path.write_text('{"id": "x"}\n' + path.read_text())
    report = sync(run, store, ["answers"])
    assert report.error is not None
    assert "line 1 is no Answer" in report.error


def test_measurements_are_no_part_of_the_graph(store: GraphStore, make_run: MakeRun) -> None:
    assert sync(make_run("one"), store, ["measurements"]).written == 0
    assert "measurements" not in GRAPH_STAGES


def test_shared_links_of_a_batch_are_there_once() -> None:
    source = "demo-0-00000000"
    triples = [
        Triple(
            id=f"{source}/t{position}-00000000",
            source_id=source,
            subject="patient",
            predicate="has",
            object=f"o{position}",
            subject_key="patient",
            object_key=f"o{position}",
            hop=0,
            origin="rules",
        )
        for position in range(5)
    ]
    batch = batch_of("r1", triples)
    assert len(batch.links) == 6
    assert {link.start_label for link in batch.links} == {"Sample"}
