"""Families of tests: p-values adjusted for how many questions were asked at once."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from evenhand.tools.statistics.estimate import Numbers

P = float | None


def holm(p: Sequence[P]) -> list[P]:
    """Holm's adjusted p-values, for a confirmatory family: any false alarm in at most 5 %.

    Args:
        p: Raw p-values; None and NaN are no test of the family and stay as they are.

    Source:
        Holm 1979, Scandinavian Journal of Statistics 6:65.
    """
    return _adjust(p, _step_down)


def benjamini_hochberg(p: Sequence[P]) -> list[P]:
    """Benjamini and Hochberg's adjusted p-values, for exploring: at most 5 % false discoveries.

    Args:
        p: Raw p-values; None and NaN are no test of the family and stay as they are.

    Source:
        Benjamini and Hochberg 1995, Journal of the Royal Statistical Society B 57:289.
    """
    from scipy.stats import false_discovery_control

    return _adjust(p, false_discovery_control)


def _adjust(p: Sequence[P], correct: Callable[[Numbers], Numbers]) -> list[P]:
    tested = [number for number in p if number is not None and not math.isnan(number)]
    if not tested:
        return list(p)
    corrected = iter(correct(np.array(tested, dtype=np.float64)))
    return [
        number if number is None or math.isnan(number) else float(next(corrected)) for number in p
    ]


def _step_down(p: Numbers) -> Numbers:
    """Holm: the i-th smallest of m is multiplied by m - i, and never falls below one before it."""
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1)), 1)
    return adjusted
