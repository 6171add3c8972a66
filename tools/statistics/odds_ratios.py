"""Odds ratio of two groups: Wald as papers print it, and always the conditional mid-p interval."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from evenhand.tools.statistics.estimate import LEVEL, Estimate, Flag, Numbers, Reason
from evenhand.tools.statistics.intervals import independent_difference

HALDANE = "haldane_all_cells_0.5"
Limits = tuple[float, float]
_FAR = 60.0
"""Log odds ratios searched: beyond any table of whole numbers that a computer holds."""


@dataclass(frozen=True)
class OddsRatio:
    """The odds ratio (x1 / y1) / (x2 / y2) of a table [[x1, y1], [x2, y2]] and its intervals.

    `value` is the sample's ratio, or where a cell is 0 Haldane's, which adds .5 to every cell and
    says so in `correction`. Without any event the status is "not_estimable", and `difference` (of
    the shares, after Newcombe) is what can be said.
    """

    status: Literal["ok", "not_estimable"]
    table: tuple[tuple[int, int], tuple[int, int]]
    value: float | None = None
    correction: str | None = None
    conditional: float | None = None
    """Conditional maximum likelihood; 0 or infinity at an end of the possible counts."""
    wald: Limits | None = None
    wald_p: float | None = None
    haldane: float | None = None
    haldane_limits: Limits | None = None
    mid_p_limits: Limits | None = None
    """One end open (0 or infinity) where a cell is 0."""
    exact_limits: Limits | None = None
    p: float | None = None
    """Two-sided conditional mid-p."""
    difference: Estimate | None = None
    flags: tuple[Flag, ...] = ()
    reason_code: Reason | None = None


def odds_ratio(table: ArrayLike, level: float = LEVEL) -> OddsRatio:
    """Odds ratio of two independent groups with all the intervals that a reader may meet.

    Args:
        table: [[events, others], [events, others]], a row a group, whole numbers >= 0.
        level: Confidence, 0 to 1.

    Returns:
        "no_events" where nobody or everybody has the event, "group_empty" where a row is empty.

    Raises:
        ValueError: The table is not 2 x 2.

    Source:
        Wald on the log odds; Haldane 1956, Annals of Human Genetics 20:309; conditional mid-p by
        the roots of the non-central hypergeometric tails (Agresti 2013, section 16.6).
    """
    counts = np.asarray(table, dtype=np.int64)
    if counts.shape != (2, 2) or (counts < 0).any():
        raise ValueError(f"a 2 x 2 table of counts expected, got {counts.tolist()}")
    (x1, y1), (x2, y2) = ((int(a), int(b)) for a, b in counts)
    kept = ((x1, y1), (x2, y2))
    if x1 + y1 == 0 or x2 + y2 == 0:
        return OddsRatio("not_estimable", kept, reason_code="group_empty")
    difference = independent_difference(x1, x1 + y1, x2, x2 + y2, level)
    if x1 + x2 == 0 or y1 + y2 == 0:
        return OddsRatio("not_estimable", kept, difference=difference, reason_code="no_events")
    zero = 0 in (x1, y1, x2, y2)
    haldane, haldane_limits, _ = _wald(counts + 0.5, level)
    sample = None if zero else _wald(counts, level)
    law = _Conditional(kept)
    return OddsRatio(
        status="ok",
        table=kept,
        value=haldane if sample is None else sample[0],
        correction=HALDANE if sample is None else None,
        conditional=law.estimate(),
        wald=None if sample is None else sample[1],
        wald_p=None if sample is None else sample[2],
        haldane=haldane,
        haldane_limits=haldane_limits,
        mid_p_limits=law.limits(0.5, level),
        exact_limits=law.limits(1.0, level),
        p=law.mid_p(),
        difference=difference,
        flags=("zero_cell",) if zero else (),
    )


def _wald(cells: ArrayLike, level: float) -> tuple[float, Limits, float]:
    """Return ratio, limits and two-sided p of four cells above 0."""
    from scipy.special import ndtr, ndtri

    (x1, y1), (x2, y2) = np.asarray(cells, dtype=np.float64)
    centre = math.log(x1 * y2 / (y1 * x2))
    error = math.sqrt(1 / x1 + 1 / y1 + 1 / x2 + 1 / y2)
    half = float(ndtri((1 + level) / 2)) * error
    limits = (math.exp(centre - half), math.exp(centre + half))
    return math.exp(centre), limits, float(2 * ndtr(-abs(centre) / error))


class _Conditional:
    """Events of the first group, all margins given: a non-central hypergeometric law."""

    def __init__(self, table: Sequence[Sequence[int]]) -> None:
        from scipy.special import gammaln

        (x1, y1), (x2, y2) = table
        first, second, events = x1 + y1, x2 + y2, x1 + x2
        self.possible = np.arange(max(0, events - second), min(first, events) + 1, dtype=np.float64)
        cells = (
            self.possible,
            first - self.possible,
            events - self.possible,
            second - events + self.possible,
        )
        self.weights: Numbers = -sum((gammaln(cell + 1) for cell in cells), np.zeros(()))
        self.seen = float(x1)

    def chances(self, log_ratio: float) -> Numbers:
        """Return the chance of each possible count."""
        heights = self.weights + self.possible * log_ratio
        chances = np.exp(heights - heights.max())
        shares: Numbers = chances / chances.sum()
        return shares

    def at_least(self, log_ratio: float, own: float) -> float:
        """Return P(X > seen) + own P(X = seen); it grows with the ratio."""
        chances = self.chances(log_ratio)
        beyond = float(chances[self.possible > self.seen].sum())
        return beyond + own * float(chances[self.possible == self.seen].sum())

    def at_most(self, log_ratio: float, own: float) -> float:
        """Return P(X < seen) + own P(X = seen)."""
        chances = self.chances(log_ratio)
        below = float(chances[self.possible < self.seen].sum())
        return below + own * float(chances[self.possible == self.seen].sum())

    def mid_p(self) -> float:
        """Return the two-sided mid-p of a ratio of 1."""
        return min(1.0, 2 * min(self.at_least(0.0, 0.5), self.at_most(0.0, 0.5)))

    def limits(self, own: float, level: float) -> Limits:
        """Return the ratios whose tail is (1 - level) / 2; own .5 for mid-p, 1 for exact."""
        tail = (1 - level) / 2
        low = 0.0
        if self.seen > self.possible[0]:
            low = _root(lambda theta: self.at_least(theta, own) - tail)
        high = math.inf
        if self.seen < self.possible[-1]:
            high = _root(lambda theta: self.at_most(theta, own) - tail)
        return low, high

    def estimate(self) -> float:
        """Return the ratio under which the expected count is the seen one."""
        if self.seen == self.possible[0]:
            return 0.0
        if self.seen == self.possible[-1]:
            return math.inf
        return _root(lambda theta: float(self.chances(theta) @ self.possible) - self.seen)


def _root(beside: Callable[[float], float]) -> float:
    from scipy.optimize import brentq

    return math.exp(float(brentq(beside, -_FAR, _FAR, xtol=1e-12)))
