"""What relations expose beside what mere noise exposes, and how often answers do not agree."""

from dataclasses import dataclass

from evenhand.graph_store.records import Measurement
from evenhand.tools.pairing import PLACEBO, REPEAT
from evenhand.tools.sections import ReportContext, fill, section

WHAT = {
    PLACEBO: "an unrelated sentence before the question",
    REPEAT: "the same question asked again",
}


@dataclass(frozen=True)
class ControlLine:
    """A relation or control arm: what it exposes, net of each control, and what it breaks."""

    group: str
    exposed: Measurement
    net: dict[str, Measurement]
    """By control arm."""
    violations: Measurement | None


@section(title="Beyond noise")
def relation_controls(context: ReportContext) -> str:
    """Set what each relation newly exposes beside placebo and repeat, and net of them."""
    planned = context.plan.get("controls") or ()
    return fill(
        "relation_controls.html",
        context=context,
        lines=control_lines(context),
        controls=[name for name in (PLACEBO, REPEAT) if name in planned],
        what=WHAT,
    )


def control_lines(context: ReportContext) -> list[ControlLine]:
    """Return a line for each relation and control arm, in the order measured."""
    violations = {one.groups: one for one in context.of_metric("output_violations")}
    net: dict[tuple[str, ...], dict[str, Measurement]] = {}
    for one in context.of_metric("newly_exposed_net"):
        net.setdefault(one.groups, {})[one.control_arm or ""] = one
    return [
        ControlLine(one.groups[0], one, net.get(one.groups, {}), violations.get(one.groups))
        for one in context.of_metric("newly_exposed")
    ]
