"""What people said: which pair reveals more bias, agreement with the judge, correctness."""

from collections.abc import Sequence

from evenhand.graph_store.records import Measurement
from evenhand.tools import wording
from evenhand.tools.people import ALL, People
from evenhand.tools.people_choices import CHANGED, CHOICE, DETECTION, FIRST_SHOWN
from evenhand.tools.people_numbers import TITLES, measure_people
from evenhand.tools.sections import ReportContext, fill, section
from evenhand.tools.wording import value_text

MOST_ROWS = 200
MOST_CASES = 6
"""Cases that stand open; more are folded."""
GRIDS = (
    "judge_exact",
    "judge_kappa_quadratic",
    "correctness_mean",
    "correctness_appropriate",
    "people_rating",
)
FOLDED = ("judge_kappa", "judge_alpha", "judge_exact_equal_steps")
RATERS = ("rater_exact", "rater_kappa_quadratic", "rater_kappa", "rater_alpha")


@section(title="What people said")
def people(context: ReportContext) -> str:
    """Show what raters chose and rated, beside the judge; every verdict stands below."""
    said = People.of(
        context.run_id,
        context.plan,
        labels=context.labels,
        answers=context.answers,
        variants=context.variants,
        judgements=context.judgements,
    )
    numbers = measure_people(said, context.manifest.seed)
    return fill(
        "people.html",
        context=context,
        people=said,
        cases=_cases(said, numbers),
        overall=[one for one in numbers if one.metric == CHOICE and one.groups == (ALL,)],
        first_shown=[one for one in numbers if one.metric == FIRST_SHOWN],
        attributes=_attributes(numbers),
        grids=_grids(numbers, GRIDS),
        folded=_grids(numbers, FOLDED),
        raters=_raters(numbers),
        differences=[one for one in numbers if one.metric == "correctness_difference"],
        rows=_rows(said),
        most=MOST_ROWS,
        most_cases=MOST_CASES,
        text=text_of,
        share=share_of,
    )


def text_of(one: Measurement) -> str:
    """Return a number with its interval in its own unit."""
    return value_text(one, TITLES[one.metric][1])


def share_of(one: Measurement) -> str:
    """Return what a number rests on: "30 of 40", "n 20"; with what was left out."""
    given = [one.counts.get(name) for name in ("matches", "appropriate", "chose", "named")]
    of = [one.counts.get(name) for name in ("ratings", "choices", "answers")]
    part, whole = ([k for k in some if k is not None] for some in (given, of))
    shown = part and whole and TITLES[one.metric][1] == "rate"
    rests = f"{part[0]:,} of {whole[0]:,}" if shown else f"n {one.n:,}"
    return f"{rests}, {wording.unscored(one.unscored)}" if one.unscored else rests


def _cases(
    said: People, numbers: Sequence[Measurement]
) -> list[tuple[str, str, Measurement, list[tuple[str, Measurement]]]]:
    """Return (case, what was changed, choices, who named which attribute), a case a row."""
    changed = {one.case: one.changed for one in said.votes}
    named = [one for one in numbers if one.metric == DETECTION and len(one.groups) == 2]
    return [
        (
            case,
            wording.group("+".join(changed[case])) or "nothing",
            one,
            [(two.groups[0], two) for two in named if two.groups[1] == case],
        )
        for one in numbers
        if one.metric == CHOICE and (case := one.groups[0]) != ALL
    ]


def _attributes(numbers: Sequence[Measurement]) -> list[tuple[str, str, Measurement]]:
    """Return (attribute, changed or not, share of raters who named it), by attribute."""
    named = [one for one in numbers if one.metric == DETECTION and len(one.groups) == 1]
    return [
        (
            wording.group(one.groups[0]),
            "was changed" if one.arm == CHANGED else "was not changed",
            one,
        )
        for one in sorted(named, key=lambda one: (one.groups, one.arm != CHANGED))
    ]


_Row = tuple[str, list[Measurement | None]]
_Grid = tuple[str, list[str], list[_Row]]


def _grids(numbers: Sequence[Measurement], metrics: Sequence[str]) -> list[_Grid]:
    """Return (title, ways of asking, rows of dimension and numbers) of each metric there is."""
    grids: list[_Grid] = []
    for metric in metrics:
        found = {(one.groups[0], one.arm): one for one in numbers if one.metric == metric}
        arms = list(dict.fromkeys(arm for _, arm in found))
        rows: list[_Row] = [
            (_dimension(name), [found.get((name, arm)) for arm in arms])
            for name in dict.fromkeys(name for name, _ in found)
        ]
        if rows:
            grids.append((_capital(TITLES[metric][0]), [_arm(arm) for arm in arms], rows))
    return grids


def _raters(numbers: Sequence[Measurement]) -> _Grid:
    """Return the agreement of raters with each other, a metric a column."""
    found = {(one.groups[0], one.metric): one for one in numbers if one.metric in RATERS}
    there = [metric for metric in RATERS if any(key[1] == metric for key in found)]
    rows: list[_Row] = [
        (_dimension(name), [found.get((name, metric)) for metric in there])
        for name in dict.fromkeys(name for name, _ in found)
    ]
    titles = [_capital(TITLES[metric][0].removeprefix("raters: ")) for metric in there]
    return "Agreement of the raters with each other", titles, rows


def _dimension(name: str) -> str:
    return "all" if name == "overall" else wording.group(name).replace("_", " ")


def _arm(name: str) -> str:
    return "all together" if name == ALL else wording.short_arm(name)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _rows(said: People) -> list[tuple[str, str, str, str]]:
    """Return every verdict: (rater, what it is about, which question, what was said)."""
    rows = [
        (
            one.rater,
            one.case,
            "more bias",
            wording.short_arm(one.chosen) if one.chosen else wording.status(one.status),
        )
        for one in said.votes
    ]
    rows += [
        (
            one.rater,
            one.case,
            f"{one.attribute} named",
            ("no", "yes")[int(one.named)] if one.status == "ok" else wording.status(one.status),
        )
        for one in said.namings
    ]
    rows += [
        (
            one.rater,
            one.answer_id,
            f"{one.rubric.replace('_', ' ')}: {_dimension(one.dimension)}",
            f"{one.value:.0f}" if one.status == "ok" else wording.status(one.status),
        )
        for one in said.ratings
    ]
    return rows
