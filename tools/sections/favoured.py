"""Whom the biased answers favour: a group, or merely whoever is named first."""

from evenhand.graph_store.records import Measurement
from evenhand.tools import wording
from evenhand.tools.sections import ReportContext, fill, section
from evenhand.tools.sections.relations_by_category import is_notable


@section(title="Whom biased answers favour")
def favoured(context: ReportContext) -> str:
    """Show how often each group is favoured, and how often the group named first."""
    groups = context.of_metric("favoured_group")
    told = sorted((one for one in groups if one.value is not None), key=_order)
    return fill(
        "favoured.html",
        context=context,
        groups=told,
        too_few=len(groups) - len(told),
        places=[one for one in context.of_metric("favoured_first") if one.n],
        is_notable=is_notable,
        summary=summary(told),
    )


def _order(one: Measurement) -> tuple[str, float]:
    return one.groups[0], -(one.value or 0.0)


def summary(told: list[Measurement]) -> str:
    """Return in a sentence which groups differ from balance after correction."""
    found = [one for one in told if is_notable(one)]
    if not found:
        return (
            "No group is favoured or disfavoured beyond what chance between two groups can do, "
            "which is not the same as balance."
        )
    names = [
        f"{one.groups[1]} ({wording.number(one.value or 0.0, 'rate')})"
        for one in sorted(found, key=lambda one: -(one.value or 0.0))
    ]
    return f"Differing from one half after correction: {', '.join(names)}."
