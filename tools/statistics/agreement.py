"""Agreement of raters beyond chance: kappa of two, Krippendorff's alpha of any number.

Both are 1 - observed / expected disagreement. Everything is computed from tables of counts, one a
unit, which add up: leaving a unit out is a subtraction, so the jackknife is one call.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from evenhand.tools.statistics.estimate import LEVEL, Estimate, Numbers
from evenhand.tools.statistics.intervals import proportion

Weights = Literal["nominal", "linear", "quadratic"]
Scale = Literal["nominal", "ordinal", "interval", "ratio"]
NoInterval = Literal[
    "n_zero", "n_below_2", "single_class", "no_disagreement_seen", "one_of_a_class", "no_spread"
]
JACKKNIFE = "jackknife on log(1 - value), t"
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Agreement:
    """Agreement beyond chance; 1 is perfect, 0 what chance gives, below 0 worse than chance."""

    status: Literal["ok", "not_estimable"]
    value: float | None = None
    """Kept without an interval where there is one: perfect agreement has no variance of its own."""
    low: float | None = None
    high: float | None = None
    se: float | None = None
    """Jackknife standard error, on the scale of the value."""
    n: int = 0
    """Units: items, or groups of items that belong together."""
    reason_code: NoInterval | None = None
    method: str = JACKKNIFE


def disagreement(classes: int, weights: Weights = "nominal") -> Numbers:
    """Return the weight of each disagreement, shape (classes, classes): 0 on the diagonal."""
    step = np.abs(np.subtract.outer(np.arange(classes), np.arange(classes))).astype(np.float64)
    return {"nominal": (step > 0).astype(np.float64), "linear": step, "quadratic": step**2}[weights]


def kappa_of(tables: ArrayLike, weights: ArrayLike) -> Numbers:
    """Cohen's kappa, 1 - sum(w n_ij) / sum(w n_i. n_.j / n), with any disagreement weights.

    Args:
        tables: Items rated i by the first and j by the second, shape (..., k, k).
        weights: Disagreement w_ij, 0 on the diagonal, shape (k, k).

    Returns:
        Shape (...), at most 1; NaN where no disagreement can be expected (one class, no item).

    Source:
        Cohen 1968, Psychological Bulletin 70:213.
    """
    counts, weight = np.asarray(tables, np.float64), np.asarray(weights, np.float64)
    n = counts.sum(axis=(-2, -1))
    margins = counts.sum(axis=-1)[..., :, None] * counts.sum(axis=-2)[..., None, :]
    return _beyond_chance(
        (counts * weight).sum(axis=(-2, -1)) * n, (margins * weight).sum(axis=(-2, -1))
    )


def alpha_of(coincidences: ArrayLike, values: ArrayLike, scale: Scale) -> Numbers:
    """Krippendorff's alpha, 1 - D_o / D_e, from coincidences.

    Args:
        coincidences: Pairs of values given to one unit, shape (..., k, k), symmetric.
        values: The k classes in ascending order; their size counts for interval and ratio.
        scale: How far two classes are apart.

    Returns:
        Shape (...), at most 1; NaN where only one class occurs.

    Source:
        Krippendorff 2011, Computing Krippendorff's alpha-reliability.
    """
    counts = np.asarray(coincidences, np.float64)
    margin = counts.sum(axis=-1)
    n = margin.sum(axis=-1)
    distance = _distance(margin, np.asarray(values, np.float64), scale)
    expected = margin[..., :, None] * margin[..., None, :] * distance
    return _beyond_chance(
        (counts * distance).sum(axis=(-2, -1)) * (n - 1), expected.sum(axis=(-2, -1))
    )


def _beyond_chance(observed: Numbers, expected: Numbers) -> Numbers:
    beyond: Numbers = 1 - observed / np.where(expected > _ROUNDING, expected, np.nan)
    return beyond


def _distance(margin: Numbers, values: Numbers, scale: Scale) -> Numbers:
    """Return squared distances of classes, shape (..., k, k) or (k, k)."""
    if scale == "nominal":
        return disagreement(values.size)
    if scale == "ordinal":  # how many values lie between, half of each end counted
        middle = margin.cumsum(axis=-1) - margin / 2
        between: Numbers = (middle[..., :, None] - middle[..., None, :]) ** 2
        return between
    apart = np.subtract.outer(values, values)
    if scale == "interval":
        return np.square(apart)
    together = np.add.outer(values, values)
    ratio: Numbers = np.divide(apart, together, out=np.zeros_like(apart), where=together != 0) ** 2
    return ratio


def kappa(
    first: ArrayLike,
    second: ArrayLike,
    *,
    weights: Weights = "nominal",
    classes: Sequence[float] | None = None,
    units: Sequence[str] | None = None,
    level: float = LEVEL,
) -> Agreement:
    """Kappa of two raters with the jackknife interval.

    Args:
        first: The first rater's classes as numbers, shape (n,); NaN is unscored.
        second: The second rater's, of the same items.
        weights: Which disagreements count more; quadratic for ordered classes.
        classes: All classes of the scale in order; without, those that occur. A class that nobody
            uses moves nothing with quadratic weights only if its place on the scale is kept.
        units: What each item belongs to (a patient); left out together. Without: its own unit.
        level: Confidence, 0 to 1.

    Returns:
        The agreement; items that one of the two left out are dropped. Not estimable: "single_class"
        (both always gave one class), "no_disagreement_seen" (value 1: show the interval of the
        plain share), "one_of_a_class" (a unit alone holds a class), "no_spread" (the same whichever
        unit is left out, as where one rater gave one class throughout), "n_zero", "n_below_2".
    """
    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    known = ~(np.isnan(a) | np.isnan(b))
    values = np.array(classes) if classes is not None else np.unique([a[known], b[known]])
    i, j = np.searchsorted(values, a[known]), np.searchsorted(values, b[known])
    tables = np.zeros((known.sum(), values.size, values.size))
    tables[np.arange(known.sum()), i, j] = 1
    named = None if units is None else np.asarray(units)[known]
    weight = disagreement(values.size, weights)
    return jackknifed(_by_unit(tables, named), lambda some: kappa_of(some, weight), level)


def kappa_table(
    table: ArrayLike, *, weights: Weights = "nominal", level: float = LEVEL
) -> Agreement:
    """Kappa from a table of counts, each item its own unit; see `kappa`."""
    counts = np.asarray(table, np.int64)
    i, j = (place.repeat(counts.ravel()) for place in np.indices(counts.shape).reshape(2, -1))
    return kappa(i, j, weights=weights, classes=[*range(len(counts))], level=level)


def krippendorff(
    ratings: ArrayLike,
    *,
    scale: Scale = "nominal",
    units: Sequence[str] | None = None,
    level: float = LEVEL,
) -> Agreement:
    """Krippendorff's alpha of any number of raters with the jackknife interval.

    Args:
        ratings: A row a rater, a column an item, shape (raters, n); NaN is unscored. Items with
            fewer than two ratings say nothing about agreement and are left out.
        scale: How far two values are apart; ordinal for ratings of 1 to 5.
        units: What each item belongs to; see `kappa`.
        level: Confidence, 0 to 1.

    Returns:
        As `kappa`.
    """
    given = np.asarray(ratings, np.float64)
    values = np.unique(given[~np.isnan(given)])
    counts = (given.T[:, :, None] == values).sum(axis=1).astype(np.float64)
    paired = counts.sum(axis=-1) >= 2
    tables = _coincidences(counts[paired])
    named = None if units is None else np.asarray(units)[paired]
    return jackknifed(_by_unit(tables, named), lambda some: alpha_of(some, values, scale), level)


def _coincidences(counts: Numbers) -> Numbers:
    """Return each item's pairs of values, every rating weighing 1; shape (n, k) -> (n, k, k)."""
    pairs = counts[:, :, None] * counts[:, None, :]
    pairs -= counts[:, :, None] * np.eye(counts.shape[1])
    weighted: Numbers = pairs / (counts.sum(axis=-1)[:, None, None] - 1)
    return weighted


def _by_unit(tables: Numbers, units: Numbers | None) -> Numbers:
    """Add up the tables of items that belong together."""
    if units is None:
        return tables
    names, place = np.unique(units, return_inverse=True)
    summed = np.zeros((names.size, *tables.shape[1:]))
    np.add.at(summed, place, tables)
    return summed


def jackknifed(
    tables: Numbers, statistic: Callable[[Numbers], Numbers], level: float = LEVEL
) -> Agreement:
    """Return a statistic of summed tables with its interval: t(units - 1) on log(1 - value).

    The standard error is that of leaving out one unit at a time, carried to the log scale by the
    slope there; the interval covers 91 to 98 % from 20 units on.

    Args:
        tables: Counts of each unit, shape (units, k, k).
        statistic: (..., k, k) -> (...); NaN where it does not exist.
        level: Confidence, 0 to 1.
    """
    from scipy.special import stdtrit

    n = len(tables)
    if n == 0:
        return Agreement("not_estimable", reason_code="n_zero")
    total = tables.sum(axis=0)
    value = float(statistic(total))
    if np.isnan(value):
        return Agreement("not_estimable", n=n, reason_code="single_class")
    if 1 - value < _ROUNDING:
        return Agreement("not_estimable", 1.0, n=n, reason_code="no_disagreement_seen")
    if n < 2:
        return Agreement("not_estimable", value, n=n, reason_code="n_below_2")
    without = statistic(total - tables)
    if np.isnan(without).any():
        return Agreement("not_estimable", value, n=n, reason_code="one_of_a_class")
    se = float(np.sqrt((n - 1) / n * np.square(without - without.mean()).sum()))
    if se < _ROUNDING:  # one rater gave one class throughout: 0 whatever the other says
        return Agreement("not_estimable", value, n=n, reason_code="no_spread")
    half = float(stdtrit(n - 1, (1 + level) / 2)) * se / (1 - value)
    low, high = (1 - (1 - value) * np.exp(sign * half) for sign in (1, -1))
    return Agreement("ok", value, float(low), float(high), se, n)


def share_at_least(x: int, n: int, chance: float = 0.5) -> Estimate:
    """Share x / n with Wilson's interval and the exact one-sided test that it is above chance.

    p = P(X >= x), X ~ Bin(n, chance): the test of a choice between two (paper 1, Table 3).

    Args:
        x: Choices for the arm, 0 to n.
        n: Choices; "n_zero" without any.
        chance: Share to be expected if the arm made no difference.
    """
    from scipy.stats import binomtest

    share = proportion(x, n)
    if n == 0:
        return share
    p = float(binomtest(x, n, chance, alternative="greater").pvalue)
    return replace(share, p=p, method=f"{share.method}; one-sided exact binomial")
