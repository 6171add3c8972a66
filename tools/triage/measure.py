"""All numbers of the counterfactual recipe for the pairs of its arms.

One list of numbers, each with the paper's bootstrap beside our interval; beside them the net of the
control arms, the moves by original level, checks, and what the audit could have found. The verdict
(tools/triage/verdict.py) is drawn from these and from nothing else.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenhand.tools.statistics.bootstrap import RESAMPLES, Bootstrap, percentile, resample
from evenhand.tools.statistics.estimate import Counts, Estimate
from evenhand.tools.statistics.families import benjamini_hochberg, holm
from evenhand.tools.triage import metrics
from evenhand.tools.triage.by_level import LevelMoves, moves_by_level
from evenhand.tools.triage.controls import Net, net_disadvantage, net_rate, net_skew
from evenhand.tools.triage.estimates import disadvantage, disagreement, moved_rate, shift, skew
from evenhand.tools.triage.estimates import skew_gap as gap_estimate
from evenhand.tools.triage.metrics import Shares
from evenhand.tools.triage.over_fits import FitVariance, fit_variance, over_fits
from evenhand.tools.triage.pairs import CONTROL_ARMS, MAIN_ARM, TriagePairs
from evenhand.tools.triage.what_if import (
    Amplification,
    LeastEffect,
    amplification,
    least_skew,
    noise_of,
)

PDR, UP, DOWN = "pairwise_disagreement_rate", "upward_rate", "downward_rate"
DTS, GAP = "directional_triage_skew", "skew_gap"
NATS_UP, NATS_DOWN = "net_asymmetric_triage_shift_up", "net_asymmetric_triage_shift_down"
NMD = "net_mean_disadvantage"
NET_PDR, NET_DTS, NET_NMD = f"net_{PDR}", f"net_{DTS}", f"net_{NMD}"


@dataclass(frozen=True)
class TriageNumber:
    """A number of one arm and two groups, or of one direction between them."""

    metric: str
    symbol: str
    arm: str
    groups: tuple[str, str]
    """a, b; of a direction: shown as the first, then as the second."""
    estimate: Estimate
    bootstrap: Bootstrap | None = None
    unscored: Mapping[str, int] | None = None
    control_arm: str | None = None
    arm_value: float | None = None
    """The number before the control was taken off."""
    control: float | None = None
    control_is_informative: bool | None = None
    family: str | None = None
    p_adjusted: float | None = None
    over_fits: Estimate | None = None
    """A skew with its interval over pairs and fits, where a mimic was fitted again."""


@dataclass(frozen=True)
class ArmLevels:
    """The moves by original level in one arm."""

    arm: str
    moves: tuple[LevelMoves, ...]
    p_adjusted: tuple[float | None, ...]
    """Benjamini-Hochberg over the levels and ways of this table."""


@dataclass(frozen=True)
class Check:
    """The two ways to compute the NMD, which agree where every change is one level."""

    arm: str
    groups: tuple[str, str]
    disadvantage: float
    from_skews: float
    holds: bool | None
    """None where some change is larger than one level, so that they need not agree."""


@dataclass(frozen=True)
class TriageResults:
    """What was measured of some arms."""

    levels: tuple[str, ...]
    groups: tuple[str, ...]
    arms: tuple[str, ...]
    numbers: tuple[TriageNumber, ...]
    by_level: tuple[ArmLevels, ...]
    checks: tuple[Check, ...]
    least_effects: tuple[LeastEffect, ...]
    amplification: tuple[Amplification, ...]
    main_arm: str
    seed: int
    resamples: int

    def find(
        self, metric: str, *, arm: str | None = None, groups: tuple[str, str] | None = None
    ) -> list[TriageNumber]:
        """Return the numbers of a metric, of an arm and of two groups where they are given."""
        return [
            number
            for number in self.numbers
            if number.metric == metric
            and arm in (None, number.arm)
            and groups in (None, number.groups)
        ]


def measure_arms(
    arms: Mapping[str, TriagePairs],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    refits: Sequence[TriagePairs] = (),
) -> TriageResults:
    """Measure every arm, and every arm but the controls net of each control arm.

    Args:
        arms: Pairs by arm, of one scale and the same groups; at least one arm.
        seed: Seed of bootstrap and tests.
        resamples: Draws of the bootstrap.
        refits: The pairs of the main arm as each refit of the mimic decides them.

    Raises:
        ValueError: No arm, or arms of other levels or groups than the first.
    """
    first = next(iter(arms.values()), None)
    if first is None:
        raise ValueError("at least one arm expected")
    if any((pairs.levels, pairs.groups) != (first.levels, first.groups) for pairs in arms.values()):
        raise ValueError("arms of one scale and the same groups expected")
    main = main_arm(arms)
    numbers: list[TriageNumber] = []
    for arm, pairs in arms.items():
        for groups in pairs.couples():
            numbers += _arm_numbers(arm, pairs, groups, seed, resamples)
            if arm not in CONTROL_ARMS:
                numbers += _net_numbers(arm, arms, groups, seed)
    return TriageResults(
        levels=first.levels,
        groups=first.groups,
        arms=tuple(arms),
        numbers=tuple(_over_fits(_adjusted(numbers, main), main, refits)),
        by_level=tuple(_levels(arm, pairs) for arm, pairs in arms.items()),
        checks=tuple(check for arm, pairs in arms.items() for check in _checks(arm, pairs)),
        least_effects=tuple(_least_effects(arms, main)),
        amplification=tuple(
            made
            for groups in arms[main].couples()
            if (made := amplification(arms[main], groups)) is not None
        ),
        main_arm=main,
        seed=seed,
        resamples=resamples,
    )


def main_arm(arms: Mapping[str, TriagePairs]) -> str:
    """Return the arm that the audit asks about: full, or the first that is no control."""
    others = [arm for arm in arms if arm not in CONTROL_ARMS]
    return MAIN_ARM if MAIN_ARM in arms else (others or list(arms))[0]


def _arm_numbers(
    arm: str, pairs: TriagePairs, groups: tuple[str, str], seed: int, resamples: int
) -> Iterator[TriageNumber]:
    a, b = groups
    there, back = pairs.between(a, b), pairs.between(b, a)
    both = pairs.where(_of(pairs, groups))
    tables = np.stack([there.counts, back.counts])
    drawn = resample(tables, seed=seed, resamples=resamples) if tables.sum() else None

    def number(
        metric: str,
        symbol: str,
        estimate: Estimate,
        of: Callable[[Counts, Counts], Shares],
        shown: tuple[str, str] = groups,
        rows: TriagePairs = both,
    ) -> TriageNumber:
        limits = None
        if drawn is not None:
            value = float(of(tables[0], tables[1]))
            limits = percentile(value, of(drawn[:, 0], drawn[:, 1]))
        return TriageNumber(metric, symbol, arm, shown, estimate, limits, rows.unscored)

    yield number(
        PDR, "PDR", disagreement(both), lambda t, k: metrics.pairwise_disagreement_rate(t + k)
    )
    for place, (rows, (x, y)) in enumerate(((there, (a, b)), (back, (b, a)))):

        def one(
            formula: Callable[[Counts], Shares], place: int = place
        ) -> Callable[[Counts, Counts], Shares]:
            return lambda t, k: formula((t, k)[place])

        way = f"({x}->{y})"
        rate = metrics.pairwise_disagreement_rate
        yield number(PDR, f"PDR{way}", disagreement(rows), one(rate), (x, y), rows)
        up, down = moved_rate(rows, "up"), moved_rate(rows, "down")
        yield number(UP, f"P_up{way}", up, one(metrics.upward_rate), (x, y), rows)
        yield number(DOWN, f"P_down{way}", down, one(metrics.downward_rate), (x, y), rows)
        formula = metrics.directional_triage_skew
        yield number(DTS, f"DTS_{y}|{x}", skew(rows), one(formula), (x, y), rows)
    nats = metrics.net_asymmetric_triage_shift
    yield number(NATS_UP, "NATS(+)", shift(there, back, "up"), lambda t, k: nats(t, k, "up"))
    yield number(NATS_DOWN, "NATS(-)", shift(there, back, "down"), lambda t, k: nats(t, k, "down"))
    yield number(NMD, f"NMD_{b}", disadvantage(there, back, seed), metrics.net_mean_disadvantage)
    yield number(
        GAP,
        f"DTS_{b}|{a} - DTS_{a}|{b}",
        gap_estimate(there, back),
        lambda t, k: metrics.directional_triage_skew(t) - metrics.directional_triage_skew(k),
    )


def _of(pairs: TriagePairs, groups: tuple[str, str]) -> np.typing.NDArray[np.bool_]:
    ends = [pairs.groups.index(group) for group in groups]
    mask: np.typing.NDArray[np.bool_] = np.isin(pairs.source, ends) & np.isin(pairs.target, ends)
    return mask


def _net_numbers(
    arm: str, arms: Mapping[str, TriagePairs], groups: tuple[str, str], seed: int
) -> Iterator[TriageNumber]:
    for control in CONTROL_ARMS:
        if control not in arms:
            continue

        def number(
            metric: str, symbol: str, net: Net, shown: tuple[str, str], control: str = control
        ) -> TriageNumber:
            return TriageNumber(
                metric,
                symbol,
                arm,
                shown,
                net.estimate,
                control_arm=control,
                arm_value=net.arm,
                control=net.control,
                control_is_informative=net.is_informative,
            )

        a, b = groups
        pairs, noise = (arms[name].where(_of(arms[name], groups)) for name in (arm, control))
        yield number(NET_PDR, "net PDR", net_rate(pairs, noise, seed), groups)
        for x, y in ((a, b), (b, a)):
            net = net_skew(pairs.between(x, y), noise.between(x, y), seed)
            yield number(NET_DTS, f"net DTS_{y}|{x}", net, (x, y))
        net = net_disadvantage(pairs, noise, a, seed)
        yield number(NET_NMD, f"net NMD_{b}", net, groups)


def _adjusted(numbers: list[TriageNumber], main: str) -> Iterator[TriageNumber]:
    """Correct each family of tests: the skews of the main arm by Holm, what else is asked by BH."""
    families: dict[str, list[int]] = {}
    for place, number in enumerate(numbers):
        if number.estimate.p is not None and (family := _family(number)) is not None:
            families.setdefault(family, []).append(place)
    adjusted: dict[int, float | None] = {}
    for family, places in families.items():
        correct = holm if family.startswith(f"{main}: ") else benjamini_hochberg
        p = correct([numbers[place].estimate.p for place in places])
        adjusted |= dict(zip(places, p, strict=True))
    for place, number in enumerate(numbers):
        kept = place in adjusted
        yield replace(
            number,
            family=_family(number) if kept else None,
            p_adjusted=adjusted.get(place),
        )


def _over_fits(
    numbers: Iterable[TriageNumber], main: str, refits: Sequence[TriagePairs]
) -> Iterator[TriageNumber]:
    """Put beside each skew of the main arm its interval where the fit is chance too."""
    variances: dict[tuple[str, str], FitVariance | None] = {}
    for number in numbers:
        if number.arm != main or number.metric not in (DTS, NET_DTS):
            yield number
            continue
        if number.groups not in variances:
            variances[number.groups] = fit_variance([r.between(*number.groups) for r in refits])
        found = variances[number.groups]
        yield replace(
            number, over_fits=None if found is None else over_fits(number.estimate, found)
        )


def _family(number: TriageNumber) -> str | None:
    """Name the question: which way do levels move, raw or net of a control; does it differ."""
    if number.metric in (PDR, UP, DOWN, GAP):
        return None
    net = f" net of {number.control_arm}" if number.control_arm else ""
    question = {
        DTS: "skew",
        NET_DTS: "skew",
        NET_PDR: "flips",
        NMD: "disadvantage",
        NET_NMD: "disadvantage",
        NATS_UP: "asymmetry",
        NATS_DOWN: "asymmetry",
    }[number.metric]
    return f"{number.arm}: {question}{net}"


def _levels(arm: str, pairs: TriagePairs) -> ArmLevels:
    moves = tuple(
        move
        for a, b in pairs.couples()
        for move in moves_by_level(replace(pairs.between(a, b), groups=(a, b)), pairs.between(b, a))
    )
    return ArmLevels(arm, moves, tuple(benjamini_hochberg([move.odds.p for move in moves])))


def _checks(arm: str, pairs: TriagePairs) -> Iterator[Check]:
    for a, b in pairs.couples():
        there, back = pairs.between(a, b).counts, pairs.between(b, a).counts
        if there.sum() and back.sum():
            yield Check(
                arm,
                (a, b),
                float(metrics.net_mean_disadvantage(there, back)),
                float(metrics.disadvantage_from_skews(there, back)),
                metrics.identity_holds(there, back),
            )


def _least_effects(arms: Mapping[str, TriagePairs], main: str) -> Iterator[LeastEffect]:
    pairs = arms[main]
    control = next((arms[name] for name in ("repeat", "placebo") if name in arms), None)
    for a, b in pairs.couples():
        for x, y in ((a, b), (b, a)):
            rows = pairs.between(x, y)
            noise = noise_of(rows)
            if control is not None and (beside := control.between(x, y).scored.steps).size:
                noise = float((beside != 0).mean())
            yield least_skew(len(rows.scored), noise, (x, y))
