"""What `evenhand compare` prints."""

from collections.abc import Sequence

from evenhand.tools import wording
from evenhand.tools.comparison import OTHER_TEXTS, REFUSED, Comparison
from evenhand.tools.contrasts import Contrast
from evenhand.tools.measure import NOT_STATED
from evenhand.tools.pairing import NOT_NEEDED
from evenhand.tools.run_agreement import JudgeAgreement
from evenhand.tools.statistics.estimate import is_borderline
from evenhand.tools.wording import Unit
from evenhand.ui.console import print_text, results
from evenhand.ui.tables import plain_table

NET, ASSOCIATION = "paired_change_net", "attribute_association"
_TITLES = {
    NET: "Answers that changed when only this changed, net of the control",
    ASSOCIATION: "Attribute association, 0 to 1 (paper 1)",
    REFUSED: "Refused answers",
}
FEW_SAMPLES = 20


def print_comparison(found: Comparison) -> None:
    """Print what differs, then the paired differences, then how the judges agree."""
    print_text(f"First:  {found.first}\nSecond: {found.second}")
    _print_plan_differences(found)
    print_text(_shared_sentence(found))
    needed = [one for one in found.contrasts if not _is_not_needed(one)]
    for metric in _TITLES:
        some = [one for one in needed if one.metric == metric]
        if some and (metric != REFUSED or any(one.first or one.second for one in some)):
            _print_contrasts(_TITLES[metric], some)
    rest = [one for one in needed if one.metric not in _TITLES]
    if hidden := len(found.contrasts) - len(needed):
        print_text(
            f"{wording.counted(hidden, 'comparison')} left out: no source lacks, or states, what "
            "they would add or change (--json)"
        )
    if rest:
        names = ", ".join(dict.fromkeys(one.metric for one in rest))
        print_text(f"{len(rest)} more differences ({names}): --json")
    if found.agreements:
        _print_agreements(found.agreements)
    for sentence in note_sentences(found):
        print_text(sentence)


def _is_not_needed(one: Contrast) -> bool:
    """Return whether there was nothing to change or add in any sample."""
    statuses = [name.partition("_")[2] for name in one.unscored]
    return not one.n and set(statuses) <= {NOT_NEEDED, NOT_STATED} and bool(statuses)


def _print_plan_differences(found: Comparison) -> None:
    if not found.differences:
        return
    table = plain_table("What differs between them", "", "first", "second")
    for one in found.differences:
        table.add_row(one.name, one.first, one.second)
    results().print(table)


def _shared_sentence(found: Comparison) -> str:
    shared = wording.counted(found.shared_samples, "sample")
    apart = f"; {found.only_first} only in the first, {found.only_second} only in the second"
    same = (
        f"; {wording.counted(found.shared_answers, 'answer')} the same word for word"
        if found.shared_answers
        else ""
    )
    return f"{shared} in both" + (apart if found.only_first or found.only_second else "") + same


def _print_contrasts(title: str, some: Sequence[Contrast]) -> None:
    table = plain_table(
        f"{title}: second less first",
        "asked",
        "what",
        "first",
        "second",
        "difference [95 %]",
        "n",
        "p (Holm)" if some[0].confirmatory else "p (BH)",
        "unscored",
    )
    for one in some:
        unit = unit_of(one.metric)
        table.add_row(
            _arms(one),
            wording.groups(one.groups),
            "" if one.first is None else wording.number(one.first, unit),
            "" if one.second is None else wording.number(one.second, unit),
            _difference(one, unit),
            f"{one.n:,}",
            _p(one),
            wording.unscored(one.unscored).removeprefix("unscored "),
        )
    results().print(table)


def unit_of(metric: str) -> Unit:
    """Return the unit of a metric's own value; a share of refusals is a rate."""
    return "rate" if metric == REFUSED else wording.unit_of(metric)


def _arms(one: Contrast) -> str:
    if one.first_arm == one.second_arm:
        return wording.short_arm(one.first_arm)
    return f"{wording.short_arm(one.first_arm)}, {wording.short_arm(one.second_arm)}"


def _difference(one: Contrast, unit: Unit) -> str:
    if one.value is None:
        return f"not estimable: {wording.reason(one.reason_code)}"
    step: Unit = "net_rate" if unit in ("rate", "net_rate") else "score_difference"
    limits = ""
    if one.low is not None and one.high is not None:
        limits = f" {wording.interval(one.low, one.high, step)}"
    return f"{wording.number(one.value, step)}{limits}"


def _p(one: Contrast) -> str:
    if one.p is None or one.p_adjusted is None:
        return ""
    disagree = (
        one.low is not None and one.high is not None and is_borderline(one.low, one.high, one.p)
    )
    return wording.p_value(one.p_adjusted).removeprefix("p ") + " (borderline)" * disagree


def _print_agreements(some: Sequence[JudgeAgreement]) -> None:
    judges = f"{some[0].first_judge} and {some[0].second_judge}"
    table = plain_table(
        f"The judges on the same answers: {judges}",
        "rubric",
        "dimension",
        "n",
        "first",
        "second",
        "second - first [95 %]",
        "same [95 %]",
        "within .1",
        "beyond chance [95 %]",
        "only one scored",
    )
    for one in some:
        table.add_row(
            one.rubric.replace("_", " "),
            wording.group(one.dimension),
            f"{one.n:,}",
            "" if one.first is None else f"{one.first:.2f}",
            "" if one.second is None else f"{one.second:.2f}",
            _shift(one),
            _share(one),
            "" if one.near is None else f"{100 * one.near:.0f} %",
            _beyond(one),
            f"{one.unscored['first'] + one.unscored['second']:,}",
        )
    results().print(table)


def _shift(one: JudgeAgreement) -> str:
    if one.difference is None:
        return ""
    value, low, high = one.difference
    unit: Unit = "score_difference"
    return f"{wording.signed(value, unit)} {wording.interval(low, high, unit)}"


def _share(one: JudgeAgreement) -> str:
    if one.same is None or one.same_low is None or one.same_high is None:
        return ""
    return f"{100 * one.same:.0f} % [{100 * one.same_low:.0f}, {100 * one.same_high:.0f}]"


def _beyond(one: JudgeAgreement) -> str:
    if one.beyond is None:
        return f"not estimable: {wording.reason(one.beyond_reason)}"
    limits = ""
    if one.beyond_low is not None and one.beyond_high is not None:
        limits = f" {wording.interval(one.beyond_low, one.beyond_high, 'score')}"
    return f"{one.beyond_chance} {one.beyond:.2f}{limits}"


def note_sentences(found: Comparison) -> list[str]:
    """Say what keeps a difference from being read as it looks."""
    notes = []
    roles = dict.fromkeys(one.name.split(".")[0] for one in found.differences if "." in one.name)
    changed = [role for role in roles if not role.startswith("prompt")]
    if len(changed) > 1:
        notes.append(f"{' and '.join(changed)} differ: a difference may come from either of them.")
    if any(OTHER_TEXTS in one.flags for one in found.contrasts):
        notes.append(
            "The runs changed the samples in other words: their means are compared, not the same "
            "questions."
        )
    halves = [
        (one.high - one.low) / 2
        for one in found.contrasts
        if one.metric == NET and one.low is not None and one.high is not None
    ]
    if halves and found.shared_samples <= FEW_SAMPLES:
        notes.append(
            f"{wording.counted(found.shared_samples, 'sample')} cannot show a difference of net "
            f"change below about {100 * min(halves):.0f} points."
        )
    return notes
