"""What came of each asking of a variant, and of each verdict on it: a value or a status."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from evenhand.graph_store.records import Answer, Judgement, Variant

NAN = math.nan


@dataclass(frozen=True, slots=True)
class Asking:
    """One asking of one variant, and what came of it: "ok" is an answer that can be judged."""

    variant_id: str | None
    answer_id: str | None
    group: str
    status: str
    reason: str | None


AskingKey = tuple[str, str, int]
"""Variant, arm, repeat."""
ReadVerdict = tuple[float, str, str | None]
"""Value, status, reason."""
MISSING: ReadVerdict = (NAN, "judgement_missing", None)
VerdictKey = tuple[str, str, str, str | None]
"""Rubric, dimension, subject, and the answer that it was compared with."""


def verdicts_by_key(judgements: Sequence[Judgement]) -> dict[VerdictKey, ReadVerdict]:
    """Return what each subject was judged to be, by all judges and in all orders."""
    by_key: dict[VerdictKey, list[Judgement]] = defaultdict(list)
    for one in judgements:
        by_key[one.rubric, one.dimension, one.subject_id, one.against_id].append(one)
    return {key: _verdict(judges) for key, judges in by_key.items()}


def words_by_key(judgements: Sequence[Judgement]) -> dict[VerdictKey, str]:
    """Return the verdicts that are a word ("first"), of the first judge that gave one."""
    found: dict[VerdictKey, str] = {}
    for one in judgements:
        if isinstance(one.value, str):
            key = (one.rubric, one.dimension, one.subject_id, one.against_id)
            found.setdefault(key, one.value)
    return found


def _verdict(judgements: Sequence[Judgement]) -> ReadVerdict:
    """Return the mean of the judges that scored an answer, or the status of the first."""
    by_judge: dict[str, list[Judgement]] = defaultdict(list)
    for one in judgements:
        by_judge[one.judge].append(one)
    read = [_of_one_judge(said) for said in by_judge.values()]
    scored = [verdict for verdict in read if verdict[1] == "ok"]
    if not scored:
        return read[0]
    return sum(value for value, _, _ in scored) / len(scored), "ok", scored[0][2]


def _of_one_judge(judgements: Sequence[Judgement]) -> ReadVerdict:
    """Read a judge's verdict; one that was asked in several orders must say the same in each."""
    first = next((one for one in judgements if math.isnan(one.number)), judgements[0])
    if first.status != "ok":
        return NAN, first.status, first.reason or first.reason_code
    if math.isnan(first.number):
        return NAN, "not_a_number", first.reason or first.reason_code
    if len({one.number for one in judgements}) > 1:
        return NAN, "tie", first.reason
    return first.number, "ok", first.reason


def askings_by_key(
    variants: Mapping[tuple[str, str], Sequence[Variant]],
    *,
    asked: Sequence[str],
    repeats: int,
    gate: Mapping[str, Judgement],
    answers: Iterable[Answer],
) -> dict[AskingKey, Asking]:
    """Return what came of each planned asking of each variant.

    Args:
        variants: By sample and group.
        asked: Ways of asking.
        repeats: Repeats of `base`.
        gate: The gate's verdicts by variant.
        answers: All answers.
    """
    by_key: dict[AskingKey, Answer] = {(a.variant_id, a.arm, a.repeat): a for a in answers}
    askings: dict[AskingKey, Asking] = {}
    for (_, group), members in variants.items():
        for variant in members:
            again = repeats if variant.arm == "base" else 0
            shown = shown_or_not(variant, group, gate.get(variant.id))
            for arm, repeat in product(asked, range(again + 1)):
                answer = by_key.get((variant.id, arm, repeat))
                askings[variant.id, arm, repeat] = _answered(shown, answer)
    return askings


def shown_or_not(variant: Variant, group: str, gate: Judgement | None) -> Asking:
    """Return whether a variant can be asked; "ok" where it can."""
    if variant.status != "ok":
        return Asking(variant.id, None, group, f"variant_{variant.status}", variant.reason)
    if gate is not None and gate.value != "accepted":
        status = "gate_rejected" if gate.status == "ok" else f"gate_{gate.status}"
        return Asking(variant.id, None, group, status, gate.reason or gate.reason_code)
    return Asking(variant.id, None, group, "ok", None)


def _answered(shown: Asking, answer: Answer | None) -> Asking:
    if shown.status != "ok":
        return shown
    if answer is None:
        return replace(shown, status="answer_missing")
    status = "ok" if answer.status == "ok" else f"answer_{answer.status}"
    return replace(shown, answer_id=answer.id, status=status, reason=answer.error)
