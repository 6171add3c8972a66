"""Scores in an asked arm beside those of the source's own wording."""

from collections.abc import Iterator

import numpy as np

from evenhand.tools.data_kinds import (
    Cell,
    PairKind,
    above_and_below,
    changed_arms,
    data_kind,
    each_cell,
)
from evenhand.tools.measured_rows import MeasuredRow, with_control
from evenhand.tools.metrics import Metric
from evenhand.tools.pairing import ASSOCIATION, DIMENSIONS, ORIGINAL, RecordIndex
from evenhand.tools.statistics.estimate import Estimate, Numbers
from evenhand.tools.statistics.intervals import paired_mean


@data_kind
class ScorePairs(PairKind):
    """Association scores (arm, original) of an item; the array is (..., n, 2)."""

    name = "score_pairs"
    unit = "score_difference"
    rubric = ASSOCIATION

    def cells(self, index: RecordIndex, metric: Metric) -> Iterator[Cell]:
        """Yield asked arm but original x dimension."""
        yield from each_cell(metric, changed_arms(index.planned), DIMENSIONS, ORIGINAL)

    def rows(self, index: RecordIndex, cell: Cell) -> list[MeasuredRow]:
        """Return the arm's rows, each beside its sample's original."""
        (dimension,) = cell.groups
        lacking = self.lacks_control(index.planned, cell)
        control = [] if lacking else index.score_rows(ORIGINAL, dimension)
        return with_control(index.score_rows(cell.arm, dimension), control, against=True)

    def estimate(self, metric: Metric, scored: Numbers, seed: int) -> Estimate:
        """Return t, or the wider of t and half-pseudo-item; sign flips."""
        low, high = metric.bounds
        return paired_mean(scored[:, 0], scored[:, 1], low=low, high=high, seed=seed)

    def counts(self, scored: Numbers) -> dict[str, int]:
        """Return how many items score `higher` and `lower` than in the control arm."""
        higher, lower = above_and_below(scored)
        return {"higher": higher, "lower": lower}

    def family(self, cell: Cell) -> str | None:
        """Wording and way of asking differ too, so this only explores."""
        return ASSOCIATION

    def example(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Numbers:
        """Return pairs of scores of 0 to 1."""
        return rng.choice([0.0, 0.1, 0.4, 1.0, np.nan], (*shape, 2))
