"""Rates of groups of different people, side by side: nobody disappears, and 0 / 0 is no number."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evenhand.tools.statistics.estimate import ALPHA, Estimate
from evenhand.tools.statistics.intervals import proportion

SMALL = 5
"""Groups below so many people are flagged "small_n"."""


@dataclass(frozen=True)
class Ratio:
    """A quotient, or that it is undefined."""

    value: float | None
    reason_code: Literal["undefined"] | None = None


def ratio(numerator: float, denominator: float) -> Ratio:
    """Divide; "undefined" for a denominator of 0."""
    if denominator == 0:
        return Ratio(None, "undefined")
    return Ratio(numerator / denominator)


def group_rates(groups: Mapping[str, tuple[int, int]]) -> dict[str, Estimate]:
    """Share with Wilson's interval of each group; an empty group stays, as "not_estimable".

    Args:
        groups: (with the property, all) by group.
    """
    return {group: proportion(events, n) for group, (events, n) in groups.items()}


@dataclass(frozen=True)
class GroupGap:
    """Rate of one group less that of another, and in words which one is lower."""

    groups: tuple[str, str]
    difference: float
    ratio: Ratio

    @property
    def formula(self) -> str:
        """Which is taken from which: "women minus men"."""
        return f"{self.groups[0]} minus {self.groups[1]}"

    @property
    def words(self) -> str:
        """Name the lower group from the sign of the same difference, never apart from it."""
        if self.difference == 0:
            return "equal"
        return f"{self.groups[0] if self.difference < 0 else self.groups[1]} lower"


def rate_gap(group: str, rate: float, reference: str, reference_rate: float) -> GroupGap:
    """Compare a group's rate with a reference group's."""
    gap = rate - reference_rate
    return GroupGap((group, reference), gap, ratio(rate, reference_rate))


@dataclass(frozen=True)
class GroupComparison:
    """Two groups' rates and the exact test between them."""

    rates: dict[str, Estimate]
    p_fisher: float | None
    """None where a group is empty."""
    significant: bool
    flags: tuple[str, ...]


def compare_groups(
    groups: Mapping[str, tuple[int, int]], *, min_n: int = SMALL, alpha: float = ALPHA
) -> GroupComparison:
    """Fisher's exact test of two groups; small ones are flagged, and stay.

    Args:
        groups: (with the property, all) of two groups.
        min_n: Below so many people a group is small.
        alpha: Two-sided level.

    Raises:
        ValueError: Not two groups.
    """
    if len(groups) != 2:
        raise ValueError(f"two groups expected, got {len(groups)}")
    sizes = [n for _, n in groups.values()]
    flags = ("small_n",) if min(sizes) < min_n else ()
    if min(sizes) == 0:
        return GroupComparison(group_rates(groups), None, False, flags)
    from scipy.stats import fisher_exact

    table = np.array([[x, n - x] for x, n in groups.values()], dtype=np.int64)
    p = float(fisher_exact(table).pvalue)
    return GroupComparison(group_rates(groups), p, p < alpha, flags)


@dataclass(frozen=True)
class Opportunity:
    """True-positive rates by group, and their gap where both have one."""

    status: Literal["ok", "not_estimable"]
    rates: dict[str, Estimate]
    gap: float | None


def equal_opportunity(
    truth: Mapping[str, Sequence[int]], predicted: Mapping[str, Sequence[int]]
) -> Opportunity:
    """True-positive rate of each group; without a positive it has none, and there is no gap.

    Args:
        truth: 1 or 0 a person, by group.
        predicted: The same people.
    """
    rates = {}
    for group, labels in truth.items():
        pairs = zip(labels, predicted[group], strict=True)
        hits = [guess for label, guess in pairs if label == 1]
        rates[group] = proportion(sum(hits), len(hits))
    values = [rate.value for rate in rates.values() if rate.value is not None]
    if len(values) < len(rates) or len(values) < 2:
        return Opportunity("not_estimable", rates, None)
    return Opportunity("ok", rates, max(values) - min(values))
