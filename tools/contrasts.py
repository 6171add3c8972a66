"""A number in two runs, and its difference, paired by sample."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from evenhand.tools.pairing import NAN
from evenhand.tools.statistics.estimate import Estimate, Numbers, nothing_scored
from evenhand.tools.statistics.families import benjamini_hochberg, holm
from evenhand.tools.statistics.intervals import mean_change, paired_difference

NOT_SHARED = "not_shared"
"""Status of a sample of which one run asked nothing that the other asked too."""

Value = tuple[float, str]
"""A sample's value (NaN where it has none), and "ok" or what left it out."""


@dataclass(frozen=True)
class Contrast:
    """One number in both runs, and its paired difference, second less first."""

    metric: str
    first_arm: str
    second_arm: str
    groups: tuple[str, ...]
    status: Literal["ok", "not_estimable"]
    first: float | None
    """Mean in the first run over the samples that are scored in both."""
    second: float | None
    value: float | None
    """second - first."""
    low: float | None
    high: float | None
    n: int
    """Samples scored in both runs."""
    unscored: Mapping[str, int]
    """Samples left out, by side and status: "first_answer_refused"."""
    p: float | None
    p_adjusted: float | None
    method: str
    family: str
    confirmatory: bool
    flags: tuple[str, ...]
    reason_code: str | None


@dataclass(frozen=True)
class Paired:
    """Two runs' values of the same samples, and their difference."""

    first: Numbers
    second: Numbers
    estimate: Estimate
    unscored: Mapping[str, int]

    def contrast(
        self,
        metric: str,
        arms: tuple[str, str],
        groups: tuple[str, ...],
        *,
        family: str,
        confirmatory: bool,
        flags: tuple[str, ...] = (),
    ) -> Contrast:
        """Return it as a number of two runs, its p-value not yet adjusted."""
        made = self.estimate
        ok = made.status == "ok"
        return Contrast(
            metric=metric,
            first_arm=arms[0],
            second_arm=arms[1],
            groups=groups,
            status=made.status,
            first=float(self.first.mean()) if ok else None,
            second=float(self.second.mean()) if ok else None,
            value=made.value if ok else None,
            low=made.low,
            high=made.high,
            n=made.n,
            unscored=self.unscored,
            p=made.p,
            p_adjusted=None,
            method=made.method,
            family=family,
            confirmatory=confirmatory,
            flags=(*made.flags, *flags),
            reason_code=made.reason_code,
        )


def pair_values(
    first: Mapping[str, Value], second: Mapping[str, Value], span: float, seed: int
) -> Paired:
    """Pair two runs' values by sample; `span` is the width of the scale."""
    gone: Value = (NAN, NOT_SHARED)
    unscored: Counter[str] = Counter()
    pairs: list[tuple[float, float]] = []
    for sample in dict.fromkeys((*first, *second)):
        (a, why), (b, why_too) = first.get(sample, gone), second.get(sample, gone)
        if why != "ok":
            unscored[f"first_{why}"] += 1
        elif why_too != "ok":
            unscored[f"second_{why_too}"] += 1
        else:
            pairs.append((a, b))
    scored = np.array(pairs, dtype=np.float64).reshape(-1, 2)
    estimate = _difference(scored, sum(unscored.values()), span, seed)
    return Paired(scored[:, 0], scored[:, 1], estimate, dict(sorted(unscored.items())))


def _difference(scored: Numbers, n_unscored: int, span: float, seed: int) -> Estimate:
    """Tango and McNemar for yes and no, else t and sign flips (STATISTICS 1 and 3)."""
    if not len(scored):
        return nothing_scored(n_unscored, "")
    before, after = scored[:, 0], scored[:, 1]
    if np.isin(scored, (0, 1)).all():
        up, down = int((after > before).sum()), int((after < before).sum())
        return replace(paired_difference(up, down, len(scored)), n_unscored=n_unscored)
    made = mean_change(after - before, low=-span, high=span, seed=seed).within(-span, span)
    return replace(made, n_unscored=n_unscored)


def adjusted_contrasts(contrasts: Sequence[Contrast]) -> list[Contrast]:
    """Adjust the p-values within each family: Holm where it confirms, else Benjamini-Hochberg."""
    adjusted = list(contrasts)
    for family in dict.fromkeys(one.family for one in contrasts):
        places = [i for i, one in enumerate(contrasts) if one.family == family]
        confirmatory = contrasts[places[0]].confirmatory
        correct = holm if confirmatory else benjamini_hochberg
        for i, p in zip(places, correct([contrasts[i].p for i in places]), strict=True):
            adjusted[i] = replace(contrasts[i], p_adjusted=p)
    return adjusted
