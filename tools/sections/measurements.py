"""Every number of the run: value, interval, n, what was left out, control, net, p, Holm."""

from collections.abc import Sequence

from evenhand.graph_store.records import Measurement
from evenhand.tools import wording
from evenhand.tools.metrics import metrics
from evenhand.tools.sections import ReportContext, fill, group_by, section

_NOTES = {
    "all_equal": "all values equal",
    "few_discordant": "fewer than 5 cases changed in only one of the two arms: wide on purpose",
    "few_changed": "fewer than 10 cases changed: wide on purpose",
    "few_clusters": "fewer than 20 patients",
    "truncated": "cut at the end of the scale",
}


@section(title="All numbers")
def measurements(context: ReportContext) -> str:
    """List the numbers, a table for each metric; each number leads to its rows."""
    by_metric = group_by(context.shown, lambda one: one.metric)
    return fill(
        "measurements.html",
        context=context,
        tables=[
            (metric_name(metric), metric_promise(metric), wording.unit_of(metric), some)
            for metric, some in by_metric.items()
        ],
        control_text=control_text,
        footnotes=footnotes,
        correction_of=correction_of,
        hidden=len(context.measurements) - len(context.shown),
    )


def correction_of(some: Sequence[Measurement]) -> str:
    """Return how the p-values of a table were corrected for their number."""
    named = [name for one in some if (name := wording.correction(one))]
    return named[0] if named else "corrected"


def metric_name(metric: str) -> str:
    """Return what a metric is called, from the first line of its docstring."""
    return _first_line(metric).partition(":")[0]


def metric_promise(metric: str) -> str:
    """Return what a metric computes, from the same line; empty where it says no more."""
    return _first_line(metric).partition(":")[2].strip()


def _first_line(metric: str) -> str:
    if metric not in metrics.names():
        return metric.replace("_", " ").capitalize()
    return metrics.get(metric).title.rstrip(".").replace("`", "")


def control_text(one: Measurement, unit: wording.Unit) -> str:
    """Return the same number in the control arm, "16.7 % (repeat)", or what it is by chance."""
    if one.floor is not None and one.floor_high is not None:
        name = wording.short_arm(one.control_arm or "")
        return f"{name}; without a difference {one.floor:.3f}, at most {one.floor_high:.3f} (95 %)"
    if one.control is None:
        return ""
    plain: wording.Unit = "rate" if unit == "net_rate" else "score"
    name = wording.short_arm(one.control_arm or "control")
    return f"{wording.number(one.control, plain)} ({name})"


def footnotes(some: Sequence[Measurement]) -> dict[str, str]:
    """Return what a reader must know of some numbers of a table: flag -> words, in order."""
    flags = sorted({flag for one in some for flag in one.flags})
    return {flag: _NOTES.get(flag, flag.replace("_", " ")) for flag in flags}
