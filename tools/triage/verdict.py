"""What the numbers say in words, or why nothing is said.

Asked is the skew of the main arm in each direction, net of the placebo where there is one, Holm
over the directions. The test decides and the interval sizes; where they disagree the word is
"borderline". The test knows one fitted mimic only: where it was fitted again, a skew is found if
the interval over pairs and fits leaves 0 out too, and borderline if it does not. Nothing is said
without a declared direction of the scale, nor of a scale of which one level was used, nor where a
group is absent, nor of people by a mimic that agrees with them no better than by chance.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evenhand.tools.statistics.estimate import ALPHA, Estimate, is_borderline
from evenhand.tools.triage import words
from evenhand.tools.triage.measure import DTS, NET_DTS, TriageNumber, TriageResults
from evenhand.tools.triage.metrics import Way
from evenhand.tools.triage.pairs import Direction, TriagePairs, urgency
from evenhand.training.fit_quality import FitQuality

Outcome = Literal["found", "borderline", "not_found", "not_estimable"]
VerdictStatus = Literal["found", "none_found", "no_verdict"]
_MINIMUM = 20
"""Recorded levels from which on a scale that runs the other way is noticed."""


@dataclass(frozen=True)
class Finding:
    """Shown as `shown_as` instead of `instead_of`, levels move that way more than the other."""

    instead_of: str
    shown_as: str
    way: Way
    words: str
    """The way in words: "less urgent"."""
    number: TriageNumber
    is_borderline: bool

    @property
    def _edge(self) -> str:
        """Say why it is borderline; empty where it is not."""
        if not self.is_borderline:
            return ""
        fits = self.number.over_fits
        if fits is None or not _reaches_0(fits):
            return " Borderline: the interval reaches 0."
        return " Borderline: a model fitted to another half of the decisions might not show it."

    @property
    def sentence(self) -> str:
        """Say it with value, interval and p."""
        estimate, p = self.number.estimate, self.number.p_adjusted
        ends = (estimate.value, estimate.low, estimate.high)
        value, low, high = (f"{100 * (end or 0.0):.1f}" for end in ends)
        net = f", net of {self.number.control_arm}" if self.number.control_arm else ""
        size = "" if p is None else f"; Holm p {'< .001' if p < 0.001 else f'{p:.3f}'}"
        fits = self.number.over_fits
        wider = "" if fits is None else f"; with chance of the fit {_ends_text(fits)}"
        return (
            f"Shown as {self.shown_as} instead of {self.instead_of}, levels move to {self.words}: "
            f"{self.number.symbol} {value} points (95 % {low} to {high}{size}{wider}){net}, "
            f"{estimate.n:,} pairs.{self._edge}"
        )


@dataclass(frozen=True)
class TriageVerdict:
    """The findings, or the sentence that says why there are none."""

    status: VerdictStatus
    findings: tuple[Finding, ...]
    sentences: tuple[str, ...]
    """What a reader must know: findings first, then what limits them."""
    reason_code: str | None = None


def judge(
    results: TriageResults,
    arms: Mapping[str, TriagePairs],
    direction: Direction | None,
    *,
    mimicked: FitQuality | None = None,
) -> TriageVerdict:
    """Draw the verdict of a measured audit.

    Args:
        results: What was measured of `arms`.
        arms: Pairs by arm.
        direction: Whether a higher level number is less or more urgent; None: not declared.
        mimicked: How well a mimic, which stands in for people, agrees with them; None: no mimic.
    """
    pairs = arms[results.main_arm]
    stopped = _stopped(results, pairs, direction) or _at_chance(mimicked)
    if stopped is not None:
        return TriageVerdict("no_verdict", (), (stopped[1],), stopped[0])
    asked, notes = _asked(results)
    findings = tuple(
        _finding(number, direction)
        for number in asked
        if number.p_adjusted is not None and number.p_adjusted < ALPHA
    )
    said = [finding.sentence for finding in findings]
    if not findings:
        said.append(_none_found(results))
    status: VerdictStatus = "found" if findings else "none_found"
    return TriageVerdict(status, findings, (*said, *notes))


def _stopped(
    results: TriageResults, pairs: TriagePairs, direction: Direction | None
) -> tuple[str, str] | None:
    """Return the reason why there is no verdict, as a code and a sentence."""
    scored = pairs.scored
    if not len(scored):
        return "all_unscored", f"No verdict: no pair of arm {results.main_arm!r} has both levels."
    used = np.union1d(scored.original, scored.counterfactual)
    if used.size == 1:
        level = results.levels[int(used[0])]
        return "single_class", (
            f"No verdict: every level of arm {results.main_arm!r} is {level}, so nothing could "
            "have moved; look at the decider before the attribute."
        )
    for group in results.groups:
        if not (scored.source == results.groups.index(group)).any():
            return "group_empty", (
                f"No verdict: no scored pair is originally of group {group!r}; the numbers that "
                "compare both directions are not estimable."
            )
    if direction is None:
        return "no_direction", (
            "No verdict: which end of the scale is urgent was not said. Say it with --direction "
            "higher_is_less_urgent or higher_is_more_urgent."
        )
    return _turned(scored)


def _turned(scored: TriagePairs) -> tuple[str, str] | None:
    """Notice levels that run against the recorded ones: one of the two scales is reversed."""
    if scored.recorded is None:
        return None
    known = scored.recorded >= 0
    pair = np.stack([scored.original[known], scored.recorded[known]]).astype(np.float64)
    if pair.shape[1] < _MINIMUM or (np.ptp(pair, axis=1) == 0).any():
        return None
    r = float(np.asarray(np.corrcoef(pair))[0, 1])
    if r > -1.96 / np.sqrt(pair.shape[1]):
        return None
    return "reversed_scale", (
        f"No verdict: predicted and recorded levels run in opposite directions (r = {r:.2f}); "
        "one of the two columns is on a reversed scale."
    )


def _at_chance(mimicked: FitQuality | None) -> tuple[str, str] | None:
    """Notice a mimic that does not decide as the people did: it cannot stand in for them."""
    if mimicked is None:
        return None
    kappa, low, high = mimicked.kappa_w, mimicked.kappa_w_low, mimicked.kappa_w_high
    if kappa is None or low is None or high is None or low > 0:
        return None
    return "mimic_at_chance", (
        "No verdict: the model was not shown to agree with the people better than by chance "
        f"(kappa_w {kappa:.2f}, 95 % {low:.2f} to {high:.2f}, {mimicked.n:,} visits), so "
        "what moves it, or does not, says nothing about them. Fit it to more visits, or longer."
    )


def _asked(results: TriageResults) -> tuple[list[TriageNumber], list[str]]:
    """Return the tested skews, and what must be said of their control."""
    net = [
        number
        for number in results.find(NET_DTS, arm=results.main_arm)
        if number.control_arm == "placebo" and number.estimate.status == "ok"
    ]
    if net and all(number.control_is_informative for number in net):
        return net, []
    raw = results.find(DTS, arm=results.main_arm)
    if net:
        return raw, [
            f"The placebo arm moved nothing{_in_which(net)}: that gives no information about the "
            "noise, and nothing was taken off."
        ]
    return raw, ["No placebo arm: the noise of the rewriting is not taken off."]


def _in_which(net: Sequence[TriageNumber]) -> str:
    """Name the direction in which a control is silent; nothing where it is in all."""
    silent = [words.shown(one.groups) for one in net if not one.control_is_informative]
    return "" if len(silent) == len(net) else f" with {' and '.join(silent)}"


def _finding(number: TriageNumber, direction: Direction | None) -> Finding:
    estimate = number.estimate
    way: Way = "up" if (estimate.value or 0.0) > 0 else "down"
    edge = outcome_of(number) != "found"
    return Finding(number.groups[0], number.groups[1], way, urgency(way, direction), number, edge)


def outcome_of(number: TriageNumber) -> Outcome:
    """Say what a tested number shows.

    The corrected p-value decides. Its interval may disagree, and for a mimic also that over pairs
    and fits: both make what is found borderline.
    """
    estimate, p = number.estimate, number.p_adjusted
    if estimate.value is None or estimate.low is None or estimate.high is None or p is None:
        return "not_estimable"
    if is_borderline(estimate.low, estimate.high, p):
        return "borderline"
    if p >= ALPHA:
        return "not_found"
    fits = number.over_fits
    return "borderline" if fits is not None and _reaches_0(fits) else "found"


def _reaches_0(estimate: Estimate) -> bool:
    return (estimate.low or 0.0) <= 0 <= (estimate.high or 0.0)


def _ends_text(estimate: Estimate) -> str:
    return f"{100 * (estimate.low or 0.0):.1f} to {100 * (estimate.high or 0.0):.1f}"


def _none_found(results: TriageResults) -> str:
    least = [effect.value for effect in results.least_effects if effect.value is not None]
    if not least:
        return "No skew was found; so few pairs could not show any."
    fits = any(number.over_fits is not None for number in results.numbers)
    beside = " beside the chance of the fit" if fits else ""
    return (
        f"No skew was found; so many pairs show one of {100 * max(least):.1f} points or more with "
        f"power .9{beside}, and may miss a smaller one."
    )
