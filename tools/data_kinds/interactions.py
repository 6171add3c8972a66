"""Do attributes changed together do more than each alone?

The parts of an item's contrast are the variant that changes all of them, the variants that make the
same changes one by one (the same new values, not others), and the baseline asked the same way.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from evenhand.graph_store.records import ADDED
from evenhand.tools.data_kinds import (
    Cell,
    DataKind,
    changed_arms,
    data_kind,
    each_cell,
    was_asked,
)
from evenhand.tools.measured_rows import MeasuredRow
from evenhand.tools.metrics import Metric
from evenhand.tools.pairing import (
    ASSOCIATION,
    BASE,
    CHANGE,
    DIMENSIONS,
    NAN,
    REPEAT,
    Planned,
    RecordIndex,
)
from evenhand.tools.statistics.estimate import SAME, Estimate, Numbers
from evenhand.tools.statistics.intervals import mean_change
from evenhand.tools.units import Unit


@data_kind
class Interactions(DataKind):
    """Changes of an item: together, baseline (the repeat), each alone; (..., n, 2 + k)."""

    name = "interactions"
    unit: ClassVar[Unit] = "net_rate"
    rubric = CHANGE
    baseline: ClassVar[str] = REPEAT

    def cells(self, index: RecordIndex, metric: Metric) -> Iterator[Cell]:
        """Yield asked arm but original x intersection, the added ones included."""
        together = [group for group in index.planned.groups if "+" in group]
        yield from each_cell(metric, changed_arms(index.planned), together, self.baseline)

    def rows(self, index: RecordIndex, cell: Cell) -> list[MeasuredRow]:
        """Return, for each sample, the rows of all parts; of one that lacks a part, what is there.

        A sample without the variant that changes all has that row alone.
        """
        (together,) = cell.groups
        names = together.removeprefix(ADDED).split("+")
        singles = {
            row.variant_id: row
            for name in names
            for group in (name, ADDED + name)
            if group in index.planned.groups
            for row in self._part(index, cell, group)
        }
        baseline: dict[str, list[MeasuredRow]] = defaultdict(list)
        if not self.lacks_control(index.planned, cell):
            for row in self._part(index, cell, self.baseline):
                baseline[row.sample_id].append(row)
        rows: list[MeasuredRow] = []
        for row in self._part(index, cell, together):
            rows.append(row)
            if row.status == "ok":
                base = baseline[row.sample_id] or [_missing(row, self.baseline)]
                rows += [*base, *_alone(index, row, singles)]
        return rows

    def _part(self, index: RecordIndex, cell: Cell, group: str) -> list[MeasuredRow]:
        return index.change_rows(cell.arm, group)

    def items(self, rows: Sequence[MeasuredRow]) -> Numbers:
        """Return (together, baseline, each alone) of each item, shape (n, 2 + k)."""
        by_item: dict[str, dict[str, list[float]]] = {}
        k = 2
        for row in rows:
            name = row.group.removeprefix(ADDED)
            k = max(k, name.count("+") + 1)
            value = [row.value] if row.status == "ok" else []
            by_item.setdefault(row.sample_id, {}).setdefault(name, []).extend(value)
        made = np.full((len(by_item), 2 + k), np.nan)
        for place, parts in enumerate(by_item.values()):
            together = next(name for name in parts if "+" in name)
            order = (together, self.baseline, *together.split("+"))
            made[place] = [np.mean(v) if (v := parts.get(name)) else NAN for name in order]
        return made

    def array(self, items: Numbers) -> Numbers:
        """Return the items."""
        return items

    def estimate(self, metric: Metric, scored: Numbers, seed: int) -> Estimate:
        """T of the contrasts, or the wider of t and half-pseudo-item; sign flips."""
        return mean_change(contrasts(scored), low=-1, high=1, seed=seed)

    def worst_case(
        self, metric: Metric, scored: Numbers, missing: int
    ) -> tuple[float, float] | None:
        """Return the bounds of the mean: a contrast of k attributes lies in [-k, k]."""
        k = scored.shape[1] - 2
        return super().worst_case(replace(metric, bounds=(-k, k)), scored, missing)

    def differences(self, scored: Numbers) -> Numbers:
        """Return the contrast of each item."""
        return contrasts(scored)

    def counts(self, scored: Numbers) -> dict[str, int]:
        """Return in how many items together does `more` and `less` than each alone."""
        contrast = contrasts(scored)
        return {
            "more": int((contrast >= SAME).sum()),
            "less": int((contrast <= -SAME).sum()),
        }

    def unscored(self, rows: Sequence[MeasuredRow]) -> dict[str, int]:
        """Count the items that lack a part, by what left out the first of them."""
        left_out = self._first_missing(rows)
        counted: dict[str, int] = defaultdict(int)
        for row in left_out.values():
            counted[row.status] += 1
        return dict(sorted(counted.items()))

    def missing(self, rows: Sequence[MeasuredRow]) -> int:
        """Count the items of which a part was asked and not scored."""
        return sum(was_asked(row.status) for row in self._first_missing(rows).values())

    def _first_missing(self, rows: Sequence[MeasuredRow]) -> dict[str, MeasuredRow]:
        scored = {(row.sample_id, row.group) for row in rows if row.status == "ok"}
        first: dict[str, MeasuredRow] = {}
        for row in rows:
            # Of several repeats one is enough.
            if row.status != "ok" and (row.sample_id, row.group) not in scored:
                first.setdefault(row.sample_id, row)
        return first

    def family(self, cell: Cell) -> str | None:
        """Explore, a family of its own."""
        return cell.metric.name

    def example(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Numbers:
        """Return parts of two attributes."""
        return rng.choice([0.0, 1.0, 1.0, 0.0, np.nan], (*shape, 4))


@data_kind
class ScoreInteractions(Interactions):
    """Association scores of an item in the dimension of the intersection, against `base`."""

    name = "score_interactions"
    unit = "score_difference"
    rubric = ASSOCIATION
    baseline = BASE

    def cells(self, index: RecordIndex, metric: Metric) -> Iterator[Cell]:
        """Yield asked arm but original x intersection with a dimension of its own."""
        for cell in super().cells(index, metric):
            if _dimension(cell) in DIMENSIONS:
                yield cell

    def lacks_control(self, planned: Planned, cell: Cell) -> bool:
        """`base` is always asked."""
        return False

    def _part(self, index: RecordIndex, cell: Cell, group: str) -> list[MeasuredRow]:
        return index.score_rows(cell.arm, _dimension(cell), (group,))


def contrasts(parts: Numbers) -> Numbers:
    """Return together - sum of each alone + (k - 1) baseline; shape (..., 2 + k) -> (...)."""
    k = parts.shape[-1] - 2
    contrast: Numbers = parts[..., 0] - parts[..., 2:].sum(axis=-1) + (k - 1) * parts[..., 1]
    return contrast


def _dimension(cell: Cell) -> str:
    return cell.groups[0].removeprefix(ADDED).replace("+", "_")


def _alone(
    index: RecordIndex, row: MeasuredRow, singles: dict[str | None, MeasuredRow]
) -> Iterator[MeasuredRow]:
    variant = index.variants_by_id[row.variant_id or ""]
    for change in variant.changes:
        single = index.single_of(variant, change)
        yield singles[single.id] if single else _missing(row, change.attribute)


def _missing(row: MeasuredRow, group: str) -> MeasuredRow:
    """Stand for a part that was not made, or not with the same value."""
    return replace(
        row,
        group=group,
        variant_id=None,
        answer_id=None,
        value=NAN,
        status="control_missing" if group == REPEAT else "variant_missing",
        reason=None,
    )
