"""Two deciders, or two models, on the same visits: side by side, with their paired difference."""

from evenhand.tools import wording
from evenhand.tools.sections import ReportContext, fill, section
from evenhand.tools.statistics.estimate import ALPHA
from evenhand.tools.triage import words
from evenhand.tools.triage.deciders import DeciderDifference
from evenhand.tools.triage.measure import NMD, PDR, TriageNumber
from evenhand.tools.units import Unit


@section(title="Two on the same visits")
def deciders(context: ReportContext) -> str:
    """Set this decider and model beside others on the same visits; empty where there is one."""
    view = context.triage
    tables = []
    if view is not None:
        for other in view.others:
            main = [one for one in other.differences if one.arm == view.results.main_arm]
            rest = [one for one in other.differences if one.arm != view.results.main_arm]
            tables.append((other, main, rest))
    return fill(
        "deciders.html",
        view=view,
        context_run=context.run_id,
        tables=tables,
        words=words,
        meaning=lambda one: words.meaning(
            TriageNumber(one.metric, one.symbol, one.arm, one.groups, one.estimate),
            view.direction if view else None,
        ),
        value=value_text,
        difference=difference_text,
        is_notable=lambda one: one.p_adjusted is not None and one.p_adjusted < ALPHA,
    )


def value_text(one: DeciderDifference, value: float | None) -> str:
    """Return one decider's number; "not scored" where there is none."""
    if value is None:
        return "not scored"
    units: dict[str, Unit] = {PDR: "rate", NMD: "score_difference"}
    return wording.number(value, units.get(one.metric, "net_rate"))


def difference_text(one: DeciderDifference) -> str:
    """Return the paired difference of two with its interval, or why there is none."""
    return words.estimate_text(
        one.estimate, "net_rate" if one.metric != NMD else "score_difference"
    )
