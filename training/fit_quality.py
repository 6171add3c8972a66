"""How well a mimic decides as people decided: numbers over a confusion matrix, and calibration."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from evenhand.training.levels import Levels, Numbers, Probabilities, likeliest_levels

Counts: TypeAlias = NDArray[np.int64]
"""Visits decided at level i by people (rows) and j by the mimic (columns), shape (..., L, L)."""

_BINS = 10
_RESAMPLES = 1_000


def confusion(decided: Levels, mimicked: Levels, n_levels: int) -> Counts:
    """Count visits by decided (row) and mimicked (column) level, shape (L, L)."""
    cells = np.bincount(decided * n_levels + mimicked, minlength=n_levels**2)
    counts: Counts = cells.reshape(n_levels, n_levels).astype(np.int64)
    return counts


def quadratic_kappa(counts: Counts | Numbers) -> Numbers:
    """Quadratically weighted kappa, 1 - sum(w * observed) / sum(w * expected), w = (i - j)^2.

    Expected are the same margins without any agreement but by chance: 1 is full agreement, 0 no
    more than by chance.

    Args:
        counts: Shape (..., L, L), >= 0.

    Returns:
        Shape (...), at most 1; NaN where both sides name one level alone, the same, or none.

    Example:
        >>> float(quadratic_kappa(np.array([[2, 0], [0, 2]])))
        1.0
    """
    level = np.arange(counts.shape[-1])
    weights = np.square(level[:, None] - level[None, :])
    n = counts.sum(axis=(-2, -1))
    by_chance = counts.sum(axis=-1)[..., :, None] * counts.sum(axis=-2)[..., None, :]
    expected = (weights * by_chance).sum(axis=(-2, -1)).astype(np.float64)
    observed = (weights * counts).sum(axis=(-2, -1)) * n
    kappa: Numbers = 1 - observed / np.where(expected > 0, expected, np.nan)
    return kappa


def precision_recall_f1(counts: Counts) -> tuple[Numbers, Numbers, Numbers]:
    """Precision, recall and F1 of each level, shape (L,) each; NaN where it has no visits to count.

    Precision is NaN for a level that the mimic never gives, recall for one that people never gave.
    """
    hits = np.diagonal(counts).astype(np.float64)
    given, decided = counts.sum(axis=0), counts.sum(axis=1)
    precision = hits / np.where(given > 0, given, np.nan)
    recall = hits / np.where(decided > 0, decided, np.nan)
    f1 = 2 * hits / np.where(given + decided > 0, given + decided, np.nan)
    return precision, recall, f1


class CalibrationBin(BaseModel):
    """Visits whose likeliest level got a probability in (low, high]."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    low: float
    high: float
    n: int
    confidence: float
    """Mean probability of the likeliest level."""
    accuracy: float
    """Share in which people gave it."""


class FitQuality(BaseModel):
    """How a mimic did on visits that it was not fitted to.

    Attributes:
        n: Visits.
        kappa_w: Quadratically weighted kappa; None exactly when `not_estimable` says why.
        kappa_w_low: Of the percentile interval (1,000 resamples of visits), 95 %.
        kappa_w_high: Its other end.
        precision: Mean over visits of the precision of their level ("weighted"); a level that
            the mimic never gives counts 0, as in the paper's tables, and is in `never_given`.
        recall: Likewise; the share of visits with the decided level.
        f1: Likewise.
        majority_share: Share of the commonest level: the recall of who always says that.
        confusion: Visits by decided (row) and mimicked (column) level.
        never_given: Levels that people gave and the mimic never did.
        calibration: The calibration curve; bins without visits are left out.
        ece: Expected calibration error: mean over visits of |accuracy - confidence| of their bin.
        not_estimable: Why there is no kappa_w, or None.
        balanced_accuracy: Mean of the recalls of the levels that people gave, each level counting
            the same: 1 / L for who always says the commonest. None in cards of before it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    n: int
    kappa_w: float | None
    kappa_w_low: float | None
    kappa_w_high: float | None
    precision: float
    recall: float
    f1: float
    majority_share: float
    confusion: tuple[tuple[int, ...], ...]
    never_given: tuple[str, ...]
    calibration: tuple[CalibrationBin, ...]
    ece: float
    not_estimable: str | None = None
    balanced_accuracy: float | None = None

    @property
    def flags(self) -> tuple[str, ...]:
        """Return ("single_predicted_class",) where the mimic gives one level alone, else ()."""
        given = np.array(self.confusion).sum(axis=0)
        return ("single_predicted_class",) if np.count_nonzero(given) == 1 else ()


def fit_quality(
    decided: Levels, probabilities: Probabilities, levels: tuple[str, ...], *, seed: int
) -> FitQuality:
    """Compare a mimic's probabilities with the decisions.

    Args:
        decided: Places in `levels`, shape (n,), n >= 1.
        probabilities: Shape (n, L).
        levels: Names, in order, shape (L,).
        seed: Of the interval's resamples.

    Raises:
        ValueError: No visits, or shapes that do not fit.
    """
    if len(decided) == 0 or probabilities.shape != (len(decided), len(levels)):
        raise ValueError(f"{len(decided)} decisions, probabilities {probabilities.shape}")
    mimicked = likeliest_levels(probabilities)
    counts = confusion(decided, mimicked, len(levels))
    visits = counts.sum(axis=1)
    precision, recall, f1 = (
        float(np.average(np.nan_to_num(values), weights=visits))
        for values in precision_recall_f1(counts)
    )
    recalls = precision_recall_f1(counts)[1]
    kappa = float(quadratic_kappa(counts))
    low, high = _kappa_interval(counts, seed)
    bins = calibration_curve(probabilities.max(axis=1), mimicked == decided)
    # Who gives one level alone has 0 in every resample: an interval of no width, and no news.
    known = not np.isnan(kappa) and np.count_nonzero(counts.sum(axis=0)) > 1
    return FitQuality(
        n=len(decided),
        kappa_w=kappa if known else None,
        kappa_w_low=low if known else None,
        kappa_w_high=high if known else None,
        precision=precision,
        recall=recall,
        f1=f1,
        majority_share=float(visits.max() / len(decided)),
        confusion=tuple(tuple(row) for row in counts.tolist()),
        never_given=tuple(
            level
            for level, people, model in zip(levels, visits, counts.sum(axis=0), strict=True)
            if people and not model
        ),
        calibration=bins,
        ece=sum(each.n * abs(each.accuracy - each.confidence) for each in bins) / len(decided),
        balanced_accuracy=float(np.nanmean(recalls)),
        not_estimable=None if known else "the model gives one level alone",
    )


def calibration_curve(
    confidence: Numbers, correct: NDArray[np.bool_]
) -> tuple[CalibrationBin, ...]:
    """Put visits into ten bins of equal width by confidence; empty bins are left out.

    Args:
        confidence: Probability of the likeliest level, shape (n,), in (0, 1].
        correct: Whether people gave that level, shape (n,).
    """
    # To nine decimals, so that .7 out of sums that differ in the last bit lies in one bin.
    places = np.clip(np.ceil(np.round(confidence * _BINS, 9)).astype(int) - 1, 0, _BINS - 1)
    return tuple(
        CalibrationBin(
            low=place / _BINS,
            high=(place + 1) / _BINS,
            n=int(inside.sum()),
            confidence=float(confidence[inside].mean()),
            accuracy=float(correct[inside].mean()),
        )
        for place in range(_BINS)
        if (inside := places == place).any()
    )


def _kappa_interval(counts: Counts, seed: int) -> tuple[float, float]:
    """Percentile interval over resampled visits; the resample of a table is a multinomial."""
    n = int(counts.sum())
    draws = np.random.default_rng(seed).multinomial(n, counts.ravel() / n, size=_RESAMPLES)
    kappas = quadratic_kappa(draws.reshape(_RESAMPLES, *counts.shape))
    known = kappas[~np.isnan(kappas)]
    if known.size == 0:
        return float("nan"), float("nan")
    low, high = np.quantile(known, [0.025, 0.975])
    return float(low), float(high)
