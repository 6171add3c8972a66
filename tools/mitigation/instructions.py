"""Ordinary instructions with short answers: half of them keep a training from forgetting the rest.

Ours are in normal_instructions.csv. BoolQ, ARC and WebQuestions, given as files, are read by the
data sets of those names, and take their place or stand beside them.
"""

import csv
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Literal

import numpy as np

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Sample, sample_id
from evenhand.tools.datasets import load_samples

DATASET = "normal_instructions"
IMPORTED = ("boolq", "arc_challenge", "web_questions")
ACCEPTED = "accepted"
"""Column of what counts as right, "|" between."""
_ASKED_SHARE = 0.4
Side = Literal["train", "asked"]


@cache
def known_instructions() -> tuple[Sample, ...]:
    """Return the shipped instructions as samples; the reference is a whole answer."""
    text = (files("evenhand.tools.mitigation") / "normal_instructions.csv").read_text("utf-8")
    return tuple(
        Sample(
            id=sample_id(DATASET, position, row["instruction"]),
            dataset=DATASET,
            position=position,
            text=row["instruction"],
            question=row["instruction"],
            reference=row["answer"],
            attributes={"topic": row["topic"]},
            columns={ACCEPTED: row["accepted"]},
        )
        for position, row in enumerate(csv.DictReader(text.splitlines()))
    )


def instruction_sides(sources: Sequence[str], seed: int) -> dict[Side, list[Sample]]:
    """Return the instructions to train on and those to be asked, none on both sides.

    Args:
        sources: Files as NAME=PATH with a name of `IMPORTED`; none: our own.
        seed: Of the draw, >= 0.

    Raises:
        UserError: Another form or name, or a faulty file.
    """
    sides: dict[Side, list[Sample]] = {"train": [], "asked": []}
    for place, samples in enumerate([_read(each) for each in sources] or [known_instructions()]):
        order = np.random.default_rng([seed, 14, place]).permutation(len(samples)).tolist()
        cut = max(1, round(_ASKED_SHARE * len(order)))
        sides["asked"] += [samples[at] for at in order[:cut]]
        sides["train"] += [samples[at] for at in order[cut:]]
    # Of each source in turn, so that a part of them is a part of each.
    return {side: _in_turn(samples) for side, samples in sides.items()}


def _read(source: str) -> Sequence[Sample]:
    name, equals, path = source.partition("=")
    if not equals or name not in IMPORTED:
        raise UserError(
            f"Instructions {source!r} are not known; expected NAME=FILE with one of "
            f"{', '.join(IMPORTED)}."
        )
    return load_samples(name, path, None, 0)[0]


def _in_turn(samples: Sequence[Sample]) -> list[Sample]:
    by_source: dict[str, list[Sample]] = {}
    for sample in samples:
        by_source.setdefault(sample.dataset, []).append(sample)
    longest = max(map(len, by_source.values()), default=0)
    return [own[at] for at in range(longest) for own in by_source.values() if at < len(own)]
