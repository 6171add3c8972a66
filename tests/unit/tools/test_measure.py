"""Measurements of synthetic runs, written as a workflow would write them."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import (
    Answer,
    AskedArm,
    Change,
    Judgement,
    Measurement,
    Sample,
    Variant,
    child_id,
)
from evenhand.graph_store.run_directory import Manifest, RunDirectory
from evenhand.tools.measure import RecordIndex, cell_rows, measure, rows_of
from evenhand.tools.metrics import metrics
from evenhand.tools.pairing import DIMENSIONS, item_values

METRICS = ("paired_change_net", "paired_change", "attribute_association", "attribute_association_shift")
GROUPS = ("age", "gender", "location", "age+gender")
PLAN: dict[str, Any] = {
    "asked": ["original", "no_hop", "multi_hop"],
    "attributes": ["age", "gender", "location"],
    "intersections": [["age", "gender"]],
    "controls": ["repeat", "placebo"],
    "repeats": 1,
}
ARMS: tuple[AskedArm, ...] = ("no_hop", "multi_hop")


@dataclass
class Written:
    """Records of a run before they are written; changed by a test, then written."""

    samples: list[Sample] = field(default_factory=list)
    variants: list[Variant] = field(default_factory=list)
    gate: list[Judgement] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    judgements: list[Judgement] = field(default_factory=list)


Changed = Callable[[int, str, str], float]
"""Whether the answer of item i to a group differs from base, in an asked arm."""
Score = Callable[[int, str, str, str], float]
"""Score of item i: its group, arm, dimension."""


def no_change(item: int, group: str, arm: str) -> float:
    return 0.0


def flat_score(item: int, group: str, arm: str, dimension: str) -> float:
    return 0.2


def records(n: int, changed: Changed = no_change, score: Score = flat_score, repeats: int = 1) -> Written:
    made = Written()
    for item in range(n):
        sample = Sample(id=f"made-{item}-0", dataset="made", position=item, text="a question")
        made.samples.append(sample)
        base = _variant(sample, 0, ())
        variants = [base]
        variants += [_variant(sample, i, tuple(g.split("+"))) for i, g in enumerate(GROUPS, 1)]
        variants.append(_variant(sample, 5, (), "placebo"))
        made.variants += variants
        made.gate += [_gate(variant) for variant in variants]
        _answers_of_base(made, item, base, changed, score, repeats)
        for variant in variants[1:]:
            for arm in ARMS:
                answer = _answer(variant, arm)
                made.answers.append(answer)
                _judge(made, item, variant.group, answer, score)
                against = _answer(base, arm).id
                made.judgements.append(
                    _change(answer, against, changed(item, variant.group, arm))
                )
    return made


def _answers_of_base(
    made: Written, item: int, base: Variant, changed: Changed, score: Score, repeats: int
) -> None:
    for arm in ("original", *ARMS):
        answer = _answer(base, arm)
        made.answers.append(answer)
        _judge(made, item, "base", answer, score)
    for arm in ARMS:
        for repeat in range(1, repeats + 1):
            again = _answer(base, arm, repeat)
            made.answers.append(again)
            made.judgements.append(
                _change(again, _answer(base, arm).id, changed(item, "repeat", arm))
            )


def _variant(sample: Sample, position: int, names: tuple[str, ...], arm: str = "isolated") -> Variant:
    changes = tuple(Change(attribute=name, before="a", after="b") for name in names)
    return Variant.model_validate(
        {
            "id": child_id(sample.id, "v", position, *names),
            "sample_id": sample.id,
            "arm": arm if position else "base",
            "changes": changes,
            "text": "a text",
            "made_by": "rules",
        }
    )


def _gate(variant: Variant, value: str = "accepted") -> Judgement:
    return Judgement(
        id=child_id(variant.id, "g", 0),
        status="ok",
        subject_id=variant.id,
        rubric="validity",
        dimension="isolation",
        judge="rules",
        value=value,
        reason_code=None if value == "accepted" else "other_words",
    )


def _answer(variant: Variant, arm: AskedArm, repeat: int = 0) -> Answer:
    return Answer(
        id=child_id(variant.id, "a", repeat, arm),
        status="ok",
        variant_id=variant.id,
        arm=arm,
        model="planted/fair",
        repeat=repeat,
        prompt_hash="0",
        text="malaria",
    )


def _change(answer: Answer, against: str, value: float) -> Judgement:
    return Judgement(
        id=child_id(answer.id, "j", 9, against),
        status="ok",
        subject_id=answer.id,
        against_id=against,
        rubric="paired_change",
        dimension="any",
        judge="rules",
        value=value,
        reason="first diagnosis: malaria -> influenza" if value else None,
    )


def _judge(made: Written, item: int, group: str, answer: Answer, score: Score) -> None:
    for position, dimension in enumerate(DIMENSIONS):
        made.judgements.append(
            Judgement(
                id=child_id(answer.id, "j", position, dimension),
                status="ok",
                subject_id=answer.id,
                rubric="attribute_association",
                dimension=dimension,
                judge="rules",
                value=score(item, group, answer.arm, dimension),
            )
        )


def write(folder: Path, made: Written, **plan: Any) -> RunDirectory:
    run = RunDirectory.create(
        folder / "made-run",
        Manifest(run="made-run", created="2030-01-01T00:00:00Z", plan=PLAN | plan, seed=0),
    )
    run.append("samples", made.samples)
    run.append("variants", made.variants)
    run.append("gate", made.gate)
    run.append("answers", made.answers)
    run.append("judgements", made.judgements)
    return run
