"""Two deciders on the same visits: whose decisions move more with the attribute, pair by pair.

The difference is taken inside each pair (a nurse's and an expert's step of one visit), so that what
both share, the visit and its rewritten note, does not count as noise.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from evenhand.tools.statistics.estimate import Estimate
from evenhand.tools.statistics.families import holm
from evenhand.tools.triage.controls import Net, net_disadvantage, net_rate, net_skew
from evenhand.tools.triage.measure import DTS, NMD, PDR
from evenhand.tools.triage.pairs import CONTROL_ARMS, TriagePairs


@dataclass(frozen=True)
class DeciderDifference:
    """One number of two deciders in one arm, on the pairs scored for both."""

    metric: str
    symbol: str
    arm: str
    groups: tuple[str, str]
    first: float | None
    second: float | None
    estimate: Estimate
    """First less second."""
    p_adjusted: float | None = None
    """Holm over the numbers of an arm."""


def compare_deciders(
    first: Mapping[str, TriagePairs], second: Mapping[str, TriagePairs], *, seed: int = 0
) -> tuple[DeciderDifference, ...]:
    """Compare PDR, DTS and NMD of two deciders in every arm that both have, controls left out.

    Args:
        first: Pairs by arm.
        second: Pairs by arm of another decider; ids are those of the same visits.
        seed: Of the tests.

    Raises:
        ValueError: The two decide on different scales or groups.
    """
    shared = [arm for arm in first if arm in second and arm not in CONTROL_ARMS]
    made: list[DeciderDifference] = []
    for arm in shared:
        if (first[arm].levels, first[arm].groups) != (second[arm].levels, second[arm].groups):
            raise ValueError("deciders on one scale and the same groups expected")
        some = _differences(arm, first[arm], second[arm], seed)
        adjusted = holm([one.estimate.p for one in some])
        made += [replace(one, p_adjusted=p) for one, p in zip(some, adjusted, strict=True)]
    return tuple(made)


def _differences(
    arm: str, first: TriagePairs, second: TriagePairs, seed: int
) -> list[DeciderDifference]:
    found = []

    def add(metric: str, symbol: str, groups: tuple[str, str], net: Net) -> None:
        found.append(
            DeciderDifference(metric, symbol, arm, groups, net.arm, net.control, net.estimate)
        )

    for a, b in first.couples():
        sides = {way: (first.between(*way), second.between(*way)) for way in ((a, b), (b, a))}
        for (x, y), (mine, theirs) in sides.items():
            add(PDR, f"PDR({x}->{y})", (x, y), net_rate(mine, theirs, seed))
            add(DTS, f"DTS_{y}|{x}", (x, y), net_skew(mine, theirs, seed))
        mine, theirs = (_between(pairs, (a, b)) for pairs in (first, second))
        add(NMD, f"NMD_{b}", (a, b), net_disadvantage(mine, theirs, a, seed))
    return found


def _between(pairs: TriagePairs, groups: tuple[str, str]) -> TriagePairs:
    """Return the pairs of two groups, both ways."""
    places = [pairs.groups.index(group) for group in groups]
    return pairs.where(np.isin(pairs.source, places) & np.isin(pairs.target, places))
