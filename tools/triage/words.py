"""How arms, arrows and numbers of the counterfactual recipe are said, in report and terminal.

An arrow never stands alone: "up" is a higher level number, and whether that is less or more urgent
is the data set's to declare, so the words stand beside it everywhere.
"""

from collections.abc import Mapping

from evenhand.tools import wording
from evenhand.tools.statistics.bootstrap import Bootstrap
from evenhand.tools.statistics.estimate import Estimate
from evenhand.tools.triage import measure
from evenhand.tools.triage.measure import TriageNumber
from evenhand.tools.triage.metrics import Way
from evenhand.tools.triage.pairs import Direction, urgency
from evenhand.tools.units import Unit

ARROWS: dict[Way, str] = {"up": "\N{UPWARDS ARROW}", "down": "\N{DOWNWARDS ARROW}"}
NO_INFORMATION = "no information"
"""Said of a control arm in which nothing moved: it is no noise floor."""
_TO = "\N{RIGHTWARDS ARROW}"
_ARMS = {
    "full": ("note and fields", "changed wherever the decider sees it"),
    "text_only": ("note alone", "the attribute's column dropped, the note changed"),
    "tabular_only": ("fields alone", "the note dropped, the column changed"),
    "placebo": ("placebo", "rewritten there and back, and one field changed that should not count"),
    "repeat": (
        "repeat",
        "the model of the decider fitted again to redrawn visits, on the same pairs",
    ),
    "all": ("all pairs", "the file has no column of arms"),
}
_STATUSES = {
    "refused": "note not rewritten",
    "skipped": "note not rewritten",
    "sex_specific": "content that only one sex can have",
    "not_stated": "note does not state it",
    "unchanged": "note does not state it",
    "gate_rejected": "rejected by the check",
    "call_failed": "failed call",
}
_RATES = (measure.PDR, measure.UP, measure.DOWN)


def arm(name: str) -> str:
    """Return an arm in a few words: "full (note and fields)"."""
    short = arm_short(name)
    own = name.replace("_", " ")
    return own if short == own else f"{own} ({short})"


def arm_short(name: str) -> str:
    """Return what an arm shows: "note alone"."""
    return _ARMS.get(name, (name.replace("_", " "), ""))[0]


def arm_purpose(name: str) -> str:
    """Return what is done in an arm; empty where it is not one of ours."""
    return _ARMS.get(name, ("", ""))[1]


def moved(way: Way, direction: Direction | None) -> str:
    """Return an arrow with its words: "↑ less urgent"."""
    return f"{ARROWS[way]} {urgency(way, direction)}"


def scale(levels: tuple[str, ...], direction: Direction | None) -> str:
    """Say which end of the scale is which, in a sentence."""
    ends = f"{levels[0]} to {levels[-1]}"
    if direction is None:
        return f"Levels {ends}; which end is urgent was not said."
    urgent = levels[0] if direction == "higher_is_less_urgent" else levels[-1]
    return (
        f"Levels {ends}, {urgent} the most urgent: {moved('up', direction)}, "
        f"{moved('down', direction)}."
    )


def shown(groups: tuple[str, str]) -> str:
    """Return a direction between groups: "male shown as female"."""
    return f"{groups[0]} shown as {groups[1]}"


def meaning(number: TriageNumber, direction: Direction | None) -> str:
    """Return what a number counts, in words, its arrows with what they mean."""
    up, down = moved("up", direction), moved("down", direction)
    a, b = number.groups
    metric = number.metric.removeprefix("net_") if number.control_arm else number.metric
    one_way = "(" in number.symbol
    said = {
        measure.PDR: "another level" + (f", {shown((a, b))}" if one_way else ", both ways"),
        measure.UP: f"{up}, {shown((a, b))}",
        measure.DOWN: f"{down}, {shown((a, b))}",
        measure.DTS: f"{up} less {down}, {shown((a, b))}",
        measure.NATS_UP: f"{up}: {b}{_TO}{a} less {a}{_TO}{b}",
        measure.NATS_DOWN: f"{down}: {b}{_TO}{a} less {a}{_TO}{b}",
        measure.NMD: f"mean levels {up} as {b} than as {a}",
        measure.GAP: f"how much likelier {b} than {a} moves {up}",
    }
    return said.get(metric, metric.replace("_", " "))


def symbol(text: str) -> str:
    """Return a symbol with real arrows: "PDR(male→female)"."""
    return text.replace("->", _TO)


def short_meaning(number: TriageNumber, direction: Direction | None) -> str:
    """Return what a number counts in the 30 characters of a narrow plot."""
    up, down = moved("up", direction), moved("down", direction)
    a, b = number.groups
    said = {
        measure.DTS: f"as {b}, + is {up}",
        measure.NATS_UP: f"{up}: {a} {wording.MINUS} {b}",
        measure.NATS_DOWN: f"{down}: {a} {wording.MINUS} {b}",
        measure.NMD: f"as {b}, + is {up}",
    }
    return said.get(number.metric) or meaning(number, direction)


def unit(number: TriageNumber) -> Unit:
    """Return the unit of a number: a rate, signed points, or levels."""
    if "mean_disadvantage" in number.metric:
        return "score_difference"
    return "rate" if number.metric in _RATES else "net_rate"


def estimate_text(estimate: Estimate, of: Unit) -> str:
    """Return value and interval, or why there is none: "+2.1 points [0.4, 3.8]"."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return f"not estimable: {wording.reason(estimate.reason_code)}"
    levels = " levels" if of == "score_difference" else ""
    value = wording.number(estimate.value, of)
    return f"{value}{levels} {wording.interval(estimate.low, estimate.high, of)}"


def value_text(number: TriageNumber) -> str:
    """Return a number with our interval, or why there is none."""
    if number.estimate.n == 0 and (number.unscored or {}).get("not_stated"):
        return "not estimable: no note states it"
    return estimate_text(number.estimate, unit(number))


def fits_text(number: TriageNumber) -> str:
    """Return the interval over pairs and fits of a skew; empty where no mimic was fitted again."""
    fits = number.over_fits
    if fits is None or fits.low is None or fits.high is None:
        return ""
    return wording.interval(fits.low, fits.high, unit(number))


def bootstrap_text(limits: Bootstrap | None, of: Unit) -> str:
    """Return the paper's percentile interval, a zero width named; empty where there is none."""
    if limits is None or limits.low is None or limits.high is None:
        return ""
    text = wording.interval(limits.low, limits.high, of)
    return f"{text} all equal" if "all_equal" in limits.flags else text


def control_text(number: TriageNumber) -> str:
    """Return what was taken off: "2.0 % (placebo)"; "no information" where nothing moved there."""
    if number.control_arm is None:
        return ""
    if number.control is None or not number.control_is_informative:
        return f"{NO_INFORMATION} ({number.control_arm})"
    return f"{wording.number(number.control, _own_unit(number))} ({number.control_arm})"


def arm_value_text(number: TriageNumber) -> str:
    """Return a number before its control was taken off; empty where nothing was."""
    if number.arm_value is None:
        return ""
    return wording.number(number.arm_value, _own_unit(number))


def _own_unit(number: TriageNumber) -> Unit:
    return "rate" if number.metric == measure.NET_PDR else unit(number)


def status(code: str) -> str:
    """Return why a pair has no level, in words: here it is the note that was refused."""
    return _STATUSES.get(code) or wording.status(code)


def unscored(counts: Mapping[str, int] | None, n_unscored: int = 0) -> str:
    """Return what was left out, by why: "12 (10 note not rewritten, 2 ...)"; "0" for nothing.

    Args:
        counts: By why, where that is known.
        n_unscored: The number alone, where it is not.
    """
    if not counts:
        return f"{n_unscored:,}"
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    parts = ", ".join(f"{count:,} {status(code)}" for code, count in ordered)
    return parts if len(counts) == 1 else f"{sum(counts.values()):,} ({parts})"


def p_words(p: float | None) -> str:
    """Return a p-value without its letter; empty where there is none."""
    return "" if p is None else wording.p_value(p).removeprefix("p ")
