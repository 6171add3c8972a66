"""Questions that take a graph and more: an exact test beside counts, a number down to its texts."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from evenhand.graph_store.records import Measurement
from evenhand.graph_store.rows import Lineage, TripleContrast
from evenhand.graph_store.run_directory import RunDirectory
from evenhand.graph_store.store import GraphStore
from evenhand.tools.measure import MeasuredRow, rows_of
from evenhand.tools.statistics.families import P, benjamini_hochberg, holm
from evenhand.tools.statistics.paired_tests import exact_p, mid_p

_PAGE = 5_000


@dataclass(frozen=True, slots=True)
class TestedContrast:
    """A triple with its counts, and how likely they are where the attribute changes nothing."""

    __test__ = False

    contrast: TripleContrast
    p: float
    """McNemar's exact p, two-sided."""
    p_mid: float
    p_holm: float
    """p adjusted over all rows: any false alarm in at most 5 %."""
    p_bh: float
    """p adjusted over all rows: at most 5 % false discoveries."""


@dataclass(frozen=True, slots=True)
class GroupDifference:
    """A page of the triples that are stated on one side only, out of `tested`."""

    attribute: str
    run: str
    hop: int | None
    pairs: int | None
    """Pairs of answers that were compared; None where no triple differs, as nothing says it."""
    tested: int
    """The family that the adjusted p-values belong to: every triple that differs in some pair."""
    rows: tuple[TestedContrast, ...]


def group_difference(
    store: GraphStore,
    attribute: str,
    *,
    run: str,
    hop: int | None = None,
    limit: int = 100,
    offset: int = 0,
) -> GroupDifference:
    """Test each triple of `store.group_difference`: stated as often with the attribute changed?

    McNemar's exact test on the pairs that differ. The family is every triple that differs in some
    pair, whatever page is shown; a triple that differs in none has p 1 by itself, and leaving it
    out does no harm, as the test holds whatever the number of discordant pairs is. These are
    questions found in the data: read them as exploring, by `p_bh`.

    Args:
        store: The graph.
        attribute: The one attribute that was changed, such as "location".
        run: The run's id.
        hop: Triples of this hop alone; None: all.
        limit: Rows of a page.
        offset: Rows before it.
    """
    contrasts = list(_every_contrast(store, attribute, run, hop))
    counts = ([c.only_variant for c in contrasts], [c.only_base for c in contrasts])
    exact = exact_p(*counts).tolist()
    rows = [
        TestedContrast(contrast, p, mid, p_holm, p_bh)
        for contrast, p, mid, p_holm, p_bh in zip(
            contrasts,
            exact,
            mid_p(*counts).tolist(),
            _adjusted(holm, exact),
            _adjusted(benjamini_hochberg, exact),
            strict=True,
        )
    ]
    return GroupDifference(
        attribute=attribute,
        run=run,
        hop=hop,
        pairs=contrasts[0].pairs if contrasts else None,
        tested=len(rows),
        rows=tuple(rows[offset : offset + limit]),
    )


def _adjusted(adjust: Callable[[Sequence[P]], list[P]], p: Sequence[float]) -> list[float]:
    # Every row is tested, so none of them stays without a p.
    return [number for number in adjust(p) if number is not None]


def _every_contrast(
    store: GraphStore, attribute: str, run: str, hop: int | None
) -> Iterator[TripleContrast]:
    offset = 0
    while page := store.group_difference(attribute, run=run, hop=hop, limit=_PAGE, offset=offset):
        yield from page
        if len(page) < _PAGE:
            return
        offset += _PAGE


@dataclass(frozen=True, slots=True)
class TracedRow:
    """One answer behind a number, and where it comes from."""

    row: MeasuredRow
    lineage: Lineage | None
    """Of the answer, or of the variant where it was not asked; None: not in the graph (yet)."""
    against: Lineage | None
    """Of the answer that it is set against, if there is one."""


@dataclass(frozen=True, slots=True)
class MeasurementLineage:
    """A page of the answers behind a number, down to sample, verdicts and triples."""

    measurement: Measurement
    total: int
    """Rows behind the number, the unscored ones included."""
    rows: tuple[TracedRow, ...]


def measurement_lineage(
    store: GraphStore,
    run: RunDirectory,
    measurement: Measurement,
    *,
    limit: int = 100,
    offset: int = 0,
) -> MeasurementLineage:
    """Trace a number to the answers behind it, and each of them through the graph.

    Args:
        store: The graph.
        run: The run's directory, which knows what stands behind a number.
        measurement: One of the run's.
        limit: Rows of a page.
        offset: Rows before it.
    """
    behind = rows_of(run, measurement)
    return MeasurementLineage(
        measurement=measurement,
        total=len(behind),
        rows=tuple(_traced(store, run.run_id, row) for row in behind[offset : offset + limit]),
    )


def _traced(store: GraphStore, run: str, row: MeasuredRow) -> TracedRow:
    record = row.answer_id or row.variant_id or row.sample_id
    against = row.base_answer_id
    return TracedRow(
        row=row,
        lineage=store.lineage(record, run),
        against=store.lineage(against, run) if against else None,
    )
