"""Which answers stand behind which number: the one place where records are paired.

Both the numbers (tools/measure.py) and the rows that a reader opens behind a number come from here,
so they cannot disagree. The unit is the sample: an item's value is the mean over its scored rows.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from evenhand.graph_store.records import Answer, Judgement, Sample, Variant
from evenhand.graph_store.run_directory import RunDirectory

ASSOCIATION = "attribute_association"
CHANGE = "paired_change"
DIMENSIONS = ("age", "gender", "age_gender", "location", "age_gender_location")
ORIGINAL, BASE, REPEAT, PLACEBO = "original", "base", "repeat", "placebo"
NAN = math.nan


@dataclass(frozen=True, slots=True)
class MeasuredRow:
    """One answer (or pair of answers) behind a number; it counts only when its status is "ok"."""

    sample_id: str
    base_answer_id: str | None
    """The answer that it is set against: to `base` asked the same way, or to the original."""
    variant_id: str | None
    answer_id: str | None
    group: str
    """The variant's group: "age", "age+gender", "placebo", "repeat", "base"."""
    arm: str
    value: float
    """The answer's score, or 1 changed / 0 same; NaN where there is none."""
    status: str
    """"ok", or what left the row out: answer_refused, gate_rejected, unparsable ..."""
    reason: str | None
    control_value: float = NAN
    """The item's value in the control arm; NaN without one."""


@dataclass(frozen=True)
class Planned:
    """What the plan promised: every cell of it is reported, also when it is empty."""

    asked: tuple[str, ...]
    groups: tuple[str, ...]
    """Attributes and intersections, as in Variant.group."""
    controls: tuple[str, ...]
    repeats: int
    """Repeats of `base`; 0 without a repeat arm."""

    @classmethod
    def read(cls, plan: dict[str, Any]) -> Self:
        """Read the part of a manifest's plan that decides on the cells."""
        together = ["+".join(names) for names in plan.get("intersections", ())]
        controls = tuple(plan.get("controls", ()))
        return cls(
            asked=tuple(plan.get("asked", ())),
            groups=(*plan.get("attributes", ()), *together),
            controls=controls,
            repeats=int(plan.get("repeats", 1)) if REPEAT in controls else 0,
        )


@dataclass(frozen=True, slots=True)
class _Asking:
    """One asking of one variant, and what came of it: "ok" is an answer that can be judged."""

    variant_id: str | None
    answer_id: str | None
    group: str
    status: str
    reason: str | None


_AskingKey = tuple[str, str, int]
_Verdict = tuple[float, str, str | None]
"""Value, status, reason."""
_VerdictKey = tuple[str, str, str, str | None]


@dataclass(frozen=True)
class RecordIndex:
    """The records of a run by what they hang on; read once, then every look-up is one step."""

    planned: Planned
    samples: Sequence[Sample]
    variants: dict[tuple[str, str], list[Variant]]
    """By sample and group: "base", the isolated groups, "placebo"."""
    askings: dict[_AskingKey, _Asking]
    """By variant, arm and repeat."""
    verdicts: dict[_VerdictKey, _Verdict]
    """By rubric, dimension, answer and the answer that it was compared with."""

    @classmethod
    def read(cls, run: RunDirectory) -> Self:
        """Read the stage files of a run."""
        planned = Planned.read(run.manifest.plan)
        variants: dict[tuple[str, str], list[Variant]] = defaultdict(list)
        for variant in run.variants():
            if variant.arm in ("base", "isolated", "placebo"):
                variants[variant.sample_id, variant.group].append(variant)
        return cls(
            planned=planned,
            samples=run.samples(),
            variants=dict(variants),
            askings=_askings(run, planned, variants),
            verdicts=_verdicts(run.judgements()),
        )

    def score_rows(self, arm: str, dimension: str) -> list[MeasuredRow]:
        """Return a row for each answer that should have a score in a dimension.

        `original`: the one answer of each sample. Other arms: `base` and the isolated variants.
        """
        groups = (BASE,) if arm == ORIGINAL else (BASE, *self.planned.groups)
        rows: list[MeasuredRow] = []
        for sample in self.samples:
            for asking in self._asked(sample, groups, arm):
                verdict = self._verdict_on(ASSOCIATION, dimension, asking, None)
                rows.append(_row(sample, arm, asking, None, verdict))
        return rows

    def change_rows(self, arm: str, group: str) -> list[MeasuredRow]:
        """Return a row for each variant of a group (or repeat of `base`), set against `base`."""
        rows: list[MeasuredRow] = []
        for sample in self.samples:
            (base,) = self._asked(sample, (BASE,), arm)[:1]
            for asking in self._asked_again(sample, arm, group):
                verdict: _Verdict = NAN, f"base_{base.status}", base.reason
                if asking.status != "ok" or base.status == "ok":
                    verdict = self._verdict_on(CHANGE, "any", asking, base.answer_id)
                rows.append(_row(sample, arm, asking, base.answer_id, verdict))
        return rows

    def _asked_again(self, sample: Sample, arm: str, group: str) -> list[_Asking]:
        if group != REPEAT:
            return self._asked(sample, (group,), arm)
        repeats = range(1, self.planned.repeats + 1)
        again = [one for n in repeats for one in self._asked(sample, (BASE,), arm, n)]
        return [replace(one, group=REPEAT) for one in again]

    def _asked(
        self, sample: Sample, groups: Sequence[str], arm: str, repeat: int = 0
    ) -> list[_Asking]:
        """Return the askings of a sample's variants; where there is no variant, why not."""
        if sample.status == "skipped":
            return [_Asking(None, None, groups[0], "sample_skipped", sample.reason)]
        found: list[_Asking] = []
        for group in groups:
            variants = self.variants.get((sample.id, group), ())
            found += [self.askings[variant.id, arm, repeat] for variant in variants]
            if not variants:
                found.append(self._without_variant(sample, group))
        return found

    def _without_variant(self, sample: Sample, group: str) -> _Asking:
        """Nothing is made of a base text that could not be made; else the variant is missing."""
        for base in self.variants.get((sample.id, BASE), ()):
            if base.status != "ok":
                return _Asking(base.id, None, group, f"variant_{base.status}", base.reason)
        return _Asking(None, None, group, "variant_missing", None)

    def _verdict_on(
        self, rubric: str, dimension: str, asking: _Asking, against_id: str | None
    ) -> _Verdict:
        if asking.status != "ok" or asking.answer_id is None:
            return NAN, asking.status, asking.reason
        key = (rubric, dimension, asking.answer_id, against_id)
        return self.verdicts.get(key, (NAN, "judgement_missing", None))


def _verdicts(judgements: Sequence[Judgement]) -> dict[_VerdictKey, _Verdict]:
    by_key: dict[_VerdictKey, list[Judgement]] = defaultdict(list)
    for one in judgements:
        by_key[one.rubric, one.dimension, one.subject_id, one.against_id].append(one)
    return {key: _verdict(judges) for key, judges in by_key.items()}


def _verdict(judgements: Sequence[Judgement]) -> _Verdict:
    """Return the mean of the judges that scored an answer, or the status of the first."""
    numbers = [number for judge in judgements if not math.isnan(number := judge.number)]
    first = judgements[0]
    if numbers:
        return sum(numbers) / len(numbers), "ok", first.reason
    status = "not_a_number" if first.status == "ok" else first.status
    return NAN, status, first.reason or first.reason_code


def _askings(
    run: RunDirectory, planned: Planned, variants: dict[tuple[str, str], list[Variant]]
) -> dict[_AskingKey, _Asking]:
    """Return what came of each planned asking of each variant, its repeats included."""
    gate = {judgement.subject_id: judgement for judgement in run.gate()}
    answers: dict[_AskingKey, Answer] = {(a.variant_id, a.arm, a.repeat): a for a in run.answers()}
    askings: dict[_AskingKey, _Asking] = {}
    for (_, group), members in variants.items():
        repeats = planned.repeats if group == BASE else 0
        for variant in members:
            for key in product((variant.id,), planned.asked, range(repeats + 1)):
                made = _asking(variant, group, gate.get(variant.id), answers.get(key))
                askings[key] = made
    return askings


def _asking(variant: Variant, group: str, gate: Judgement | None, answer: Answer | None) -> _Asking:
    if variant.status != "ok":
        return _Asking(variant.id, None, group, f"variant_{variant.status}", variant.reason)
    if gate is not None and gate.value != "accepted":
        status = "gate_rejected" if gate.status == "ok" else f"gate_{gate.status}"
        return _Asking(variant.id, None, group, status, gate.reason or gate.reason_code)
    if answer is None:
        return _Asking(variant.id, None, group, "answer_missing", None)
    status = "ok" if answer.status == "ok" else f"answer_{answer.status}"
    return _Asking(variant.id, answer.id, group, status, answer.error)


def _row(
    sample: Sample, arm: str, asking: _Asking, base_answer_id: str | None, verdict: _Verdict
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


@dataclass(slots=True)
class _Control:
    """What the control arm says of one item: the mean of its scored rows, or why there is none."""

    first: MeasuredRow
    total: float = 0.0
    scored: int = 0


def with_control(
    rows: Sequence[MeasuredRow], control: Sequence[MeasuredRow], *, against: bool = False
) -> list[MeasuredRow]:
    """Set each row beside its item's value in a control arm; a row without one is left out.

    Args:
        rows: Rows of an arm.
        control: Rows of the control arm on the same samples.
        against: Name the control's answer as the one that the row is set against.
    """
    by_sample: dict[str, _Control] = {}
    for row in control:
        item = by_sample.setdefault(row.sample_id, _Control(row))
        if row.status == "ok":
            item.total += row.value
            item.scored += 1
    return [_beside(row, by_sample.get(row.sample_id), against) for row in rows]


def _beside(row: MeasuredRow, control: _Control | None, against: bool) -> MeasuredRow:
    base_answer_id = row.base_answer_id
    if against and control is not None:
        base_answer_id = control.first.answer_id
    if control is not None and control.scored:
        known = control.total / control.scored
        return replace(row, base_answer_id=base_answer_id, control_value=known)
    if row.status != "ok":
        return replace(row, base_answer_id=base_answer_id)
    return replace(
        row,
        base_answer_id=base_answer_id,
        value=NAN,
        status=f"control_{control.first.status}" if control else "control_missing",
        reason=control.first.reason if control else None,
    )


def item_values(rows: Sequence[MeasuredRow]) -> NDArray[np.float64]:
    """Return each item's mean value and control value, shape (items, 2); NaN where unscored."""
    total: dict[str, list[float]] = {}
    for row in rows:
        item = total.setdefault(row.sample_id, [0.0, 0.0, NAN])
        if row.status == "ok":
            item[0] += row.value
            item[1] += 1
            item[2] = row.control_value
    values = [(s / n if n else NAN, control) for s, n, control in total.values()]
    return np.array(values, dtype=np.float64).reshape(-1, 2)
