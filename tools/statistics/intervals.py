"""Intervals: shares, paired and independent differences of shares, means, worst cases."""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from evenhand.tools.statistics.estimate import (
    LEVEL,
    SAME,
    Estimate,
    Flag,
    Numbers,
    nothing_scored,
)
from evenhand.tools.statistics.paired_tests import mcnemar, sign_flips

DRAWS = 10_000
FEW_DISCORDANT = 5
FEW_CHANGED = 10
_CELLS = 4_000_000
"""Random numbers held at once: 32 MB."""

WILSON = "Wilson"
TANGO = "Tango score"
NEWCOMBE = "Newcombe"
HALF_PSEUDO = "half-pseudo-item Bayesian bootstrap"
STUDENT = "t"
WIDER = "wider of t and half-pseudo-item Bayesian bootstrap"


def proportion(x: int, n: int, level: float = LEVEL) -> Estimate:
    """Share x / n with Wilson's interval.

    Args:
        x: Items with the property, 0 to n.
        n: Scored items.
        level: Confidence, 0 to 1.

    Returns:
        The share, in [0, 1]; "n_zero" without items.
    """
    if n == 0:
        return nothing_scored(0, WILSON)
    from scipy.stats import binomtest

    limits = binomtest(x, n).proportion_ci(confidence_level=level, method="wilson")
    return Estimate(
        status="ok",
        value=x / n,
        low=float(limits.low),
        high=float(limits.high),
        n=n,
        flags=("all_equal",) if x in (0, n) else (),
        method=WILSON,
    )


def paired_difference(up: int, down: int, n: int, level: float = LEVEL) -> Estimate:
    """Difference of two shares on the same items, (up - down) / n, with Tango's score interval.

    Args:
        up: Pairs with the property in the first arm only.
        down: Pairs with it in the second arm only.
        n: Scored pairs.
        level: Confidence, 0 to 1.

    Returns:
        The difference, in [-1, 1], with McNemar's mid-p; "n_zero" without pairs.
    """
    if n == 0:
        return nothing_scored(0, TANGO)
    low, high = tango_limits(up, down, n, level)
    flags: list[Flag] = []
    if n in (up, down) or up + down == 0:
        flags.append("all_equal")
    if up + down < FEW_DISCORDANT:
        flags.append("few_discordant")
    return Estimate(
        status="ok",
        value=(up - down) / n,
        low=float(low),
        high=float(high),
        n=n,
        p=mcnemar(up, down).p_mid,
        flags=tuple(flags),
        method=TANGO,
    )


def tango_limits(
    up: ArrayLike, down: ArrayLike, n: ArrayLike, level: float = LEVEL
) -> tuple[Numbers, Numbers]:
    """Tango's score limits: the D with (b - c - nD) / sqrt(n(2q + D(1 - D))) = +-z.

    q is the constrained maximum-likelihood estimate of the share that moves down. The score falls
    as D grows, so the limits are found by halving [-1, d] and [d, 1].

    Args:
        up: b, pairs that moved up; any shape.
        down: c, pairs that moved down; broadcast with `up`.
        n: Pairs, at least 1 and at least b + c.
        level: Confidence, 0 to 1.

    Returns:
        Low and high, each in [-1, 1], in the common shape.

    Source:
        Tango 1998, Statistics in Medicine 17:891.
    """
    from scipy.special import ndtri

    z = float(ndtri((1 + level) / 2))
    b, c, pairs = np.broadcast_arrays(
        *(np.asarray(count, dtype=np.float64) for count in (up, down, n))
    )
    return _lower_tango(b, c, pairs, z), -_lower_tango(c, b, pairs, z)


def _lower_tango(b: Numbers, c: Numbers, n: Numbers, z: float) -> Numbers:
    below, above = np.full_like(n, -1.0), (b - c) / n
    for _ in range(60):  # 2 / 2^60 is below the spacing of floats near 1
        middle = (below + above) / 2
        beyond = b - c - n * middle > z * np.sqrt(n * _constrained_variance(middle, b, c, n))
        below, above = np.where(beyond, middle, below), np.where(beyond, above, middle)
    limit: Numbers = (below + above) / 2
    return limit


def _constrained_variance(d: Numbers, b: Numbers, c: Numbers, n: Numbers) -> Numbers:
    linear = -b - c + (2 * n - b + c) * d
    constant = -c * d * (1 - d)
    root = np.sqrt(np.maximum(linear**2 - 8 * n * constant, 0))
    q = (root - linear) / (4 * n)
    variance: Numbers = np.maximum(2 * q + d * (1 - d), 0)
    return variance


def independent_difference(x1: int, n1: int, x2: int, n2: int, level: float = LEVEL) -> Estimate:
    """Difference of shares in two groups of different items, x1/n1 - x2/n2, after Newcombe.

    The distances from each share to its Wilson limits, added at right angles.

    Args:
        x1: Items with the property in the first group.
        n1: Scored items of the first group.
        x2: Items with the property in the second group.
        n2: Scored items of the second group.
        level: Confidence, 0 to 1.

    Returns:
        The difference, in [-1, 1]; "group_empty" when a group has no scored item. `n` is n1 + n2.

    Source:
        Newcombe 1998, Statistics in Medicine 17:873, method 10.
    """
    if n1 == 0 or n2 == 0:
        return Estimate(
            status="not_estimable", n=n1 + n2, reason_code="group_empty", method=NEWCOMBE
        )
    from scipy.stats import binomtest

    first, second = x1 / n1, x2 / n2
    one = binomtest(x1, n1).proportion_ci(confidence_level=level, method="wilson")
    two = binomtest(x2, n2).proportion_ci(confidence_level=level, method="wilson")
    return Estimate(
        status="ok",
        value=first - second,
        low=first - second - math.hypot(first - one.low, two.high - second),
        high=first - second + math.hypot(one.high - first, second - two.low),
        n=n1 + n2,
        flags=("all_equal",) if x1 + x2 in (0, n1 + n2) else (),
        method=NEWCOMBE,
    )


def bounded_mean(
    scores: ArrayLike, *, low: float = 0.0, high: float = 1.0, seed: int = 0, level: float = LEVEL
) -> Estimate:
    """Mean of scores on a scale, with the half-pseudo-item Bayesian bootstrap.

    Args:
        scores: One score an item, shape (n,), in [low, high]; NaN is unscored.
        low: Lower end of the scale.
        high: Upper end of the scale.
        seed: Seed of the draws.
        level: Confidence, 0 to 1.

    Returns:
        The mean; "all_unscored" or "n_zero" where there is no score.
    """
    scored, n_unscored = _scored(np.asarray(scores, dtype=np.float64))
    if scored.size == 0:
        return nothing_scored(n_unscored, HALF_PSEUDO)
    limits = half_pseudo_limits(scored, low=low, high=high, seed=seed, level=level)
    return Estimate(
        status="ok",
        value=float(scored.mean()),
        low=limits[0],
        high=limits[1],
        n=scored.size,
        n_unscored=n_unscored,
        flags=("all_equal",) if np.ptp(scored) < SAME else (),
        method=HALF_PSEUDO,
    )


def half_pseudo_limits(
    scores: Numbers,
    *,
    low: float,
    high: float,
    seed: int = 0,
    draws: int = DRAWS,
    level: float = LEVEL,
) -> tuple[float, float]:
    """Quantiles of the mean under weights Exp(1) an item and Gamma(1/2) on each end of the scale.

    The two half items keep the interval open when all scores are equal; for scores of 0 and 1 it is
    Jeffreys' interval. Items of one value share one Gamma(count) weight: the same law, fewer draws.

    Args:
        scores: Shape (n,), n >= 1, no NaN.
        low: Lower end of the scale.
        high: Upper end of the scale.
        seed: Seed of the draws; the order of the items does not matter.
        draws: Number of weighted means.
        level: Confidence, 0 to 1.

    Returns:
        Low and high.

    Source:
        After Rubin 1981, Annals of Statistics 9:130.
    """
    rng = np.random.default_rng(seed)
    means = half_pseudo_means(scores, low=low, high=high, rng=rng, draws=draws)
    below, above = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(below), float(above)


def half_pseudo_means(
    scores: Numbers, *, low: float, high: float, rng: np.random.Generator, draws: int = DRAWS
) -> Numbers:
    """Weighted means behind `half_pseudo_limits`, shape (draws,)."""
    values, counts = np.unique(scores, return_counts=True)
    values = np.concatenate([[low, high], values])
    shapes = np.concatenate([[0.5, 0.5], counts])
    rows = max(1, _CELLS // values.size)
    return np.concatenate(
        [
            _weighted_means(
                rng.standard_gamma(shapes, (min(rows, draws - start), shapes.size)), values
            )
            for start in range(0, draws, rows)
        ]
    )


def _weighted_means(weights: Numbers, values: Numbers) -> Numbers:
    means: Numbers = weights @ values / weights.sum(axis=1)
    return means


def paired_mean(
    arm: ArrayLike,
    reference: ArrayLike,
    *,
    low: float = -1.0,
    high: float = 1.0,
    seed: int = 0,
    level: float = LEVEL,
) -> Estimate:
    """Mean of arm - reference on the same items.

    Args:
        arm: One score an item, shape (n,); NaN is unscored.
        reference: The same items' scores in the other arm, shape (n,); NaN is unscored.
        low: Least possible difference.
        high: Greatest possible difference.
        seed: Seed of the draws.
        level: Confidence, 0 to 1.

    Returns:
        As `mean_change`; a pair with one side unscored is left out and counted in `n_unscored`.

    Raises:
        ValueError: The shapes differ.
    """
    first, second = np.asarray(arm, dtype=np.float64), np.asarray(reference, dtype=np.float64)
    if first.shape != second.shape:
        raise ValueError(f"arms of one shape expected, got {first.shape} and {second.shape}")
    return mean_change(first - second, low=low, high=high, seed=seed, level=level)


def mean_change(
    differences: ArrayLike,
    *,
    low: float = -1.0,
    high: float = 1.0,
    seed: int = 0,
    level: float = LEVEL,
) -> Estimate:
    """Mean difference: t, or the wider of t and half-pseudo-item where few items changed.

    Args:
        differences: One an item, shape (n,); NaN is unscored.
        low: Least possible difference; one level down for steps on an ordinal scale.
        high: Greatest possible difference, or one level up.
        seed: Seed of the draws.
        level: Confidence, 0 to 1.

    Returns:
        The mean with the p-value of sign flips; flag "few_changed" below 10 changed items;
        "n_below_2" for one item, whose value is kept.
    """
    scored, n_unscored = _scored(np.asarray(differences, dtype=np.float64))
    if scored.size == 0:
        return nothing_scored(n_unscored, STUDENT)
    value = Estimate(
        status="not_estimable",
        value=float(scored.mean()),
        n=scored.size,
        n_unscored=n_unscored,
        reason_code="n_below_2",
        method=STUDENT,
    )
    if scored.size < 2:
        return value
    flags: list[Flag] = []
    if np.ptp(scored) < SAME:
        flags.append("all_equal")
    if int((np.abs(scored) >= SAME).sum()) < FEW_CHANGED:
        flags.append("few_changed")
    below, above = student_limits(scored, level)
    if flags:
        pseudo = half_pseudo_limits(scored, low=low, high=high, seed=seed, level=level)
        below, above = min(below, pseudo[0]), max(above, pseudo[1])
    return replace(
        value,
        status="ok",
        low=below,
        high=above,
        p=sign_flips(scored, seed),
        flags=tuple(flags),
        reason_code=None,
        method=WIDER if flags else STUDENT,
    )


def student_limits(differences: Numbers, level: float = LEVEL) -> tuple[float, float]:
    """Student's t limits of a mean; shape (n,), n >= 2, no NaN."""
    from scipy.special import stdtrit

    n = differences.size
    half = float(stdtrit(n - 1, (1 + level) / 2)) * float(differences.std(ddof=1)) / n**0.5
    mean = float(differences.mean())
    return mean - half, mean + half


@dataclass(frozen=True)
class MissingBounds:
    """A paired difference on complete pairs, and where it lies whatever the missing pairs hide."""

    complete_case: float | None
    low: float
    high: float


def missing_bounds(up: int, down: int, scored: int, n: int) -> MissingBounds:
    """Worst-case bounds (up - down +- missing) / n of a paired difference.

    Args:
        up: Scored pairs that moved up.
        down: Scored pairs that moved down.
        scored: Scored pairs.
        n: All pairs, at least 1, the unscored ones included.

    Source:
        Manski 1990, American Economic Review 80:319.
    """
    missing = n - scored
    return MissingBounds(
        complete_case=(up - down) / scored if scored else None,
        low=(up - down - missing) / n,
        high=(up - down + missing) / n,
    )


def _scored(values: Numbers) -> tuple[Numbers, int]:
    known = ~np.isnan(values)
    return values[known], int(known.size - known.sum())
