"""How well two raters agree, a person and a judge among them, on one scale.

A judge scores 0 to 1 and a person 1 to 5. Quantile mapping gives each score the rating that stands
at the same place among the person's ratings of the same items, so the two use the scale alike by
construction: the share of exact matches is then kind to the judge, and kappa, which takes off what
equal margins give by chance, stands beside it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evenhand.tools.statistics.agreement import Agreement, kappa, krippendorff
from evenhand.tools.statistics.estimate import SAME, Estimate, Numbers, nothing_scored
from evenhand.tools.statistics.intervals import WILSON, bounded_mean, proportion


@dataclass(frozen=True)
class RaterAgreement:
    """Agreement of two raters on the items that both rated."""

    exact: Estimate
    """Share of equal ratings; n counts units."""
    matches: int
    """Equal ratings."""
    rated: int
    """Items that both rated."""
    quadratic: Agreement
    plain: Agreement
    alpha: Agreement
    """Krippendorff's alpha for ordered ratings."""


def quantile_map(scores: ArrayLike, ratings: ArrayLike) -> Numbers:
    """Map scores to the scale of ratings of the same items: F_ratings^-1(F_scores(score)).

    F_scores is the middle of a score's rank among equals, (less + equal / 2) / n. Paper 1 (Table 5)
    names quantile mapping of 0-1 to 1-5 and no formula; this is the usual one.

    Args:
        scores: One an item, shape (n,); NaN is unscored.
        ratings: Of the same items, shape (n,); NaN is unscored.

    Returns:
        Shape (n,), values that occur in `ratings`; NaN where either is unscored.

    Example:
        >>> quantile_map([0.1, 0.2, 0.9], [2, 3, 5]).tolist()
        [2.0, 3.0, 5.0]
    """
    score, rating = np.asarray(scores, np.float64), np.asarray(ratings, np.float64)
    known = ~(np.isnan(score) | np.isnan(rating))
    mapped = np.full(score.shape, np.nan)
    n = int(known.sum())
    if not n:
        return mapped
    given, there = np.sort(score[known]), np.sort(rating[known])
    below = np.searchsorted(given, score[known] - SAME, side="left")
    upto = np.searchsorted(given, score[known] + SAME, side="right")
    place = np.ceil((below + upto) / 2 - SAME).astype(np.int64) - 1
    mapped[known] = there[np.clip(place, 0, n - 1)]
    return mapped


def equal_steps(scores: ArrayLike, low: float = 1, high: float = 5) -> Numbers:
    """Map scores of 0 to 1 to whole numbers of low to high by equal steps, halves upwards."""
    steps: Numbers = np.floor(low + (high - low) * np.asarray(scores, np.float64) + 0.5)
    return steps


def share_over(values: Sequence[float], units: Sequence[str], seed: int = 0) -> Estimate:
    """Share of ones among values of 0 and 1, with units (patients, cases) as what is sampled.

    Args:
        values: 0 or 1 each, no NaN.
        units: What each value belongs to.
        seed: Seed of the draws.

    Returns:
        Wilson's interval where each unit has one value; else the mean of the units' shares with the
        half-pseudo-item Bayesian bootstrap over units. n counts units.
    """
    if not values:
        return nothing_scored(0, WILSON)
    means = unit_means(values, units)
    if len(means) == len(values):
        return proportion(round(sum(values)), len(values))
    return bounded_mean(means, low=0, high=1, seed=seed)


def unit_means(values: Sequence[float], units: Sequence[str]) -> Numbers:
    """Return the mean of each unit's values, units in the order in which they occur."""
    total: dict[str, list[float]] = {}
    for value, unit in zip(values, units, strict=True):
        total.setdefault(unit, []).append(value)
    return np.array([np.mean(some) for some in total.values()], dtype=np.float64)


def agreement(
    first: ArrayLike,
    second: ArrayLike,
    *,
    units: Sequence[str],
    classes: Sequence[float] = (1, 2, 3, 4, 5),
    seed: int = 0,
) -> RaterAgreement:
    """Return how well two raters agree on ordered classes.

    Args:
        first: The first rater's classes, shape (n,); NaN is unscored.
        second: The second rater's, of the same items.
        units: The patient or case of each item; items of one are left out together.
        classes: The scale, in order.
        seed: Seed of the draws.
    """
    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    known = ~(np.isnan(a) | np.isnan(b))
    named = [unit for unit, use in zip(units, known, strict=True) if use]
    equal = (np.abs(a[known] - b[known]) < SAME).astype(np.float64)
    return RaterAgreement(
        exact=share_over(equal.tolist(), named, seed),
        matches=int(equal.sum()),
        rated=int(known.sum()),
        quadratic=kappa(a[known], b[known], weights="quadratic", classes=classes, units=named),
        plain=kappa(a[known], b[known], classes=classes, units=named),
        alpha=krippendorff(np.stack([a[known], b[known]]), scale="ordinal", units=named),
    )
