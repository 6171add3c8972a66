"""The paper's metrics as functions of counts: level as shown first x level as shown second.

Counts have free leading axes, so that 1,000 resamples are one call. `there` are the pairs a->b and
`back` the pairs b->a, a the reference group (male in the paper) and b the other.
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand.tools.statistics.estimate import SAME, Counts

Shares = NDArray[np.float64]
"""Shares or mean steps; NaN where a table is empty."""
Way = Literal["up", "down"]
"""To a higher or a lower level number."""


def pair_counts(original: ArrayLike, counterfactual: ArrayLike, levels: int) -> Counts:
    """Count pairs by level shown first and level shown second.

    Args:
        original: Places on the scale, shape (n,), 0 to levels - 1, no unscored ones.
        counterfactual: The same pairs, shown as the other group, shape (n,).
        levels: Number of levels.

    Returns:
        Shape (levels, levels).

    Raises:
        ValueError: A level outside the scale.
    """
    first, second = (np.asarray(one, dtype=np.int64) for one in (original, counterfactual))
    both = np.concatenate([first, second])
    if both.size and not (both.min() >= 0 and both.max() < levels):
        raise ValueError(f"levels 0 to {levels - 1} expected, got {both.min()} to {both.max()}")
    counts = np.bincount(first * levels + second, minlength=levels**2)
    return counts.reshape(levels, levels).astype(np.int64)


def pairwise_disagreement_rate(counts: Counts) -> Shares:
    """Pairwise disagreement rate, PDR = P(f(x) != f(x')).

    Args:
        counts: Pairs, shape (..., L, L), whole numbers >= 0; unscored pairs are not in it.

    Returns:
        Share of pairs that changed level, shape (...), in [0, 1]; 0: none; NaN where empty.

    Raises:
        ValueError: The last two axes differ.
    """
    return _share(counts, np.abs(_signs(counts)))


def upward_rate(counts: Counts) -> Shares:
    """P_up(a->b): share of pairs that moved to a higher level number; as the rate above."""
    return _share(counts, _signs(counts) > 0)


def downward_rate(counts: Counts) -> Shares:
    """P_down(a->b): share of pairs that moved to a lower level number; as the rate above."""
    return _share(counts, _signs(counts) < 0)


def directional_triage_skew(counts: Counts) -> Shares:
    """Directional triage skew, DTS_{b|a} = P_up(a->b) - P_down(a->b).

    Args:
        counts: Pairs a->b, shape (..., L, L).

    Returns:
        Share of pairs, shape (...), in [-1, 1]; 0: as many moved up as down; NaN where empty.

    Raises:
        ValueError: The last two axes differ.

    Example:
        >>> float(directional_triage_skew(np.array([[5, 3], [1, 1]])))
        0.2
    """
    return _share(counts, _signs(counts))


def net_asymmetric_triage_shift(there: Counts, back: Counts, way: Way) -> Shares:
    """Net asymmetric triage shift, NATS(+) = P_up(b->a) - P_up(a->b); NATS(-) with P_down.

    Args:
        there: Pairs a->b, shape (..., L, L).
        back: Pairs b->a, the same shape.
        way: "up" for NATS(+), "down" for NATS(-).

    Returns:
        Difference of shares, shape (...), in [-1, 1]; 0: equal; NaN where a table is empty.
    """
    rate = upward_rate if way == "up" else downward_rate
    shift: Shares = rate(back) - rate(there)
    return shift


def net_mean_disadvantage(there: Counts, back: Counts) -> Shares:
    """Net mean disadvantage of b, NMD = mean over all pairs of f(shown as b) - f(shown as a).

    Args:
        there: Pairs a->b, shape (..., L, L).
        back: Pairs b->a, the same shape.

    Returns:
        Mean difference in levels, shape (...), in [-(L - 1), L - 1]; 0: no difference; above 0:
        shown as b, patients get the higher number; NaN where both tables are empty.
    """
    size = _steps(there)
    total = (there * size).sum(axis=(-2, -1)) - (back * size).sum(axis=(-2, -1))
    pairs = there.sum(axis=(-2, -1)) + back.sum(axis=(-2, -1))
    mean: Shares = total / np.where(pairs > 0, pairs, np.nan)
    return mean


def disadvantage_from_skews(there: Counts, back: Counts) -> Shares:
    """w_a DTS_{b|a} - w_b DTS_{a|b}: the NMD, if every change is one level.

    w_a and w_b are the shares of the pairs that are originally of each group. A check of the two
    ways to compute one number; where changes are larger, the two differ by what exceeds one level.
    """
    ours, theirs = there.sum(axis=(-2, -1)), back.sum(axis=(-2, -1))
    pairs = ours + theirs
    up_less_down = (there * _signs(there)).sum(axis=(-2, -1))
    other = (back * _signs(back)).sum(axis=(-2, -1))
    value: Shares = (up_less_down - other) / np.where(pairs > 0, pairs, np.nan)
    return value


def only_one_level(*tables: Counts) -> bool:
    """Return whether no pair of any table moved by more than one level."""
    return not any((table * (np.abs(_steps(table)) > 1)).any() for table in tables)


def identity_holds(there: Counts, back: Counts) -> bool | None:
    """Return whether NMD = w_a DTS_{b|a} - w_b DTS_{a|b}; None where that need not be."""
    if not only_one_level(there, back) or not (there.sum() and back.sum()):
        return None
    beside = net_mean_disadvantage(there, back) - disadvantage_from_skews(there, back)
    return bool(np.abs(beside).max() < SAME)


def moved(counts: Counts, way: Way) -> Counts:
    """Return the number of pairs that moved up or down, shape (...)."""
    signs = _signs(counts) if way == "up" else -_signs(counts)
    number: Counts = (counts * (signs > 0)).sum(axis=(-2, -1))
    return number


def _signs(counts: Counts) -> Counts:
    return np.sign(_steps(counts))


def _steps(counts: Counts) -> Counts:
    """Return level shown second less level shown first, shape (L, L)."""
    if counts.ndim < 2 or counts.shape[-2] != counts.shape[-1]:
        raise ValueError(f"counts must have shape (..., L, L), got {counts.shape}")
    level = np.arange(counts.shape[-1])
    steps: Counts = level[None, :] - level[:, None]
    return steps


def _share(counts: Counts, weight: NDArray[np.int64] | NDArray[np.bool_]) -> Shares:
    pairs = counts.sum(axis=(-2, -1))
    share: Shares = (counts * weight).sum(axis=(-2, -1)) / np.where(pairs > 0, pairs, np.nan)
    return share
