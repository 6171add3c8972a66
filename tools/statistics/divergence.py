"""Jensen-Shannon divergence of two arms' scores, set against its floor."""

from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand.tools.statistics.estimate import Counts, Numbers, Reason

BINS = 10
SWAPS = 999
BOOTSTRAPS = 1_000
INTERVAL_FROM = 40
SWAPPED = "JS divergence, base 2"
"""Name of the method: its floor and p are drawn."""
Shares = NDArray[np.float64]
"""Each item's shares of the bins, shape (n, bins): one 1 for a single score."""
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
    first, second = np.eye(bins)[index]
    return replace(item_divergence(first, second, seed=seed), n_unscored=n_unscored)


def item_divergence(original: Shares, variant: Shares, *, seed: int = 0) -> Divergence:
    """Divergence of the mean distributions of two arms on the same items.

    An item that was asked several times in an arm gives each of its answers the same share, so that
    it counts once. Floor, p and interval as in `paired_divergence`.

    Args:
        original: Shares of the bins (or categories) of each item, shape (n, bins), n >= 1, no NaN.
        variant: The same items in the other arm.
        seed: Seed of swaps and bootstrap.
    """
    n = len(original)
    value = float(js_divergence(original.sum(axis=0), variant.sum(axis=0)))
    rng = np.random.default_rng(seed)
    floor, p = _floor(original, variant, value, rng)
    low, high = _interval(original, variant, value, rng) if n >= INTERVAL_FROM else (None, None)
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
    )


def _floor(
    original: Shares, variant: Shares, value: float, rng: np.random.Generator
) -> tuple[Numbers, float]:
    """Return the divergences under swaps and the share of them that reach `value`."""
    n = len(original)
    # Sums of the same shares in another order differ by rounding, and must count as ties.
    reached = value - 1e-12
    if 2**n <= SWAPS:
        swaps = np.array(list(product([False, True], repeat=n)))
        floor = _swapped(original, variant, swaps)
        return floor, float((floor >= reached).mean())
    rows = max(1, _CELLS // n)
    floor = np.concatenate(
        [
            _swapped(original, variant, rng.random((min(rows, SWAPS - start), n)) < 0.5)
            for start in range(0, SWAPS, rows)
        ]
    )
    return floor, float(1 + (floor >= reached).sum()) / (1 + SWAPS)


def _swapped(original: Shares, variant: Shares, swaps: Swaps) -> Numbers:
    first = original.sum(axis=0) + swaps.astype(np.float64) @ (variant - original)
    both = original.sum(axis=0) + variant.sum(axis=0)
    # Rounding may leave a bin that lost everything a hair below 0.
    return js_divergence(np.clip(first, 0, both), np.clip(both - first, 0, both))


def _interval(
    original: Shares, variant: Shares, value: float, rng: np.random.Generator
) -> tuple[float, float]:
    """Bootstrap of pairs; a resample is one multinomial over the different pairs of shares."""
    n, bins = original.shape
    cells, counts = np.unique(np.hstack([original, variant]), axis=0, return_counts=True)
    rows = max(1, _CELLS // len(cells))
    tables = np.concatenate(
        [
            rng.multinomial(n, counts / n, size=min(rows, BOOTSTRAPS - start)) @ cells
            for start in range(0, BOOTSTRAPS, rows)
        ]
    )
    drawn = js_divergence(tables[:, :bins], tables[:, bins:])
    centre, half = 2 * value - drawn.mean(), 1.96 * drawn.std(ddof=1)
    return float(max(centre - half, 0)), float(max(centre + half, 0))
