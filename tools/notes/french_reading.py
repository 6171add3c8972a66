"""A French note as sentences, segments and words, each word with its work."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from evenhand.tools.notes.french_words import (
    ADVERBS,
    BE,
    BOUNDARIES,
    CREWS,
    FUNCTION,
    HAVE,
    NOUNS_IN_MENT,
    VERBS,
    agreement,
    person_nouns,
)
from evenhand.tools.notes.words import Word

Owner = Literal["patient", "other", "thing"]
Work = Literal["person", "agrees", "be", "have", "verb", "adverb", "function", "noun"]

_BEFORE_VERBS = frozenset(("se", "ne", "il", "elle", "on", "qui", "ils", "elles", "je"))
_PARTICIPLE = re.compile(r"(?:é|i|u|is|it|ert)$")


@dataclass(eq=False)
class Token:
    """One word and what is known of it so far."""

    word: Word
    work: Work
    owner: Owner | None = None
    gender: str | None = None
    segment: int = 0
    is_clause_start: bool = False
    """Whether punctuation or a conjunction stands before it."""

    @property
    def low(self) -> str:
        """The word in small letters."""
        return self.word.low


@dataclass(eq=False)
class Sentence:
    """The words of one sentence, cut into segments at commas and conjunctions."""

    text: str
    tokens: list[Token] = field(default_factory=list)
    earlier: list[Token] = field(default_factory=list)
    """The words of the sentence before."""

    def gap(self, index: int) -> str:
        """Return what stands between a word and the one before it."""
        return self.text[self.tokens[index - 1].word.end : self.tokens[index].word.start]

    def next_low(self, index: int) -> str:
        """Return the next word in small letters, "" at the end."""
        return self.tokens[index + 1].low if index + 1 < len(self.tokens) else ""

    def segment(self, number: int) -> list[Token]:
        """Return the words of one segment."""
        return [token for token in self.tokens if token.segment == number]


def read_sentences(text: str, words: Sequence[Word]) -> list[Sentence]:
    """Cut a note into sentences and segments, each word with its work."""
    sentences: list[Sentence] = []
    number = -1
    for word in words:
        if word.sentence != number:
            earlier = sentences[-1].tokens if sentences else []
            sentences.append(Sentence(text, earlier=earlier))
            number = word.sentence
        sentence = sentences[-1]
        previous = sentence.tokens[-1] if sentence.tokens else None
        if previous and len(sentence.tokens) == 1 and previous.word.text == "A":
            # "A vomi", not "A l'arrivée".
            previous.work = "have" if _PARTICIPLE.search(word.low) else "function"
        token = Token(word, _work(word, previous))
        if token.work in ("noun", "verb") and _is_participle(sentence, word.low):
            token.work = "agrees"
        sentence.tokens.append(token)
        if previous is None:
            token.is_clause_start = True
            continue
        gap = text[previous.word.end : word.start]
        cut = any(mark in gap for mark in ',:()+-/\u2013\u2014\u2022>\u00ab"') and not _hyphened(
            gap
        )
        conjunction = token.low in BOUNDARIES
        token.segment = previous.segment + (cut or conjunction)
        token.is_clause_start = (
            cut or conjunction or (previous.low in BOUNDARIES and (previous.is_clause_start))
        )
    return sentences


def _is_participle(sentence: Sentence, low: str) -> bool:
    """Tell "vomi" in "a souvent vomi" from a noun."""
    before = next((each for each in reversed(sentence.tokens) if each.work != "adverb"), None)
    return before is not None and before.work == "have" and bool(_PARTICIPLE.search(low))


def _hyphened(gap: str) -> bool:
    return gap in ("-", "/")


def _work(word: Word, previous: Token | None) -> Work:
    low = word.low
    if low in BE and not (low in ("être",) and previous and previous.low in ("l", "bien")):
        return "be"
    if low in HAVE and not (low == "a" and word.text == "A" and previous is None):
        return "have"
    if low in person_nouns() or low in CREWS:
        return "person"
    if low in FUNCTION:
        return "function"
    if low in ADVERBS or (
        low.endswith("ment")
        and low not in NOUNS_IN_MENT
        and previous is not None
        and previous.work != "function"
    ):
        return "adverb"
    if low in VERBS and not (
        previous and previous.low in ("le", "la", "l", "une", "un", "sa", "de")
    ):
        return "verb"
    if low.endswith("ant") and len(low) > 5 and previous and previous.work in ("person", "agrees"):
        return "agrees" if agreement(low) else "verb"
    if agreement(low, predicative=bool(previous and previous.work in ("be", "adverb"))):
        return "agrees"
    if previous and previous.low in _BEFORE_VERBS and previous.word.sentence == word.sentence:
        return "verb"
    return "noun"
