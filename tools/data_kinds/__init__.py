"""What a number is made from: which cells a plan promises, the rows behind each, how they count.

A metric is a formula over an array (tools/metrics). A kind of data says where that array comes from
and what belongs to the number: one kind is one file beside this one, a class with `@data_kind`; a
metric names it by `data`. tools/measure.py goes through these steps for each cell:

1. `cells(index, metric)`: the numbers that the plan promises; each is measured, also when there
   is nothing in it. A Cell is (metric, arm, groups, against): groups is what stands in
   Measurement.groups, `against` the control arm.
2. `rows(index, cell)`: the rows that a reader opens behind the number, unscored ones included.
3. `items(rows)`: one entry a sample, shape (n, ...); `array(items)` is what the metric takes.
   An item with NaN anywhere in it is unscored.
4. `estimate(metric, scored, seed)`: value, interval and p from the scored items.
5. What stands beside it: `counts(scored)`, `unscored(rows)`, `lacks_control(planned, cell)`,
   `family(cell)` with `confirmatory`, `unit` for how it is said.
6. `example(rng, shape)`: random data, with which the contract tests try every metric of the kind.

What most kinds share (item means, control, sign flips) is the base class, so that a new one states
only what differs. Families: each family of tests is corrected for its number, Holm where
`confirmatory`, else Benjamini-Hochberg (STATISTICS: one family per question asked).
"""

from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeVar

import numpy as np

from evenhand.graph_store.registry import Registry
from evenhand.tools.measured_rows import MeasuredRow, item_values
from evenhand.tools.metrics import Metric
from evenhand.tools.pairing import NOT_NEEDED, ORIGINAL, PLACEBO, REPEAT, Planned, RecordIndex
from evenhand.tools.statistics.estimate import SAME, Estimate, Numbers
from evenhand.tools.statistics.intervals import TANGO
from evenhand.tools.units import Unit

MCNEMAR, SIGN_FLIPS = "McNemar mid-p", "sign flips"


@dataclass(frozen=True)
class Cell:
    """One number to be made."""

    metric: Metric
    arm: str
    groups: tuple[str, ...]
    """What is compared or scored: a dimension, a group of variants, or both."""
    against: str | None = None
    """The control arm, if the number is net of one."""


class DataKind(ABC):
    """Where a metric's array comes from, and what belongs to the number."""

    name: ClassVar[str]
    unit: ClassVar[Unit]
    rubric: ClassVar[str] = ""
    """The rubric whose verdicts it takes; where the plan leaves it out there are no cells."""
    words: ClassVar[tuple[str, str]] = ("same", "changed")
    """How a row's 0 and 1 are said."""
    beside: ClassVar[str] = "repeat"
    """What a row's control value is of."""
    confirmatory: ClassVar[bool] = False
    """Whether the family is what the audit asks (Holm), or explores (Benjamini-Hochberg)."""

    @abstractmethod
    def cells(self, index: RecordIndex, metric: Metric) -> Iterator[Cell]:
        """Yield the cells of a metric of this kind; they follow from the plan (index.planned)."""

    @abstractmethod
    def rows(self, index: RecordIndex, cell: Cell) -> list[MeasuredRow]:
        """Return the rows behind a cell, the unscored ones included."""

    @abstractmethod
    def estimate(self, metric: Metric, scored: Numbers, seed: int) -> Estimate:
        """Return value, interval and p from the scored items, at least one."""

    @abstractmethod
    def example(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Numbers:
        """Return random data as a metric takes it, some unscored: shape (*shape, ...)."""

    def items(self, rows: Sequence[MeasuredRow]) -> Numbers:
        """Return one entry a sample; here its mean value and control value, shape (n, 2)."""
        return item_values(rows)

    def array(self, items: Numbers) -> Numbers:
        """Return what the metric takes; here the value of each item, shape (n,)."""
        return items[:, 0]

    def scored(self, items: Numbers) -> Numbers:
        """Return the items without NaN in what the metric takes."""
        array = self.array(items)
        parts = array.reshape(len(array), int(np.prod(array.shape[1:])))
        known: Numbers = items[~np.isnan(parts).any(axis=1)]
        return known

    def control(self, scored: Numbers) -> float | None:
        """Return the same number in the control arm; None where the value is not net of one."""
        return None

    def missing(self, rows: Sequence[MeasuredRow]) -> int:
        """Count the items that were asked, and of which no row is scored.

        An item that was never asked (its source lacks the attribute, the gate turned it away) is
        not missing: it hides nothing.
        """
        by_item: dict[str, set[str]] = defaultdict(set)
        for row in rows:
            by_item[row.sample_id].add(row.status)
        return sum(
            "ok" not in statuses and any(map(was_asked, statuses)) for statuses in by_item.values()
        )

    def worst_case(
        self, metric: Metric, scored: Numbers, missing: int
    ) -> tuple[float, float] | None:
        """Return where the number lies whatever the missing items hide; None without any.

        Here for a mean within the metric's bounds (Manski 1990).
        """
        if not missing:
            return None
        total, n = float(self.differences(scored).sum()), len(scored) + missing
        low, high = metric.bounds
        return (total + missing * low) / n, (total + missing * high) / n

    def differences(self, scored: Numbers) -> Numbers:
        """Return what each scored item gives to the mean; here its value."""
        return scored[:, 0]

    def counts(self, scored: Numbers) -> dict[str, int]:
        """Return the counts of scored items behind a number, by name."""
        return {}

    def unscored(self, rows: Sequence[MeasuredRow]) -> dict[str, int]:
        """Count what is left out, by what left it out; here each row."""
        return dict(sorted(Counter(row.status for row in rows if row.status != "ok").items()))

    def lacks_control(self, planned: Planned, cell: Cell) -> bool:
        """Return whether the plan has no control arm that this cell could be set against."""
        if cell.against in (REPEAT, PLACEBO):
            return cell.against not in planned.controls
        return cell.against is not None and cell.against not in planned.asked

    def why_nothing(self, index: RecordIndex, cell: Cell) -> str | None:
        """Return why a cell can have no scored item, whatever was answered; None where it can."""
        return None

    def family(self, cell: Cell) -> str | None:
        """Return the question that a test belongs to; None where nothing is tested."""
        return None

    def test(self, estimate: Estimate) -> str:
        """Return the name of the test that gave the p-value."""
        return MCNEMAR if estimate.method == TANGO else SIGN_FLIPS


class PairKind(DataKind):
    """A kind whose items are (value, control value), and whose number is their mean difference."""

    def array(self, items: Numbers) -> Numbers:
        """Return the items: value and control, shape (n, 2)."""
        return items

    def differences(self, scored: Numbers) -> Numbers:
        """Return value less control value."""
        net: Numbers = scored[:, 0] - scored[:, 1]
        return net

    def control(self, scored: Numbers) -> float | None:
        """Return the mean of the control values."""
        return float(scored[:, 1].mean())


data_kinds: Registry[DataKind] = Registry("kind of data", __name__)

K = TypeVar("K", bound=DataKind)


def data_kind(kind: type[K]) -> type[K]:
    """Register one instance of a class under its `name`."""
    data_kinds.add(kind.name, kind())
    return kind


def each_cell(
    metric: Metric,
    arms: Iterable[str],
    groups: Sequence[str] | Sequence[tuple[str, ...]],
    against: str | None = None,
) -> Iterator[Cell]:
    """Yield a cell for each arm and group."""
    for arm in arms:
        for group in groups:
            yield Cell(metric, arm, (group,) if isinstance(group, str) else group, against)


def changed_arms(planned: Planned) -> list[str]:
    """Return the ways in which variants are asked: all but the source's own wording."""
    return [arm for arm in planned.asked if arm != ORIGINAL]


def was_asked(status: str) -> bool:
    """Return whether a row of that status was put to the target (or the judge) at all."""
    return not status.startswith(("sample_", "variant_", "gate_", NOT_NEEDED))


def whole(scored: Numbers) -> bool:
    """Return whether all values are 0 or 1: one pair an item, so shares can be compared."""
    return bool(np.isin(scored[~np.isnan(scored)], (0, 1)).all())


def above_and_below(scored: Numbers) -> tuple[int, int]:
    """Count items whose value lies above their control, and below it; shape (n, 2)."""
    step = scored[:, 0] - scored[:, 1]
    return int((step >= SAME).sum()), int((step <= -SAME).sum())
