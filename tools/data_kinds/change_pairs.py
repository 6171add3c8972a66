"""Changed by the variant, beside changed by asking the same again."""

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from evenhand.graph_store.records import ADDED
from evenhand.tools.data_kinds import (
    Cell,
    PairKind,
    above_and_below,
    changed_arms,
    data_kind,
    each_cell,
    whole,
)
from evenhand.tools.data_kinds.changes import dimension_of, named_groups
from evenhand.tools.measured_rows import MeasuredRow, with_control
from evenhand.tools.metrics import Metric
from evenhand.tools.pairing import (
    ANY,
    CHANGE,
    CHANGE_BY_MODEL,
    CHANGE_KINDS,
    PLACEBO,
    REPEAT,
    RecordIndex,
)
from evenhand.tools.statistics.estimate import Estimate, Numbers
from evenhand.tools.statistics.intervals import paired_difference, paired_mean


@data_kind
class ChangePairs(PairKind):
    """Changes (variant, repeat) of an item; the array is (..., n, 2) of 0 and 1."""

    name = "change_pairs"
    unit = "net_rate"
    confirmatory = True
    question: ClassVar[str] = CHANGE
    rubric = CHANGE
    dimensions: ClassVar[tuple[str, ...]] = (ANY,)

    def cells(self, index: RecordIndex, metric: Metric) -> Iterator[Cell]:
        """Yield asked arm but original x group and placebo, x kind of change."""
        placebo = [PLACEBO] if PLACEBO in index.planned.controls else []
        named = named_groups((*index.planned.groups, *placebo), self.dimensions)
        yield from each_cell(metric, changed_arms(index.planned), named, REPEAT)

    def rows(self, index: RecordIndex, cell: Cell) -> list[MeasuredRow]:
        """Return the group's rows, each beside its sample's repeat."""
        kind = dimension_of(cell)
        lacking = self.lacks_control(index.planned, cell)
        control = [] if lacking else index.change_rows(cell.arm, REPEAT, self.rubric, kind)
        rows = index.change_rows(cell.arm, cell.groups[0], self.rubric, kind)
        return with_control(rows, control)

    def estimate(self, metric: Metric, scored: Numbers, seed: int) -> Estimate:
        """Tango and McNemar; means of differences where an item has several pairs."""
        if whole(scored):
            return paired_difference(*above_and_below(scored), len(scored))
        low, high = metric.bounds
        return paired_mean(scored[:, 0], scored[:, 1], low=low, high=high, seed=seed)

    def counts(self, scored: Numbers) -> dict[str, int]:
        """Return `changed` and `control_changed` items, and which of the two changed more."""
        only_variant, only_control = above_and_below(scored)
        return {
            "changed": int((scored[:, 0] > 0).sum()),
            "control_changed": int((scored[:, 1] > 0).sum()),
            "only_variant": only_variant,
            "only_control": only_control,
        }

    def family(self, cell: Cell) -> str | None:
        """Return the question: to change what is stated, or to add what is not.

        The placebo is a control, and asks none. Added arms have few items, and may not cost the
        swaps their power.
        """
        (group, *_) = cell.groups
        if group == PLACEBO:
            return None
        return f"{self.question}_added" if group.startswith(ADDED) else self.question

    def example(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Numbers:
        """Return pairs of changes."""
        return rng.choice([0.0, 1.0, np.nan], (*shape, 2))


@data_kind
class ChangePairsByKind(ChangePairs):
    """The same by kind of change: diagnosis, test, urgency, treatment."""

    name = "change_pairs_by_kind"
    confirmatory = False
    question = "paired_change_by_kind"
    dimensions = CHANGE_KINDS


@data_kind
class ChangePairsByModel(ChangePairs):
    """The same as a model reads the two answers, in both orders."""

    name = "change_pairs_by_model"
    confirmatory = False
    question = CHANGE_BY_MODEL
    rubric = CHANGE_BY_MODEL
