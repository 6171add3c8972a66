"""Grades of the questions themselves, 1 to 5 (paper 1, Table 1)."""

from collections.abc import Iterator
from itertools import product

import numpy as np

from evenhand.tools.data_kinds import Cell, data_kind, each_cell
from evenhand.tools.data_kinds.scores import Scores
from evenhand.tools.measured_rows import MeasuredRow
from evenhand.tools.metrics import Metric
from evenhand.tools.pairing import BASE, PLACEBO, QUALITY, QUALITY_DIMENSIONS, RecordIndex
from evenhand.tools.statistics.estimate import Numbers

QUESTION = "question"
"""Arm of numbers about the questions: nobody was asked."""


@data_kind
class Grades(Scores):
    """Variants, `base` and placebo with their grade; the array is (..., n), 1 to 5."""

    name = "grades"
    unit = "grade"
    rubric = QUALITY

    def cells(self, index: RecordIndex, metric: Metric) -> Iterator[Cell]:
        """Yield group x dimension of quality."""
        planned = index.planned
        placebo = [PLACEBO] if PLACEBO in planned.controls else []
        named = list(product((BASE, *planned.groups, *placebo), QUALITY_DIMENSIONS))
        yield from each_cell(metric, (QUESTION,), named)

    def rows(self, index: RecordIndex, cell: Cell) -> list[MeasuredRow]:
        """Return a row for each variant of the group."""
        group, dimension = cell.groups
        return index.variant_rows(group, QUALITY, dimension)

    def example(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Numbers:
        """Return grades of 1 to 5."""
        return rng.choice([1.0, 2.0, 3.0, 4.0, 5.0, np.nan], shape)
