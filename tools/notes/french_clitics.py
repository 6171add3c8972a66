"""Lui, le and la in French notes: the patient, another person, or a thing."""

import re

from evenhand.tools.notes import french_patterns as patterns
from evenhand.tools.notes.edits import CannotRewrite
from evenhand.tools.notes.french_note import FrenchNote
from evenhand.tools.notes.french_patterns import ANIMALS
from evenhand.tools.notes.french_reading import Sentence, Token
from evenhand.tools.notes.french_words import (
    GROUPS,
    PREPOSITIONS,
    UNITS,
    VERBS,
    thing_gender,
)
from evenhand.tools.notes.words import cased_as

_NOUN_NEXT = re.compile(
    r"\s+\w*(?:ure|ûre|tion|sion|aire|oire|ière|ance|ence|ment|eur|age|ette|tte)s?\b", re.I
)
_MODALS = frozenset(
    (
        "dû",
        "pu",
        "voulu",
        "doit",
        "peut",
        "veut",
        "va",
        "vient",
        "devait",
        "pouvait",
        "voulait",
        "allait",
        "venu",
        "venue",
        "faut",
        "pourrait",
        "viendra",
        "fallu",
        "repasse",
        "passe",
        "aller",
        "venir",
        "essayé",
        "peuvent",
    )
)
_SUBJECTS = frozenset(("on", "qui", "ne", "il", "elle", "ils", "elles", "je"))
_DONE_TO_THINGS = re.compile(
    r"\s+(?:décri\w+|cot\w+|évalu\w+|ressen\w+|localis\w+|pren\w+|retir\w+|enl[eè]v\w+|arrêt\w+"
    r"|remet\w*"
    r"|oubli\w+|lav\w+|nettoy\w+|appliqu\w+|chiffr\w+|port\w+|tenait|garde\b|signal\w+|attribu\w+)",
    re.IGNORECASE,
)


class Clitics(FrenchNote):
    """The pronouns without the sex of their own verb: "la douleur le réveille", "avec lui"."""

    def stressed(self, sentence: Sentence, index: int, token: Token) -> None:
        """Lui after a preposition; before a verb it has no gender."""
        previous = sentence.tokens[index - 1].low if index else ""
        if (index == 0 or sentence.gap(index).strip()) and re.match(
            r"\s+(?:et\s|aussi\b|non\b)|\s*,", self.text[token.word.end :]
        ):
            if any(
                each.work == "person" and each.owner == "other"
                for each in self.near(sentence, token)
            ):
                raise CannotRewrite("ambiguous_pronoun", token.word.text)
            token.owner = "patient"
            new = cased_as(token.word.text, "elle")
            self.change(token.word.start, token.word.end, new, "pronoun")
            return
        if previous in PREPOSITIONS or self.text[token.word.end :].startswith(("-même", "-meme")):
            named = any(each.owner == "patient" for each in sentence.tokens[:index])
            if not named and any(
                each.owner == "other"
                and each.gender in (None, "male")
                and each.low not in GROUPS
                and each.low not in ANIMALS
                and each.work == "person"
                and each not in sentence.tokens
                for each in self.near(sentence, token)
            ):
                raise CannotRewrite("ambiguous_pronoun", token.word.text)
            token.owner = "patient"
            if previous == "de":
                start = sentence.tokens[index - 1].word.start
                new = "D'elle" if self.text[start].isupper() else "d'elle"
                self.change(start, token.word.end, new, "pronoun")
            else:
                self.change(
                    token.word.start, token.word.end, cased_as(token.word.text, "elle"), "pronoun"
                )

    def unknown_clitic(self, sentence: Sentence, index: int, token: Token, rest: str) -> None:
        """Le and la before a verb of no list: a thing's where one was named, else unclear.

        Raises:
            CannotRewrite: It may be the patient.
        """
        sex = "male" if token.low == "le" else "female"
        if sex != self.before:
            return
        things = [
            each
            for each in self.near(sentence, token)
            if each.work == "noun" and each.low not in UNITS and thing_gender(each.low) == sex
        ]
        if things and _DONE_TO_THINGS.match(rest):
            token.owner = "thing"
            return
        unsure = any(
            (
                each.work == "noun"
                and each.low not in UNITS
                and thing_gender(each.low) in (None, sex)
            )
            or (each.work == "person" and each.owner == "other" and each.gender in (None, sex))
            for each in self.near(sentence, token)
        )
        if unsure:
            raise CannotRewrite("ambiguous_pronoun", token.word.text)
        new = "la" if sex == "male" else "le"
        self.change(token.word.start, token.word.end, cased_as(token.word.text, new), "pronoun")

    def clitic(self, sentence: Sentence, index: int, token: Token) -> None:
        """Le and la before a verb: "la douleur le réveille"."""
        rest = self.text[token.word.end : token.word.end + 40]
        if not index or _NOUN_NEXT.match(rest):
            return
        previous = sentence.tokens[index - 1]
        verb_next = previous.work == "person" and sentence.next_low(index) in VERBS
        subject_before = verb_next or previous.low in _SUBJECTS
        modal = previous.low in _MODALS and re.match(r"\s+\w+(?:er|ir|re)\b", rest)
        if not patterns.CLITIC_VERB.match(rest):
            if (subject_before or modal) and not sentence.gap(index).strip():
                self.unknown_clitic(sentence, index, token, rest)
            return
        noun_before = previous.work in ("noun", "person", "agrees") and sentence.gap(index) == " "
        infinitive = previous.low in _MODALS and re.match(r"\s+\w+(?:er|ir|re)\b", rest)
        if (
            previous.low not in patterns.CLITIC_BEFORE
            and not noun_before
            and not (infinitive or modal)
        ):
            return
        if previous.low == "de" and not re.match(r"\s+\w+(?:er|ir|re)\b", rest):
            return
        sex = "male" if token.low == "le" else "female"
        if sex != self.before:
            return
        things = [
            each for each in sentence.tokens[:index] if each.owner == "other" and each.gender == sex
        ]
        if things and modal and things[-1].low not in GROUPS:
            place = sentence.tokens.index(things[-1])
            acts = not any(each.low in PREPOSITIONS for each in sentence.tokens[:place])
            between = [each.low for each in sentence.tokens[place + 1 : index]]
            if acts and not {"il", "elle", "que", "qu", "qui"} & {*between}:
                things = []  # who acts is not who is carried
        if things and things[-1].word.start > token.word.start - 40 and previous is not things[-1]:
            raise CannotRewrite("ambiguous_pronoun", token.word.text)
        new = "la" if sex == "male" else "le"
        self.change(token.word.start, token.word.end, cased_as(token.word.text, new), "pronoun")
        if index + 1 < len(sentence.tokens):
            sentence.tokens[index + 1].work = "verb"
