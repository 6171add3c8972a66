"""What a metric is: a number over scored items, NaN where there is nothing to measure.

One metric is one file beside this one, a function with the decorator `@metric`. What it takes is
said by `data`, the name of a kind of data (tools/data_kinds, where the protocol of kinds stands);
from the kind follow the cells, the rows behind them, the interval and the test:

| data | array | interval, test |
|---|---|---|
| scores | (..., n) in bounds, NaN = unscored | half-pseudo-item Bayesian bootstrap |
| score_pairs | (..., n, 2): arm, reference | t, or the wider of t and half-pseudo; sign flips |
| changes | (..., n) of 0 and 1 | Wilson |
| change_pairs | (..., n, 2) of 0 and 1: arm, control | Tango; McNemar mid-p |

`changes_by_kind`, `changes_by_model`, `change_pairs_by_kind`, `change_pairs_by_model` take the same
arrays from other verdicts; the file of each further kind says what its array is.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.graph_store.registry import Registry

Scores = NDArray[np.float64]
Values = NDArray[np.float64]
Compute = Callable[[Scores], Values]


@dataclass(frozen=True)
class Metric:
    """A metric and what a reader must know of it."""

    name: str
    compute: Compute
    symbol: str
    bounds: tuple[float, float]
    source: str
    data: str
    """Name of the kind of data that it takes (tools/data_kinds)."""

    @property
    def title(self) -> str:
        """First line of the docstring: the formula or the promise."""
        return (self.compute.__doc__ or self.name).strip().splitlines()[0]


metrics: Registry[Metric] = Registry("metric", __name__)


def metric(
    *, symbol: str, bounds: tuple[float, float], source: str, data: str
) -> Callable[[Compute], Compute]:
    """Register a function as a metric under its own name."""

    def register(compute: Compute) -> Compute:
        name = compute.__name__
        metrics.add(name, Metric(name, compute, symbol, bounds, source, data))
        return compute

    return register


def scored_mean(values: Scores) -> Values:
    """Return the mean over the last axis of what is scored.

    Args:
        values: Shape (..., n); NaN is unscored and left out.

    Returns:
        Shape (...); NaN where nothing is scored.
    """
    scored = ~np.isnan(values)
    items = scored.sum(axis=-1)
    mean: Values = np.where(scored, values, 0).sum(axis=-1) / np.where(items > 0, items, np.nan)
    return mean
