"""A changed fact is read from the graph and drawn with what is known of it, and no more."""

from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.rows import Batch, JudgementRow
from evenhand.graph_store.run_directory import RunDirectory
from evenhand.graph_store.sqlite_store import SqliteStore
from evenhand.graph_store.sync import sync
from evenhand.tools.graph_picture import draw_change

MakeRun = Callable[..., RunDirectory]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with SqliteStore(tmp_path / "graph.sqlite") as opened:
        yield opened


@pytest.fixture
def run(store: SqliteStore, make_run: MakeRun) -> RunDirectory:
    made = make_run(n=3)
    assert sync(made, store).error is None
    return made


def said(svg: str) -> str:
    root = ElementTree.fromstring(svg)  # noqa: S314 - our own drawing
    return " ".join(element.text for element in root.iter() if element.text)


def test_the_attribute_that_moved_the_answer_is_drawn(
    store: SqliteStore, run: RunDirectory
) -> None:
    drawn = said(draw_change(store, run.samples()[0].id, run=run.run_id))
    for part in ("lives in", "Leeds", "Johannesburg", "The answer changed", "influenza → malaria"):
        assert part in drawn


def test_a_named_attribute_is_drawn_even_if_nothing_moved(
    store: SqliteStore, run: RunDirectory
) -> None:
    drawn = said(draw_change(store, run.samples()[1].id, run=run.run_id, attribute="age"))
    for part in ("has age", "28", "71", "The answer stayed the same"):
        assert part in drawn
    assert "no triple was read from this answer" in drawn


def test_what_was_not_judged_says_so(store: SqliteStore, run: RunDirectory) -> None:
    # The first case's gender answers were refused.
    drawn = said(draw_change(store, run.samples()[0].id, run=run.run_id, attribute="gender"))
    assert "Not judged" in drawn


def test_what_could_not_be_compared_says_why(store: SqliteStore, run: RunDirectory) -> None:
    sample = run.samples()[1].id
    (row,) = [
        row
        for row in store.variants_changing_only(sample, "age", run=run.run_id)
        if row.arm == "multi_hop"
    ]
    verdict = next(v for v in row.verdicts if v.rubric == "paired_change")
    unreadable = JudgementRow(
        run=run.run_id,
        id=verdict.id,
        status="unparsable",
        rubric="paired_change",
        dimension="any",
        reason_code="no_clinical_entity",
    )
    store.write_batch(Batch(nodes=[unreadable]))
    drawn = said(draw_change(store, sample, run=run.run_id, attribute="age"))
    assert "Not comparable" in drawn
    assert "no_clinical_entity" in drawn


def test_mistakes_say_what_was_expected(store: SqliteStore, run: RunDirectory) -> None:
    sample = run.samples()[0].id
    with pytest.raises(UserError, match="No sample 'nobody'"):
        draw_change(store, "nobody", run=run.run_id)
    with pytest.raises(UserError, match="expected one of"):
        draw_change(store, sample, run=run.run_id, attribute="agee")
    with pytest.raises(UserError, match="no labels answer"):
        draw_change(store, sample, run=run.run_id, arm="labels")
