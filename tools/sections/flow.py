"""Which visits take part: every filter with its count, then the pairs of each arm."""

from collections.abc import Mapping

from evenhand.tools.sections import ReportContext, fill, section
from evenhand.tools.triage import words

LISTS = {"own list": "our own list", "as published": "the published list"}
"""The two lists of sex-specific content, of which one was used; both counts are shown."""


@section(title="Which visits take part")
def flow(context: ReportContext) -> str:
    """Show the flow table and the fate of the pairs."""
    view = context.triage
    steps = [(step, detail_text(step.details)) for step in view.flow] if view else []
    arms = [(words.arm(name), pairs) for name, pairs in view.arms.items()] if view else []
    sides = {side: sum(s.split == side for s in context.samples) for side in ("train", "audit")}
    return fill("flow.html", view=view, steps=steps, arms=arms, sides=sides, words=words)


def detail_text(details: Mapping[str, int]) -> str:
    """Return why visits were left out, with counts; of the two lists, what each leaves out."""
    return ", ".join(
        f"{LISTS.get(name, name.replace('_', ' '))} {count:,}" for name, count in details.items()
    )
