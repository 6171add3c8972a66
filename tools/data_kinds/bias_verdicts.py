"""Whether a question was answered without taking a side: by relation, and beside the base question.

A row is a question, not an asking: 1 unbiased, 0 biased, as most of its askings say.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

import numpy as np

from evenhand.tools.data_kinds import (
    Cell,
    DataKind,
    PairKind,
    above_and_below,
    data_kind,
    each_cell,
)
from evenhand.tools.metrics import Metric
from evenhand.tools.pairing import BASE, BIAS, MeasuredRow, Planned, RecordIndex, with_control
from evenhand.tools.statistics.estimate import Estimate, Numbers
from evenhand.tools.statistics.intervals import paired_difference, proportion

CATEGORY = "category"


def category_groups(index: RecordIndex, groups: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return (group, category) for each group and each category of the run's questions."""
    found = dict.fromkeys(sample.attributes.get(CATEGORY, "") for sample in index.samples)
    return [(group, name) for group in groups for name in found if name]


def rows_of_cell(index: RecordIndex, cell: Cell, group: str) -> list[MeasuredRow]:
    """Return the rows of a group, of the cell's category alone where it names one."""
    rows = index.majority_rows(cell.arm, group)
    if len(cell.groups) == 1:
        return rows
    within = {s.id for s in index.samples if s.attributes.get(CATEGORY) == cell.groups[1]}
    return [row for row in rows if row.sample_id in within]


@data_kind
class BiasVerdicts(DataKind):
    """Unbiased questions; the array is (..., n) of 0 and 1."""

    name = "bias_verdicts"
    unit = "rate"
    rubric = BIAS
    words = ("biased", "unbiased")
    by_category: ClassVar[bool] = False

    def cells(self, index: RecordIndex, metric: Metric) -> Iterator[Cell]:
        """Yield `base` and each relation, by category or over all."""
        groups = (BASE, *index.planned.relations)
        named = category_groups(index, groups) if self.by_category else groups
        yield from each_cell(metric, index.planned.asked, named)

    def rows(self, index: RecordIndex, cell: Cell) -> list[MeasuredRow]:
        """Return a row for each question."""
        return rows_of_cell(index, cell, cell.groups[0])

    def estimate(self, metric: Metric, scored: Numbers, seed: int) -> Estimate:
        """Wilson."""
        return proportion(int(scored[:, 0].sum()), len(scored))

    def counts(self, scored: Numbers) -> dict[str, int]:
        """Return how many questions are `biased`."""
        return {"biased": int((scored[:, 0] == 0).sum())}

    def example(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Numbers:
        """Return verdicts."""
        return rng.choice([0.0, 1.0, np.nan], shape)


@data_kind
class BiasVerdictsByCategory(BiasVerdicts):
    """The same by category of the groups compared."""

    name = "bias_verdicts_by_category"
    by_category = True


@data_kind
class Exposures(BiasVerdicts):
    """Of the questions that are unbiased as they stand: biased under the relation; 0 and 1."""

    name = "exposures"
    words = ("unbiased", "biased")

    def cells(self, index: RecordIndex, metric: Metric) -> Iterator[Cell]:
        """Yield each relation."""
        yield from each_cell(metric, index.planned.asked, index.planned.relations)

    def rows(self, index: RecordIndex, cell: Cell) -> list[MeasuredRow]:
        """Return the rows whose base question is unbiased or unscored, 1 where exposed."""
        base = index.majority_rows(cell.arm, BASE)
        rows = with_control(rows_of_cell(index, cell, cell.groups[0]), base, against=True)
        return [self._exposed(row) for row in rows if row.control_value != 0]

    def _exposed(self, row: MeasuredRow) -> MeasuredRow:
        return replace(row, value=1 - row.value, control_value=np.nan)

    def counts(self, scored: Numbers) -> dict[str, int]:
        """Return how many questions are `exposed`."""
        return {"exposed": int((scored[:, 0] == 1).sum())}


@data_kind
class BiasPairs(PairKind):
    """Verdicts (under the relation, as it stands) of a question; the array is (..., n, 2)."""

    name = "bias_pairs"
    unit = "net_rate"
    rubric = BIAS
    words = ("biased", "unbiased")
    beside = "base"
    confirmatory = True
    by_category: ClassVar[bool] = False

    def cells(self, index: RecordIndex, metric: Metric) -> Iterator[Cell]:
        """Yield each relation, by category or over all, against `base`."""
        groups = index.planned.relations
        named = category_groups(index, groups) if self.by_category else groups
        yield from each_cell(metric, index.planned.asked, named, BASE)

    def rows(self, index: RecordIndex, cell: Cell) -> list[MeasuredRow]:
        """Return a row for each changed question, beside its base question."""
        base = index.majority_rows(cell.arm, BASE)
        return with_control(rows_of_cell(index, cell, cell.groups[0]), base, against=True)

    def estimate(self, metric: Metric, scored: Numbers, seed: int) -> Estimate:
        """Tango and McNemar: lost under the relation less won under it."""
        won, lost = above_and_below(scored)
        return paired_difference(lost, won, len(scored))

    def differences(self, scored: Numbers) -> Numbers:
        """Return the base question's verdict less that under the relation."""
        drop: Numbers = scored[:, 1] - scored[:, 0]
        return drop

    def counts(self, scored: Numbers) -> dict[str, int]:
        """Return how many questions are unbiased `only_base`, and `only_relation`."""
        won, lost = above_and_below(scored)
        return {"only_base": lost, "only_relation": won}

    def lacks_control(self, planned: Planned, cell: Cell) -> bool:
        """Return False: the base question is always asked."""
        return False

    def family(self, cell: Cell) -> str | None:
        """Return the question: which relation finds more bias; which in which category."""
        return cell.metric.name

    def example(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Numbers:
        """Return pairs of verdicts."""
        return rng.choice([0.0, 1.0, np.nan], (*shape, 2))


@data_kind
class BiasPairsByCategory(BiasPairs):
    """The same by category of the groups compared: it explores."""

    name = "bias_pairs_by_category"
    confirmatory = False
    by_category = True
