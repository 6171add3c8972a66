"""Percentile bootstrap of whole items, by multinomial draws over the cells that items fall into.

A resample of n items is one multinomial draw over the different items, so 1,000 resamples of
72,444 pairs are 1,000 draws over some 50 cells. It is the papers' interval, kept as it is: where
nothing varies it has zero width and says `all_equal`. At few changed pairs it covers far less than
95 %, so a report shows it only beside the interval of tools/statistics/intervals.py.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from evenhand.tools.statistics.estimate import LEVEL, SAME, Counts, Flag, Numbers

RESAMPLES = 1_000
PERCENTILE = "percentile bootstrap"


@dataclass(frozen=True)
class Bootstrap:
    """A statistic with its percentile limits."""

    value: float | None
    low: float | None
    high: float | None
    resamples: int
    n_missing: int = 0
    """Resamples in which the statistic has no value (a group of which nobody was drawn)."""
    flags: tuple[Flag, ...] = ()
    unit: Literal["pair", "item"] = "pair"
    method: str = PERCENTILE


def resample(counts: ArrayLike, *, seed: int, resamples: int = RESAMPLES) -> Counts:
    """Draw as many items as there are, again and again.

    Args:
        counts: Items in each cell, any shape, at least one item.
        seed: Seed of the draws.
        resamples: Number of draws.

    Returns:
        Counts of the same cells, shape (resamples, *counts.shape).

    Raises:
        ValueError: There is no item.
    """
    cells = np.asarray(counts, dtype=np.int64)
    n = int(cells.sum())
    if n == 0:
        raise ValueError("at least one item expected")
    drawn = np.random.default_rng(seed).multinomial(n, cells.ravel() / n, size=resamples)
    return drawn.reshape(resamples, *cells.shape)


def percentile(
    value: float,
    replicates: ArrayLike,
    level: float = LEVEL,
    unit: Literal["pair", "item"] = "pair",
) -> Bootstrap:
    """Limits of a statistic from its replicates; those without a value are counted, never 0.

    Args:
        value: The statistic of the data; NaN where it has none.
        replicates: The statistic of each resample, shape (resamples,), NaN where it has none.
        level: Confidence, 0 to 1.
        unit: What was drawn.
    """
    drawn = np.asarray(replicates, dtype=np.float64)
    known = drawn[~np.isnan(drawn)]
    missing = drawn.size - known.size
    if known.size == 0 or np.isnan(value):
        kept = None if np.isnan(value) else float(value)
        return Bootstrap(kept, None, None, drawn.size, missing, unit=unit)
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    flags: tuple[Flag, ...] = ("all_equal",) if np.ptp(known) < SAME else ()
    return Bootstrap(float(value), float(low), float(high), drawn.size, missing, flags, unit)


def bootstrap_items(
    items: ArrayLike,
    statistic: Callable[[Counts], Numbers],
    *,
    seed: int,
    resamples: int = RESAMPLES,
) -> Bootstrap:
    """Percentile bootstrap of any statistic of items that are counted.

    Args:
        items: How often each item is there, shape (n,): ones, or counts of equal items.
        statistic: Counts of shape (..., n) -> shape (...): it is computed anew in each resample, so
            that the limits are those of the statistic itself.
        seed: Seed of the draws.
        resamples: Number of draws.
    """
    counts = np.asarray(items, dtype=np.int64)
    drawn = resample(counts, seed=seed, resamples=resamples)
    return percentile(float(statistic(counts)), statistic(drawn), unit="item")


def bootstrap_groups(
    values: ArrayLike, groups: Sequence[str], *, seed: int, resamples: int = RESAMPLES
) -> dict[str, Bootstrap]:
    """Percentile bootstrap of each group's mean, all items drawn together.

    A resample without any member of a group has no mean of it: it is counted in `n_missing`.

    Args:
        values: One an item, shape (n,), no NaN, n >= 1.
        groups: The group of each item.
        seed: Seed of the draws.
        resamples: Number of draws.
    """
    array = np.asarray(values, dtype=np.float64)
    names, member = np.unique(np.array(groups, dtype=np.str_), return_inverse=True)
    inside = (member[:, None] == np.arange(names.size)).astype(np.float64)

    def means(counts: Counts) -> Numbers:
        drawn = counts @ inside
        mean: Numbers = counts @ (inside * array[:, None]) / np.where(drawn > 0, drawn, np.nan)
        return mean

    ones = np.ones(array.size, np.int64)
    value, replicates = means(ones), means(resample(ones, seed=seed, resamples=resamples))
    return {
        str(name): percentile(float(value[place]), replicates[:, place], unit="item")
        for place, name in enumerate(names)
    }


def bootstrap_difference(
    original: ArrayLike, counterfactual: ArrayLike, *, seed: int, resamples: int = RESAMPLES
) -> Bootstrap:
    """Mean of counterfactual - original, whole pairs drawn: both sides of a pair stay together.

    Args:
        original: One a pair, shape (n,), no NaN, n >= 1.
        counterfactual: The same pairs, shape (n,).
        seed: Seed of the draws.
        resamples: Number of draws.

    Raises:
        ValueError: The shapes differ.
    """
    first, second = (np.asarray(one, dtype=np.float64) for one in (original, counterfactual))
    if first.shape != second.shape:
        raise ValueError(f"pairs expected, got {first.shape} and {second.shape}")
    steps, counts = np.unique(second - first, return_counts=True)
    drawn = resample(counts, seed=seed, resamples=resamples)
    return percentile(float(counts @ steps / first.size), drawn @ steps / first.size)
