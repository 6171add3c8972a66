"""Beyond the audited visits: national volumes, what a plan can find, and the mimic's own share."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from evenhand.tools.statistics.estimate import Estimate, Numbers
from evenhand.tools.statistics.power import POWER, least_effect
from evenhand.tools.triage.estimates import difference_of_groups, mean_steps
from evenhand.tools.triage.pairs import TriagePairs


@dataclass(frozen=True)
class WhatIf:
    """How many visits a share of pairs would be elsewhere, if it held there: no finding."""

    value: float
    low: float
    high: float
    volume: float
    """All visits of the period."""
    share: float
    """Share of them by patients of the group."""
    period: str
    source: str
    """Where the volume is from."""
    label: Literal["what-if"] = "what-if"

    @property
    def sentence(self) -> str:
        """Say it with its interval, its source and its condition."""
        ends = [self.value, self.low, self.high]
        if self.value < 0:
            ends = [-self.value, -self.high, -self.low]
        value, low, high = (f"{end:,.0f}" for end in ends)
        return (
            f"What if the audited difference held for all {self.volume:,.0f} visits of "
            f"{self.period} ({self.source}), {100 * self.share:g} % of them by this group: "
            f"{value} more visits (95 % {low} to {high}) would get the "
            f"{'lower' if self.value < 0 else 'higher'} level number. The audit does not show "
            "that it holds there."
        )


def extrapolate(
    difference: Estimate, *, volume: float, period: str, source: str, share: float
) -> WhatIf:
    """Multiply a difference of shares by a volume of visits, interval and all.

    Args:
        difference: A share of pairs with its interval (the gap of both skews).
        volume: Visits in the period, above 0.
        period: Such as "a year in France".
        source: Where the volume is from; a number without a source is not shown.
        share: Share of the visits that the group makes, 0 to 1.

    Raises:
        ValueError: The difference has no interval, the volume or share is impossible, or period
            or source is not said.
    """
    if difference.value is None or difference.low is None or difference.high is None:
        raise ValueError("a difference with its interval expected; there is none to multiply")
    if not volume > 0 or not 0 < share <= 1:
        raise ValueError(f"a volume above 0 and a share of 0 to 1 expected, got {volume}, {share}")
    if not period.strip() or not source.strip():
        raise ValueError("a period and a source of the volume expected")
    visits = volume * share
    return WhatIf(
        value=visits * difference.value,
        low=visits * difference.low,
        high=visits * difference.high,
        volume=volume,
        share=share,
        period=period.strip(),
        source=source.strip(),
    )


@dataclass(frozen=True)
class LeastEffect:
    """The least skew that so many pairs of one direction show."""

    groups: tuple[str, str]
    n: int
    noise: float
    """Share of pairs that move without any effect."""
    value: float | None
    """Share of pairs; None where n cannot show any."""
    power: float = POWER


def least_skew(n: int, noise: float, groups: tuple[str, str]) -> LeastEffect:
    """Least DTS that n pairs a->b show with power .9, for the plan.

    Args:
        n: Scored pairs of the direction.
        noise: Discordance of the repeat or placebo arm, or of a pilot of 50; never a default.
        groups: a, b.
    """
    return LeastEffect(groups, n, noise, least_effect(n, noise) if n else None)


def noise_of(pairs: TriagePairs) -> float:
    """Return the balanced part of the moves, 2 min(up, down) / n, where there is no control arm.

    What moves one way more than the other is effect; the rest is taken for noise.
    """
    steps = pairs.scored.steps
    if not steps.size:
        return 0.0
    return 2 * min(int((steps > 0).sum()), int((steps < 0).sum())) / steps.size


@dataclass(frozen=True)
class Amplification:
    """The gap between groups in the decider's levels less that in the recorded ones."""

    groups: tuple[str, str]
    decider: float | None
    """Mean level of b less that of a, as predicted for the original visits."""
    recorded: float | None
    """The same, as people recorded it."""
    estimate: Estimate


def amplification(pairs: TriagePairs, groups: tuple[str, str]) -> Amplification | None:
    """Return by how much the mimic widens the observed gap between two groups, in levels.

    Of the original visits with a recorded level: mean(predicted - recorded) of b less that of a.
    0: the mimic's gap is the observed one; of the gap's own sign: it is amplified.

    Args:
        pairs: One arm; each visit is taken once (its original level), whatever it was shown as.
        groups: a, b.

    Returns:
        None where the pairs have no recorded levels.
    """
    if pairs.recorded is None:
        return None
    known = pairs.where((pairs.original >= 0) & (pairs.recorded >= 0))
    _, once = np.unique(known.ids, return_index=True)
    rows = known.where(np.isin(np.arange(len(known)), once))
    sides = [rows.where(rows.source == rows.groups.index(group)) for group in groups]
    beside = [mean_steps(_beside(side), _patients(side)) for side in sides]
    return Amplification(
        groups=groups,
        decider=_gap([side.original for side in sides]),
        recorded=_gap([side.recorded for side in sides if side.recorded is not None]),
        estimate=difference_of_groups(beside[1], beside[0]),
    )


def _beside(side: TriagePairs) -> Numbers:
    recorded = side.original if side.recorded is None else side.recorded
    beside: Numbers = (side.original - recorded).astype(np.float64)
    return beside


def _patients(side: TriagePairs) -> Numbers:
    numbers: Numbers = (
        np.arange(len(side), dtype=np.float64)
        if side.patient is None
        else side.patient.astype(np.float64)
    )
    return numbers


def _gap(both: list[np.typing.NDArray[np.int64]]) -> float | None:
    first, second = both
    return float(second.mean() - first.mean()) if first.size and second.size else None
