"""Newcombe's interval of a paired difference, for comparison with other tools; ours is Tango's."""

import math
from collections.abc import Sequence

from evenhand.tools.statistics.clusters import wilson_limits
from evenhand.tools.statistics.estimate import LEVEL


def newcombe_paired_limits(cells: Sequence[int], level: float = LEVEL) -> tuple[float, float]:
    """Limits of (up - down) / n from the whole 2 x 2 table, method 10.

    Args:
        cells: Pairs with the property in both arms, in the first only, in the second only, in
            neither; at least one pair.
        level: Confidence, 0 to 1.

    Source:
        Newcombe 1998, Statistics in Medicine 17:2635.
    """
    from scipy.special import ndtri

    both, up, down, neither = cells
    n, z = sum(cells), float(ndtri((1 + level) / 2))
    first, second = (both + up) / n, (both + down) / n
    (low1, high1), (low2, high2) = (wilson_limits(n * share, n, z) for share in (first, second))
    phi = _correlation(both, up, down, neither)
    difference = first - second

    def distance(one: float, other: float) -> float:
        return math.sqrt(max(one**2 - 2 * phi * one * other + other**2, 0.0))

    below = distance(first - float(low1), float(high2) - second)
    above = distance(float(high1) - first, second - float(low2))
    return max(difference - below, -1.0), min(difference + above, 1.0)


def _correlation(both: int, up: int, down: int, neither: int) -> float:
    """Return phi with the numerator corrected by n / 2 towards 0, as method 10 has it."""
    margins = (both + up) * (down + neither) * (both + down) * (up + neither)
    if margins == 0:
        return 0.0
    beside = both * neither - up * down
    n = both + up + down + neither
    corrected = max(beside - n / 2, 0.0) if beside > 0 else float(beside)
    return corrected / math.sqrt(margins)
