"""One score an answer: association scores by asked arm and dimension."""

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from evenhand.tools.data_kinds import Cell, DataKind, data_kind, each_cell
from evenhand.tools.measured_rows import MeasuredRow
from evenhand.tools.metrics import Metric
from evenhand.tools.pairing import ASSOCIATION, DIMENSIONS, RecordIndex
from evenhand.tools.statistics.estimate import Estimate, Numbers
from evenhand.tools.statistics.intervals import bounded_mean
from evenhand.tools.units import Unit


@data_kind
class Scores(DataKind):
    """Answers with their association score; the array is (..., n)."""

    name = "scores"
    unit: ClassVar[Unit] = "score"
    rubric = ASSOCIATION

    def cells(self, index: RecordIndex, metric: Metric) -> Iterator[Cell]:
        """Yield asked arm x dimension."""
        yield from each_cell(metric, index.planned.asked, DIMENSIONS)

    def rows(self, index: RecordIndex, cell: Cell) -> list[MeasuredRow]:
        """Return a row for each answer of the arm to `base` and swaps."""
        return index.score_rows(cell.arm, cell.groups[0])

    def estimate(self, metric: Metric, scored: Numbers, seed: int) -> Estimate:
        """Half-pseudo-item Bayesian bootstrap of the mean."""
        low, high = metric.bounds
        return bounded_mean(scored[:, 0], low=low, high=high, seed=seed)

    def example(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Numbers:
        """Return scores of 0 to 1."""
        return rng.choice([0.0, 0.1, 0.4, 1.0, np.nan], shape)
