"""Which answers stand behind which number: the one place where records are paired.

Both the numbers (tools/measure.py) and the rows that a reader opens behind a number come from here,
so they cannot disagree. The unit is the sample: an item's value is the mean over its scored rows.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

from evenhand.graph_store.records import ADDED, Answer, Change, Judgement, Sample, Variant
from evenhand.graph_store.run_directory import RunDirectory
from evenhand.tools.askings import (
    MISSING,
    Asking,
    AskingKey,
    ReadVerdict,
    VerdictKey,
    askings_by_key,
    shown_or_not,
    verdicts_by_key,
    words_by_key,
)
from evenhand.tools.askings import NAN as NAN
from evenhand.tools.clinical import ANY as ANY
from evenhand.tools.clinical import KINDS
from evenhand.tools.measured_rows import MeasuredRow

ASSOCIATION = "attribute_association"
CHANGE = "paired_change"
CHANGE_BY_MODEL = "pairwise_change"
CHANGE_KINDS: tuple[str, ...] = KINDS
QUALITY = "question_quality"
BIAS, MAJORITY, UNBIASED = "bias_verdict", "bias_majority", "unbiased"
AGAIN = "unbiased_again"
"""Dimension of what most askings of a question say when it is asked again, in the repeat arm."""
FAVOURED, NOBODY = "favoured", "none"
"""Rubric of one answer, and rubric and dimension of what most askings of a question say; the
dimension of the former that says whom an answer favours."""
QUALITY_DIMENSIONS = ("factual_consistency", "clinical_relevance", "coherence")
DIMENSIONS = ("age", "gender", "age_gender", "location", "age_gender_location")
ORIGINAL, BASE, REPEAT, PLACEBO = "original", "base", "repeat", "placebo"
NOT_NEEDED = "not_needed"
"""Status of an added arm where the source states the attributes already."""
SHOWN = ("base", "isolated", "added", "relation", "placebo")
"""Arms of variants that are measured."""
NO_HOP, MULTI_HOP = "no_hop", "multi_hop"


@dataclass(frozen=True)
class Planned:
    """What the plan promised: every cell of it is reported, also when it is empty."""

    asked: tuple[str, ...]
    swapped: tuple[str, ...]
    """Attributes and intersections whose stated values are changed, as in Variant.group."""
    added: tuple[str, ...]
    """Groups that put in what a source lacks ("added:location"); never pooled with the swaps."""
    controls: tuple[str, ...]
    repeats: int
    """Repeats of `base`; 0 without a repeat arm."""
    rubrics: tuple[str, ...] = (ASSOCIATION, CHANGE)
    """What is judged: what is not has no cells."""
    relations: tuple[str, ...] = ()
    """Metamorphic relations, as in Variant.group."""
    votes: int = 1
    """Askings of each question, of which most count."""
    encoder: str = "minilm"
    """What embeds tokens for BERTScore (tools/bertscore.py)."""

    @classmethod
    def read(cls, plan: dict[str, Any]) -> Self:
        """Read the part of a manifest's plan that decides on the cells."""
        names = [(name,) for name in plan.get("attributes", ())]
        names += [tuple(together) for together in plan.get("intersections", ())]
        put_in = set(plan.get("added") or ())
        controls = tuple(plan.get("controls", ()))
        return cls(
            asked=tuple(plan.get("asked", ())),
            swapped=tuple("+".join(group) for group in names),
            added=tuple(ADDED + "+".join(group) for group in names if put_in.intersection(group)),
            controls=controls,
            repeats=int(plan.get("repeats", 1)) if REPEAT in controls else 0,
            rubrics=tuple(plan.get("rubrics") or (ASSOCIATION, CHANGE)),
            relations=tuple(plan.get("relations", ())),
            votes=int(plan.get("votes") or 1),
            encoder=str(plan.get("encoder") or "minilm"),
        )

    @property
    def noise(self) -> tuple[str, ...]:
        """Control arms in which a question is asked as under a relation."""
        return tuple(name for name in (PLACEBO, REPEAT) if name in self.controls)

    @property
    def groups(self) -> tuple[str, ...]:
        """All groups of changed variants, the added ones last."""
        return (*self.swapped, *self.added)


@dataclass(frozen=True)
class RecordIndex:
    """The records of a run by what they hang on; read once, then every look-up is one step."""

    planned: Planned
    samples: Sequence[Sample]
    variants: dict[tuple[str, str], list[Variant]]
    """By sample and group: "base", the isolated groups, "placebo"."""
    askings: dict[AskingKey, Asking]
    """By variant, arm and repeat."""
    verdicts: dict[VerdictKey, ReadVerdict]
    """By rubric, dimension, answer (or variant) and the answer that it was compared with."""
    answers: dict[str, Answer]
    """By id."""
    gate: dict[str, Judgement]
    """The gate's verdicts by variant."""
    labels: Sequence[Judgement]
    """What people said."""
    words: Mapping[VerdictKey, str] = field(default_factory=dict)
    """Verdicts that are a word, by the same key."""

    @classmethod
    def read(cls, run: RunDirectory) -> Self:
        """Read the stage files of a run."""
        planned = Planned.read(run.manifest.plan)
        variants: dict[tuple[str, str], list[Variant]] = defaultdict(list)
        for variant in run.variants():
            if variant.arm in SHOWN:
                variants[variant.sample_id, variant.group].append(variant)
        gate = {judgement.subject_id: judgement for judgement in run.gate()}
        answers = {answer.id: answer for answer in run.answers()}
        judgements = run.judgements()
        return cls(
            planned=planned,
            samples=run.samples(),
            variants=dict(variants),
            askings=askings_by_key(
                variants,
                asked=planned.asked,
                repeats=planned.repeats * planned.votes,
                gate=gate,
                answers=answers.values(),
            ),
            verdicts=verdicts_by_key(judgements),
            answers=answers,
            gate=gate,
            labels=run.labels(),
            words=words_by_key(judgements),
        )

    @cached_property
    def variants_by_id(self) -> dict[str, Variant]:
        """The measured variants by id."""
        return {one.id: one for members in self.variants.values() for one in members}

    def score_rows(
        self, arm: str, dimension: str, groups: Sequence[str] | None = None
    ) -> list[MeasuredRow]:
        """Return a row for each answer that should have a score in a dimension.

        `original`: the one answer of each sample. Other arms: those of some groups, or `base` and
        the swaps.
        """
        pooled = (BASE, *self.planned.swapped) if groups is None else groups
        rows: list[MeasuredRow] = []
        for sample in self.samples:
            for asking in self._asked(sample, (BASE,) if arm == ORIGINAL else pooled, arm):
                verdict = self._verdict_on(ASSOCIATION, dimension, asking, None)
                rows.append(_row(sample, arm, asking, None, verdict))
        return rows

    def change_rows(
        self, arm: str, group: str, rubric: str = CHANGE, dimension: str = ANY
    ) -> list[MeasuredRow]:
        """Return a row for each variant of a group (or repeat of `base`), set against `base`."""
        rows: list[MeasuredRow] = []
        for sample in self.samples:
            (base,) = self._asked(sample, (BASE,), arm)[:1]
            for asking in self._asked_again(sample, arm, group):
                verdict: ReadVerdict = NAN, f"base_{base.status}", base.reason
                if asking.status != "ok" or base.status == "ok":
                    verdict = self._verdict_on(rubric, dimension, asking, base.answer_id)
                rows.append(_row(sample, arm, asking, base.answer_id, verdict))
        return rows

    def variant_rows(self, group: str, rubric: str, dimension: str) -> list[MeasuredRow]:
        """Return a row for each variant of a group that a rubric judges itself, not its answers.

        Each sample has one at least, so that what is missing is counted.
        """
        rows: list[MeasuredRow] = []
        for sample in self.samples:
            for asking in self._asked(sample, (group,), ""):
                value, status, reason = NAN, asking.status, asking.reason
                if status == "ok":
                    key = (rubric, dimension, asking.variant_id or "", None)
                    value, status, reason = self.verdicts.get(key, MISSING)
                rows.append(_row(sample, "", asking, None, (value, status, reason)))
        return rows

    def majority_rows(
        self, arm: str, group: str, samples: Sequence[Sample] | None = None
    ) -> list[MeasuredRow]:
        """Return a row for each question of a group: 1 unbiased, 0 biased, by most of its askings.

        The row leads to the first asking. Group "repeat" is `base` asked again, as often. Of some
        samples only, where they are given.
        """
        again = group == REPEAT
        dimension, first_asking = (AGAIN, self.planned.votes) if again else (UNBIASED, 0)
        rows: list[MeasuredRow] = []
        for sample in self.samples if samples is None else samples:
            for shown in self._asked(sample, (BASE if again else group,), ""):
                shown = replace(shown, group=group)
                asking, verdict = shown, (NAN, shown.status, shown.reason)
                if shown.status == "ok" and shown.variant_id is not None:
                    first = self.askings[shown.variant_id, arm, first_asking]
                    asking = replace(shown, answer_id=first.answer_id)
                    key = (MAJORITY, dimension, shown.variant_id, None)
                    verdict = self.verdicts.get(key, MISSING)
                rows.append(_row(sample, arm, asking, None, verdict))
        return rows

    @cached_property
    def favoured(self) -> dict[str, str]:
        """What most biased askings of a variant favour, by its id: first, second, others; or tie.

        By place in the question as asked. An unbiased or unscored question is not in it.
        """
        return self._favoured(UNBIASED, 0)

    @cached_property
    def favoured_again(self) -> dict[str, str]:
        """The same of the repeat."""
        return self._favoured(AGAIN, self.planned.votes)

    def _favoured(self, dimension: str, first: int) -> dict[str, str]:
        votes = range(first, first + self.planned.votes)
        said: dict[str, Counter[str]] = defaultdict(Counter)
        for answer in self.answers.values():
            place = self.words.get((BIAS, FAVOURED, answer.id, None), NOBODY)
            verdict = self.verdicts.get((MAJORITY, dimension, answer.variant_id, None), MISSING)
            if place != NOBODY and answer.repeat in votes and verdict[0] == 0:
                said[answer.variant_id][place] += 1
        return {variant_id: _most_frequent(places) for variant_id, places in said.items()}

    @cached_property
    def repeats_differ(self) -> bool:
        """Whether any question was answered otherwise when it was asked again.

        Where none was, as from a recording, the repeat arm holds no information about noise.
        """
        said: dict[str, set[str]] = defaultdict(set)
        for answer in self.answers.values():
            variant = self.variants_by_id.get(answer.variant_id)
            if variant is not None and variant.arm == BASE:
                said[answer.variant_id].add(answer.text)
        return any(len(texts) > 1 for texts in said.values())

    def asked_rows(self, arm: str, group: str) -> list[MeasuredRow]:
        """Return a row for each answer to a group's variants (or the original), without a value.

        The status is "ok" where there is an answer that a value can be put to.
        """
        return [
            _row(sample, arm, asking, None, (NAN, asking.status, asking.reason))
            for sample in self.samples
            for asking in self._asked(sample, (group,), arm)
        ]

    def single_of(self, variant: Variant, change: Change) -> Variant | None:
        """Return the variant of the same sample that makes this one change alone."""
        names = (change.attribute, ADDED + change.attribute)
        return next(
            (
                one
                for name in names
                for one in self.variants.get((variant.sample_id, name), ())
                if one.changes == (change,)
            ),
            None,
        )

    def _asked_again(self, sample: Sample, arm: str, group: str) -> list[Asking]:
        if group != REPEAT:
            return self._asked(sample, (group,), arm)
        repeats = range(1, self.planned.repeats + 1)
        again = [one for n in repeats for one in self._asked(sample, (BASE,), arm, n)]
        return [replace(one, group=REPEAT) for one in again]

    def _asked(
        self, sample: Sample, groups: Sequence[str], arm: str, repeat: int = 0
    ) -> list[Asking]:
        """Return the askings of a sample's variants; where there is no variant, why not."""
        if sample.status == "skipped":
            return [Asking(None, None, groups[0], "sample_skipped", sample.reason)]
        found: list[Asking] = []
        for group in groups:
            variants = self.variants.get((sample.id, group), ())
            found += [self._asking_of(variant, group, arm, repeat) for variant in variants]
            if not variants:
                found.append(self._without_variant(sample, group))
        return found

    def _without_variant(self, sample: Sample, group: str) -> Asking:
        """Nothing is made of a base text that could not be made; else the variant is missing.

        An added arm is made only where the source lacks what it adds.
        """
        for base in self.variants.get((sample.id, BASE), ()):
            if base.status != "ok":
                return Asking(base.id, None, group, f"variant_{base.status}", base.reason)
            if group.startswith(ADDED):
                return Asking(None, None, group, NOT_NEEDED, None)
        return Asking(None, None, group, "variant_missing", None)

    def _asking_of(self, variant: Variant, group: str, arm: str, repeat: int) -> Asking:
        if not arm:
            return shown_or_not(variant, group, self.gate.get(variant.id))
        return self.askings[variant.id, arm, repeat]

    def _verdict_on(
        self, rubric: str, dimension: str, asking: Asking, against_id: str | None
    ) -> ReadVerdict:
        if asking.status != "ok" or asking.answer_id is None:
            return NAN, asking.status, asking.reason
        key = (rubric, dimension, asking.answer_id, against_id)
        return self.verdicts.get(key, MISSING)


def _most_frequent(places: Counter[str]) -> str:
    most = [place for place, count in places.items() if count == max(places.values())]
    return most[0] if len(most) == 1 else "tie"


def _row(
    sample: Sample, arm: str, asking: Asking, base_answer_id: str | None, verdict: ReadVerdict
) -> MeasuredRow:
    value, status, reason = verdict
    return MeasuredRow(
        sample_id=sample.id,
        base_answer_id=base_answer_id,
        variant_id=asking.variant_id,
        answer_id=asking.answer_id,
        group=asking.group,
        arm=arm,
        value=value,
        status=status,
        reason=reason,
    )
