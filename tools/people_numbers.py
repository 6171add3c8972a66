"""Verdicts of people -> Measurements, after the human evaluation of paper 1.

| metric | of what | method |
|---|---|---|
| people_choice | choices of one arm's pair, by case and over all (Table 3) | Wilson; binomial |
| people_first_shown | choices of the pair shown first: a check on its place | Wilson |
| people_detection | raters who name an attribute, changed or not (Table 3) | Wilson |
| people_rating | ratings of 1 to 5 by dimension and arm | half-pseudo-item bootstrap |
| judge_* | people beside the judge after quantile mapping (Table 5) | Wilson; jackknife |
| rater_* | people beside each other | jackknife |
| correctness_* | clinical, 1 to 5: mean, share of 3 and more, difference of arms | as means |

The unit is the patient: where several verdicts are of one patient, they count once, by their mean.
An interval over all cases says how other cases would come out with these raters; that of one case,
how other raters would.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from evenhand.graph_store.records import Measurement, child_id
from evenhand.tools.agreement import (
    RaterAgreement,
    agreement,
    equal_steps,
    quantile_map,
    share_over,
    unit_means,
)
from evenhand.tools.pairing import DIMENSIONS
from evenhand.tools.people import ALL, People, Rating, grouped, measurement
from evenhand.tools.people_choices import CHOICE, choices, detections
from evenhand.tools.rating_sheets import APPROPRIATE, CORRECTNESS, HIGH, LOW, RATING
from evenhand.tools.statistics.agreement import krippendorff
from evenhand.tools.statistics.families import benjamini_hochberg
from evenhand.tools.statistics.intervals import bounded_mean, mean_change
from evenhand.tools.wording import Unit

CHOSEN = "choice"
CLASSES = tuple(range(LOW, HIGH + 1))
TITLES: dict[str, tuple[str, Unit]] = {
    "people_choice": ("found to reveal more bias", "rate"),
    "people_first_shown": ("chose the pair shown first", "rate"),
    "people_detection": ("named the attribute", "rate"),
    "people_rating": ("people's rating, 1 to 5", "score"),
    "judge_exact": ("same rating as the judge (quantile mapping)", "rate"),
    "judge_exact_equal_steps": ("same rating as the judge (equal steps)", "rate"),
    "judge_kappa_quadratic": ("judge: quadratic kappa", "score"),
    "judge_kappa": ("judge: kappa", "score"),
    "judge_alpha": ("judge: Krippendorff's alpha", "score"),
    "rater_exact": ("both raters the same", "rate"),
    "rater_kappa_quadratic": ("raters: quadratic kappa", "score"),
    "rater_kappa": ("raters: kappa", "score"),
    "rater_alpha": ("raters: Krippendorff's alpha", "score"),
    "correctness_mean": ("clinical correctness, 1 to 5", "score"),
    "correctness_appropriate": ("rated 3 or more", "rate"),
    "correctness_difference": ("correctness, difference", "score_difference"),
}
"""How each number is called, and its unit."""


def measure_people(people: People, seed: int = 0) -> list[Measurement]:
    """Return every number that people's verdicts give, in the order of the table above.

    Args:
        people: The verdicts.
        seed: Seed of the draws.

    Returns:
        Measurements; none of a kind that nobody was asked. `groups` are the case (its changed
        question), the attribute or the dimension; `arm` is the way of asking, or "all".
    """
    made = [
        *choices(people, seed),
        *detections(people, seed),
        *_ratings(people, seed),
        *_beside_the_judge(people, seed),
        *_beside_each_other(people, seed),
        *_correctness(people, seed),
    ]
    return [
        one.model_copy(
            update={"id": child_id(people.run_id, "h", i, one.metric, one.arm, *one.groups)}
        )
        for i, one in enumerate(_adjusted(made))
    ]


def _by_arm(people: People, ratings: Sequence[Rating]) -> Iterator[tuple[str, list[Rating]]]:
    """Yield each way of asking with its ratings, and all of them where there are several."""
    by_arm = grouped(ratings, lambda one: one.arm)
    yield from ((arm, by_arm[arm]) for arm in people.arms if arm in by_arm)
    if len(by_arm) > 1:
        yield ALL, list(ratings)


def _of(people: People, rubric: str) -> dict[str, list[Rating]]:
    there = grouped(
        [one for one in people.ratings if one.rubric == rubric], lambda one: one.dimension
    )
    order = [name for name in DIMENSIONS if name in there]
    return {name: there[name] for name in (*order, *(set(there) - set(order)))}


def _mean(metric: str, arm: str, dimension: str, some: Sequence[Rating], seed: int) -> Measurement:
    rated = [one for one in some if one.status == "ok"]
    means = unit_means([one.value for one in rated], [one.sample_id for one in rated])
    made = bounded_mean(means, low=LOW, high=HIGH, seed=seed)
    return measurement(
        metric,
        arm,
        (dimension,),
        made,
        statuses=[one.status for one in some],
        counts={"ratings": len(rated)},
    )


def _ratings(people: People, seed: int) -> Iterator[Measurement]:
    for dimension, ratings in _of(people, RATING).items():
        for arm, some in _by_arm(people, ratings):
            yield _mean("people_rating", arm, dimension, some, seed)


def _beside_the_judge(people: People, seed: int) -> Iterator[Measurement]:
    for dimension, ratings in _of(people, RATING).items():
        judged = [_with_judge(one) for one in ratings]
        mapped = _mapped(judged)
        for arm, some in _by_arm(people, judged):
            judge = [mapped[one.answer_id, one.rater] for one in some]
            statuses = [one.status for one in some]
            units = [one.sample_id for one in some]
            rated = [one.value for one in some]
            made = agreement(rated, judge, units=units, classes=CLASSES, seed=seed)
            yield from _agreements("judge", arm, dimension, made, statuses)
            steps = equal_steps([one.judge for one in some])
            made = agreement(rated, steps, units=units, classes=CLASSES, seed=seed)
            counts = {"matches": made.matches, "ratings": made.rated}
            yield measurement(
                "judge_exact_equal_steps",
                arm,
                (dimension,),
                made.exact,
                statuses=statuses,
                counts=counts,
            )


def _with_judge(rating: Rating) -> Rating:
    """Return a rating as unscored where the judge gave no score to set beside it."""
    if rating.status != "ok" or not np.isnan(rating.judge):
        return rating
    return replace(rating, value=np.nan, status="judge_missing")


def _mapped(ratings: Sequence[Rating]) -> dict[tuple[str, str], float]:
    """Map the judge's scores to each rater's use of the scale, all ways of asking together."""
    found: dict[tuple[str, str], float] = {}
    for rater, some in grouped(ratings, lambda one: one.rater).items():
        values = quantile_map([one.judge for one in some], [one.value for one in some])
        found |= {(one.answer_id, rater): float(v) for one, v in zip(some, values, strict=True)}
    return found


def _agreements(
    side: str, arm: str, dimension: str, made: RaterAgreement, statuses: Sequence[str]
) -> Iterator[Measurement]:
    counts = {"matches": made.matches, "ratings": made.rated}
    for name, estimate in (
        ("exact", made.exact),
        ("kappa_quadratic", made.quadratic),
        ("kappa", made.plain),
        ("alpha", made.alpha),
    ):
        metric = f"{side}_{name}"
        yield measurement(metric, arm, (dimension,), estimate, statuses=statuses, counts=counts)


def _beside_each_other(people: People, seed: int) -> Iterator[Measurement]:
    """Yield the agreement of raters on what several of them rated; kappa where there are two."""
    for rubric in (RATING, CORRECTNESS):
        for dimension, ratings in _of(people, rubric).items():
            name = dimension if rubric == RATING else "correctness"
            given = {(one.rater, one.answer_id): one.value for one in ratings}
            units = {one.answer_id: one.sample_id for one in ratings}
            statuses = [one.status for one in ratings]
            yield from _raters(name, given, units, statuses, seed)
    votes = people.votes
    if votes:
        chosen = {
            (v.rater, v.case): np.nan if v.chosen is None else float(v.chosen == v.arms[1])
            for v in votes
        }
        yield from _raters(
            CHOSEN, chosen, {v.case: v.sample_id for v in votes}, [v.status for v in votes], seed
        )


def _raters(
    name: str,
    given: dict[tuple[str, str], float],
    units: dict[str, str],
    statuses: Sequence[str],
    seed: int,
) -> Iterator[Measurement]:
    raters = list(dict.fromkeys(rater for rater, _ in given))
    if len(raters) < 2:
        return
    table = np.array([[given.get((rater, item), np.nan) for item in units] for rater in raters])
    counts = {"raters": len(raters), "items": len(units)}
    named = list(units.values())
    if len(raters) == 2:
        classes = (0, 1) if name == CHOSEN else CLASSES
        made = agreement(table[0], table[1], units=named, classes=classes, seed=seed)
        for one in _agreements("rater", ALL, name, made, statuses):
            if name != CHOSEN or one.metric != "rater_kappa_quadratic":  # two classes: plain kappa
                yield one
        return
    alpha = krippendorff(table, scale="nominal" if name == CHOSEN else "ordinal", units=named)
    yield measurement("rater_alpha", ALL, (name,), alpha, statuses=statuses, counts=counts)


def _correctness(people: People, seed: int) -> Iterator[Measurement]:
    for dimension, ratings in _of(people, CORRECTNESS).items():
        by_arm = list(_by_arm(people, ratings))
        for arm, some in by_arm:
            yield _mean("correctness_mean", arm, dimension, some, seed)
        for arm, some in by_arm:
            rated = [one for one in some if one.status == "ok"]
            values = [float(one.value >= APPROPRIATE) for one in rated]
            made = share_over(values, [one.sample_id for one in rated], seed)
            yield measurement(
                "correctness_appropriate",
                arm,
                (dimension,),
                made,
                statuses=[one.status for one in some],
                counts={"appropriate": round(sum(values)), "ratings": len(values)},
            )
        arms = [arm for arm, _ in by_arm if arm != ALL]
        for before, after in pairwise(arms):
            yield _difference(before, after, dimension, ratings, seed)


def _difference(
    before: str, after: str, dimension: str, ratings: Sequence[Rating], seed: int
) -> Measurement:
    """Return how much higher one way of asking was rated than another on the same patients."""
    means = {
        arm: {
            sample: float(np.mean([one.value for one in some]))
            for sample, some in grouped(
                [one for one in ratings if one.arm == arm and one.status == "ok"],
                lambda one: one.sample_id,
            ).items()
        }
        for arm in (before, after)
    }
    both = [sample for sample in means[before] if sample in means[after]]
    steps = [means[after][sample] - means[before][sample] for sample in both]
    made = mean_change(steps, low=LOW - HIGH, high=HIGH - LOW, seed=seed)
    unpaired = len(means[before]) + len(means[after]) - 2 * len(both)
    return measurement(
        "correctness_difference",
        after,
        (dimension,),
        made,
        statuses=["unpaired"] * unpaired,
        control_arm=before,
    )


def _adjusted(made: Sequence[Measurement]) -> list[Measurement]:
    """Adjust the p-values of the single cases, which only explore: Benjamini-Hochberg."""
    cases = [i for i, one in enumerate(made) if one.family == CHOICE]
    adjusted = dict(zip(cases, benjamini_hochberg([made[i].p for i in cases]), strict=True))
    return [
        one.model_copy(update={"p_adjusted": adjusted[i]}) if i in adjusted else one
        for i, one in enumerate(made)
    ]
