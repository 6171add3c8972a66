"""Power of the paired test: what a number of items can show, and how many items a wish needs."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evenhand.tools.statistics.estimate import ALPHA, Counts, Numbers
from evenhand.tools.statistics.paired_tests import exact_p, mid_p

POWER = 0.9
EFFECT_STEP = 1e-5
_TAIL = 1e-12
PValue = Callable[[Counts, Counts], Numbers]


@dataclass(frozen=True)
class ItemsNeeded:
    """Items for a wished difference: scored ones, and those to ask so that so many are scored."""

    n_scored: int
    n_asked: int


def connor_items(
    discordance: float,
    difference: float,
    *,
    power: float = POWER,
    refusal: float = 0.0,
    alpha: float = ALPHA,
) -> ItemsNeeded:
    """Items for McNemar's test: n = (z_a sqrt(psi) + z_b sqrt(psi - d^2))^2 / d^2.

    Args:
        discordance: psi, share of pairs that differ in either direction; |d| to 1.
        difference: d, wished difference of shares; not 0.
        power: Wished chance to find it.
        refusal: Share of answers refused in each arm, independently; n / (1 - r)^2 are asked.
        alpha: Two-sided level.

    Raises:
        ValueError: |d| is 0 or above psi, or the refusal rate is 1.

    Source:
        Connor 1987, Biometrics 43:207; at most 5 % above the exact mid-p sum from psi = 2d on.
    """
    _check_effect(discordance, difference)
    from scipy.special import ndtri

    spread = math.sqrt(discordance - difference**2)
    root = float(ndtri(1 - alpha / 2)) * math.sqrt(discordance) + float(ndtri(power)) * spread
    return _asked(math.ceil(root**2 / difference**2), refusal)


def exact_items(
    discordance: float,
    difference: float,
    *,
    power: float = POWER,
    refusal: float = 0.0,
    alpha: float = ALPHA,
) -> ItemsNeeded:
    """Least n whose exact power of the mid-p test reaches `power`; arguments as `connor_items`."""
    _check_effect(discordance, difference)

    def enough(n: int) -> bool:
        return paired_power(n, discordance, difference, alpha=alpha).mid >= power

    below, above = 0, connor_items(discordance, difference, power=power, alpha=alpha).n_scored
    while not enough(above):
        below, above = above, 2 * above
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if enough(middle) else (middle, above)
    return _asked(above, refusal)


def _check_effect(discordance: float, difference: float) -> None:
    if not 0 < abs(difference) <= discordance <= 1:
        raise ValueError(
            f"0 < |difference| <= discordance <= 1 expected, got {difference}, {discordance}"
        )


def _asked(n_scored: int, refusal: float) -> ItemsNeeded:
    if not 0 <= refusal < 1:
        raise ValueError(f"a refusal rate from 0 to below 1 expected, got {refusal}")
    return ItemsNeeded(n_scored, math.ceil(n_scored / (1 - refusal) ** 2))


@dataclass(frozen=True)
class PairedPower:
    """Power of McNemar's test, mid-p and exact."""

    mid: float
    exact: float


def paired_power(
    n: int, discordance: float, difference: float, *, alpha: float = ALPHA
) -> PairedPower:
    """Exact power: the chance of p <= alpha, summed over the number of discordant pairs.

    Args:
        n: Scored pairs.
        discordance: psi, share of pairs that differ.
        difference: d, true difference of shares, |d| <= psi.
        alpha: Two-sided level.
    """
    from scipy.stats import binom

    if n == 0 or discordance == 0:
        return PairedPower(0.0, 0.0)
    first, last = binom.ppf(_TAIL, n, discordance), binom.isf(_TAIL, n, discordance)
    pairs: Counts = np.arange(int(first), int(last) + 1)
    chance = binom.pmf(pairs, n, discordance)
    up = min(1.0, (discordance + difference) / (2 * discordance))

    def found(p_value: PValue) -> float:
        lesser = _largest_lesser(pairs, p_value, alpha)
        rejected = binom.cdf(lesser, pairs, up) + binom.cdf(lesser, pairs, 1 - up)
        return float((chance * rejected).sum())

    return PairedPower(found(mid_p), found(exact_p))


def _largest_lesser(pairs: Counts, p_value: PValue, alpha: float) -> Counts:
    """Return the largest lesser count with p <= alpha for each number of pairs; -1 for none."""
    from scipy.stats import binom

    # The lower alpha / 2 point of Bin(m, 1/2) is within one of it, for mid-p and exact p alike.
    start = np.asarray(binom.ppf(alpha / 2, pairs, 0.5), dtype=np.int64)
    largest = np.full_like(pairs, -1)
    for lesser in (start - 2, start - 1, start, start + 1):
        possible = (lesser >= 0) & (2 * lesser < pairs)
        count = np.where(possible, lesser, 0)
        largest = np.where(possible & (p_value(count, pairs - count) <= alpha), lesser, largest)
    return largest


def least_effect(
    n: int, repeat_discordance: float, *, power: float = POWER, alpha: float = ALPHA
) -> float | None:
    """Least one-way effect that n items show with `power`, given the noise of the repeat arm.

    psi = repeat discordance + d: the noise moves pairs both ways, the effect one way.

    Args:
        n: Scored pairs.
        repeat_discordance: Share of pairs that differ without any effect, from the repeat arm or a
            pilot of 50.
        power: Wished chance to find it.
        alpha: Two-sided level.

    Returns:
        Difference of shares, in (0, 1]; None where n items cannot show any.
    """

    def enough(effect: float) -> bool:
        return paired_power(n, repeat_discordance + effect, effect, alpha=alpha).mid >= power

    below, above = 0.0, 1.0 - repeat_discordance
    if not enough(above):
        return None
    while above - below > EFFECT_STEP:
        middle = (below + above) / 2
        below, above = (below, middle) if enough(middle) else (middle, above)
    return above
