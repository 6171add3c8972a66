"""Verdicts -> Measurements: value, interval, n, what was left out, control, test, family.

Pure functions over the records of a run. A metric says by its `data` what it takes; from that
follow the cells, the rows behind them (tools/pairing.py), the interval and the test:

| data | a cell for each | rows |
|---|---|---|
| scores | asked arm, dimension | answers with their association score |
| score_pairs | asked arm but original, dimension | the same, beside the original's score |
| changes | asked arm but original, group, placebo, repeat | answers changed against `base` |
| change_pairs | the same without repeat | the same, beside the item's repeat |

Every planned cell is measured, also when there is nothing in it. Where every item has one pair, it
is changed or not, and shares are compared (Wilson, Tango, McNemar); where an item has several, its
value is the mean over them, and means are compared instead (half-pseudo-item, t, sign flips).
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenhand.graph_store.records import Measurement, child_id
from evenhand.graph_store.run_directory import RunDirectory
from evenhand.tools.metrics import Metric, MetricData, metrics
from evenhand.tools.pairing import (
    ASSOCIATION,
    CHANGE,
    DIMENSIONS,
    ORIGINAL,
    PLACEBO,
    REPEAT,
    MeasuredRow,
    Planned,
    RecordIndex,
    item_values,
    with_control,
)
from evenhand.tools.statistics.estimate import SAME, Estimate, Numbers, nothing_scored
from evenhand.tools.statistics.families import P, benjamini_hochberg, holm
from evenhand.tools.statistics.intervals import (
    HALF_PSEUDO,
    STUDENT,
    TANGO,
    WIDER,
    bounded_mean,
    paired_difference,
    paired_mean,
    proportion,
)

__all__ = ["MeasuredRow", "RecordIndex", "cell_rows", "measure", "rows_of"]

CONTROL_ARMS: dict[MetricData, str] = {"score_pairs": ORIGINAL, "change_pairs": REPEAT}
FAMILIES: dict[MetricData, str] = {"score_pairs": ASSOCIATION, "change_pairs": CHANGE}
ADJUSTMENTS: dict[str, tuple[str, Callable[[Sequence[P]], list[P]]]] = {
    CHANGE: ("Holm", holm),
    ASSOCIATION: ("Benjamini-Hochberg", benjamini_hochberg),
}
MCNEMAR, SIGN_FLIPS = "McNemar mid-p", "sign flips"
DRAWN = (HALF_PSEUDO, STUDENT, WIDER)
"""Methods that draw: the bootstrap, and the sign flips beside t."""
NO_CONTROL = "no_control"


@dataclass(frozen=True)
class Cell:
    """One number to be made."""

    metric: Metric
    arm: str
    group: str
    """A dimension of the score, or a group of variants."""


def measure(run: RunDirectory, metric_names: Sequence[str], seed: int) -> list[Measurement]:
    """Measure every planned cell of the named metrics.

    Args:
        run: A run whose stages up to `judge` are there, whole or in part.
        metric_names: Registered metrics, in the order of the report.
        seed: Seed of the draws of bootstraps and sign flips, the same in each cell.

    Returns:
        A Measurement for each cell, in order; "not_estimable" with a reason where nothing could be
        measured. Linear in the number of records.

    Raises:
        UserError: No such metric.
    """
    chosen = [metrics.get(name) for name in metric_names]
    index = RecordIndex.read(run)
    cells = [cell for one in chosen for cell in cells_of(index.planned, one)]
    made = [
        _measure_cell(index, cell, _measurement_id(run.run_id, position, cell), seed)
        for position, cell in enumerate(cells)
    ]
    return adjust_families(made)


def rows_of(run: RunDirectory, measurement: Measurement) -> list[MeasuredRow]:
    """Return the rows behind a measurement, the unscored ones included.

    Reads the run; to open many numbers, read a RecordIndex once and call `cell_rows`.
    """
    return cell_rows(RecordIndex.read(run), measurement)


def cell_rows(index: RecordIndex, measurement: Measurement) -> list[MeasuredRow]:
    """Return the rows behind a measurement of an indexed run."""
    metric = metrics.get(measurement.metric)
    return _rows(index, Cell(metric, measurement.arm, measurement.groups[0]))


def cells_of(planned: Planned, metric: Metric) -> Iterator[Cell]:
    """Yield the cells that a plan promises for a metric."""
    changed_arms = [arm for arm in planned.asked if arm != ORIGINAL]
    arms = planned.asked if metric.data == "scores" else changed_arms
    placebo = [control for control in planned.controls if control == PLACEBO]
    repeat = [control for control in planned.controls if control == REPEAT]
    groups = {
        "scores": DIMENSIONS,
        "score_pairs": DIMENSIONS,
        "changes": (*planned.groups, *placebo, *repeat),
        "change_pairs": (*planned.groups, *placebo),
    }[metric.data]
    for arm in arms:
        for group in groups:
            yield Cell(metric, arm, group)


def _rows(index: RecordIndex, cell: Cell) -> list[MeasuredRow]:
    lacking = _lacks_control(index.planned, cell)
    match cell.metric.data:
        case "scores":
            return index.score_rows(cell.arm, cell.group)
        case "score_pairs":
            control = [] if lacking else index.score_rows(ORIGINAL, cell.group)
            return with_control(index.score_rows(cell.arm, cell.group), control, against=True)
        case "changes":
            return index.change_rows(cell.arm, cell.group)
        case "change_pairs":
            control = [] if lacking else index.change_rows(cell.arm, REPEAT)
            return with_control(index.change_rows(cell.arm, cell.group), control)


def _measurement_id(run_id: str, position: int, cell: Cell) -> str:
    return child_id(run_id, "m", position, cell.metric.name, cell.arm, cell.group)


def _measure_cell(index: RecordIndex, cell: Cell, identity: str, seed: int) -> Measurement:
    rows = _rows(index, cell)
    items = item_values(rows)
    scored = items[~np.isnan(items[:, 0])]
    estimate = estimate_items(cell.metric, items, seed)
    ok = estimate.status == "ok"
    control_arm = CONTROL_ARMS.get(cell.metric.data)
    return Measurement(
        id=identity,
        status=estimate.status,
        metric=cell.metric.name,
        arm=cell.arm,
        groups=(cell.group,),
        value=estimate.value if ok else None,
        low=estimate.low,
        high=estimate.high,
        n=estimate.n,
        unscored=unscored_by_status(rows),
        control=float(scored[:, 1].mean()) if ok and control_arm else None,
        control_arm=control_arm,
        p=estimate.p,
        family=_family(cell),
        method=_method(estimate),
        reason_code=NO_CONTROL if _lacks_control(index.planned, cell) else estimate.reason_code,
        flags=estimate.flags,
        counts=counts_behind(cell.metric, scored),
        seed=seed if ok and estimate.method in DRAWN else None,
    )


def estimate_items(metric: Metric, items: Numbers, seed: int) -> Estimate:
    """Return a metric over items with the interval and the test of its kind of data.

    Args:
        metric: What to compute.
        items: Value and control value of each item, shape (n, 2); NaN is unscored.
        seed: Seed of the draws.

    Returns:
        The metric's own value. An interval of the mean belongs to no other statistic, so a metric
        that computes something else has none.
    """
    array = items if metric.data in CONTROL_ARMS else items[:, 0]
    value = float(metric.compute(array))
    scored = items[~np.isnan(items[:, 0])]
    if math.isnan(value) or not len(scored):
        return nothing_scored(len(items), "")
    estimate = _mean_of(metric, scored, seed)
    if estimate.value is not None and abs(estimate.value - value) >= SAME:
        return Estimate("ok", value, n=estimate.n, method="no interval")
    return replace(estimate, n_unscored=len(items) - len(scored))


def _mean_of(metric: Metric, scored: Numbers, seed: int) -> Estimate:
    low, high = metric.bounds
    variant, control = scored[:, 0], scored[:, 1]
    whole = bool(np.isin(scored[~np.isnan(scored)], (0, 1)).all())
    match metric.data:
        case "changes" if whole:
            return proportion(int(variant.sum()), len(scored))
        case "change_pairs" if whole:
            counts = counts_behind(metric, scored)
            return paired_difference(counts["only_variant"], counts["only_control"], len(scored))
        case "scores" | "changes":
            return bounded_mean(variant, low=low, high=high, seed=seed)
        case "score_pairs" | "change_pairs":
            return paired_mean(variant, control, low=low, high=high, seed=seed)


def counts_behind(metric: Metric, scored: Numbers) -> dict[str, int]:
    """Return the counts of scored items behind a number.

    Changes: `changed` items (in at least one pair), `control_changed` items; `only_variant` items
    changed more by the variant than by the control, `only_control` the other way round. Score
    pairs: `higher` and `lower` items than in the control arm.
    """
    variant, control = scored[:, 0], scored[:, 1]
    above = int((variant - control >= SAME).sum())
    below = int((control - variant >= SAME).sum())
    match metric.data:
        case "scores":
            return {}
        case "score_pairs":
            return {"higher": above, "lower": below}
        case "changes":
            return {"changed": int((variant > 0).sum())}
        case "change_pairs":
            return {
                "changed": int((variant > 0).sum()),
                "control_changed": int((control > 0).sum()),
                "only_variant": above,
                "only_control": below,
            }


def unscored_by_status(rows: Sequence[MeasuredRow]) -> dict[str, int]:
    """Count the rows that are left out, by what left them out."""
    return dict(sorted(Counter(row.status for row in rows if row.status != "ok").items()))


def _lacks_control(planned: Planned, cell: Cell) -> bool:
    match cell.metric.data:
        case "score_pairs":
            return ORIGINAL not in planned.asked
        case "change_pairs":
            return REPEAT not in planned.controls
    return False


def _family(cell: Cell) -> str | None:
    """Return the question that a test belongs to; the placebo is a control, and asks none."""
    return None if cell.group == PLACEBO else FAMILIES.get(cell.metric.data)


def _method(estimate: Estimate) -> str:
    if estimate.p is None:
        return estimate.method
    return f"{estimate.method}; {MCNEMAR if estimate.method == TANGO else SIGN_FLIPS}"


def adjust_families(measurements: Sequence[Measurement]) -> list[Measurement]:
    """Adjust the p-values within each family.

    The paired change net of repeat is what an audit asks: Holm. The shift of the association score
    changes wording and way of asking too, so it only explores: Benjamini-Hochberg.
    """
    adjusted = dict(enumerate(measurements))
    for family, (name, adjust) in ADJUSTMENTS.items():
        members = [i for i, m in adjusted.items() if m.family == family and m.p is not None]
        for i, p in zip(members, adjust([adjusted[i].p for i in members]), strict=True):
            update = {"p_adjusted": p, "method": f"{adjusted[i].method}; {name}"}
            adjusted[i] = adjusted[i].model_copy(update=update)
    return list(adjusted.values())
