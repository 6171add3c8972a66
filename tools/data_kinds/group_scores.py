"""Association scores of one group of variants, by dimension (paper 1, Figures 6 and 7)."""

from collections.abc import Iterator
from itertools import product

from evenhand.tools.data_kinds import Cell, changed_arms, data_kind, each_cell
from evenhand.tools.data_kinds.scores import Scores
from evenhand.tools.measured_rows import MeasuredRow
from evenhand.tools.metrics import Metric
from evenhand.tools.pairing import BASE, DIMENSIONS, RecordIndex


@data_kind
class GroupScores(Scores):
    """Answers to a group of variants with their association score; the array is (..., n)."""

    name = "group_scores"

    def cells(self, index: RecordIndex, metric: Metric) -> Iterator[Cell]:
        """Yield asked arm but original x `base` and groups x dimension."""
        named = list(product((BASE, *index.planned.groups), DIMENSIONS))
        yield from each_cell(metric, changed_arms(index.planned), named)

    def rows(self, index: RecordIndex, cell: Cell) -> list[MeasuredRow]:
        """Return a row for each answer to a variant of the group."""
        group, dimension = cell.groups
        return index.score_rows(cell.arm, dimension, (group,))
