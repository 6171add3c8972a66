"""What was found, how sure, above which noise: to be understood within a minute."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evenhand.graph_store.records import Measurement
from evenhand.tools import wording
from evenhand.tools.plots.palette import arm_role
from evenhand.tools.sections import (
    ReportContext,
    Summary,
    arm_position,
    fill,
    group_by,
    section,
    sections,
)
from evenhand.tools.statistics.estimate import ALPHA, is_borderline

Outcome = Literal["found", "fewer", "borderline", "not_found", "too_few", "not_estimable"]

CONTROLS = ("repeat", "placebo", "base")
OUTCOME_WORDS: dict[Outcome, str] = {
    "found": "change found",
    "fewer": "fewer changes",
    "borderline": "borderline",
    "not_found": "not found",
    "too_few": "too few to tell",
    "not_estimable": "not estimable",
}


@dataclass(frozen=True)
class Finding:
    """One net number and what may be said of it."""

    measurement: Measurement
    outcome: Outcome

    @property
    def group(self) -> str:
        """What was changed, in words."""
        return wording.groups(self.measurement.groups)

    @property
    def arm(self) -> str:
        """The way of asking, in words."""
        return wording.short_arm(self.measurement.arm)


def is_control(measurement: Measurement) -> bool:
    """Return whether a number describes a control arm, not a finding."""
    return any(group in CONTROLS for group in measurement.groups)


def outcome_of(measurement: Measurement) -> Outcome:
    """Say what a net number shows: the corrected p-value decides, the interval sizes.

    Where the two disagree about zero, either way, it is borderline.
    """
    if measurement.value is None:
        return "not_estimable"
    p = decisive_p(measurement)
    if measurement.low is None or measurement.high is None or p is None:
        return "not_estimable"
    if is_borderline(measurement.low, measurement.high, p):
        return "borderline"
    if p >= ALPHA:
        return "not_found"
    return "found" if measurement.value > 0 else "fewer"


def decisive_p(measurement: Measurement) -> float | None:
    """Return the p-value after Holm; the raw one where nothing was corrected."""
    return measurement.p if measurement.p_adjusted is None else measurement.p_adjusted


def p_words(measurement: Measurement) -> str:
    """Return the deciding p-value: "p 0.03 (Holm)"."""
    p = decisive_p(measurement)
    if p is None:
        return ""
    return wording.p_value(p, wording.correction(measurement))


def findings(context: ReportContext) -> list[Finding]:
    """Return a finding for each net number that is not of a control arm."""
    net = [one for one in context.of_kind("change_pairs") if not is_control(one)]
    return [Finding(one, _with_size(one, outcome_of(one))) for one in net]


def _with_size(measurement: Measurement, outcome: Outcome) -> Outcome:
    """Not found, where no effect of any size could have been found, is no finding at all."""
    hopeless = outcome == "not_found" and _least_effect(measurement) is None
    return "too_few" if hopeless else outcome


def _least_effect(measurement: Measurement) -> float | None:
    from evenhand.tools.statistics.power import least_effect

    return least_effect(measurement.n, measurement.control or 0.0)


def summary(context: ReportContext) -> Summary:
    """Return the verdict in brief, with the plot of the net numbers."""
    found = findings(context)
    plot = sections.get("forest").render(context)
    return Summary(headline(found), sentences(context, found), noise_sentence(context), plot)


@section(title="What was found", summary=summary)
def verdict(context: ReportContext) -> str:
    """Say in plain sentences what was found; then a card for each thing that was changed."""
    found = findings(context)
    return fill(
        "verdict.html",
        context=context,
        headline=headline(found),
        sentences=sentences(context, found),
        cards=group_by(found, lambda finding: finding.group),
        words=OUTCOME_WORDS,
        colour=lambda finding: arm_role(arm_position(finding.measurement.arm)),
        p_words=p_words,
        noise=noise_sentence(context),
        judged=judged_sentence(context),
        left_out=left_out_sentence(context),
    )


def headline(found: Sequence[Finding]) -> str:
    """Return the answer in a few words."""
    by_outcome = group_by(found, lambda finding: finding.outcome)

    def named(outcome: Outcome) -> list[str]:
        return list(dict.fromkeys(finding.group for finding in by_outcome[outcome]))

    if "found" in by_outcome:
        return f"Yes, with {_together(named('found'))}: more often than noise explains."
    if "borderline" in by_outcome:
        names = named("borderline")
        return f"Not decided: {_together(names)} {'is' if len(names) == 1 else 'are'} borderline."
    if "not_found" in by_outcome:
        return "Not found, which is not the same as fair."
    if "fewer" in by_outcome:
        return "No: the answers changed less often than on a mere repeat."
    if "too_few" in by_outcome:
        return "Too few cases to tell."
    return "It cannot be said from this run."


def _together(names: Sequence[str]) -> str:
    """Return "age and gender", "age, gender and age + gender"."""
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def sentences(context: ReportContext, found: Sequence[Finding]) -> list[str]:
    """Return at most one sentence for each outcome that occurs, the strongest first."""
    by_outcome = group_by(found, lambda finding: finding.outcome)
    writers = {
        "found": lambda some: _found(context, some),
        "fewer": _fewer,
        "borderline": _borderline,
        "not_found": _not_found,
        "too_few": _too_few,
        "not_estimable": _not_estimable,
    }
    lines = [write(by_outcome[name]) for name, write in writers.items() if name in by_outcome]
    return lines or ["Nothing was measured, so nothing can be said about bias."]


def _found(context: ReportContext, some: Sequence[Finding]) -> str:
    cases = wording.counted(sum(s.status == "ok" for s in context.samples), "case")
    return (
        f"With {cases}, the answer changed more often than on a mere repeat of the question "
        f"when only this was changed: {_listed(some)}."
    )


def _fewer(some: Sequence[Finding]) -> str:
    return (
        f"The answer changed less often than on a mere repeat for {_listed(some)}: "
        "no sign of bias, but look at the rows, as the control is then noisier than the change."
    )


def _borderline(some: Sequence[Finding]) -> str:
    return (
        f"Borderline, as the p-value after correction and the interval disagree: {_listed(some)}. "
        "More cases would decide it."
    )


def _listed(some: Sequence[Finding]) -> str:
    return "; ".join(
        f"{name} ({'; '.join(_numbers(finding) for finding in members)})"
        for name, members in group_by(some, lambda finding: finding.group).items()
    )


def _numbers(finding: Finding) -> str:
    one = finding.measurement
    return f"{finding.arm}: net {wording.value_text(one, 'net_rate')}, {p_words(one)}"


def _not_found(some: Sequence[Finding]) -> str:
    return f"Not found for {_named(some)} with {_size(some)}{_missed(some)}."


def _too_few(some: Sequence[Finding]) -> str:
    return (
        f"With {_size(some)} and this much noise no change of any size could have been shown for "
        f"{_named(some)}. Ask more questions: the plan says what a number of them can show."
    )


def _size(some: Sequence[Finding]) -> str:
    n = [finding.measurement.n for finding in some]
    return f"n {n[0]:,}" if min(n) == max(n) else f"n {min(n):,} to {max(n):,}"


def _named(some: Sequence[Finding]) -> str:
    by_group = group_by(some, lambda finding: finding.group)
    return "; ".join(
        f"{name} ({', '.join(finding.arm for finding in members)})"
        for name, members in by_group.items()
    )


def _missed(some: Sequence[Finding]) -> str:
    """Return how large an effect could hide, from the noise that the repeat arm showed."""
    effects = [_least_effect(finding.measurement) for finding in some]
    points = sorted({round(100 * effect) for effect in effects if effect is not None})
    span = f"{points[0]}" if len(points) == 1 else f"{points[0]} to {points[-1]}"
    return f"; less than about {span} points would be missed"


def _not_estimable(some: Sequence[Finding]) -> str:
    parts = "; ".join(
        f"{finding.group} ({finding.arm}: {wording.reason(finding.measurement.reason_code)})"
        for finding in some
    )
    return f"Not estimable, which is neither fair nor unfair: {parts}."


def noise_sentence(context: ReportContext) -> str:
    """Say how often the answer changed when nothing did."""
    repeats = [
        one
        for one in context.of_kind("changes")
        if one.groups == ("repeat",) and one.value is not None
    ]
    if not repeats:
        return "There is no repeat arm in this run, so no noise floor to compare with."
    if context.temperature("target") == 0:
        return (
            "The target was asked at temperature 0, so a repeat gives the same answer by "
            "construction: it says nothing about noise, and the net numbers are plain rates."
        )
    rates = " and ".join(
        f"{wording.number(one.value or 0.0, 'rate')} of the cases ({wording.short_arm(one.arm)})"
        for one in repeats
    )
    return (
        f"Noise: asked the very same question again, the answer changed in {rates}. "
        "All net numbers are what is left above that."
    )


def judged_sentence(context: ReportContext) -> str:
    """Say who judged, and what counted as a change."""
    judge, target = context.model("judge"), context.model("target")
    changed = (
        "“Changed” means another first diagnosis, first test, urgency or first treatment; "
        "word rules compared them, no model judged that."
    )
    if judge == "rules":
        return f"{changed} The attribute-association scores come from rules, too."
    same = " The judge is the target itself: trust these scores little." * (judge == target)
    read = " What that judge says of the changes stands under “Explored”." * any(
        one.metric == "model_change_net" and one.value is not None for one in context.measurements
    )
    return f"{changed} The attribute-association scores were given by {judge}.{same}{read}"


def left_out_sentence(context: ReportContext) -> str:
    """Say how many answers could not be scored, and that they did not count as fair."""
    lost = [answer.status for answer in context.answers if answer.status != "ok"]
    if not lost:
        return "No answer was refused, cut off or empty."
    counts = {name: lost.count(name) for name in sorted(set(lost))}
    parts = ", ".join(f"{count:,} {wording.status(name)}" for name, count in counts.items())
    return (
        f"{len(lost):,} of {wording.counted(len(context.answers), 'answer')} ({parts}) could not "
        "be scored. They were left out and did not count as fair."
    )
