"""Net of a control arm on the same pairs: what the attribute changes beyond what noise changes.

The net rate of flips compares two yes-or-no questions about one pair (Tango, McNemar mid-p); net
skew and net disadvantage are means of (step in the arm - step in the control). A repeat arm may
hold several refits of one pair: they are averaged, and the pair stays the unit. A control that is 0
for every pair may be 0 by construction and then is no noise floor: `is_informative` says so.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from evenhand.tools.statistics.clusters import clustered_difference
from evenhand.tools.statistics.estimate import Counts, Estimate, Numbers
from evenhand.tools.statistics.intervals import paired_difference
from evenhand.tools.triage.estimates import mean_steps
from evenhand.tools.triage.pairs import TriagePairs

NetMetric = Literal["rate", "skew", "mean"]


@dataclass(frozen=True)
class Net:
    """A number less the same number in the control arm, on the pairs scored in both."""

    arm: float | None
    control: float | None
    estimate: Estimate
    is_informative: bool
    """Whether the control's number differs from 0 for any pair.

    Where it does not, it may be 0 by construction: nothing moved, or as in a round of refits, each
    set against the next, every move comes back.
    """


def net_rate(pairs: TriagePairs, control: TriagePairs, seed: int = 0) -> Net:
    """PDR less the control's PDR."""
    return _net(pairs, control, "rate", 1, seed)


def net_skew(pairs: TriagePairs, control: TriagePairs, seed: int = 0) -> Net:
    """DTS less the control's DTS, pairs of one direction in both."""
    return _net(pairs, control, "skew", 1, seed)


def net_disadvantage(
    pairs: TriagePairs, control: TriagePairs, reference: str, seed: int = 0
) -> Net:
    """NMD less the control's NMD; pairs of both directions between `reference` and another group.

    A pair that was shown first as the other group counts with the opposite sign.
    """
    return _net(pairs, control, "mean", pairs.groups.index(reference), seed)


def _net(
    pairs: TriagePairs, control: TriagePairs, metric: NetMetric, reference: int, seed: int
) -> Net:
    arm, noise = pairs.scored, control.scored
    ids, inverse, counts = np.unique(noise.ids, return_inverse=True, return_counts=True)
    control_steps = _steps(noise, metric, reference)
    means = np.bincount(inverse, weights=control_steps, minlength=ids.size) / np.maximum(counts, 1)
    place = np.searchsorted(ids, arm.ids)
    inside = np.minimum(place, max(ids.size - 1, 0))
    found = ids[inside] == arm.ids if ids.size else np.zeros(len(arm), np.bool_)
    both, beside = arm.where(found), means[inside[found]] if ids.size else np.zeros(0)
    steps = _steps(both, metric, reference)
    lost = len(pairs) - len(both)
    made = _estimate(steps, beside, both, metric, seed)
    return Net(
        arm=float(steps.mean()) if steps.size else None,
        control=float(beside.mean()) if steps.size else None,
        estimate=replace(made, n_unscored=lost),
        is_informative=bool((means != 0).any()),
    )


def _steps(rows: TriagePairs, metric: NetMetric, reference: int) -> Numbers:
    steps = rows.steps.astype(np.float64)
    if metric == "rate":
        moved: Numbers = (steps != 0).astype(np.float64)
        return moved
    if metric == "skew":
        signs: Numbers = np.sign(steps)
        return signs
    turned: Numbers = np.where(rows.source == reference, steps, -steps)
    return turned


def _estimate(
    steps: Numbers, beside: Numbers, rows: TriagePairs, metric: NetMetric, seed: int
) -> Estimate:
    net = steps - beside
    if metric == "rate" and net.size and np.isin(beside, (0.0, 1.0)).all():
        if rows.clusters is not None:
            return clustered_difference(net, rows.clusters)
        return paired_difference(int((net > 0).sum()), int((net < 0).sum()), net.size)
    units: Counts = np.arange(net.size) if rows.patient is None else rows.patient
    return mean_steps(net, units, seed)
