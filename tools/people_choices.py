"""Which pair of answers people found to reveal more bias, and by which attributes (Table 3)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from evenhand.graph_store.records import Measurement
from evenhand.tools.agreement import share_over, unit_means
from evenhand.tools.people import ALL, Naming, People, Vote, grouped, measurement
from evenhand.tools.statistics.agreement import share_at_least
from evenhand.tools.statistics.estimate import Estimate

CHANGED, UNCHANGED = "changed", "unchanged"
CHOICE, FIRST_SHOWN, DETECTION = "people_choice", "people_first_shown", "people_detection"


def choices(people: People, seed: int) -> Iterator[Measurement]:
    """Yield the share of choices of the later way of asking, by case and over all.

    Beside it the share that chose the pair shown first, which is a half where its place says
    nothing. Ties and empty cells are unscored.
    """
    for (before, arm), votes in grouped(people.votes, lambda one: one.arms).items():
        cases = grouped(votes, lambda one: one.case)
        for case, some in cases.items():
            made = _case_choice(arm, some)
            yield _choice(arm, before, (case,), some, made, CHOICE if len(cases) > 1 else None)
        if len(cases) > 1:
            yield _choice(arm, before, (ALL,), votes, _overall_choice(arm, votes, seed), None)
    chosen = [one for one in people.votes if one.chose_first is not None]
    if people.votes:
        values = [float(one.chose_first is True) for one in chosen]
        made = share_over(values, [one.sample_id for one in chosen], seed)
        counts = {"first": round(sum(values)), "choices": len(values)}
        statuses = [one.status for one in people.votes]
        yield measurement(FIRST_SHOWN, ALL, (ALL,), made, statuses=statuses, counts=counts)


def _choice(
    arm: str,
    before: str,
    groups: tuple[str, ...],
    votes: Sequence[Vote],
    made: Estimate,
    family: str | None,
) -> Measurement:
    counts = {
        "chose": sum(one.chosen == arm for one in votes),
        "choices": sum(one.chosen is not None for one in votes),
        "raters": len({one.rater for one in votes}),
    }
    return measurement(
        CHOICE,
        arm,
        groups,
        made,
        statuses=[one.status for one in votes],
        counts=counts,
        control_arm=before,
        family=family,
    )


def _case_choice(arm: str, votes: Sequence[Vote]) -> Estimate:
    chosen = [one.chosen == arm for one in votes if one.chosen is not None]
    return share_at_least(sum(chosen), len(chosen))


def _overall_choice(arm: str, votes: Sequence[Vote], seed: int) -> Estimate:
    """Return the mean of the patients' shares; its test counts patients by their majority."""
    chosen = [one for one in votes if one.chosen is not None]
    values = [float(one.chosen == arm) for one in chosen]
    units = [one.sample_id for one in chosen]
    share = share_over(values, units, seed)
    shares = unit_means(values, units)
    won, lost = int((shares > 0.5).sum()), int((shares < 0.5).sum())
    test = share_at_least(won, won + lost)
    method = f"{share.method}; one-sided exact binomial of the patients' majorities"
    return replace(share, p=test.p, method=method)


def detections(people: People, seed: int) -> Iterator[Measurement]:
    """Yield the share of raters who named an attribute, where it was changed and where not."""
    for attribute, namings in grouped(people.namings, lambda one: one.attribute).items():
        for changed, some in grouped(namings, lambda one: one.changed).items():
            yield _detection(attribute, (attribute,), changed, some, seed)
        cases = grouped(namings, lambda one: one.case)
        for case, some in cases.items():
            yield _detection(attribute, (attribute, case), some[0].changed, some, seed)


def _detection(
    attribute: str, groups: tuple[str, ...], changed: bool, namings: Sequence[Naming], seed: int
) -> Measurement:
    said = [one for one in namings if one.status == "ok"]
    values = [one.named for one in said]
    # Within one case each rater is a unit of its own.
    units = [one.rater if len(groups) > 1 else one.sample_id for one in said]
    return measurement(
        DETECTION,
        CHANGED if changed else UNCHANGED,
        groups,
        share_over(values, units, seed),
        statuses=[one.status for one in namings],
        counts={"named": round(sum(values)), "answers": len(values)},
    )
