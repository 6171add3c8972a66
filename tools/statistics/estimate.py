"""A number with its interval, or the reason why there is none."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
"""Scores, differences or limits; NaN is unscored or unknown."""
Counts = NDArray[np.int64]

Reason = Literal[
    "n_zero",
    "n_below_2",
    "all_unscored",
    "group_empty",
    "n_below_40",
    "no_events",
    "single_class",
    "one_cluster",
]
Flag = Literal["all_equal", "few_discordant", "few_changed", "few_clusters", "zero_cell"]

LEVEL = 0.95
ALPHA = 0.05
SAME = 1e-9
"""Values nearer than this are equal: item scores are means, and .1 may come out as .1 + 1e-17."""


@dataclass(frozen=True)
class Estimate:
    """A number with its interval.

    Without an interval the status is "not_estimable" and `reason_code` says why; the value is kept
    where there is one (a single pair has a difference, but no interval). A divergence of few items
    is "ok" without an interval, reason "n_below_40": its floor stands in for it.
    """

    status: Literal["ok", "not_estimable"]
    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    """Scored items or pairs."""
    n_unscored: int = 0
    p: float | None = None
    floor: float | None = None
    """What the number is on average where nothing differs, if that is not 0."""
    floor_high: float | None = None
    """Its 95 % point where nothing differs."""
    flags: tuple[Flag, ...] = ()
    reason_code: Reason | None = None
    method: str = ""

    def within(self, low: float, high: float) -> "Estimate":
        """Return it with its limits cut to the ends of the scale: t knows none, and n may be 2."""
        cut = [None if at is None else min(max(at, low), high) for at in (self.low, self.high)]
        return replace(self, low=cut[0], high=cut[1])


def nothing_scored(n_unscored: int, method: str) -> Estimate:
    """Return the estimate from no item at all, or from items none of which was scored."""
    return Estimate(
        status="not_estimable",
        n_unscored=n_unscored,
        reason_code="all_unscored" if n_unscored else "n_zero",
        method=method,
    )


def is_borderline(low: float, high: float, p: float, alpha: float = ALPHA) -> bool:
    """Return whether test and interval disagree about 0; the test decides, and a reader is told."""
    return (p < alpha) != (low > 0 or high < 0)
