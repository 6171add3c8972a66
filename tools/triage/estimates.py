"""Each metric with the interval that was chosen for it, by patient where some came several times.

| number | one row a patient | several |
|---|---|---|
| PDR, P_up, P_down | Wilson | Wilson, design effect |
| DTS | Tango; McNemar mid-p | Tango, design effect; sign flips of patients |
| NATS | Newcombe; conditional mid-p | Wilson with design effect, at right angles |
| NMD | t, or the wider of t and half-pseudo-item; sign flips | the same, cluster-robust |
| DTS_{b|a} - DTS_{a|b} | both Tango intervals at right angles | the same, design effect |
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand.tools.statistics.clusters import (
    clustered_difference,
    clustered_mean,
    clustered_proportion,
    flipped_sums,
    pseudo_limits,
)
from evenhand.tools.statistics.estimate import SAME, Counts, Estimate, Flag, Reason, nothing_scored
from evenhand.tools.statistics.intervals import (
    FEW_CHANGED,
    NEWCOMBE,
    STUDENT,
    TANGO,
    WIDER,
    independent_difference,
    paired_difference,
    proportion,
    student_limits,
)
from evenhand.tools.statistics.odds_ratios import odds_ratio
from evenhand.tools.triage.metrics import Way
from evenhand.tools.triage.pairs import TriagePairs

AT_RIGHT_ANGLES = "intervals of both groups, added at right angles"


def disagreement(pairs: TriagePairs) -> Estimate:
    """PDR of any pairs."""
    return _rate(pairs, pairs.scored.steps != 0)


def moved_rate(pairs: TriagePairs, way: Way) -> Estimate:
    """P_up or P_down of pairs in one direction."""
    steps = pairs.scored.steps
    return _rate(pairs, steps > 0 if way == "up" else steps < 0)


def skew(pairs: TriagePairs) -> Estimate:
    """DTS of pairs in one direction a->b, DTS_{b|a}."""
    rows = pairs.scored
    stopped = _nothing(pairs, TANGO)
    if stopped is not None:
        return stopped
    up, down = int((rows.steps > 0).sum()), int((rows.steps < 0).sum())
    made = (
        paired_difference(up, down, len(rows))
        if rows.clusters is None
        else clustered_difference(rows.steps, rows.clusters)
    )
    return _counted(made, pairs)


def shift(there: TriagePairs, back: TriagePairs, way: Way) -> Estimate:
    """NATS(+) ("up") or NATS(-) ("down"): back less there; "group_empty" without one of them."""
    stopped = _one_absent(there, back, NEWCOMBE)
    if stopped is not None:
        return stopped
    rates = [moved_rate(pairs, way) for pairs in (back, there)]
    if any(pairs.scored.clusters is not None for pairs in (back, there)):
        return _counted(_right_angles(rates), there, back)
    x = [round(_known(rate) * rate.n) for rate in rates]
    n = [rate.n for rate in rates]
    made = independent_difference(x[0], n[0], x[1], n[1])
    table = [[x[0], n[0] - x[0]], [x[1], n[1] - x[1]]]
    p = odds_ratio(table).p
    return _counted(replace(made, p=1.0 if p is None else p), there, back)


def disadvantage(there: TriagePairs, back: TriagePairs, seed: int = 0) -> Estimate:
    """NMD of b over the pairs of both directions, in levels."""
    stopped = _one_absent(there, back, STUDENT)
    if stopped is not None:
        return stopped
    sides = (there.scored, back.scored)
    values = np.concatenate([sides[0].steps, -sides[1].steps]).astype(np.float64)
    return _counted(mean_steps(values, _units(sides), seed), there, back)


def skew_gap(there: TriagePairs, back: TriagePairs) -> Estimate:
    """DTS_{b|a} - DTS_{a|b}: how much likelier b than a gets the higher level, in shares of pairs.

    The paper's "2.1 % more likely"; its interval adds the distances from each skew to its limits
    at right angles, as Newcombe does for two shares.
    """
    stopped = _one_absent(there, back, AT_RIGHT_ANGLES)
    if stopped is not None:
        return stopped
    return _counted(_right_angles([skew(there), skew(back)]), there, back)


def mean_steps(values: ArrayLike, units: ArrayLike, seed: int = 0) -> Estimate:
    """Mean of whole or part steps with t, or the wider rule where few moved; by patient.

    Args:
        values: Levels moved, one a row, shape (n,), no NaN.
        units: The patient of each row, shape (n,).
        seed: Seed of the draws.
    """
    steps, names = np.asarray(values, dtype=np.float64), np.asarray(units)
    if steps.size == 0:
        return nothing_scored(0, STUDENT)
    if np.unique(names).size < names.size:
        return clustered_mean(steps, names, seed=seed)
    if steps.size < 2:
        reason: Reason = "n_below_2"
        return Estimate(
            "not_estimable", float(steps.mean()), n=1, reason_code=reason, method=STUDENT
        )
    low, high = student_limits(steps)
    flags: list[Flag] = ["all_equal"] if np.ptp(steps) < SAME else []
    if int((np.abs(steps) >= SAME).sum()) < FEW_CHANGED:
        flags.append("few_changed")
    if flags:
        seen, counts = np.unique(steps, return_counts=True)
        pseudo = pseudo_limits(seen, counts, low=-1.0, high=1.0, seed=seed)
        low, high = min(low, pseudo[0]), max(high, pseudo[1])
    return Estimate(
        status="ok",
        value=float(steps.mean()),
        low=low,
        high=high,
        n=steps.size,
        p=flipped_sums(steps, seed),
        flags=tuple(flags),
        method=WIDER if flags else STUDENT,
    )


def difference_of_groups(first: Estimate, second: Estimate) -> Estimate:
    """First less second, two numbers of different patients, limits added at right angles."""
    return _right_angles([first, second])


def _rate(pairs: TriagePairs, events: NDArray[np.bool_]) -> Estimate:
    rows = pairs.scored
    stopped = _nothing(pairs, "Wilson")
    if stopped is not None:
        return stopped
    made = (
        proportion(int(events.sum()), events.size)
        if rows.clusters is None
        else clustered_proportion(events.astype(np.float64), rows.clusters)
    )
    return _counted(made, pairs)


def _nothing(pairs: TriagePairs, method: str) -> Estimate | None:
    lost = sum(pairs.unscored.values())
    return nothing_scored(lost, method) if len(pairs) == lost else None


def _one_absent(there: TriagePairs, back: TriagePairs, method: str) -> Estimate | None:
    scored = [len(side.scored) for side in (there, back)]
    if all(scored):
        return None
    empty: Literal["not_estimable"] = "not_estimable"
    return _counted(
        Estimate(empty, n=sum(scored), reason_code="group_empty", method=method), there, back
    )


def _units(sides: Sequence[TriagePairs]) -> Counts:
    """Return the patient of each row of both directions; without patients, a number a row."""
    known = [side.patient for side in sides if side.patient is not None]
    if len(known) == len(sides):
        return np.concatenate(known)
    return np.arange(sum(len(side) for side in sides))


def _right_angles(both: Sequence[Estimate]) -> Estimate:
    first, second = both
    ends = [first.low, first.high, second.low, second.high]
    if any(end is None for end in ends):
        lacking = next(one for one in both if one.low is None)
        return Estimate(
            "not_estimable",
            n=first.n + second.n,
            reason_code=lacking.reason_code,
            method=AT_RIGHT_ANGLES,
        )
    one, other = _known(first), _known(second)
    low1, high1, low2, high2 = (float(end) for end in ends if end is not None)
    return Estimate(
        status="ok",
        value=one - other,
        low=one - other - float(np.hypot(one - low1, high2 - other)),
        high=one - other + float(np.hypot(high1 - one, other - low2)),
        n=first.n + second.n,
        flags=tuple(dict.fromkeys(f for f in first.flags + second.flags if f != "all_equal")),
        method=AT_RIGHT_ANGLES,
    )


def _known(estimate: Estimate) -> float:
    return float("nan") if estimate.value is None else estimate.value


def _counted(estimate: Estimate, *pairs: TriagePairs) -> Estimate:
    """Return the estimate with the unscored pairs counted."""
    lost = sum(sum(one.unscored.values()) for one in pairs)
    return replace(estimate, n_unscored=lost)
