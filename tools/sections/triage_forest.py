"""Forest plots of the triage metrics by arm, both intervals in each row, and every number."""

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from evenhand.tools import wording
from evenhand.tools.plots.forest import ForestGroup, ForestRow, forest, legend
from evenhand.tools.sections import ReportContext, fill, section
from evenhand.tools.statistics.bootstrap import Bootstrap
from evenhand.tools.triage import words
from evenhand.tools.triage.measure import DTS, NATS_DOWN, NATS_UP, NMD, PDR, TriageNumber
from evenhand.tools.triage.pairs import CONTROL_ARMS, Direction
from evenhand.tools.triage.verdict import outcome_of
from evenhand.tools.triage_view import TriageView

DRAWN = (DTS, NATS_UP, NATS_DOWN, PDR)
"""In points of pairs; the mean disadvantage is in levels and has a plot of its own."""
NOTES = {
    "all_equal": "all values equal",
    "few_discordant": "fewer than 5 pairs moved in only one of the two: wide on purpose",
    "few_changed": "fewer than 10 pairs moved: wide on purpose",
    "few_clusters": "fewer than 20 patients",
    "zero_cell": "a count of 0",
}


@section(title="How often decisions move, and which way")
def triage_forest(context: ReportContext) -> str:
    """Draw the metrics of each arm; below, every number with both intervals."""
    view = context.triage
    return fill(
        "triage_forest.html",
        view=view,
        figures=figures(view, (DRAWN, (NMD,))) if view else "",
        tables=tables(view) if view else [],
        words=words,
        notes=NOTES,
    )


def figures(view: TriageView, metrics: Sequence[Sequence[str]]) -> Markup:
    """Return a forest plot for each group of metrics, and how to read them."""
    return fill(
        "triage_figures.html",
        plots=[_plot(view, some) for some in metrics],
        legend=Markup(  # noqa: S704 - our own SVG, escaped by construction
            legend(
                "differs from 0 (after correction)",
                "not shown, or no test (PDR)",
                "the paper's interval: percentile bootstrap of pairs",
            )
        ),
    )


def _plot(view: TriageView, metrics: Sequence[str]) -> tuple[Markup, Markup, str]:
    """Return the wide and the narrow drawing, and what the axis means."""
    groups = forest_groups(view, metrics)
    up, down = (words.moved(way, view.direction) for way in ("up", "down"))
    if NMD in metrics:
        title, axis = "Net mean disadvantage by arm", (f"levels; + is {up}", f"levels; + is {up}")
    else:
        title = "Triage metrics by arm"
        axis = (f"points of pairs; in DTS + is {up}, {wording.MINUS} is {down}", "points of pairs")
    wide, narrow = (
        Markup(  # noqa: S704 - our own SVG, escaped by construction
            forest(groups, title=title, axis_label=axis[small], narrow=small)
        )
        for small in (False, True)
    )
    return wide, narrow, title


def forest_groups(view: TriageView, metrics: Sequence[str]) -> list[ForestGroup]:
    """Return a group of rows for each arm; controls are grey, silent ones say so."""
    return [
        ForestGroup(
            title=words.arm(arm).capitalize(),
            rows=tuple(_rows(view, arm, metrics)),
            style=place,
        )
        for place, arm in enumerate(view.arms)
    ]


def _rows(view: TriageView, arm: str, metrics: Sequence[str]) -> Iterable[ForestRow]:
    control = arm in CONTROL_ARMS
    if control and view.is_silent(arm):
        silent = ForestRow(
            id=f"{arm}-{metrics[0]}",
            label=words.arm_short(arm),
            detail="nothing moved in this arm",
            control=True,
            reason=words.NO_INFORMATION,
        )
        return [silent]
    return [
        forest_row(number, view.direction, control=control)
        for metric in metrics
        for number in view.results.find(metric, arm=arm)
        if metric != PDR or number.symbol == "PDR"
    ]


def forest_row(
    number: TriageNumber, direction: Direction | None, *, control: bool = False
) -> ForestRow:
    """Return a row from a number: shares as points, the mean disadvantage as levels."""
    estimate = number.estimate
    factor = 1.0 if number.metric == NMD else 100.0

    def scaled(end: float | None) -> float | None:
        return None if end is None else factor * end

    p = words.p_words(number.p_adjusted)
    counts = [f"n {estimate.n:,}", f"p {p}" if p else "", _boot(number.bootstrap, number)]
    whole = estimate.low is not None and estimate.high is not None
    return ForestRow(
        id=f"{number.arm}-{number.symbol}",
        label=words.symbol(number.symbol),
        detail=words.short_meaning(number, direction),
        value=scaled(estimate.value) if whole else None,
        low=scaled(estimate.low),
        high=scaled(estimate.high),
        beside=_beside(number.bootstrap, factor) if whole else None,
        numbers=words.value_text(number),
        counts=" · ".join(part for part in counts if part),
        significant=outcome_of(number) == "found" and not control,
        control=control,
        reason=words.value_text(number).removeprefix("not estimable: "),
        href=f"#numbers-{number.arm}",
    )


def _boot(limits: Bootstrap | None, number: TriageNumber) -> str:
    text = words.bootstrap_text(limits, words.unit(number))
    return f"paper {text}" if text else ""


def _beside(limits: Bootstrap | None, factor: float) -> tuple[float, float] | None:
    if limits is None or limits.low is None or limits.high is None:
        return None
    return factor * limits.low, factor * limits.high


def tables(view: TriageView) -> list[tuple[str, str, str, list[TriageNumber], list[str]]]:
    """Return (arm, heading, purpose, numbers without the net ones, flags) of each arm."""
    made = []
    for arm in view.arms:
        some = [one for one in view.results.numbers if one.arm == arm and not one.control_arm]
        flags = sorted({str(flag) for one in some for flag in one.estimate.flags})
        made.append((arm, words.arm(arm).capitalize(), words.arm_purpose(arm), some, flags))
    return made
