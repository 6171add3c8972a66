"""What is left of each arm when the movement of the control arms is taken off."""

from evenhand.tools.sections import ReportContext, fill, section
from evenhand.tools.statistics.estimate import ALPHA
from evenhand.tools.triage import words
from evenhand.tools.triage.measure import TriageNumber
from evenhand.tools.triage.pairs import CONTROL_ARMS
from evenhand.tools.triage_view import TriageView


@section(title="Against the noise")
def controls(context: ReportContext) -> str:
    """Show each number of each arm with its control, and the net of both."""
    view = context.triage
    return fill(
        "controls.html",
        view=view,
        arms=[
            (words.arm(name).capitalize(), words.arm_purpose(name), silence(view, name))
            for name in CONTROL_ARMS
            if name in view.arms
        ]
        if view
        else [],
        tables=net_tables(view) if view else [],
        words=words,
        is_notable=lambda one: one.p_adjusted is not None and one.p_adjusted < ALPHA,
    )


def silence(view: TriageView, control: str) -> str:
    """Say how much moved in a control arm; that it says nothing where nothing did."""
    pairs = view.arms[control].scored
    if not pairs.steps.size:
        return f"{words.NO_INFORMATION}: no pair was scored"
    moved = int((pairs.steps != 0).sum())
    if not moved:
        return (
            f"{words.NO_INFORMATION}: none of {pairs.steps.size:,} pairs moved, as must be where "
            "the same is decided by the same rule; this is no proof that there is no noise"
        )
    return f"{moved:,} of {pairs.steps.size:,} pairs moved"


def net_tables(view: TriageView) -> list[tuple[str, list[TriageNumber]]]:
    """Return the net numbers of each arm, the main arm first."""
    main = view.results.main_arm
    found = []
    for arm in sorted(view.arms, key=lambda name: name != main):
        some = [one for one in view.results.numbers if one.arm == arm and one.control_arm]
        if some:
            found.append((words.arm(arm).capitalize(), some))
    return found
