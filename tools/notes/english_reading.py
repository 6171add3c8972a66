"""An English pronoun with what stands around it: who is named, and where."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evenhand.tools.notes import english_predicates as predicates
from evenhand.tools.notes.edits import CannotRewrite
from evenhand.tools.notes.words import Word

Role = Literal["relative", "spouse", "stranger", "staff", "unsexed"]


@dataclass(frozen=True)
class Person:
    """Someone other than the patient; gender None where the word does not tell."""

    word: Word
    gender: str | None
    role: Role


@dataclass(frozen=True)
class Reading:
    """A pronoun and what stands around it."""

    text: str
    words: Sequence[Word]
    pronoun: Word
    people: Sequence[Person]
    mentions: Sequence[Word]
    """Where the patient is named, or a pronoun already resolved."""

    def start_of_sentence(self) -> int:
        """Return where the pronoun's sentence begins."""
        number = self.pronoun.sentence
        return next(word.start for word in self.words if word.sentence == number)

    def others(self, sentence: int, gender: str) -> list[Person]:
        """Return the other people of that sex named before the pronoun in one sentence."""
        return [
            person
            for person in self.people
            if person.gender == gender
            and person.word.sentence == sentence
            and person.word.start < self.pronoun.start
        ]

    def mentioned_before(self) -> bool:
        """Whether the patient is named in this sentence before the pronoun."""
        return any(
            word.sentence == self.pronoun.sentence and word.start < self.pronoun.start
            for word in self.mentions
        )

    def between(self, person: Person) -> str:
        """Return the text from a person to the pronoun."""
        start = person.word.end
        if person.word.low in ("male", "female"):  # "the male medic": the noun comes next
            noun = re.match(r"\s[\w-]+", self.text[start : self.pronoun.start])
            start += noun.end() if noun else 0
        return self.text[start : self.pronoun.start]

    def people_known_apart(self, word: Word) -> bool:
        """Whether the patient is named, by more than a pronoun, before the word."""
        return any(
            mention.start < word.start and mention.low not in ("he", "she", "his", "her", "him")
            for mention in self.mentions
        )

    def rest(self) -> str:
        """Return what follows the pronoun."""
        rest = self.text[self.pronoun.end : self.pronoun.end + 120]
        return re.sub(r"^['\u2019]?s\b", " is", rest)


def unclear(reading: Reading, person: str) -> CannotRewrite:
    """Return the error that names the pronoun and the person it could mean."""
    return CannotRewrite("ambiguous_pronoun", f"{reading.pronoun.text} ({person})")


def is_oblique(reading: Reading, person: Person) -> bool:
    """Tell "brought by his brother" from "his brother called"."""
    return bool(
        predicates.BY.search(reading.text[max(0, person.word.start - 40) : person.word.start])
    )
