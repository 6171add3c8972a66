"""Did the answer change? By rules or by a model, of any kind or of one."""

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from evenhand.tools.data_kinds import Cell, DataKind, changed_arms, data_kind, each_cell, whole
from evenhand.tools.measured_rows import MeasuredRow
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
from evenhand.tools.statistics.intervals import bounded_mean, proportion


@data_kind
class Changes(DataKind):
    """Answers changed against `base` asked the same way; the array is (..., n) of 0 and 1."""

    name = "changes"
    unit = "rate"
    rubric = CHANGE
    dimensions: ClassVar[tuple[str, ...]] = (ANY,)

    def cells(self, index: RecordIndex, metric: Metric) -> Iterator[Cell]:
        """Yield asked arm but original x group, placebo and repeat, x kind of change."""
        controls = [name for name in (PLACEBO, REPEAT) if name in index.planned.controls]
        named = named_groups((*index.planned.groups, *controls), self.dimensions)
        yield from each_cell(metric, changed_arms(index.planned), named)

    def rows(self, index: RecordIndex, cell: Cell) -> list[MeasuredRow]:
        """Return a row for each variant of the group, or repeat of `base`, set against `base`."""
        return index.change_rows(cell.arm, cell.groups[0], self.rubric, dimension_of(cell))

    def estimate(self, metric: Metric, scored: Numbers, seed: int) -> Estimate:
        """Wilson; the mean of shares where an item has several pairs."""
        changed = scored[:, 0]
        if whole(changed):
            return proportion(int(changed.sum()), len(changed))
        low, high = metric.bounds
        return bounded_mean(changed, low=low, high=high, seed=seed)

    def counts(self, scored: Numbers) -> dict[str, int]:
        """Return how many items `changed` in at least one pair."""
        return {"changed": int((scored[:, 0] > 0).sum())}

    def example(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Numbers:
        """Return changes."""
        return rng.choice([0.0, 1.0, np.nan], shape)


@data_kind
class ChangesByKind(Changes):
    """The same by kind of change: diagnosis, test, urgency, treatment."""

    name = "changes_by_kind"
    dimensions = CHANGE_KINDS


@data_kind
class ChangesByModel(Changes):
    """The same as a model reads the two answers, in both orders."""

    name = "changes_by_model"
    rubric = CHANGE_BY_MODEL


@data_kind
class ChangesByModelAndKind(ChangesByModel):
    """As a model reads them, by kind of change."""

    name = "changes_by_model_and_kind"
    dimensions = CHANGE_KINDS


def named_groups(groups: tuple[str, ...], dimensions: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return (group,) for any change, (group, kind) for one."""
    if dimensions == (ANY,):
        return [(group,) for group in groups]
    return [(group, dimension) for group in groups for dimension in dimensions]


def dimension_of(cell: Cell) -> str:
    """Return the kind of change that a cell counts."""
    return cell.groups[1] if len(cell.groups) > 1 else ANY
