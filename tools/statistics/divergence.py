"""Jensen-Shannon divergence of two arms' scores, set against its floor."""

from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand.tools.statistics.estimate import Counts, Numbers, Reason

BINS = 10
SWAPS = 999
BOOTSTRAPS = 1_000
INTERVAL_FROM = 40
_CELLS = 4_000_000
"""Scores held at once."""

Swaps = NDArray[np.bool_]


@dataclass(frozen=True)
class Divergence:
    """A divergence, what it is without any difference, and the p-value against that."""

    status: Literal["ok", "not_estimable"]
    value: float | None = None
    """Base 2, in [0, 1]; not its square root."""
    floor_mean: float | None = None
    """Mean divergence under swaps inside pairs."""
    floor_high: float | None = None
    """95 % point under swaps inside pairs."""
    p: float | None = None
    low: float | None = None
    high: float | None = None
    interval_reason: Literal["n_below_40"] | None = None
    n: int = 0
    n_unscored: int = 0
    reason_code: Reason | None = None


def js_divergence(p: ArrayLike, q: ArrayLike) -> Numbers:
    """Jensen-Shannon divergence, base 2: mean relative entropy to the mid distribution.

    Args:
        p: Counts or shares, shape (..., bins).
        q: Counts or shares, broadcast with `p`.

    Returns:
        Shape (...), in [0, 1]; 0 is equal; NaN where a histogram is empty.
    """
    first, second = _shares(p), _shares(q)
    both = first + second
    value: Numbers = (_relative_entropy(first, both) + _relative_entropy(second, both)) / 2
    return value


def _shares(counts: ArrayLike) -> Numbers:
    array = np.asarray(counts, dtype=np.float64)
    total = array.sum(axis=-1, keepdims=True)
    shares: Numbers = array / np.where(total > 0, total, np.nan)
    return shares


def _relative_entropy(p: Numbers, both: Numbers) -> Numbers:
    """Relative entropy to both / 2, which is not formed: half the smallest number is 0."""
    ratio = np.divide(2 * p, both, out=np.ones_like(p), where=p > 0)
    entropy: Numbers = (p * np.log2(ratio)).sum(axis=-1)
    return entropy


def bin_index(scores: ArrayLike, bins: int = BINS, *, as_published: bool = False) -> Counts:
    """Return the bin of each score of 0 to 1, from 0; the last bin is closed.

    Args:
        scores: Any shape, no NaN.
        bins: Number of equal bins.
        as_published: Take the edges as floats, as paper 1 did: 3 * .1 > .3, so that .3, .6 and .7
            fall one bin lower.
    """
    array = np.asarray(scores, dtype=np.float64)
    if as_published:
        index = np.searchsorted(np.linspace(0, 1, bins + 1), array, side="right") - 1
    else:
        index = np.floor(np.round(array * bins, 9)).astype(np.int64)
    return np.clip(index, 0, bins - 1).astype(np.int64)


def histogram(index: Counts, bins: int = BINS) -> Counts:
    """Count bin indices along the last axis: shape (..., n) -> (..., bins)."""
    counts = np.stack([(index == one).sum(axis=-1) for one in range(bins)], axis=-1)
    return counts.astype(np.int64)


def paired_divergence(
    original: ArrayLike,
    variant: ArrayLike,
    *,
    bins: int = BINS,
    seed: int = 0,
    as_published: bool = False,
) -> Divergence:
    """Divergence of two arms' scores on the same items, with its permutation floor.

    The floor comes from 999 random swaps inside pairs (all 2^n where they are fewer):
    p = (1 + #>=) / 1000. From 40 items on, an interval 2 JS - mean(bootstrap) +- 1.96 sd, cut at 0;
    below it would cover too little. JS less its floor is too low, so both are shown.

    Args:
        original: Scores in [0, 1], shape (n,); NaN is unscored.
        variant: The same items in the other arm, shape (n,).
        bins: Number of equal bins.
        seed: Seed of swaps and bootstrap.
        as_published: Bin edges as in paper 1.
    """
    arms = np.stack([np.asarray(original, np.float64), np.asarray(variant, np.float64)])
    known = ~np.isnan(arms).any(axis=0)
    n, n_unscored = int(known.sum()), int((~known).sum())
    if n == 0:
        reason: Reason = "all_unscored" if n_unscored else "n_zero"
        return Divergence("not_estimable", n_unscored=n_unscored, reason_code=reason)
    index = bin_index(arms[:, known], bins, as_published=as_published)
    value = float(js_divergence(histogram(index[0], bins), histogram(index[1], bins)))
    rng = np.random.default_rng(seed)
    floor, p = _floor(index, value, bins, rng)
    low, high = _interval(index, value, bins, rng) if n >= INTERVAL_FROM else (None, None)
    return Divergence(
        status="ok",
        value=value,
        floor_mean=float(floor.mean()),
        floor_high=float(np.quantile(floor, 0.95)),
        p=p,
        low=low,
        high=high,
        interval_reason=None if n >= INTERVAL_FROM else "n_below_40",
        n=n,
        n_unscored=n_unscored,
    )


def _floor(
    index: Counts, value: float, bins: int, rng: np.random.Generator
) -> tuple[Numbers, float]:
    """Return the divergences under swaps and the share of them that reach `value`."""
    n = index.shape[1]
    if 2**n <= SWAPS:
        swaps = np.array(list(product([False, True], repeat=n)))
        floor = _swapped(index, swaps, bins)
        return floor, float((floor >= value - 1e-12).mean())
    rows = max(1, _CELLS // n)
    floor = np.concatenate(
        [
            _swapped(index, rng.random((min(rows, SWAPS - start), n)) < 0.5, bins)
            for start in range(0, SWAPS, rows)
        ]
    )
    return floor, float(1 + (floor >= value - 1e-12).sum()) / (1 + SWAPS)


def _swapped(index: Counts, swaps: Swaps, bins: int) -> Numbers:
    first = histogram(np.where(swaps, index[1], index[0]), bins)
    both = histogram(index[0], bins) + histogram(index[1], bins)
    return js_divergence(first, both - first)


def _interval(
    index: Counts, value: float, bins: int, rng: np.random.Generator
) -> tuple[float, float]:
    """Bootstrap of pairs; a resample of n pairs is one multinomial over the cells of pairs."""
    n = index.shape[1]
    cells = np.bincount(index[0] * bins + index[1], minlength=bins * bins)
    tables = rng.multinomial(n, cells / n, size=BOOTSTRAPS).reshape(BOOTSTRAPS, bins, bins)
    drawn = js_divergence(tables.sum(axis=2), tables.sum(axis=1))
    centre, half = 2 * value - drawn.mean(), 1.96 * drawn.std(ddof=1)
    return float(max(centre - half, 0)), float(max(centre + half, 0))
