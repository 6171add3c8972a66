"""A skew of a mimic where the training half is chance too: the interval over pairs and fits.

Tango's interval is about one fitted mimic: other visits, the same model. Fitted to another half of
the same decisions it would have been another model, with another skew. The refits of the repeat arm
say how far such models differ: mimics fitted to redrawn patients, each asked about the same pairs.

Their skews differ for two reasons: one leans more than another (what is wanted), and each moves
other single pairs at random, which the interval over pairs holds already. A two-way table of pairs
and refits without repetition tells them apart (Searle, Casella, McCulloch 1992, chapter 4):

    v = max(0, s^2 - MS / n)

with s^2 the variance of the K refits' skews, and MS the mean square of what pair and refit together
leave unexplained. Each limit then lies t sqrt((d / z)^2 + v) from the skew, d the distance of its
own limit over pairs, with Satterthwaite's degrees of freedom (1946, Biometrics Bull 2:110). In
simulated hospitals (bench/results/hospitals.md) this holds the mean skew of such mimics in 88 to
100 %; the full s^2 is wider than needed, and the mean over refits with s^2 / K far too narrow.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenhand.tools.statistics.estimate import LEVEL, Estimate, Numbers
from evenhand.tools.triage.pairs import TriagePairs

LEAST_REFITS = 2


@dataclass(frozen=True)
class FitVariance:
    """How far the skews of refits differ.

    Attributes:
        between: s^2, variance of the refits' skews, >= 0.
        leaning: v, the part of it that is not chance of single pairs, >= 0.
        refits: K.
    """

    between: float
    leaning: float
    refits: int


def fit_variance(refits: Sequence[TriagePairs]) -> FitVariance | None:
    """Return how far refits differ in DTS on the same pairs; None with fewer than 2, or 2 pairs.

    Args:
        refits: The pairs of one direction as each refit decides them, rows in one order. A pair
            that some refit did not score is left out of all.
    """
    if len(refits) < LEAST_REFITS:
        return None
    levels = np.stack([np.stack([one.original, one.counterfactual]) for one in refits])
    scored = levels[:, :, (levels >= 0).all(axis=(0, 1))]
    signs: Numbers = np.sign(scored[:, 1] - scored[:, 0]).astype(np.float64)
    k, n = signs.shape
    if n < LEAST_REFITS:
        return None
    skews = signs.mean(axis=1)
    left = signs - skews[:, None] - signs.mean(axis=0)[None, :] + signs.mean()
    unexplained = float((left**2).sum()) / ((k - 1) * (n - 1))
    between = float(skews.var(ddof=1))
    return FitVariance(between, max(0.0, between - unexplained / n), k)


def over_fits(skew: Estimate, variance: FitVariance) -> Estimate | None:
    """Return a skew with its interval over pairs and fits; None where it has no interval.

    Args:
        skew: DTS, raw or net, of the audited mimic with its interval over pairs.
        variance: Of the refits' DTS in the same direction.
    """
    from scipy.stats import norm, t

    if skew.value is None or skew.low is None or skew.high is None:
        return None
    z = float(norm.ppf((1 + LEVEL) / 2))
    ends = []
    for distance in (skew.value - skew.low, skew.high - skew.value):
        pairs = (distance / z) ** 2
        total = pairs + variance.leaning
        freedom = _freedom(pairs, skew.n, variance) if variance.leaning else np.inf
        ends.append(float(t.ppf((1 + LEVEL) / 2, freedom) * np.sqrt(total)))
    return replace(
        skew,
        low=max(-1.0, skew.value - ends[0]),
        high=min(1.0, skew.value + ends[1]),
        p=None,
        method=f"pairs and {variance.refits} refits, t (Satterthwaite)",
    )


def _freedom(pairs: float, n: int, variance: FitVariance) -> float:
    """Return Satterthwaite's degrees of freedom of pairs + leaning."""
    own = pairs**2 / max(n - 1, 1) + variance.between**2 / (variance.refits - 1)
    return (pairs + variance.leaning) ** 2 / own
