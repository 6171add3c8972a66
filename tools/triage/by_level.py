"""By original level: shares that moved, and the odds of moving in group a against group b.

The paper asks which level the difference comes from (its Tables 6 to 9): of the visits that are
originally at a level, the odds that the counterfactual is judged more urgent, originals of group a
over originals of group b. A level at the end of the scale has no events on that side: said, with
the difference of the shares, never dropped. Visits are taken as independent here.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.tools.statistics.estimate import Counts, Estimate
from evenhand.tools.statistics.intervals import proportion
from evenhand.tools.statistics.odds_ratios import OddsRatio, odds_ratio
from evenhand.tools.triage.metrics import Way
from evenhand.tools.triage.pairs import TriagePairs

WAYS: tuple[Way, Way] = ("up", "down")


@dataclass(frozen=True)
class LevelMoves:
    """What the visits of one original level did in one way."""

    level: str
    way: Way
    groups: tuple[str, str]
    """a, b: original groups; a was shown as b, and b as a."""
    shares: tuple[Estimate, Estimate]
    """Share that moved, of the originals of a and of b."""
    odds: OddsRatio
    """Odds of moving in a over those in b."""

    @property
    def table(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Moved and not moved, of a and of b."""
        return self.odds.table


def moves_by_level(there: TriagePairs, back: TriagePairs) -> list[LevelMoves]:
    """Return both ways of each level of the scale, those without any visit included.

    Args:
        there: Pairs a->b.
        back: Pairs b->a, of the same scale.
    """
    return moves_of_counts(there.counts, back.counts, there.levels, there.groups)


def moves_of_counts(
    there: Counts, back: Counts, levels: tuple[str, ...], groups: tuple[str, ...]
) -> list[LevelMoves]:
    """As `moves_by_level`, from counts of shape (L, L)."""
    return [
        _moves(level, way, there[place], back[place], place, (groups[0], groups[1]))
        for place, level in enumerate(levels)
        for way in WAYS
    ]


def _moves(
    level: str, way: Way, there: Counts, back: Counts, place: int, groups: tuple[str, str]
) -> LevelMoves:
    rows = [_split(counts, way, place) for counts in (there, back)]
    first, second = (proportion(events, events + others) for events, others in rows)
    return LevelMoves(level, way, groups, (first, second), odds_ratio(rows))


def _split(counts: Counts, way: Way, place: int) -> tuple[int, int]:
    """Return how many of a level's pairs moved that way, and how many did not."""
    level: NDArray[np.int64] = np.arange(counts.size)
    events = int(counts[level > place if way == "up" else level < place].sum())
    return events, int(counts.sum()) - events
