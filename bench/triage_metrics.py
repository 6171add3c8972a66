"""The paper's bootstrap of all its metrics: our draws over cells against a plain resampling loop.

`python bench/triage_metrics.py [--pairs 72444] [--resamples 1000] [--loop 20]`. The loop draws
pairs with replacement and computes each metric from the drawn rows, as is usual; it runs for `loop`
resamples and its time is taken for all of them. Both give PDR, the four probabilities, both DTS,
both NATS and NMD. Exit code 1 unless ours takes less than a second and both sets of limits agree.
"""

import argparse
import time

import numpy as np

from evenhand.tools.statistics.bootstrap import percentile, resample
from evenhand.tools.statistics.estimate import Counts, Numbers
from evenhand.tools.triage import metrics

NAMES = ("PDR", "P_up there", "P_down there", "P_up back", "P_down back")
NAMES += ("DTS there", "DTS back", "NATS(+)", "NATS(-)", "NMD")


def make_pairs(n: int) -> tuple[Counts, Counts, Counts]:
    """Return group (0, 1), level and counterfactual level of n pairs, about as in the paper."""
    rng = np.random.default_rng(0)
    group = (rng.random(n) < 32_362 / 72_444).astype(np.int64)
    first = rng.choice(4, n, p=[0.175, 0.412, 0.351, 0.062])
    step = rng.choice([-1, 0, 1], n, p=[0.036, 0.915, 0.049])
    return group, first, np.clip(first + np.where(group == 0, step, -step), 0, 3)


def by_cells(group: Counts, first: Counts, second: Counts, resamples: int) -> Numbers:
    """Return the limits of every metric, shape (metrics, 2), from counts."""
    tables = np.stack(
        [metrics.pair_counts(first[group == g], second[group == g], 4) for g in (0, 1)]
    )
    drawn = resample(tables, seed=1, resamples=resamples)
    values, replicates = all_metrics(tables), all_metrics(drawn)
    made = [percentile(float(v), r) for v, r in zip(values, replicates, strict=True)]
    return np.array([[one.low, one.high] for one in made], dtype=np.float64)


def all_metrics(tables: Counts) -> Numbers:
    """Return the metrics in the order of NAMES, shape (metrics, ...)."""
    there, back = tables[..., 0, :, :], tables[..., 1, :, :]
    return np.stack(
        [
            metrics.pairwise_disagreement_rate(there + back),
            metrics.upward_rate(there),
            metrics.downward_rate(there),
            metrics.upward_rate(back),
            metrics.downward_rate(back),
            metrics.directional_triage_skew(there),
            metrics.directional_triage_skew(back),
            metrics.net_asymmetric_triage_shift(there, back, "up"),
            metrics.net_asymmetric_triage_shift(there, back, "down"),
            metrics.net_mean_disadvantage(there, back),
        ]
    )


def by_loop(group: Counts, first: Counts, second: Counts, resamples: int) -> Numbers:
    """Return the same limits from drawn rows."""
    rng = np.random.default_rng(1)
    rows = [
        from_rows(group[drawn], first[drawn], second[drawn])
        for drawn in (rng.integers(0, group.size, group.size) for _ in range(resamples))
    ]
    return np.quantile(np.array(rows), [0.025, 0.975], axis=0).T


def from_rows(group: Counts, first: Counts, second: Counts) -> list[float]:
    """Return each metric by its definition."""
    there, back = group == 0, group == 1
    up, down = second > first, second < first
    shares = [up[there].mean(), down[there].mean(), up[back].mean(), down[back].mean()]
    skews = [shares[0] - shares[1], shares[2] - shares[3]]
    shifts = [shares[2] - shares[0], shares[3] - shares[1]]
    nmd = np.where(there, second - first, first - second).mean()
    return [float(one) for one in ((first != second).mean(), *shares, *skews, *shifts, nmd)]


def main() -> int:
    """Time both and print seconds, ratio and the largest difference of the limits."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=72_444)
    parser.add_argument("--resamples", type=int, default=1_000)
    parser.add_argument("--loop", type=int, default=20)
    wished = parser.parse_args()
    pairs = make_pairs(wished.pairs)
    start = time.perf_counter()
    ours = by_cells(*pairs, wished.resamples)
    cells = time.perf_counter() - start
    start = time.perf_counter()
    theirs = by_loop(*pairs, wished.loop)
    loop = (time.perf_counter() - start) * wished.resamples / wished.loop
    widths = ours[:, 1] - ours[:, 0]
    beside = float((np.abs(ours - theirs) / widths[:, None]).max())
    print(
        f"{wished.pairs:,} pairs, {wished.resamples:,} resamples, {len(NAMES)} metrics: cells "
        f"{cells:.3f} s, plain loop {loop:.1f} s ({wished.loop:,} timed), ratio {loop / cells:,.0f}"
    )
    print(f"limits differ by at most {100 * beside:.0f} % of an interval's width")
    return int(cells >= 1 or (wished.loop >= 200 and beside > 0.15))


if __name__ == "__main__":
    raise SystemExit(main())
