"""Rows behind a number, set beside their control and taken together by item."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evenhand.tools.askings import NAN


@dataclass(frozen=True, slots=True)
class MeasuredRow:
    """One answer (or pair of answers) behind a number; it counts only when its status is "ok"."""

    sample_id: str
    base_answer_id: str | None
    """The answer that it is set against: to `base` asked the same way, or to the original."""
    variant_id: str | None
    answer_id: str | None
    group: str
    """The variant's group: "age", "age+gender", "added:age", "placebo", "repeat", "base"."""
    arm: str
    value: float
    """The answer's score, or 1 changed / 0 same; NaN where there is none."""
    status: str
    """"ok", or what left the row out: answer_refused, gate_rejected, unparsable ..."""
    reason: str | None
    control_value: float = NAN
    """The item's value in the control arm; NaN without one."""
    labels: tuple[str, ...] = ()
    """What the answer names, where categories are compared."""
    control_labels: tuple[str, ...] = ()


@dataclass(slots=True)
class _Control:
    """What the control arm says of one item: the mean of its scored rows, or why there is none."""

    first: MeasuredRow
    total: float = 0.0
    scored: int = 0


def with_control(
    rows: Sequence[MeasuredRow],
    control: Sequence[MeasuredRow],
    *,
    against: bool = False,
    same_variant: bool = False,
) -> list[MeasuredRow]:
    """Set each row beside its item's value in a control arm; a row without one is left out.

    Args:
        rows: Rows of an arm.
        control: Rows of the control arm on the same samples.
        against: Name the control's answer as the one that the row is set against.
        same_variant: Set it beside the same variant's value, asked in the other arm.
    """

    def key(row: MeasuredRow) -> tuple[str, str | None]:
        return row.sample_id, row.variant_id if same_variant else None

    by_key: dict[tuple[str, str | None], _Control] = {}
    for row in control:
        item = by_key.setdefault(key(row), _Control(row))
        if row.status == "ok":
            item.total += row.value
            item.scored += 1
    return [_beside(row, by_key.get(key(row)), against) for row in rows]


def _beside(row: MeasuredRow, control: _Control | None, against: bool) -> MeasuredRow:
    base_answer_id = row.base_answer_id
    if against and control is not None:
        base_answer_id = control.first.answer_id
    if control is not None and control.scored:
        known = control.total / control.scored
        return replace(row, base_answer_id=base_answer_id, control_value=known)
    if row.status != "ok":
        return replace(row, base_answer_id=base_answer_id)
    return replace(
        row,
        base_answer_id=base_answer_id,
        value=NAN,
        status=f"control_{control.first.status}" if control else "control_missing",
        reason=control.first.reason if control else None,
    )


def item_values(rows: Sequence[MeasuredRow]) -> NDArray[np.float64]:
    """Return each item's mean value and control value, shape (items, 2); NaN where unscored."""
    total: dict[str, list[float]] = {}
    for row in rows:
        item = total.setdefault(row.sample_id, [0.0, 0.0, NAN])
        if row.status == "ok":
            item[0] += row.value
            item[1] += 1
            item[2] = row.control_value
    values = [(s / n if n else NAN, control) for s, n, control in total.values()]
    return np.array(values, dtype=np.float64).reshape(-1, 2)
