"""Pairs of one arm: each visit's level as it is and as another group, scored or not."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evenhand.tools.statistics.estimate import Counts
from evenhand.tools.triage.metrics import Way, pair_counts

Direction = Literal["higher_is_less_urgent", "higher_is_more_urgent"]
Words = NDArray[np.str_]
Mask = NDArray[np.bool_]

MAIN_ARM = "full"
CONTROL_ARMS = ("placebo", "repeat")


def urgency(way: Way, direction: Direction | None) -> str:
    """Return what a move up or down means in words, which stand beside every arrow.

    Without a declared direction only the number is known.
    """
    if direction is None:
        return "higher number" if way == "up" else "lower number"
    less = (way == "up") == (direction == "higher_is_less_urgent")
    return "less urgent" if less else "more urgent"


@dataclass(frozen=True)
class TriagePairs:
    """The pairs of one arm, in columns; a level of -1 is unscored and `status` says why."""

    levels: tuple[str, ...]
    """The scale, lowest number first."""
    groups: tuple[str, ...]
    """The reference group first."""
    ids: Words
    """Shape (n,), a pair each; several rows have one id only in a repeat arm."""
    source: Counts
    """Place of the patient's own group, shape (n,)."""
    target: Counts
    """Place of the group that the visit is shown as, shape (n,)."""
    original: Counts
    """Place of the level as it is, shape (n,)."""
    counterfactual: Counts
    """Place of the level as the other group, shape (n,)."""
    status: Words
    """"ok", or why there is no level."""
    patient: Counts | None = None
    """A number a patient, the same in all directions; None: each row is a patient."""
    recorded: Counts | None = None
    """Place of the level that people gave, -1 where unknown."""

    def __len__(self) -> int:
        """Return the number of rows, scored or not."""
        return self.original.size

    @cached_property
    def scored(self) -> "TriagePairs":
        """The rows with both levels."""
        known = (self.original >= 0) & (self.counterfactual >= 0)
        return self if known.all() else self.where(known)

    @cached_property
    def unscored(self) -> dict[str, int]:
        """Count the rows without both levels, by why."""
        left_out = (self.original < 0) | (self.counterfactual < 0)
        return dict(sorted(Counter(self.status[left_out].tolist()).items()))

    @cached_property
    def steps(self) -> Counts:
        """Levels moved, shape (n,); of scored rows only."""
        steps: Counts = self.counterfactual - self.original
        return steps

    @property
    def counts(self) -> Counts:
        """Scored pairs by both levels, shape (L, L)."""
        rows = self.scored
        return pair_counts(rows.original, rows.counterfactual, len(self.levels))

    @cached_property
    def clusters(self) -> Counts | None:
        """The patient of each row, if some patient has several; else None."""
        if self.patient is None or np.unique(self.patient).size == self.patient.size:
            return None
        return self.patient

    def where(self, mask: Mask | Counts) -> "TriagePairs":
        """Return the rows of a mask, shape (n,), or the rows at given places."""
        return replace(
            self,
            ids=self.ids[mask],
            source=self.source[mask],
            target=self.target[mask],
            original=self.original[mask],
            counterfactual=self.counterfactual[mask],
            status=self.status[mask],
            patient=None if self.patient is None else self.patient[mask],
            recorded=None if self.recorded is None else self.recorded[mask],
        )

    def between(self, source: str, target: str) -> "TriagePairs":
        """Return the pairs source->target."""
        a, b = self.groups.index(source), self.groups.index(target)
        return self.where((self.source == a) & (self.target == b))

    def couples(self) -> list[tuple[str, str]]:
        """Return each two groups between which there are pairs, the reference first."""
        k = len(self.groups)
        seen = np.bincount(self.source * k + self.target, minlength=k * k).reshape(k, k)
        either = seen + seen.T > 0
        return [
            (self.groups[a], self.groups[b])
            for a in range(k)
            for b in range(a + 1, k)
            if either[a, b]
        ]


def pairs_of(
    original: Sequence[int],
    counterfactual: Sequence[int],
    *,
    levels: Sequence[str],
    source: str,
    target: str,
    patient: Sequence[str] | None = None,
) -> TriagePairs:
    """Make the pairs source->target from places on the scale; -1 is unscored.

    Raises:
        ValueError: Columns of different length, or a place off the scale.
    """
    first, second = (np.asarray(one, dtype=np.int64) for one in (original, counterfactual))
    if first.shape != second.shape or (patient is not None and len(patient) != first.size):
        raise ValueError("columns of one length expected")
    both = np.concatenate([first, second])
    if both.size and not (both.min() >= -1 and both.max() < len(levels)):
        raise ValueError(f"places -1 to {len(levels) - 1} expected")
    n = first.size
    unscored = (first < 0) | (second < 0)
    return TriagePairs(
        levels=tuple(levels),
        groups=(source, target),
        ids=np.array([str(place) for place in range(n)], dtype=np.str_),
        source=np.zeros(n, np.int64),
        target=np.ones(n, np.int64),
        original=first,
        counterfactual=second,
        status=np.where(unscored, "unscored", "ok").astype(np.str_),
        patient=None if patient is None else patient_numbers(patient),
    )


def patient_numbers(names: Sequence[str]) -> Counts:
    """Return a number for each different name, shape (n,)."""
    return np.unique(np.array(names, dtype=np.str_), return_inverse=True)[1].astype(np.int64)
