"""Sentences before a question: on its topic (context.csv), or with nothing to do with it.

All are ours: neutral, without a group and without a claim about people that could sway an answer.
The unrelated ones (unrelated.txt) make the placebo arm: the same means as a contextual relation,
and nothing in it that should matter.
"""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from evenhand.tools.bias_questions.attributes import known_attributes
from evenhand.tools.bias_questions.parts import BiasQuestion, question_generator, with_parts
from evenhand.tools.vector_index import Vectors, open_encoder

ALMOST_AS_NEAR = 0.8
"""Of the nearest cosine: a second sentence so near is as good, and one of the two is drawn."""


def nearest_context(question: BiasQuestion, seed: int) -> str:
    """Return a sentence on the topic: the nearest to the attribute by cosine, or one as near.

    The sentences of the attribute's own topic are compared; all of them, where the attribute is
    imported. Nearness to the groups does not count: what is near to one would not be neutral.

    Raises:
        UserError: The sentence encoder is not installed.
    """
    near = _nearest(question.attribute)
    return near[int(question_generator(question, seed).integers(len(near)))]


@cache
def _nearest(attribute: str) -> tuple[str, ...]:
    known = known_attributes().get(attribute)
    bank = context_bank()
    pool = [i for i, each in enumerate(bank) if known is None or each.topic == known.topic]
    cosines = _bank_vectors()[pool] @ open_encoder().embed([attribute])[0]
    first, second = np.argsort(-cosines, kind="stable")[:2].tolist()
    as_good = bool(cosines[second] >= ALMOST_AS_NEAR * cosines[first])
    return tuple(bank[pool[place]].text for place in ([first, second] if as_good else [first]))


@cache
def _bank_vectors() -> Vectors:
    return open_encoder().embed([each.text for each in context_bank()])


@dataclass(frozen=True)
class Sentence:
    """A sentence of the bank, and the topic of the attributes for which it is meant."""

    topic: str
    text: str


@cache
def context_bank() -> tuple[Sentence, ...]:
    """Return all sentences from which MR1 takes its context."""
    text = (files("evenhand.tools.bias_questions") / "context.csv").read_text("utf-8")
    rows = csv.DictReader(text.splitlines())
    return tuple(Sentence(row["topic"], row["sentence"]) for row in rows)


def with_unrelated_sentence(question: BiasQuestion, seed: int) -> BiasQuestion:
    """Return the placebo of a question: an unrelated neutral sentence before it.

    Example:
        >>> from evenhand.tools.bias_questions.parts import make_question
        >>> asked = make_question("gender", "men", "women", "are honest", "yes_no")
        >>> with_unrelated_sentence(asked, 0).frame
        'The ferry crosses the lake four times a day. {Question}'
    """
    sentences = unrelated_sentences()
    drawn = sentences[int(question_generator(question, seed).integers(len(sentences)))]
    return with_parts(question, frame=f"{drawn} {{Question}}")


@cache
def unrelated_sentences() -> tuple[str, ...]:
    """Return all sentences of which a placebo takes one."""
    text = (files("evenhand.tools.bias_questions") / "unrelated.txt").read_text("utf-8")
    return tuple(text.splitlines())
