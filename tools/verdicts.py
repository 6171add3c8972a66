"""Verdicts of judges: read from replies, and put together.

The one door to reading a reply (parse_score, parse_scores, parse_label, is_refusal), and how
several verdicts become one number: what failed is left out, counted and never 0.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median
from typing import Literal

from evenhand.tools.labels import parse_label, parse_labels, parse_texts
from evenhand.tools.refusals import is_refusal
from evenhand.tools.replies import Status, Verdict, unparsable
from evenhand.tools.scores import parse_score, parse_scores

__all__ = [
    "NOTHING_NAMED",
    "NOT_NAMED",
    "ONE_ORDER",
    "Aggregate",
    "Criterion",
    "PairRun",
    "RubricScore",
    "Status",
    "Verdict",
    "aggregate",
    "at_least_one",
    "both_orders",
    "counts_as_verdict",
    "is_refusal",
    "majority",
    "pairwise_verdict",
    "parse_label",
    "parse_labels",
    "parse_score",
    "parse_scores",
    "parse_texts",
    "rubric_score",
    "unparsable",
]

NOT_NAMED = "not_named"
"""Reason code of a kind that cannot be compared: one of the two answers does not name it."""
NOTHING_NAMED = "no_clinical_entity"
"""Reason code of a pair that cannot be compared in any kind."""
ONE_ORDER = ".one_order"
"""Behind a rubric's name: the verdicts of single orders, which are no verdict on the pair yet."""
MAX_FAILED_SHARE = 0.2
"""More failed judgements than this share are a warning."""

Statistic = Literal["mean", "median", "min", "max"]
_STATISTICS: dict[str, Callable[[list[float]], float]] = {
    "mean": fmean,
    "median": median,
    "min": min,
    "max": max,
}


@dataclass(frozen=True)
class Aggregate:
    """One number of many verdicts, and what was left out of it."""

    value: float | None
    """None where no verdict was scored."""
    n_used: int
    n_failed: int
    failed: dict[str, int]
    """The failed, by status."""
    warning: str | None
    """"too_many_failures", or None."""


def aggregate(
    values: Sequence[float | None],
    statuses: Sequence[str],
    *,
    max_failed_share: float = MAX_FAILED_SHARE,
    statistic: Statistic = "mean",
) -> Aggregate:
    """Put scores together; only those with status "ok" and a finite value count.

    Args:
        values: A number or None for each verdict; what stands beside another status is ignored.
        statuses: The statuses, as long as values.
        max_failed_share: A larger share of failures gives the warning "too_many_failures".
        statistic: mean, median, min or max of the scored.

    Raises:
        ValueError: Values and statuses differ in length.
    """
    pairs = list(zip(values, statuses, strict=True))
    used = [v for v, status in pairs if status == "ok" and v is not None and math.isfinite(v)]
    failed = Counter(
        "non_finite" if status == "ok" else status
        for v, status in pairs
        if status != "ok" or v is None or not math.isfinite(v)
    )
    too_many = bool(pairs) and failed.total() / len(pairs) > max_failed_share
    return Aggregate(
        value=float(_STATISTICS[statistic](used)) if used else None,
        n_used=len(used),
        n_failed=failed.total(),
        failed=dict(failed),
        warning="too_many_failures" if too_many else None,
    )


@dataclass(frozen=True)
class Criterion:
    """One criterion of a rubric as it was judged: "pass", "fail", "N/A" or the like."""

    name: str
    outcome: str
    weight: float = 1.0


@dataclass(frozen=True)
class RubricScore:
    """The share of the applicable weight that passed, and what was left out."""

    value: float | None
    """In [0, 1]; None where nothing applies."""
    n_used: int
    n_na: int
    n_unparsable: int


_PASSED = frozenset(["pass", "passed", "yes", "met", "true", "satisfied", "ok", "oui"])
_FAILED = frozenset(
    ["fail", "failed", "no", "not met", "unmet", "false", "not satisfied", "unsatisfied", "non"]
)
_NOT_APPLICABLE = frozenset(
    ["n/a", "na", "n.a.", "n.a", "not applicable", "inapplicable", "not relevant", "sans objet"]
)


def rubric_score(criteria: Sequence[Criterion]) -> RubricScore:
    """Share of the weight of the applicable criteria that passed.

    A criterion that does not apply, or whose outcome is no known word, is left out of both sides
    and counted; it never counts as passed.

    Raises:
        ValueError: A weight is negative or not finite.
    """
    passed = applicable = 0.0
    counts: Counter[str] = Counter()
    for criterion in criteria:
        if not (math.isfinite(criterion.weight) and criterion.weight >= 0):
            raise ValueError(f"weight of {criterion.name!r} must be >= 0, got {criterion.weight}")
        kind = _kind_of(criterion.outcome)
        counts[kind] += 1
        if kind in ("passed", "failed"):
            applicable += criterion.weight
            passed += criterion.weight * (kind == "passed")
    return RubricScore(
        value=passed / applicable if applicable else None,
        n_used=counts["passed"] + counts["failed"],
        n_na=counts["na"],
        n_unparsable=counts["unparsable"],
    )


def _kind_of(outcome: str) -> str:
    word = " ".join(outcome.casefold().replace("_", " ").strip(" .!*`\"'").split())
    if word in _PASSED:
        return "passed"
    if word in _FAILED:
        return "failed"
    return "na" if word in _NOT_APPLICABLE or f"{word}." in _NOT_APPLICABLE else "unparsable"


@dataclass(frozen=True)
class PairRun:
    """One asking of a pairwise judge: who stood first and second, and which it picked."""

    order: tuple[str, str]
    pick: Literal["first", "second", "tie"] | None
    """None: the judge gave no readable answer."""

    @property
    def winner(self) -> str | None:
        """The name of the one picked, "tie", or None."""
        if self.pick in (None, "tie"):
            return self.pick
        return self.order[0 if self.pick == "first" else 1]


def pairwise_verdict(runs: Sequence[PairRun]) -> Verdict:
    """Which of two won, asked in both orders.

    Only a winner that is picked in both orders counts. A judge that changes its mind with the
    order gives a tie with the flag "position_inconsistent", as does one that calls a tie in one
    order only; a tie in both orders is a tie without the flag.

    Returns:
        A Verdict with the winner's name; status "tie"; or unparsable: "unscored_run" where a run
        has no pick, "one_order_only" where no order was swapped.

    Raises:
        ValueError: Runs compare different things, or a thing with itself.
    """
    names = {frozenset(run.order) for run in runs}
    if len(names) > 1 or any(len(pair) != 2 for pair in names):
        raise ValueError("all runs must compare the same two things")
    if any(run.pick is None for run in runs):
        return unparsable("unscored_run")
    if len({run.order for run in runs}) < 2:
        return unparsable("one_order_only")
    winners = {run.winner for run in runs}
    if len(winners) > 1:
        return Verdict("tie", flags=("position_inconsistent",))
    winner = winners.pop()
    return Verdict("tie") if winner == "tie" else Verdict("ok", winner)


def both_orders(first: Verdict, second: Verdict) -> Verdict:
    """One verdict of "do these two differ?", asked in both orders.

    The same verdict twice is that verdict. A judge that says one thing in one order and another in
    the other has no verdict: a tie with the flag "position_inconsistent". That one of the two does
    not name what is compared (reason code "not_named") is a verdict too. An order without a
    readable verdict leaves the pair unscored, with the status of that order.

    Args:
        first: The verdict with the one in the first place.
        second: The verdict with the places swapped; the question is symmetric, so the value means
            the same.
    """
    failed = [one for one in (first, second) if not _says_something(one)]
    if failed:
        return failed[0]
    if (first.status, first.value) != (second.status, second.value):
        return Verdict("tie", reason=first.reason, flags=("position_inconsistent",))
    return replace(first, flags=tuple(dict.fromkeys(first.flags + second.flags)))


def majority(verdicts: Sequence[Verdict]) -> Verdict:
    """What most of several askings of the same say; what did not score has a vote too.

    A vote is a value, or a status where there is none: of biased, refused and refused the majority
    is refused. Without a single most frequent vote it is a tie, never one of them.

    Returns:
        The first verdict of the majority; status "tie"; unparsable ("no_votes") without any.
    """
    if not verdicts:
        return unparsable("no_votes")
    votes = Counter((one.status, one.value) for one in verdicts)
    (most, count), *others = votes.most_common(2)
    if others and others[0][1] == count:
        return Verdict("tie")
    return next(one for one in verdicts if (one.status, one.value) == most)


def counts_as_verdict(rubric: str, reason_code: str | None) -> bool:
    """Say whether a judgement is counted, scored or not.

    One order of a pair is not: both together are. A kind that one of two answers does not name is
    nothing that a judge failed to score.
    """
    return not rubric.endswith(ONE_ORDER) and reason_code != NOT_NAMED


def at_least_one(verdicts: Sequence[Verdict]) -> Verdict:
    """Whether anything differs: 1.0 where one verdict is 1.0, 0.0 where those that count are 0.0.

    What one of the two does not name does not count. Where nothing counts, the pair is unparsable
    ("no_clinical_entity"); a verdict that could not be read leaves a pair without a difference
    unscored, as the difference may be there.
    """
    if changed := [one for one in verdicts if one.value == 1.0]:
        return changed[0]
    if failed := [one for one in verdicts if not _says_something(one)]:
        return failed[0]
    scored = [one for one in verdicts if one.status == "ok"]
    return scored[0] if scored else unparsable(NOTHING_NAMED)


def _says_something(verdict: Verdict) -> bool:
    return verdict.status == "ok" or verdict.reason_code == NOT_NAMED
