"""How numbers, arms, groups and statuses are said: the same words in report, table and screen."""

from collections.abc import Mapping
from typing import Literal

from evenhand.graph_store.records import ADDED, Measurement, Variant
from evenhand.tools.triage_metrics import TRIAGE_METRICS
from evenhand.tools.units import Unit as Unit

MINUS = "\N{MINUS SIGN}"
_ARMS = {
    "original": "source's own wording",
    "no_hop": "no hop (asked directly)",
    "multi_hop": "multi-hop (reasoning over triplets)",
    "labels": "label scores",
    "direct": "asked as it stands",
}
_CONTROLS = {
    "repeat": "repeat (the same question again)",
    "placebo": "placebo (reworded, nothing changed)",
    "base": "base question",
}
_STATUSES = {
    "ok": "scored",
    "refused": "refused",
    "empty": "empty",
    "truncated": "cut off",
    "error": "failed call",
    "unparsable": "unparsable",
    "out_of_range": "out of range",
    "tie": "tie",
    "skipped": "not made",
    "unchanged": "nothing to change",
    "rejected": "rejected by the gate",
    "missing": "not there yet",
    "judge_missing": "without a judge's score",
    "not_needed": "the source states it already",
    "no_reference": "no reference",
    "not_stated": "the note does not state it",
    "already_target": "the note states another group",
    "sex_specific": "what only one sex can have",
    "refused_back": "could not be rewritten back",
}
_REASONS = {
    "n_zero": "nothing was scored",
    "n_below_2": "fewer than 2 scored",
    "n_below_40": "fewer than 40 scored",
    "all_unscored": "every answer was unscored",
    "none_unbiased": "no scored question was unbiased as it stands",
    "group_empty": "no such case",
    "no_events": "nothing happened in either arm",
    "single_class": "only one class occurs",
    "one_cluster": "only one patient",
    "judge_uninformative": "the judge cannot tell",
    "no_control": "the control arm was not asked",
    "no_disagreement_seen": "no disagreement was seen",
    "one_of_a_class": "a class occurs in one case alone",
    "no_spread": "one side always says the same",
    "not_stated": "no source states it",
    "not_needed": "every source states it already",
    "no_note_states_it": "no note states the attribute",
}

NOTHING_TO_DO = ("not_needed", "not_stated")
"""Reasons of numbers that no sample could have: every one states it, or none does."""


def number(value: float, unit: Unit) -> str:
    """Return a value in its unit: "11.3 %", "+33.3 points", "0.42", "+0.05"."""
    if unit == "rate":
        return f"{100 * value:.1f} %"
    if unit in ("score", "grade"):
        return f"{round(value, 2) + 0.0:.2f}".replace("-", MINUS)
    if unit == "divergence":
        return f"{value:.3f}"
    return f"{signed(value, unit)} points" if unit == "net_rate" else signed(value, unit)


def signed(value: float, unit: Unit) -> str:
    """Return a difference with its sign, without its unit; shares become points."""
    text = f"{100 * abs(value):.1f}" if unit == "net_rate" else f"{abs(value):.2f}"
    if not text.strip("0."):
        return text
    return f"{MINUS if value < 0 else '+'}{text}"


def interval(low: float, high: float, unit: Unit) -> str:
    """Return an interval without its unit: "[5.8, 18.2]"."""
    factor, digits = (100, 1) if unit in ("rate", "net_rate") else (1, 2)
    digits += unit == "divergence"
    # Adding 0.0 turns the "-0.0" of rounding into "0.0".
    rounded = [round(factor * end, digits) + 0.0 for end in (low, high)]
    ends = [f"{end:.{digits}f}".replace("-", MINUS) for end in rounded]
    return f"[{', '.join(ends)}]"


def value_text(measurement: Measurement, unit: Unit) -> str:
    """Return value and interval, or why there is none: "+33.3 points [2.1, 60.4]"."""
    if measurement.value is None:
        return f"not estimable: {reason(measurement.reason_code)}"
    text = number(measurement.value, unit)
    if measurement.low is None or measurement.high is None:
        return text
    return f"{text} {interval(measurement.low, measurement.high, unit)}"


def p_value(p: float, correction: str = "") -> str:
    """Return "p 0.03", "p < 0.001", with the correction in brackets."""
    text = "p < 0.001" if p < 0.001 else f"p {p:.3f}" if p < 0.01 else f"p {p:.2f}"
    return f"{text} ({correction})" if correction else text


def correction(measurement: Measurement) -> str:
    """Return the name of the correction for several tests: "Holm"; empty where there is none."""
    if measurement.p_adjusted is None:
        return ""
    return measurement.method.rpartition("; ")[2] or "corrected"


def unscored(counts: Mapping[str, int]) -> str:
    """Return "unscored 3 (2 refused, 1 unparsable)", or "unscored 0"."""
    total = sum(counts.values())
    if not total:
        return "unscored 0"
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    parts = ", ".join(f"{count:,} {status(name)}" for name, count in ordered if count)
    return f"unscored {total:,} ({parts})"


def counted(count: int, singular: str, plural: str | None = None) -> str:
    """Return "1 case", "12,480 cases"."""
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"


def status(name: str) -> str:
    """Return the word of a status, whatever it is of: "answer_refused" is "refused".

    Where the other side of a pair failed, it says which: "control: refused", "base: cut off".
    """
    for side in ("control", "base", "first", "second"):
        if name.startswith(f"{side}_"):
            return f"{side}: {status(name.removeprefix(f'{side}_'))}"
    bare = name
    for record in ("sample", "variant", "gate", "answer", "judgement"):
        bare = bare.removeprefix(f"{record}_")
    return _STATUSES.get(bare, bare.replace("_", " "))


def status_kind(name: str) -> Literal["ok", "refused", "error", "unparsable"]:
    """Return which of the four colours and signs a status has."""
    last = name.rpartition("_")[2]
    if last in ("ok", "accepted"):
        return "ok"
    if last in ("refused", "rejected", "skipped", "unchanged"):
        return "refused"
    return "error" if last == "error" else "unparsable"


def arm(name: str) -> str:
    """Return how a way of asking is said, the term itself first."""
    return _ARMS.get(name, name.replace("_", " "))


def short_arm(name: str) -> str:
    """Return a way of asking without its explanation."""
    return {"no_hop": "no hop", "multi_hop": "multi-hop"}.get(name, name.replace("_", " "))


def group(name: str) -> str:
    """Return how a group or dimension is said: "age + gender", "placebo (reworded, ...)"."""
    if name in _CONTROLS:
        return _CONTROLS[name]
    if name == "any":
        return "any change"
    if name.startswith(ADDED):
        return f"{group(name.removeprefix(ADDED))} (added)"
    separator = "+" if "+" in name else "_"
    known = ("age", "gender", "location")
    parts = name.split(separator)
    return " + ".join(parts) if all(part in known for part in parts) else name.replace("+", " + ")


def groups(names: tuple[str, ...]) -> str:
    """Return the groups of a measurement as one label."""
    return ", ".join(group(name) for name in names) or "all"


def reason(code: str | None) -> str:
    """Return a reason code in words."""
    return _REASONS.get(code or "", (code or "no number").replace("_", " "))


def why(text: str | None) -> str:
    """Return a stored reason in words; "not_stated:age" and the like are the Attacker's codes."""
    code, _, rest = (text or "").partition(":")
    if code == "not_stated":
        return f"the source does not state the {rest}"
    if code == "no_value":
        return rest.partition(":")[2].strip() or f"no other {rest} fits this patient"
    return (text or "").replace(" -> ", " \N{RIGHTWARDS ARROW} ")


def unit_of(metric_name: str) -> Unit:
    """Return the unit of a metric by what it takes; a metric that is gone counts as a score."""
    from evenhand.tools.data_kinds import data_kinds
    from evenhand.tools.metrics import metrics

    if metric_name in TRIAGE_METRICS:
        return TRIAGE_METRICS[metric_name].unit
    if metric_name not in metrics.names():
        return "score"
    return data_kinds.get(metrics.get(metric_name).data).unit


def change_text(variant: Variant) -> str:
    """Return what a variant changed: "age 28 to 64; gender male to female".

    A variant that could not be made has no value after; then only the attribute is named.
    """
    if not variant.changes or variant.arm == "relation":
        return group(variant.group)
    return "; ".join(
        f"{change.attribute} {change.before or '(not stated)'} to {change.after}"
        if change.after
        else change.attribute
        for change in variant.changes
    )
