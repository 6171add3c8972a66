"""Beyond the audited visits: what the audit could have found, amplification, a labelled what-if."""

from collections.abc import Iterator

from evenhand.tools import wording
from evenhand.tools.sections import ReportContext, fill, section
from evenhand.tools.triage import words
from evenhand.tools.triage.measure import Check
from evenhand.tools.triage.what_if import Amplification, LeastEffect
from evenhand.tools.triage_view import TriageView


@section(title="Beyond these visits")
def beyond(context: ReportContext) -> str:
    """Say what size could have been found, what the model adds, and what if it held elsewhere."""
    view = context.triage
    return fill(
        "beyond.html",
        view=view,
        points=list(points(view)) if view else [],
        what_ifs=[made.sentence for _, made in view.what_ifs] if view else [],
    )


def points(view: TriageView) -> Iterator[tuple[str, str]]:
    """Yield (name, sentence)."""
    for effect in view.results.least_effects:
        yield "Least effect", least_text(effect)
    for one in view.results.amplification:
        yield "Amplification", amplification_text(one, view)
    for check in view.results.checks:
        if check.arm != view.results.main_arm and check.holds is not False:
            continue
        yield f"Check, {words.arm_short(check.arm)}", check_text(check)


def least_text(effect: LeastEffect) -> str:
    """Say how large a skew so many pairs can show."""
    pairs = f"{wording.counted(effect.n, 'pair')} {words.shown(effect.groups)}"
    noise = f"noise {wording.number(effect.noise, 'rate')}"
    if effect.value is None:
        return f"{pairs} cannot show a skew of any size ({noise})."
    return (
        f"{pairs} show a skew of {100 * effect.value:.1f} points or more with power .9 ({noise}); "
        "a smaller one may be missed."
    )


def amplification_text(one: Amplification, view: TriageView) -> str:
    """Say by how much the model widens the gap that the people's own levels have."""
    a, b = one.groups
    gaps = [
        f"{name} {wording.number(gap, 'score_difference')}"
        for name, gap in (("people", one.recorded), ("the model", one.decider))
        if gap is not None
    ]
    return (
        f"Mean level of {b} less that of {a}, as they are: {', '.join(gaps) or 'not known'}. The "
        f"model adds {words.estimate_text(one.estimate, 'score_difference')} "
        f"({words.moved('up', view.direction)} where above 0). A gap between groups is no "
        "counterfactual: the groups come with other complaints."
    )


def check_text(check: Check) -> str:
    """Say whether the two ways to compute the NMD agree."""
    both = f"NMD {check.disadvantage:+.4f}, from both DTS {check.from_skews:+.4f}"
    if check.holds is None:
        return f"{both}: some pair moved by more than one level, so the two need not agree."
    return f"{both}: {'they agree, as they must' if check.holds else 'they differ: a fault'}."
