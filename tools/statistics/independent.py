"""Two groups of different items: difference of means, and divergence with its floor.

Where the items of two arms are not the same ones, nothing can be paired: each group varies by
itself, and what happens without any difference is tried by dealing the scores anew to the groups.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from evenhand.tools.statistics.divergence import (
    BINS,
    SWAPS,
    Divergence,
    bin_index,
    histogram,
    js_divergence,
)
from evenhand.tools.statistics.estimate import LEVEL, SAME, Counts, Estimate, Flag, Numbers
from evenhand.tools.statistics.intervals import half_pseudo_means
from evenhand.tools.statistics.paired_tests import RESAMPLES

HALF_PSEUDO_EACH = "wider of Welch's t and half-pseudo-item Bayesian bootstrap of each group"
DEALT = "deals between the groups"


def mean_difference(
    arm: ArrayLike,
    reference: ArrayLike,
    *,
    low: float = 0.0,
    high: float = 1.0,
    seed: int = 0,
    level: float = LEVEL,
) -> Estimate:
    """Difference of the means of two groups of different items, mean(arm) - mean(reference).

    Interval: from the lower of the lower ends to the higher of the higher ends of Welch's t and of
    the difference of both groups' half-pseudo-item bootstrap means: the first is too short where
    scores are heaped, the second drawn to 0 where the groups lie at the two ends of the scale. It
    covers 95 to 100 in 8 pairs of shapes at n = m = 10, 20, 40 (300 simulations each).
    Test: the share of 9,999 random deals of all scores to the groups that differ as far.

    Args:
        arm: Scores, shape (n,), in [low, high]; NaN is unscored.
        reference: Scores of other items, shape (m,).
        low: Lower end of the scale.
        high: Upper end of the scale.
        seed: Seed of the draws.
        level: Confidence, 0 to 1.

    Returns:
        The difference; "group_empty" when a group has no scored item. `n` is both groups' scored
        items.
    """
    (first, lost), (second, lost_too) = _scored(arm), _scored(reference)
    n, n_unscored = first.size + second.size, lost + lost_too
    if not first.size or not second.size:
        return Estimate(
            "not_estimable",
            n=n,
            n_unscored=n_unscored,
            reason_code="group_empty",
            method=HALF_PSEUDO_EACH,
        )
    rng = np.random.default_rng(seed)
    drawn = half_pseudo_means(first, low=low, high=high, rng=rng) - half_pseudo_means(
        second, low=low, high=high, rng=rng
    )
    below, above = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    welch = _welch_limits(first, second, level)
    flags: tuple[Flag, ...] = ()
    if np.ptp(np.concatenate([first, second])) < SAME:
        flags = ("all_equal",)
    return Estimate(
        status="ok",
        value=float(first.mean() - second.mean()),
        low=float(max(min(below, welch[0]), low - high)),
        high=float(min(max(above, welch[1]), high - low)),
        n=n,
        n_unscored=n_unscored,
        p=_dealt_means(first, second, rng),
        flags=flags,
        method=HALF_PSEUDO_EACH,
    )


def _welch_limits(first: Numbers, second: Numbers, level: float) -> tuple[float, float]:
    """Welch's t limits; unlimited where a group has one item, equal ends where nothing varies."""
    from scipy.special import stdtrit

    if min(first.size, second.size) < 2:
        return -np.inf, np.inf
    errors = np.array([first.var(ddof=1) / first.size, second.var(ddof=1) / second.size])
    difference = float(first.mean() - second.mean())
    if errors.sum() < SAME**2:
        return difference, difference
    freedom = errors.sum() ** 2 / (errors**2 / [first.size - 1, second.size - 1]).sum()
    half = float(stdtrit(freedom, (1 + level) / 2)) * float(errors.sum()) ** 0.5
    return difference - half, difference + half


def independent_divergence(
    first: ArrayLike,
    second: ArrayLike,
    *,
    bins: int = BINS,
    seed: int = 0,
    as_published: bool = False,
) -> Divergence:
    """Divergence of the scores of two groups of different items, with its floor.

    The floor comes from 999 random deals of all scores to the groups: p = (1 + #>=) / 1000. There
    is no interval.

    Args:
        first: Scores in [0, 1], shape (n,); NaN is unscored.
        second: Scores of other items, shape (m,).
        bins: Number of equal bins.
        seed: Seed of the deals.
        as_published: Bin edges as in paper 1.
    """
    (one, lost), (other, lost_too) = _scored(first), _scored(second)
    if not one.size or not other.size:
        return Divergence(
            "not_estimable",
            n=one.size + other.size,
            n_unscored=lost + lost_too,
            reason_code="group_empty",
        )
    index = bin_index(np.concatenate([one, other]), bins, as_published=as_published)
    whole = histogram(index, bins)

    def divergence(dealt: Counts) -> Numbers:
        counts = histogram(dealt, bins)
        return js_divergence(counts, whole - counts)

    value = float(divergence(index[: one.size]))
    floor = _deals(index, one.size, SWAPS, np.random.default_rng(seed), divergence)
    return Divergence(
        status="ok",
        value=value,
        floor_mean=float(floor.mean()),
        floor_high=float(np.quantile(floor, 0.95)),
        p=float(1 + (floor >= value - 1e-12).sum()) / (1 + SWAPS),
        n=one.size + other.size,
        n_unscored=lost + lost_too,
    )


def _scored(values: ArrayLike) -> tuple[Numbers, int]:
    array = np.asarray(values, dtype=np.float64)
    known = ~np.isnan(array)
    return array[known], int((~known).sum())


def _dealt_means(first: Numbers, second: Numbers, rng: np.random.Generator) -> float:
    together = np.sort(np.concatenate([first, second]))
    expected = float(together.mean()) * first.size
    reached = abs(float(first.sum()) - expected) - 1e-12
    totals = _deals(together, first.size, RESAMPLES, rng, lambda dealt: dealt.sum(axis=-1))
    return (1 + int((np.abs(totals - expected) >= reached).sum())) / (1 + RESAMPLES)


def _deals(
    together: Numbers | Counts,
    size: int,
    times: int,
    rng: np.random.Generator,
    statistic: Callable[..., Numbers],
) -> Numbers:
    """Return a statistic of the first group, shape (times,), the items dealt anew each time."""
    rows = max(1, 2_000_000 // together.size)
    parts = []
    for start in range(0, times, rows):
        tile = np.tile(together, (min(rows, times - start), 1))
        parts.append(statistic(rng.permuted(tile, axis=1)[:, :size]))
    return np.concatenate(parts)
