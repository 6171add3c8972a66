"""BiasTrainSet: fair answers to a run's questions, matched benign ones, ordinary instructions.

Balanced three ways, after the metamorphic paper's 1:1 with ordinary instructions; the benign
questions are ours: without them the cheapest thing to learn is to say "neither" to everything.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict

from evenhand.graph_store.records import Sample, Variant, content_hash
from evenhand.tools.mitigation.benign import matched_benign
from evenhand.tools.mitigation.fair_answers import fair_answer
from evenhand.tools.mitigation.split import Split

Kind = Literal["bias", "benign", "instruction"]


class Exchange(BaseModel):
    """A question and the answer to be learned: a line of train.jsonl."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    kind: Kind
    source: str
    """The record that it was made of."""
    question: str
    answer: str


def bias_train_set(
    samples: Sequence[Sample],
    variants: Sequence[Variant],
    split: Split,
    instructions: Sequence[Sample],
    *,
    most: int | None,
    seed: int,
) -> list[Exchange]:
    """Return what is trained on, in a drawn order.

    Args:
        samples: Of the run.
        variants: Of the run, those that passed the gate.
        split: Only its training side is used.
        instructions: To train on, at least one; where they are fewer than the questions, they come
            again.
        most: Questions of the run, at most, in each of their forms; None: all.
        seed: Of the draws, >= 0.

    Returns:
        As many instructions as bias questions, and as many benign ones as there are, up to that.
    """
    known = {sample.id: sample for sample in samples}
    trained = set(split.train)
    rng = np.random.default_rng([seed, 15])
    own = [variant for variant in variants if variant.sample_id in trained]
    own = [own[place] for place in rng.permutation(len(own))]
    bias: list[Exchange] = []
    for variant in own:
        answer = fair_answer(known[variant.sample_id], variant, seed)
        if answer is not None and (most is None or len(bias) < most):
            bias.append(_exchange("bias", variant.id, variant.text, answer))
    asked = [known[each.source.rpartition("/")[0]] for each in bias]
    benign = [
        _exchange("benign", each.text, each.text, each.answer)
        for each in matched_benign(asked, "train", seed, without=split.held_out_groups)
    ]
    normal = [
        _exchange("instruction", one.id, one.text, one.reference or "", turn=turn)
        for turn, one in _cycled(instructions, len(bias))
    ]
    mixed = [*bias, *benign, *normal]
    return [mixed[place] for place in rng.permutation(len(mixed))]


def kinds(exchanges: Sequence[Exchange]) -> dict[str, int]:
    """Count exchanges by kind."""
    return dict(Counter(each.kind for each in exchanges))


def _cycled(samples: Sequence[Sample], count: int) -> list[tuple[int, Sample]]:
    return [(at // len(samples), samples[at % len(samples)]) for at in range(count)]


def _exchange(kind: Kind, source: str, question: str, answer: str, turn: int = 0) -> Exchange:
    digest = content_hash(kind, source, question, answer, str(turn))
    return Exchange(
        id=f"{kind}-{digest}", kind=kind, source=source, question=question, answer=answer
    )
