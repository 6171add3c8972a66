"""Halves of a data set: whole patients on one side, the shares of each stratum alike on both."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Literal

import numpy as np

Side = Literal["train", "audit"]


def patient_key(patient: str) -> str:
    """Return a patient id for comparing: "p23 " and "P23" are one patient."""
    return patient.strip().casefold()


def split_by_patient(
    patients: Sequence[str],
    strata: Sequence[Hashable],
    *,
    seed: int,
    audit_share: float = 0.5,
) -> list[Side]:
    """Give each visit a side so that no patient is on both and the strata are shared out evenly.

    Patients in a drawn order, those with most visits first, each to the side that brings the
    counts of its strata (then of all visits) nearest to the wished share. With one visit a
    patient that is a stratified draw: each stratum is off by less than one visit.

    Args:
        patients: Patient of each visit, shape (n,).
        strata: What to share out evenly, such as (level, group), shape (n,).
        seed: Of the draw, >= 0.
        audit_share: Share of the visits that goes to the audit side, in (0, 1).

    Returns:
        The side of each visit, shape (n,).

    Raises:
        ValueError: Lengths differ, or the share is not in (0, 1).

    Example:
        >>> sorted(split_by_patient(["a", "b", "c", "d"], ["2", "2", "3", "3"], seed=1))
        ['audit', 'audit', 'train', 'train']
    """
    if len(patients) != len(strata) or not 0 < audit_share < 1:
        raise ValueError("patients and strata must be as long, and audit_share in (0, 1)")
    visits: dict[str, list[int]] = defaultdict(list)
    for index, patient in enumerate(patients):
        visits[patient_key(patient)].append(index)
    drawn = np.random.default_rng(seed).permutation(len(visits))
    keys = list(visits)
    order = sorted((keys[place] for place in drawn), key=lambda key: -len(visits[key]))
    balance = _Balance(audit_share, np.random.default_rng([seed, 1]))
    sides: list[Side] = ["train"] * len(patients)
    for key in order:
        side = balance.place(Counter(strata[index] for index in visits[key]))
        for index in visits[key]:
            sides[index] = side
    return sides


def shared_patients(sides: Iterable[Iterable[str]]) -> list[str]:
    """Return the patients (as compared: trimmed, case-folded) that stand on more than one side.

    Example:
        >>> shared_patients([["p1", "p23"], ["P23 "]])
        ['p23']
    """
    found = Counter(key for side in sides for key in {patient_key(p) for p in side})
    return sorted(key for key, count in found.items() if count > 1)


def resampled_patients(patients: Sequence[str], *, seed: int) -> list[int]:
    """Draw as many patients as there are, with replacement, each with all of their visits.

    Args:
        patients: Patient of each visit, shape (n,).
        seed: Of the draw, >= 0.

    Returns:
        Places of the drawn visits, those of one draw together; about n of them, some repeated.

    Example:
        >>> resampled_patients(["a", "a"], seed=0)
        [0, 1]
    """
    visits: dict[str, list[int]] = defaultdict(list)
    for place, patient in enumerate(patients):
        visits[patient_key(patient)].append(place)
    # In the order of their names: the draw may not depend on the order of the file.
    keys = sorted(visits)
    drawn = np.random.default_rng([seed, 2]).integers(len(keys), size=len(keys))
    return [place for draw in drawn for place in visits[keys[draw]]]


class _Balance:
    """Running counts: how many visits of each stratum the audit side lacks."""

    def __init__(self, share: float, rng: np.random.Generator) -> None:
        self._share = share
        self._rng = rng
        self._lacks: dict[Hashable, float] = defaultdict(float)
        self._total = 0.0

    def place(self, visits: Mapping[Hashable, int]) -> Side:
        """Choose a side for one patient's visits and count them."""
        size = sum(visits.values())
        wish = {key: self._lacks[key] + count * self._share for key, count in visits.items()}
        # Squared distance after taking the visits less that after leaving them.
        gain = sum(visits[key] * (2 * wish[key] - visits[key]) for key in visits)
        overall = 2 * (self._total + size * self._share) - size
        draw = self._rng.random() < self._share
        audit = gain > 0 if gain else overall > 0 if overall else draw
        for key, count in visits.items():
            self._lacks[key] += count * self._share - count * audit
        self._total += size * self._share - size * audit
        return "audit" if audit else "train"
