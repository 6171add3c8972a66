"""What people said of a run's answers: their verdicts, each beside the answer that it is about."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeVar

from evenhand.graph_store.records import Answer, Judgement, Measurement, Variant
from evenhand.graph_store.run_directory import RunDirectory
from evenhand.tools.pairing import ASSOCIATION
from evenhand.tools.rating_import import label_key
from evenhand.tools.rating_sheets import FIRST, PAIR_ATTRIBUTES, PAIR_CHOICE
from evenhand.tools.statistics.agreement import Agreement
from evenhand.tools.statistics.estimate import Estimate

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

ALL = "all"
"""All ways of asking, or all cases, together."""

EMPTY_CELL = "empty_cell"


@dataclass(frozen=True, slots=True)
class Vote:
    """One rater's choice between the two pairs of one case."""

    case: str
    """Id of the changed question."""
    sample_id: str
    rater: str
    arms: tuple[str, str]
    """The two ways of asking, in the order of the plan."""
    chosen: str | None
    """The way of asking whose pair reveals more bias; None where nothing was chosen."""
    chose_first: bool | None
    status: str
    """"ok", "tie", or why there is no choice."""
    changed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Naming:
    """Whether one rater named one attribute for one case."""

    case: str
    sample_id: str
    rater: str
    attribute: str
    changed: bool
    """Whether the attribute was changed in the question."""
    named: float
    """1 or 0; NaN where nothing was said."""
    status: str


@dataclass(frozen=True, slots=True)
class Rating:
    """One rater's number for one answer, and the judge's."""

    sample_id: str
    answer_id: str
    arm: str
    rubric: str
    dimension: str
    rater: str
    value: float
    """1 to 5; NaN where unscored."""
    status: str
    judge: float
    """Mean score of the judges, 0 to 1; NaN where they gave none."""


@dataclass(frozen=True)
class People:
    """The verdicts of people on a run; the latest of each rater on each thing counts."""

    run_id: str
    arms: tuple[str, ...]
    """Ways of asking, in the order of the plan."""
    votes: tuple[Vote, ...] = ()
    namings: tuple[Naming, ...] = ()
    ratings: tuple[Rating, ...] = ()

    @classmethod
    def read(cls, run: RunDirectory) -> Self:
        """Read a run's labels and what they are about."""
        return cls.of(
            run.run_id,
            run.manifest.plan,
            labels=run.labels(),
            answers=run.answers(),
            variants=run.variants(),
            judgements=run.judgements(),
        )

    @classmethod
    def of(
        cls,
        run_id: str,
        plan: Mapping[str, Any],
        *,
        labels: Sequence[Judgement],
        answers: Iterable[Answer],
        variants: Iterable[Variant],
        judgements: Iterable[Judgement],
    ) -> Self:
        """Set the verdicts beside their answers; one on an answer that is gone is left out."""
        latest = _latest(labels)
        about = {id_ for one in latest for id_ in (one.subject_id, one.against_id)}
        known = {answer.id: answer for answer in answers if answer.id in about}
        lookup = _Lookup(
            arms=tuple(plan.get("asked", ())),
            answers=known,
            variants={variant.id: variant for variant in variants},
            scores=_judge_scores(judgements, known),
        )
        there = [one for one in latest if lookup.has(one)]
        choices = [one for one in there if one.rubric == PAIR_CHOICE]
        names = [one for one in there if one.rubric == PAIR_ATTRIBUTES]
        single = [one for one in there if one.against_id is None]
        return cls(
            run_id=run_id,
            arms=lookup.arms,
            votes=tuple(map(lookup.vote, choices)),
            namings=tuple(map(lookup.naming, names)),
            ratings=tuple(map(lookup.rating, single)),
        )

    @property
    def raters(self) -> tuple[str, ...]:
        """Everybody who rated anything, in order."""
        names = [one.rater for one in self.votes]
        names += [one.rater for one in self.namings]
        names += [one.rater for one in self.ratings]
        return tuple(dict.fromkeys(names))


_Scores = Mapping[tuple[str, str], float]


@dataclass(frozen=True)
class _Lookup:
    arms: tuple[str, ...]
    answers: Mapping[str, Answer]
    variants: Mapping[str, Variant]
    scores: _Scores

    def has(self, label: Judgement) -> bool:
        return label.subject_id in self.answers and (
            label.against_id is None or label.against_id in self.answers
        )

    def _pair(self, label: Judgement) -> tuple[Answer, Answer, Variant]:
        """Return the answers as shown, and the changed question that they are about."""
        first, second = self.answers[label.subject_id], self.answers[label.against_id or ""]
        questions = [self.variants[one.variant_id] for one in (first, second)]
        return first, second, max(questions, key=lambda one: len(one.changes))

    def vote(self, label: Judgement) -> Vote:
        first, second, question = self._pair(label)
        chose_first = None if label.status != "ok" else label.value == FIRST
        arms = sorted((first.arm, second.arm), key=self._place)
        return Vote(
            case=question.id,
            sample_id=question.sample_id,
            rater=label.judge,
            arms=(arms[0], arms[1]),
            chosen=None if chose_first is None else (first if chose_first else second).arm,
            chose_first=chose_first,
            status=status_of(label),
            changed=question.attributes,
        )

    def _place(self, arm: str) -> int:
        return self.arms.index(arm) if arm in self.arms else len(self.arms)

    def naming(self, label: Judgement) -> Naming:
        _, _, question = self._pair(label)
        return Naming(
            case=question.id,
            sample_id=question.sample_id,
            rater=label.judge,
            attribute=label.dimension,
            changed=label.dimension in question.attributes,
            named=label.number,
            status=status_of(label),
        )

    def rating(self, label: Judgement) -> Rating:
        answer = self.answers[label.subject_id]
        return Rating(
            sample_id=self.variants[answer.variant_id].sample_id,
            answer_id=answer.id,
            arm=answer.arm,
            rubric=label.rubric,
            dimension=label.dimension,
            rater=label.judge,
            value=label.number,
            status=status_of(label),
            judge=self.scores.get((answer.id, label.dimension), math.nan),
        )


def status_of(label: Judgement) -> str:
    """Return what became of a verdict: its status, or that the cell was left empty."""
    return EMPTY_CELL if label.reason_code == "missing" else label.status


def unscored_of(statuses: Iterable[str]) -> dict[str, int]:
    """Count what left verdicts out."""
    return dict(sorted(Counter(one for one in statuses if one != "ok").items()))


def _latest(labels: Sequence[Judgement]) -> list[Judgement]:
    by_key = {label_key(one): one for one in labels}
    return list(by_key.values())


def _judge_scores(judgements: Iterable[Judgement], answers: Mapping[str, Answer]) -> _Scores:
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for one in judgements:
        scored = one.rubric == ASSOCIATION and one.subject_id in answers
        if scored and not math.isnan(one.number):
            found[one.subject_id, one.dimension].append(one.number)
    return {key: sum(some) / len(some) for key, some in found.items()}


def grouped(things: Sequence[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Sort things into lists by a key, in the order in which the keys first occur."""
    found: dict[K, list[T]] = defaultdict(list)
    for thing in things:
        found[key(thing)].append(thing)
    return found


def measurement(
    metric: str,
    arm: str,
    groups: tuple[str, ...],
    estimate: Estimate | Agreement,
    *,
    statuses: Sequence[str] = (),
    counts: dict[str, int] | None = None,
    control_arm: str | None = None,
    family: str | None = None,
) -> Measurement:
    """Return an estimate as a record; its id is set when all are there."""
    ok = estimate.status == "ok"
    return Measurement(
        id="",
        status=estimate.status,
        metric=metric,
        arm=arm,
        groups=groups,
        value=estimate.value if ok else None,
        low=estimate.low,
        high=estimate.high,
        n=estimate.n,
        unscored=unscored_of(statuses),
        control_arm=control_arm,
        p=estimate.p if isinstance(estimate, Estimate) else None,
        family=family,
        method=estimate.method,
        reason_code=estimate.reason_code,
        flags=estimate.flags if isinstance(estimate, Estimate) else (),
        counts=counts or {},
    )
