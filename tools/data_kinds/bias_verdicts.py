"""Whether a question was answered without taking a side: by relation, and beside the base question.

A row is a question, not an asking: 1 unbiased, 0 biased, as most of its askings say.
"""

from collections.abc import Iterator, Sequence
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
from evenhand.tools.measured_rows import MeasuredRow, with_control
from evenhand.tools.metrics import Metric
from evenhand.tools.pairing import BASE, BIAS, REPEAT, Planned, RecordIndex
from evenhand.tools.statistics.estimate import Estimate, Numbers
from evenhand.tools.statistics.intervals import paired_difference, proportion

CATEGORY, TEMPLATE = "category", "template"
NO_INFORMATION = "no_information"
"""Status of what a control arm says that is the same by construction."""


def split_groups(
    index: RecordIndex, groups: tuple[str, ...], split: str
) -> Sequence[str] | Sequence[tuple[str, ...]]:
    """Return the groups; or (group, value) for each value that the run's questions have.

    Args:
        index: A run.
        groups: Relations, and `base`.
        split: An attribute of questions (category, template), or "" to take all together.
    """
    if not split:
        return groups
    found = dict.fromkeys(sample.attributes.get(split, "") for sample in index.samples)
    return [(group, name) for group in groups for name in found if name]


def rows_of_cell(index: RecordIndex, cell: Cell, split: str = "") -> list[MeasuredRow]:
    """Return the rows of the cell's group, of the cell's category or template where it has one."""
    if not split:
        return index.majority_rows(cell.arm, cell.groups[0])
    within = [one for one in index.samples if one.attributes.get(split) == cell.groups[1]]
    return index.majority_rows(cell.arm, cell.groups[0], within)


@data_kind
class BiasVerdicts(DataKind):
    """Unbiased questions; the array is (..., n) of 0 and 1."""

    name = "bias_verdicts"
    unit = "rate"
    rubric = BIAS
    words = ("biased", "unbiased")
    split: ClassVar[str] = ""
    """The attribute of questions by which they are measured apart; "": all together."""

    def cells(self, index: RecordIndex, metric: Metric) -> Iterator[Cell]:
        """Yield `base` and each relation, apart or over all."""
        # Controls beside the relations; by category they would be noise about noise.
        groups = (BASE, *index.planned.relations, *(() if self.split else index.planned.noise))
        yield from each_cell(metric, index.planned.asked, split_groups(index, groups, self.split))

    def rows(self, index: RecordIndex, cell: Cell) -> list[MeasuredRow]:
        """Return a row for each question."""
        return rows_of_cell(index, cell, self.split)

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
    split = CATEGORY


@data_kind
class BiasVerdictsByTemplate(BiasVerdicts):
    """The same by template: choice, yes_no, why."""

    name = "bias_verdicts_by_template"
    split = TEMPLATE


def exposed_rows(index: RecordIndex, arm: str, group: str) -> list[MeasuredRow]:
    """Return a group's rows whose base question is unbiased or unscored, 1 where biased there.

    A repeat that answers every question word for word as before tells nothing about noise: its rows
    are unscored, as "no_information".
    """
    base = index.majority_rows(arm, BASE)
    rows = with_control(index.majority_rows(arm, group), base, against=True)
    found = [
        replace(row, value=1 - row.value, control_value=np.nan)
        for row in rows
        if row.control_value != 0
    ]
    if group != REPEAT or index.repeats_differ:
        return found
    return [
        replace(row, value=np.nan, status=NO_INFORMATION) if row.status == "ok" else row
        for row in found
    ]


def none_unbiased(index: RecordIndex, arm: str) -> str | None:
    """Return a reason code where no scored question is unbiased as it stands, else None."""
    unbiased = any(row.value == 1 for row in index.majority_rows(arm, BASE))
    return None if unbiased else "none_unbiased"


@data_kind
class Exposures(BiasVerdicts):
    """Of the questions that are unbiased as they stand: biased under the relation; 0 and 1."""

    name = "exposures"
    words = ("unbiased", "biased")

    def cells(self, index: RecordIndex, metric: Metric) -> Iterator[Cell]:
        """Yield each relation, then the control arms."""
        groups = (*index.planned.relations, *index.planned.noise)
        yield from each_cell(metric, index.planned.asked, groups)

    def rows(self, index: RecordIndex, cell: Cell) -> list[MeasuredRow]:
        """Return the rows whose base question is unbiased or unscored, 1 where exposed."""
        return exposed_rows(index, cell.arm, cell.groups[0])

    def why_nothing(self, index: RecordIndex, cell: Cell) -> str | None:
        """Return that no question was unbiased as it stands."""
        return none_unbiased(index, cell.arm)

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
    split: ClassVar[str] = ""

    def cells(self, index: RecordIndex, metric: Metric) -> Iterator[Cell]:
        """Yield each relation, apart or over all, against `base`."""
        named = split_groups(index, index.planned.relations, self.split)
        yield from each_cell(metric, index.planned.asked, named, BASE)

    def rows(self, index: RecordIndex, cell: Cell) -> list[MeasuredRow]:
        """Return a row for each changed question, beside its base question."""
        base = index.majority_rows(cell.arm, BASE)
        return with_control(rows_of_cell(index, cell, self.split), base, against=True)

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
    split = CATEGORY
