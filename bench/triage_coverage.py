"""Found and covered: a planted skew of 3 points among 10 % changed pairs, and none.

Each seed is an audit of 3,000 pairs M->F on a scale of five levels: `python
bench/triage_coverage.py [--seeds 1000] [--n 3000] [--discordance .1] [--skew .03] [--first 0]`.
"Found" is McNemar's mid-p below .05, "covered" Tango's interval around the planted skew. Exit code
1 unless the planted one is found in at least 90 % and covered in 93 to 97 %, and none is found in
at most 6.5 %.
"""

import argparse
import time
from dataclasses import dataclass

import numpy as np

from evenhand.tools.statistics.estimate import Counts
from evenhand.tools.statistics.intervals import tango_limits
from evenhand.tools.statistics.paired_tests import mid_p
from evenhand.tools.triage.metrics import directional_triage_skew, moved

START = np.array([0.3, 0.5, 0.2])
"""Shares of the three middle levels of five at first, so that each pair can move either way."""


@dataclass(frozen=True)
class Shares:
    """Shares of seeds."""

    found: float
    covered: float
    mean: float
    """Mean measured skew."""


def draw_audits(n: int, discordance: float, skew: float, seeds: int, first: int) -> Counts:
    """Draw the pairs of each seed, shape (seeds, 5, 5); every move is of one level."""
    up, down = (discordance + skew) / 2, (discordance - skew) / 2
    cells = np.zeros((START.size + 2, START.size + 2))
    for place, share in enumerate(START, start=1):
        cells[place, place + 1], cells[place, place - 1] = share * up, share * down
        cells[place, place] = share * (1 - discordance)
    drawn = np.stack(
        [
            np.random.default_rng(seed).multinomial(n, cells.ravel())
            for seed in range(first, first + seeds)
        ]
    )
    return drawn.reshape(seeds, *cells.shape).astype(np.int64)


def shares(counts: Counts, skew: float) -> Shares:
    """Return how often the skew of each audit is found and covered."""
    up, down, n = moved(counts, "up"), moved(counts, "down"), counts.sum(axis=(-2, -1))
    low, high = tango_limits(up, down, n)
    return Shares(
        found=float((mid_p(up, down) < 0.05).mean()),
        covered=float(((low <= skew) & (skew <= high)).mean()),
        mean=float(directional_triage_skew(counts).mean()),
    )


def main() -> int:
    """Run both and print a line each."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=1_000)
    parser.add_argument("--n", type=int, default=3_000)
    parser.add_argument("--discordance", type=float, default=0.1)
    parser.add_argument("--skew", type=float, default=0.03)
    parser.add_argument("--first", type=int, default=0, help="First seed.")
    wished = parser.parse_args()
    good = True
    for skew in (wished.skew, 0.0):
        start = time.perf_counter()
        audits = draw_audits(wished.n, wished.discordance, skew, wished.seeds, wished.first)
        made = shares(audits, skew)
        good &= made.found >= 0.9 if skew else made.found <= 0.065
        good &= 0.93 <= made.covered <= 0.97
        print(
            f"skew {100 * skew:.0f} points, discordance {wished.discordance}, n {wished.n:,}, "
            f"{wished.seeds:,} seeds: found {100 * made.found:.1f} %, covered "
            f"{100 * made.covered:.1f} %, mean {100 * made.mean:.3f} points, "
            f"{time.perf_counter() - start:.1f} s"
        )
    return int(not good)


if __name__ == "__main__":
    raise SystemExit(main())
