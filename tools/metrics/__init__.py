"""What a metric is: a number over scored items, NaN where there is nothing to measure.

One metric is one file beside this one, a function with the decorator `@metric`. What it takes is
said by `data`; from that follow its interval and its test (tools/measure.py), as in the table:

| data | array | interval, test |
|---|---|---|
| scores | (..., n) in bounds, NaN = unscored | half-pseudo-item Bayesian bootstrap |
| score_pairs | (..., n, 2): arm, reference | t, or the wider of t and half-pseudo; sign flips |
| changes | (..., n) of 0 and 1 | Wilson |
| change_pairs | (..., n, 2) of 0 and 1: arm, control | Tango; McNemar mid-p |
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evenhand.graph_store.registry import Registry

Scores = NDArray[np.float64]
Values = NDArray[np.float64]
Compute = Callable[[Scores], Values]
MetricData = Literal["scores", "score_pairs", "changes", "change_pairs"]


@dataclass(frozen=True)
class Metric:
    """A metric and what a reader must know of it."""

    name: str
    compute: Compute
    symbol: str
    bounds: tuple[float, float]
    source: str
    data: MetricData

    @property
    def title(self) -> str:
        """First line of the docstring: the formula or the promise."""
        return (self.compute.__doc__ or self.name).strip().splitlines()[0]


metrics: Registry[Metric] = Registry("metric", __name__)


def metric(
    *, symbol: str, bounds: tuple[float, float], source: str, data: MetricData
) -> Callable[[Compute], Compute]:
    """Register a function as a metric under its own name."""

    def register(compute: Compute) -> Compute:
        name = compute.__name__
        metrics.add(name, Metric(name, compute, symbol, bounds, source, data))
        return compute

    return register
