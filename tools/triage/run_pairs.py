"""The pairs of a run of the counterfactual recipe, by arm, out of its variants and scores.

Every arm has a row for each visit of the audit half and each other group that it is shown as: one
index set. A visit whose note cannot be rewritten is unscored in all arms, with the reason; one
whose note does not state the attribute is unscored in text_only alone, where nothing would differ.
A number without a level is -1 and counted, never 0 and never dropped.

The repeat arm sets refits against each other, 1 with 2, 2 with 3, ..., the last with 1, on the
visits as they are. The audited mimic is not among them: fitted to the whole half, it differs from
what is fitted to a resample of it in one direction, and that would be taken for noise.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from evenhand.graph_store.records import Sample, Variant
from evenhand.graph_store.run_directory import RunDirectory
from evenhand.graph_store.scores import UNSCORED, Scores, read_scores
from evenhand.tools.counterfactual_visits import NOT_STATED, Showing
from evenhand.tools.run_visits import RunVisits, read_run_visits, read_showing
from evenhand.tools.statistics.estimate import Counts
from evenhand.tools.triage.pairs import MAIN_ARM, TriagePairs, Words, patient_numbers
from evenhand.training.splits import patient_key

PLACEBO, REPEAT = "placebo", "repeat"
MIMIC = "mimic"
AGAINST = "against"
"""Folder in a run of what is the second model's: its scores, and its own models."""
GATE_REJECTED, MISSING, OK = "gate_rejected", "missing", "ok"
ALONE = (0, 0)
"""Both levels are the mimic's."""


@dataclass(frozen=True)
class PairRow:
    """A visit of one arm, as its own group and as another: what a reader opens behind a number."""

    sample: Sample
    arm: str
    source: str
    target: str
    original: Variant | None
    """The visit as it is, as the arm shows it."""
    counterfactual: Variant | None
    """The visit as the other group; the placebo, or in the repeat arm the visit as it is."""

    @property
    def id(self) -> str:
        """The pair's id, the same in all arms."""
        return pair_id(self.sample.id, self.target)


def pair_id(sample_id: str, target: str) -> str:
    """Return the id of a visit's pair with another group, the same in all arms."""
    return f"{sample_id}>{target}"


@dataclass(frozen=True)
class RunPairs:
    """What the pairs of a run are made of, read once.

    Attributes:
        chosen: The visits.
        showing: How they are shown.
        controls: Control arms of the plan.
        variants: By sample, arm and the group shown; None for the visit as it is.
        rejected: Variants that did not pass the gate.
        scores: What the decider said.
        asked_as_is: Whether it is a model that was fitted to none of the decisions.
    """

    chosen: RunVisits
    showing: Showing
    controls: tuple[str, ...]
    variants: dict[tuple[str, str, str | None], Variant]
    rejected: frozenset[str]
    scores: Scores
    asked_as_is: bool = False

    @classmethod
    def read(
        cls, run: RunDirectory, folder: str = "", variants: Sequence[Variant] | None = None
    ) -> "RunPairs":
        """Read a run whose stages up to `answer` are there, whole or in part.

        Args:
            run: Of the counterfactual recipe.
            folder: Where the scores lie in it: "" for the model under audit, AGAINST for the one
                it is set against.
            variants: Its variants, where they have been read.

        Raises:
            UserError: It has no visits, or a file of it is damaged.
        """
        chosen = read_run_visits(run)
        found: dict[tuple[str, str, str | None], Variant] = {}
        for variant in run.variants() if variants is None else variants:
            shown = {c.attribute: c.after for c in variant.changes}.get(chosen.attribute)
            found.setdefault((variant.sample_id, variant.arm, shown), variant)
        return cls(
            chosen=chosen,
            showing=read_showing(run, chosen),
            controls=tuple(run.manifest.plan.get("controls") or ()),
            variants=found,
            rejected=frozenset(v.subject_id for v in run.gate() if v.value != "accepted"),
            scores=read_scores(run.path / folder),
            asked_as_is=not is_mimic(asked_model(run.manifest.plan, folder)),
        )

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms of the plan, control arms last."""
        return (*self.showing.arms, *(c for c in (PLACEBO, REPEAT) if c in self.controls))

    @cached_property
    def refits(self) -> tuple[int, ...]:
        """Numbers of the refits that were asked."""
        return tuple(n for n in sorted(set(self.scores.repeats.tolist())) if n > 0)

    @property
    def refit_couples(self) -> list[tuple[int, int]]:
        """Each refit with the next, the last with the first.

        A model that is fitted to nothing is set against itself: nothing can move, and a control
        arm in which nothing moves is shown as no information.
        """
        if self.asked_as_is:
            return [ALONE]
        numbers = self.refits
        return list(zip(numbers, (*numbers[1:], *numbers[:1]), strict=True)) if numbers[1:] else []

    def rows(self, arm: str) -> Iterator[PairRow]:
        """Yield the visits of an arm with each group that they are shown as, in their order."""
        own_arm = MAIN_ARM if arm in (PLACEBO, REPEAT) else arm
        for sample in self.chosen.audit:
            source = self.chosen.group_of(sample)
            original = self.variants.get((sample.id, own_arm, None))
            for target in self.showing.targets(sample):
                if arm == REPEAT:
                    yield PairRow(sample, arm, source, target, original, original)
                    continue
                shown = None if arm == PLACEBO else target
                second = self.variants.get((sample.id, arm, shown))
                yield PairRow(sample, arm, source, target, original, second)

    def pairs(self, arm: str) -> TriagePairs:
        """Return the pairs of an arm in columns; of repeat, a row a pair and couple of refits."""
        return self._columns(list(self.rows(arm)), self.refit_couples if arm == REPEAT else [ALONE])

    def refit_pairs(self) -> list[TriagePairs]:
        """Return the pairs of the full arm as each refit decides them."""
        rows = list(self.rows(MAIN_ARM))
        whole = self._columns(rows, [ALONE])
        made = []
        for number in self.refits:
            first, second, status = self._levels(rows, [(number, number)])
            first = np.where(status == OK, first, UNSCORED)
            made.append(replace(whole, original=first, counterfactual=second, status=status))
        return made

    def _columns(self, rows: Sequence[PairRow], asked: Sequence[tuple[int, int]]) -> TriagePairs:
        """Return rows in columns, each once for every two that are asked."""
        groups, levels = self.showing.groups, self.chosen.levels
        places = {level: place for place, level in enumerate(levels)}
        first, second, status = self._levels(rows, asked)

        def counts(values: Iterable[int]) -> Counts:
            return np.repeat(np.array(list(values), dtype=np.int64), len(asked))

        return TriagePairs(
            levels=levels,
            groups=groups,
            ids=np.repeat(np.array([row.id for row in rows], dtype=np.str_), len(asked)),
            source=counts(groups.index(row.source) for row in rows),
            target=counts(groups.index(row.target) for row in rows),
            original=first,
            counterfactual=second,
            status=status,
            patient=counts(
                patient_numbers([patient_key(r.sample.patient or r.sample.id) for r in rows])
            ),
            recorded=counts(places.get(row.sample.label or "", UNSCORED) for row in rows),
        )

    def _levels(
        self, rows: Sequence[PairRow], asked: Sequence[tuple[int, int]]
    ) -> tuple[Counts, Counts, Words]:
        """Return both levels as places on the scale, -1 where there is none, and the status.

        Args:
            rows: n pairs.
            asked: Who gives either level: 0 the mimic, else a refit.

        Returns:
            Shape (n * len(asked),) each, what belongs to one pair together.
        """
        faults = np.array([self._stopped(row) for row in rows], dtype=np.str_)
        ids = [[v.id if v else "" for v in (row.original, row.counterfactual)] for row in rows]
        made: list[tuple[Counts, Counts, Words]] = []
        for one, other in asked:
            first, why = self._asked([both[0] for both in ids], one)
            second, why_not = self._asked([both[1] for both in ids], other)
            status = np.where(faults != OK, faults, np.where(why != OK, why, why_not))
            made.append((first, np.where(status == OK, second, UNSCORED), status))
        if not made:
            nothing = np.empty(0, np.int64)
            return nothing, nothing, np.empty(0, np.str_)
        first, second, status = (np.stack(side, axis=1).ravel() for side in zip(*made, strict=True))
        return first, second, status

    def _asked(self, ids: Sequence[str], repeat: int) -> tuple[Counts, Words]:
        """Return what the mimic or a refit said of variants; "" is none."""
        places = [self.scores.places.get((name, repeat), UNSCORED) for name in ids]
        levels = [UNSCORED if at < 0 else int(self.scores.levels[at]) for at in places]
        said = [MISSING if at < 0 else self.scores.statuses[at] for at in places]
        return np.array(levels, dtype=np.int64), np.array(said, dtype=np.str_)

    def _stopped(self, row: PairRow) -> str:
        """Return why a pair was not to be asked, "ok" where it was."""
        whole = self.variants.get((row.sample.id, MAIN_ARM, row.target))
        stopped = self._fault(whole) if MAIN_ARM in self.showing.arms else None
        return stopped or self._fault(row.original) or self._fault(row.counterfactual) or OK

    def _fault(self, variant: Variant | None) -> str | None:
        if variant is None:
            return MISSING
        if variant.status == "error":
            return "error"
        if variant.status != OK:
            return (variant.reason or variant.status).partition(":")[0]
        return GATE_REJECTED if variant.id in self.rejected else None


def asked_model(plan: Mapping[str, Any], folder: str = "") -> str:
    """Return the model of a plan (as JSON) whose scores lie in a folder of its run."""
    role = (plan.get(AGAINST) or {}) if folder else plan.get("roles", {}).get("target", {})
    return str(role.get("model", MIMIC))


def is_mimic(model: str) -> bool:
    """Say whether a model is one that is fitted to the decisions: "mimic" or "mimic/NAME"."""
    return model.partition("/")[0] == MIMIC


def read_arms(run: RunDirectory, folder: str = "") -> dict[str, TriagePairs]:
    """Return the pairs of a run by arm: the plan's arms, then placebo and repeat.

    Args:
        run: A run of the counterfactual recipe that has loaded its visits; pairs that were not
            asked yet are unscored with status "missing".
        folder: As for RunPairs.read.

    Raises:
        UserError: It has no visits, or a file of it is damaged.
    """
    read = RunPairs.read(run, folder)
    return {arm: read.pairs(arm) for arm in read.arms}


def unstated(pairs: TriagePairs) -> bool:
    """Return whether an arm has no pair because no note states the attribute."""
    return len(pairs.scored) == 0 and pairs.unscored.get(NOT_STATED, 0) > 0
