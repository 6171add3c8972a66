"""Verdicts -> Measurements: value, interval, n, what was left out, control, test, family.

Pure functions over the records of a run. A metric says by its `data` what kind of data it takes;
the kind (tools/data_kinds) gives the cells, the rows behind them, the interval and the test.

Every planned cell is measured, also when there is nothing in it. Where every item has one pair, it
is changed or not, and shares are compared (Wilson, Tango, McNemar); where an item has several, its
value is the mean over them, and means are compared instead (half-pseudo-item, t, sign flips).
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from evenhand.graph_store.records import ADDED, Measurement, child_id
from evenhand.graph_store.run_directory import RunDirectory
from evenhand.tools.data_kinds import Cell, DataKind, data_kinds
from evenhand.tools.measured_rows import MeasuredRow
from evenhand.tools.metrics import Metric, metrics
from evenhand.tools.pairing import NOT_NEEDED, RecordIndex
from evenhand.tools.statistics.divergence import SWAPPED
from evenhand.tools.statistics.estimate import SAME, Estimate, Numbers, nothing_scored
from evenhand.tools.statistics.families import benjamini_hochberg, holm
from evenhand.tools.statistics.intervals import HALF_PSEUDO, STUDENT, WIDER

__all__ = ["MeasuredRow", "RecordIndex", "cell_rows", "measure", "rows_of"]

DRAWN = (HALF_PSEUDO, STUDENT, WIDER, SWAPPED)
"""Methods that draw: bootstrap and swaps, and the sign flips beside t."""
NO_CONTROL, NOT_STATED = "no_control", "not_stated"


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
    cells = [cell for one in chosen for cell in cells_of(index, one)]
    made = [
        _measure_cell(index, cell, _measurement_id(run.run_id, position, cell), seed)
        for position, cell in enumerate(cells)
    ]
    return adjust_families(made)


def cells_of(index: RecordIndex, metric: Metric) -> list[Cell]:
    """Return the cells that a plan promises for a metric; none where its rubric is not judged."""
    kind = data_kinds.get(metric.data)
    judged = not kind.rubric or kind.rubric in index.planned.rubrics
    return list(kind.cells(index, metric)) if judged else []


def rows_of(run: RunDirectory, measurement: Measurement) -> list[MeasuredRow]:
    """Return the rows behind a measurement, the unscored ones included.

    Reads the run; to open many numbers, read a RecordIndex once and call `cell_rows`.
    """
    return cell_rows(RecordIndex.read(run), measurement)


def cell_rows(index: RecordIndex, measurement: Measurement) -> list[MeasuredRow]:
    """Return the rows behind a measurement of an indexed run."""
    metric = metrics.get(measurement.metric)
    cell = Cell(metric, measurement.arm, measurement.groups, measurement.control_arm)
    return data_kinds.get(metric.data).rows(index, cell)


def _measurement_id(run_id: str, position: int, cell: Cell) -> str:
    return child_id(run_id, "m", position, cell.metric.name, cell.arm, *cell.groups)


def _measure_cell(index: RecordIndex, cell: Cell, identity: str, seed: int) -> Measurement:
    kind = data_kinds.get(cell.metric.data)
    rows = kind.rows(index, cell)
    items = kind.items(rows)
    scored = kind.scored(items)
    estimate = estimate_items(cell.metric, items, seed)
    ok = estimate.status == "ok"
    worst = kind.worst_case(cell.metric, scored, kind.missing(rows)) if ok else None
    return Measurement(
        id=identity,
        status=estimate.status,
        metric=cell.metric.name,
        arm=cell.arm,
        groups=cell.groups,
        value=estimate.value if ok else None,
        low=estimate.low,
        high=estimate.high,
        n=estimate.n,
        unscored=kind.unscored(rows),
        control=kind.control(scored) if ok else None,
        control_arm=cell.against,
        floor=estimate.floor,
        floor_high=estimate.floor_high,
        worst_low=worst[0] if worst else None,
        worst_high=worst[1] if worst else None,
        p=estimate.p,
        family=kind.family(cell),
        method=_method(kind, estimate),
        reason_code=_reason(index, kind, cell, rows) or estimate.reason_code,
        flags=estimate.flags,
        counts=kind.counts(scored),
        seed=seed if ok and estimate.method in DRAWN else None,
    )


def estimate_items(metric: Metric, items: Numbers, seed: int) -> Estimate:
    """Return a metric over items with the interval and the test of its kind of data.

    Args:
        metric: What to compute.
        items: One entry an item, shape (n, ...); NaN is unscored.
        seed: Seed of the draws.

    Returns:
        The metric's own value. An interval of the mean belongs to no other statistic, so a metric
        that computes something else than its kind estimates has none.
    """
    kind = data_kinds.get(metric.data)
    value = float(metric.compute(kind.array(items)))
    scored = kind.scored(items)
    if math.isnan(value) or not len(scored):
        return nothing_scored(len(items), "")
    estimate = kind.estimate(metric, scored, seed)
    if estimate.value is not None and abs(estimate.value - value) >= SAME:
        return Estimate("ok", value, n=estimate.n, method="no interval")
    unscored = len(items) - len(scored)
    return replace(estimate, n_unscored=unscored).within(*metric.bounds)


def _reason(
    index: RecordIndex, kind: DataKind, cell: Cell, rows: Sequence[MeasuredRow]
) -> str | None:
    """Return why a cell is empty by plan or by the sources, before any answer."""
    made = [row for row in rows if _has_base(index, row)]
    if made and any(name.startswith(ADDED) for name in cell.groups):
        if all(row.status == NOT_NEEDED for row in made):
            return NOT_NEEDED
    elif made and all((row.reason or "").startswith(NOT_STATED) for row in made):
        return NOT_STATED
    return NO_CONTROL if kind.lacks_control(index.planned, cell) else kind.why_nothing(index, cell)


def _has_base(index: RecordIndex, row: MeasuredRow) -> bool:
    """Return whether the row's sample has a base text, of which variants are made."""
    if row.status == "sample_skipped":
        return False
    variant = index.variants_by_id.get(row.variant_id or "")
    return variant is None or variant.arm != "base" or variant.status == "ok"


def _method(kind: DataKind, estimate: Estimate) -> str:
    if estimate.p is None:
        return estimate.method
    return f"{estimate.method}; {kind.test(estimate)}"


def adjust_families(measurements: Sequence[Measurement]) -> list[Measurement]:
    """Adjust the p-values within each family.

    What an audit asks is confirmed: Holm. The rest only explores: Benjamini-Hochberg.
    """
    adjusted = list(measurements)
    members: dict[str, list[int]] = defaultdict(list)
    for place, one in enumerate(adjusted):
        if one.family is not None and one.p is not None:
            members[one.family].append(place)
    for places in members.values():
        confirms = data_kinds.get(metrics.get(adjusted[places[0]].metric).data).confirmatory
        name, adjust = ("Holm", holm) if confirms else ("Benjamini-Hochberg", benjamini_hochberg)
        for place, p in zip(places, adjust([adjusted[i].p for i in places]), strict=True):
            update = {"p_adjusted": p, "method": f"{adjusted[place].method}; {name}"}
            adjusted[place] = adjusted[place].model_copy(update=update)
    return adjusted
