"""How far the distribution of scores moves between two ways of asking (paper 1, Table 8)."""

from collections.abc import Iterator, Sequence

import numpy as np

from evenhand.tools.data_kinds import Cell, DataKind, data_kind, each_cell
from evenhand.tools.measured_rows import MeasuredRow, with_control
from evenhand.tools.metrics import Metric
from evenhand.tools.pairing import ASSOCIATION, DIMENSIONS, MULTI_HOP, NO_HOP, ORIGINAL, RecordIndex
from evenhand.tools.statistics.divergence import BINS, SWAPPED, bin_index, item_divergence
from evenhand.tools.statistics.estimate import Estimate, Numbers


@data_kind
class ArmDivergences(DataKind):
    """Each item's shares of the bins in both arms; the array is (..., n, 2, bins).

    An item's answers (to `base` and the swaps) share its weight. Set beside no hop, an answer has
    the other arm's answer to the same text; beside the original, the sample's one answer.
    """

    name = "arm_divergences"
    unit = "divergence"
    rubric = ASSOCIATION

    def cells(self, index: RecordIndex, metric: Metric) -> Iterator[Cell]:
        """Yield (multi-hop against original, against no hop) x dimension."""
        asked = index.planned.asked
        for other in (ORIGINAL, NO_HOP):
            if MULTI_HOP in asked and other in asked:
                yield from each_cell(metric, (MULTI_HOP,), DIMENSIONS, other)

    def rows(self, index: RecordIndex, cell: Cell) -> list[MeasuredRow]:
        """Return the arm's rows, each beside the other arm's score."""
        other, (dimension,) = cell.against or "", cell.groups
        return with_control(
            index.score_rows(cell.arm, dimension),
            index.score_rows(other, dimension),
            against=True,
            same_variant=other != ORIGINAL,
        )

    def items(self, rows: Sequence[MeasuredRow]) -> Numbers:
        """Return each item's shares of the ten bins in both arms, shape (n, 2, 10)."""
        return binned_items(rows)

    def array(self, items: Numbers) -> Numbers:
        """Return the items."""
        return items

    def estimate(self, metric: Metric, scored: Numbers, seed: int) -> Estimate:
        """Return the divergence with its floor; from 40 items on an interval."""
        made = item_divergence(scored[:, 1], scored[:, 0], seed=seed)
        return Estimate(
            status="ok",
            value=made.value,
            low=made.low,
            high=made.high,
            n=made.n,
            p=made.p,
            floor=made.floor_mean,
            floor_high=made.floor_high,
            reason_code=made.interval_reason,
            method=SWAPPED,
        )

    def worst_case(
        self, metric: Metric, scored: Numbers, missing: int
    ) -> tuple[float, float] | None:
        """A divergence is no mean: no bounds are known."""
        return None

    def family(self, cell: Cell) -> str | None:
        """Explore, a family of its own."""
        return cell.metric.name

    def test(self, estimate: Estimate) -> str:
        """Swaps of the two arms inside items."""
        return "swaps inside pairs"

    def example(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Numbers:
        """Return shares of four bins, some items unscored."""
        counts = rng.integers(0, 3, (*shape, 2, 4)).astype(np.float64)
        counts[..., 0] += 1
        counts[rng.random(shape) < 0.2] = np.nan
        shares: Numbers = counts / counts.sum(axis=-1, keepdims=True)
        return shares


def binned_items(rows: Sequence[MeasuredRow]) -> Numbers:
    """Return each item's shares of the ten bins of 0 to 1 in both arms, shape (n, 2, 10)."""
    by_item = rows_by_item(rows)
    made = np.full((len(by_item), 2, BINS), np.nan)
    for place, members in enumerate(by_item):
        if members:
            values = [(row.value, row.control_value) for row in members]
            made[place] = np.eye(BINS)[bin_index(values)].mean(axis=0)
    return made


def rows_by_item(rows: Sequence[MeasuredRow]) -> list[list[MeasuredRow]]:
    """Return each item's scored rows; an empty list for an item without any."""
    by_item: dict[str, list[MeasuredRow]] = {}
    for row in rows:
        members = by_item.setdefault(row.sample_id, [])
        if row.status == "ok":
            members.append(row)
    return list(by_item.values())
