"""Ordered levels as arrays: what was decided, with which probability, at which weight."""

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Numbers: TypeAlias = NDArray[np.float64]
Levels: TypeAlias = NDArray[np.int64]
"""Places in the ordered levels, 0 the lowest number."""
Probabilities: TypeAlias = NDArray[np.float64]
"""Shape (n, L), each row in [0, 1] and summing to 1."""
ClassWeights = Literal["balanced"]


def likeliest_levels(probabilities: Probabilities) -> Levels:
    """Return the decided level of each row: the likeliest, the lower number where two are equal.

    Equal means to nine decimals: sums of the same numbers in another order may differ in the
    last bits, and a pair that shows the same thing twice must get the same level.

    Args:
        probabilities: Shape (..., L).

    Returns:
        Places in the levels, shape (...).

    Example:
        >>> likeliest_levels(np.array([[0.2, 0.8], [0.5, 0.5 + 1e-12]])).tolist()
        [1, 0]
    """
    levels: Levels = np.argmax(np.round(probabilities, 9), axis=-1)
    return levels


def level_weights(levels: Levels, n_levels: int, class_weights: ClassWeights | None) -> Numbers:
    """Return the weight that a visit of each level has in the fit; their mean over visits is 1.

    Args:
        levels: Shape (n,).
        n_levels: L.
        class_weights: As in the settings.

    Returns:
        Weight by level, shape (L,); NaN for a level without visits.

    Example:
        >>> level_weights(np.array([0, 0, 0, 1]), 2, "balanced").tolist()
        [0.6666666666666666, 2.0]
    """
    visits = np.bincount(levels, minlength=n_levels).astype(np.float64)
    present = np.where(visits > 0, visits, np.nan)
    if class_weights is None:
        return present / present
    weights: Numbers = len(levels) / ((visits > 0).sum() * present)
    return weights
