"""Counts of a graph with their test, and a number traced to its texts."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from evenhand.graph_store.rows import TripleContrast
from evenhand.graph_store.run_directory import RunDirectory
from evenhand.graph_store.sqlite_store import SqliteStore
from evenhand.graph_store.sync import sync
from evenhand.tools.graph_questions import group_difference, measurement_lineage
from evenhand.tools.measure import rows_of

MakeRun = Callable[..., RunDirectory]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with SqliteStore(tmp_path / "graph.sqlite") as opened:
        yield opened


@dataclass
class Counted(SqliteStore):
    """A store whose group_difference returns given counts, page by page."""

    counts: Sequence[TripleContrast]

    def group_difference(
        self, attribute: str, *, run: str, hop: int | None = None, limit: int = 100, offset: int = 0
    ) -> list[TripleContrast]:
        return list(self.counts[offset : offset + limit])


def contrast(b: int, c: int) -> TripleContrast:
    return TripleContrast("fever", "SUGGESTS", f"{b} {c}", 2, b, c, both=1, pairs=40)


def test_counts_get_an_exact_p_and_the_family_its_correction() -> None:
    found = group_difference(
        Counted([contrast(10, 0), contrast(6, 0), contrast(1, 2)]), "location", run="one"
    )
    assert (found.pairs, found.tested, len(found.rows)) == (40, 3, 3)
    # By hand: 2 * (1/2)^10, 2 * (1/2)^6; the third is 1.
    assert [row.p for row in found.rows] == pytest.approx([2**-9, 2**-5, 1])
    assert [row.p_mid for row in found.rows] == pytest.approx([2**-10, 2**-6, 0.625])
    assert [row.p_holm for row in found.rows] == pytest.approx([3 * 2**-9, 2 * 2**-5, 1])
    assert [row.p_bh for row in found.rows] == pytest.approx([3 * 2**-9, 3 / 2 * 2**-5, 1])


def test_a_page_is_adjusted_over_the_whole_family(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenhand.tools.graph_questions._PAGE", 7)
    store = Counted([replace(contrast(5, 0), object_key=str(number)) for number in range(21)])
    whole = group_difference(store, "age", run="one")
    assert (whole.tested, len(whole.rows)) == (21, 21)
    assert whole.rows[0].p_holm == 1
    page = group_difference(store, "age", run="one", limit=3, offset=4)
    assert page.rows == whole.rows[4:7]
    assert page.tested == 21


def test_no_difference_is_an_empty_answer(store: SqliteStore) -> None:
    found = group_difference(store, "age", run="nobody", hop=1)
    assert (found.pairs, found.tested, found.rows) == (None, 0, ())


def test_a_number_is_traced_to_its_answers_and_their_bases(
    store: SqliteStore, make_run: MakeRun
) -> None:
    run = make_run(n=6)
    assert sync(run, store).error is None
    measurements = run.measurements()
    number = next(
        m
        for m in measurements
        if (m.metric, m.arm, m.groups) == ("paired_change", "multi_hop", ("location",))
    )
    traced = measurement_lineage(store, run, number)
    assert traced.total == 6
    assert [row.row for row in traced.rows] == rows_of(run, number)
    for row in traced.rows:
        assert row.lineage is not None
        assert row.against is not None
        assert row.lineage.sample == row.against.sample
        assert row.lineage.variant is not None
        assert row.lineage.variant.group == "location"
        assert row.lineage.answer is not None
        assert row.against.answer is not None
        assert (row.lineage.answer.id, row.against.answer.id) == (
            row.row.answer_id,
            row.row.base_answer_id,
        )
    page = measurement_lineage(store, run, number, limit=2, offset=3)
    assert (page.rows, page.total) == (traced.rows[3:5], 6)


def test_a_row_without_an_answer_is_traced_to_its_variant(
    store: SqliteStore, make_run: MakeRun
) -> None:
    run = make_run(n=6)
    sync(run, store)
    number = next(
        m for m in run.measurements() if m.metric == "paired_change" and m.groups == ("placebo",)
    )
    rejected = measurement_lineage(store, run, number).rows[0]
    assert rejected.row.status == "gate_rejected"
    assert rejected.lineage is not None
    assert rejected.lineage.answer is None
    assert rejected.lineage.variant is not None
    assert rejected.lineage.variant.arm == "placebo"
    empty = SqliteStore(run.path / "empty.sqlite")
    assert measurement_lineage(empty, run, number).rows[0].lineage is None
