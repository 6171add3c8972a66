"""Several visits or variants a patient: one patient is the unit, and the design effect says so.

deff = max(1, V / V_iid), V = G / (G - 1) sum(S_g - m_g d)^2 / n^2 over G patients with m_g rows
that sum to S_g; V_iid is what n independent rows would give. Where nothing varies, nothing can be
compared, and deff = sum(m_g^2) / n, the worst case. Simulated coverage with 10 to 100 patients of
1 to 5 rows: 91 to 100 %, where rows taken as independent cover 73 to 97 %.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from evenhand.tools.statistics.estimate import (
    LEVEL,
    SAME,
    Counts,
    Estimate,
    Flag,
    Numbers,
    nothing_scored,
)
from evenhand.tools.statistics.intervals import (
    DRAWS,
    FEW_CHANGED,
    FEW_DISCORDANT,
    tango_limits,
)
from evenhand.tools.statistics.paired_tests import RESAMPLES, sign_flips

FEW_CLUSTERS = 20
WILSON_DEFF = "Wilson, design effect by patient"
TANGO_DEFF = "Tango score, design effect by patient"
CR1 = "t, cluster-robust (CR1)"
CR1_WIDER = "wider of cluster-robust t and half-pseudo-item Bayesian bootstrap"


@dataclass(frozen=True)
class ClusteredEstimate(Estimate):
    """An estimate over patients with one row or more."""

    n_clusters: int = 0
    se: float | None = None
    """Cluster-robust standard error, times sqrt(G / (G - 1))."""
    design_effect: float | None = None


@dataclass(frozen=True)
class Clusters:
    """Rows of patients, summed up."""

    values: Numbers
    """Shape (n,), no NaN."""
    sizes: Counts
    """Rows of each patient, shape (G,)."""
    sums: Numbers
    """Sum of each patient's values, shape (G,)."""

    @property
    def n(self) -> int:
        """Rows."""
        return self.values.size

    @property
    def variance(self) -> float:
        """V of the mean; of no meaning with one patient."""
        number = self.sizes.size
        beside = self.sums - self.sizes * self.values.mean()
        return float(number / (number - 1) * (beside**2).sum() / self.n**2)

    @property
    def alone(self) -> float:
        """V_iid: variance of the mean if each row were a patient."""
        return float(self.values.var(ddof=1)) / self.n

    @property
    def design_effect(self) -> float:
        """At least 1; at least two patients."""
        if self.alone < SAME**2:
            return max(1.0, float((self.sizes**2).sum()) / self.n)
        return max(1.0, self.variance / self.alone)

    @property
    def t(self) -> float:
        """Two-sided 95 % point of t with G - 1 degrees of freedom."""
        return critical_t(self.sizes.size)


def clusters_of(values: ArrayLike, clusters: ArrayLike) -> Clusters:
    """Sum up rows by patient.

    Args:
        values: One a row, shape (n,), no NaN.
        clusters: Which patient a row is of, shape (n,), numbers or words.

    Raises:
        ValueError: The shapes differ.
    """
    array, names = np.asarray(values, dtype=np.float64), np.asarray(clusters)
    if array.shape != names.shape or array.ndim != 1:
        raise ValueError(f"a patient a row expected, got {array.shape} and {names.shape}")
    _, index, sizes = np.unique(names, return_inverse=True, return_counts=True)
    sums = np.bincount(index, weights=array, minlength=sizes.size).astype(np.float64)
    return Clusters(array, sizes.astype(np.int64), sums)


def critical_t(clusters: int, level: float = LEVEL) -> float:
    """Return the two-sided point of t with clusters - 1 degrees of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(clusters - 1, (1 + level) / 2))


def wilson_limits(x: ArrayLike, n: ArrayLike, critical: float) -> tuple[Numbers, Numbers]:
    """Wilson's limits of x / n; counts may be fractions, any common shape, n > 0."""
    events, items = np.asarray(x, dtype=np.float64), np.asarray(n, dtype=np.float64)
    square = critical**2
    centre = events + square / 2
    half = critical * np.sqrt(np.maximum(events * (items - events) / items + square / 4, 0))
    low: Numbers = np.maximum((centre - half) / (items + square), 0)
    high: Numbers = np.minimum((centre + half) / (items + square), 1)
    return low, high


def clustered_proportion(values: ArrayLike, clusters: ArrayLike) -> ClusteredEstimate:
    """Share of rows with a property: Wilson with x and n divided by deff, t(G - 1) for z.

    Args:
        values: 1 or 0 a row, shape (n,).
        clusters: The patient of each row, shape (n,).

    Returns:
        The share; "n_zero" without rows, "one_cluster" (value kept) with one patient.
    """
    rows = clusters_of(values, clusters)
    stopped = _too_few(rows, WILSON_DEFF)
    if stopped is not None:
        return stopped
    effect, share = rows.design_effect, float(rows.values.mean())
    low, high = wilson_limits(rows.sums.sum() / effect, rows.n / effect, rows.t)
    flags = _few(rows) + (("all_equal",) if share in (0.0, 1.0) else ())
    return _estimate(rows, WILSON_DEFF, float(low), float(high), flags)


def clustered_difference(steps: ArrayLike, clusters: ArrayLike) -> ClusteredEstimate:
    """Share of rows that moved up less share that moved down: Tango with counts divided by deff.

    Args:
        steps: 1 up, -1 down, 0 neither, shape (n,).
        clusters: The patient of each row, shape (n,).

    Returns:
        The difference, in [-1, 1], p by sign flips of whole patients; "n_zero", "one_cluster".
    """
    rows = clusters_of(np.sign(np.asarray(steps, dtype=np.float64)), clusters)
    stopped = _too_few(rows, TANGO_DEFF)
    if stopped is not None:
        return stopped
    up, down = int((rows.values > 0).sum()), int((rows.values < 0).sum())
    effect = rows.design_effect
    low, high = tango_limits(up / effect, down / effect, rows.n / effect)
    flags = _few(rows)
    if rows.n in (up, down) or up + down == 0:
        flags += ("all_equal",)
    if up + down < FEW_DISCORDANT:
        flags += ("few_discordant",)
    p = flipped_sums(rows.sums)
    return _estimate(rows, TANGO_DEFF, float(low), float(high), flags, p)


def clustered_mean(
    values: ArrayLike,
    clusters: ArrayLike,
    *,
    low: float = -1.0,
    high: float = 1.0,
    seed: int = 0,
) -> ClusteredEstimate:
    """Mean over rows: cluster-robust standard error and t(G - 1).

    With fewer than 10 rows other than 0 the wider of that and the half-pseudo-item interval, whose
    items count 1 / deff each.

    Args:
        values: One a row, shape (n,), no NaN.
        clusters: The patient of each row, shape (n,).
        low: Least possible value, or one level down.
        high: Greatest possible value, or one level up.
        seed: Seed of the draws.

    Returns:
        The mean, p by sign flips of whole patients; "n_zero", "one_cluster" (value kept).
    """
    rows = clusters_of(values, clusters)
    stopped = _too_few(rows, CR1)
    if stopped is not None:
        return stopped
    # Patients whose rows cancel out exactly would leave no width at all.
    spread = rows.variance if rows.variance >= SAME**2 else rows.alone
    mean, half = float(rows.values.mean()), rows.t * spread**0.5
    below, above = mean - half, mean + half
    rare = _rare(rows.values)
    if rare:
        levels, counts = np.unique(rows.values, return_counts=True)
        pseudo = pseudo_limits(levels, counts / rows.design_effect, low=low, high=high, seed=seed)
        below, above = min(below, pseudo[0]), max(above, pseudo[1])
    method = CR1_WIDER if rare else CR1
    p = flipped_sums(rows.sums, seed)
    return _estimate(rows, method, below, above, _few(rows) + rare, p)


def pseudo_limits(
    values: ArrayLike,
    weights: ArrayLike,
    *,
    low: float,
    high: float,
    seed: int = 0,
    level: float = LEVEL,
) -> tuple[float, float]:
    """Half-pseudo-item limits of a mean from values and how often each was seen.

    Args:
        values: Different values, shape (k,).
        weights: Items of each value, shape (k,), fractions allowed, not all 0.
        low: Lower end of the scale, which half an item is put on.
        high: Upper end.
        seed: Seed of the draws.
        level: Confidence, 0 to 1.
    """
    ends = np.concatenate([[low, high], np.asarray(values, dtype=np.float64)])
    shapes = np.concatenate([[0.5, 0.5], np.asarray(weights, dtype=np.float64)])
    drawn = np.random.default_rng(seed).standard_gamma(shapes, (DRAWS, shapes.size))
    means = drawn @ ends / drawn.sum(axis=1)
    below, above = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(below), float(above)


def flipped_sums(sums: ArrayLike, seed: int = 0) -> float:
    """Two-sided p of a total under random signs of its parts, parts of one size drawn together.

    The law is that of `sign_flips`; as m equal parts with random signs add up to a binomial count,
    9,999 totals of 72,444 parts take milliseconds.

    Args:
        sums: One a patient (or a pair), shape (G,).
        seed: Seed of the draws.

    Returns:
        p in (0, 1]; 1 where all are 0.
    """
    values = np.asarray(sums, dtype=np.float64)
    moved = values[np.abs(values) >= SAME]
    if moved.size < RESAMPLES.bit_length():
        return sign_flips(moved, seed)
    sizes, counts = np.unique(np.abs(moved), return_counts=True)
    heads = np.random.default_rng(seed).binomial(counts, 0.5, size=(RESAMPLES, sizes.size))
    totals = (2 * heads - counts) @ sizes
    reached = abs(float(moved.sum())) - 1e-9 * float(np.abs(moved).sum())
    return (1 + int((np.abs(totals) >= reached).sum())) / (1 + RESAMPLES)


def _too_few(rows: Clusters, method: str) -> ClusteredEstimate | None:
    if rows.n == 0:
        nothing = nothing_scored(0, method)
        return ClusteredEstimate(nothing.status, reason_code=nothing.reason_code, method=method)
    if rows.sizes.size == 1:
        return ClusteredEstimate(
            status="not_estimable",
            value=float(rows.values.mean()),
            n=rows.n,
            reason_code="one_cluster",
            method=method,
            n_clusters=1,
        )
    return None


def _few(rows: Clusters) -> tuple[Flag, ...]:
    return ("few_clusters",) if rows.sizes.size < FEW_CLUSTERS else ()


def _rare(values: Numbers) -> tuple[Flag, ...]:
    equal: tuple[Flag, ...] = ("all_equal",) if np.ptp(values) < SAME else ()
    few = int((np.abs(values) >= SAME).sum()) < FEW_CHANGED
    return (*equal, "few_changed") if few else equal


def _estimate(
    rows: Clusters,
    method: str,
    low: float,
    high: float,
    flags: tuple[Flag, ...],
    p: float | None = None,
) -> ClusteredEstimate:
    status: Literal["ok"] = "ok"
    return ClusteredEstimate(
        status=status,
        value=float(rows.values.mean()),
        low=low,
        high=high,
        n=rows.n,
        p=p,
        flags=flags,
        method=method,
        n_clusters=rows.sizes.size,
        se=rows.variance**0.5,
        design_effect=rows.design_effect,
    )
