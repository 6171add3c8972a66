"""Il, elle, lui, le and la in French notes: the patient, another person, a thing, or nobody."""

import re

from evenhand.tools.notes import french_patterns as patterns
from evenhand.tools.notes.edits import CannotRewrite
from evenhand.tools.notes.french_beside import Beside
from evenhand.tools.notes.french_clitics import Clitics
from evenhand.tools.notes.french_patterns import ANIMALS
from evenhand.tools.notes.french_reading import Sentence, Token
from evenhand.tools.notes.french_rivals import check_rival
from evenhand.tools.notes.french_words import (
    CREWS,
    GROUPS,
    PREPOSITIONS,
    UNITS,
    thing_gender,
)
from evenhand.tools.notes.words import cased_as

_OF_PERSON = re.compile(
    r"-ci\s+(?:n['\u2019]a\spas\sd|ne\sse\s(?:plaint|souvient)|a\s(?:pris|bu|chuté|fait|présenté"
    r"|refusé|vomi)|dit|décrit"
    r"|refuse|se\splaint|vit|présente|allègue|rapporte|signale|prend|nie|déclare|explique"
    r"|souhaite)\b",
    re.IGNORECASE,
)


class Pronouns(Beside, Clitics):
    """The patient's pronouns change; one that could be another's is refused."""

    def pronoun(self, sentence: Sentence, index: int, token: Token) -> None:
        """Il and elle: the patient, another person, a thing, or nobody ("il y a")."""
        token.gender = "male" if token.low == "il" else "female"
        rest = self.text[token.word.end : token.word.end + 120]
        if (token.low == "il" and patterns.IMPERSONAL.match(rest)) or self.is_inverted(token):
            token.owner = "thing"
            return
        others = [
            each
            for each in self.near(sentence, token)
            if each.work == "person"
            and each.low not in GROUPS
            and each.owner == "other"
            and (each.gender in (token.gender, None) or self.is_staff(each, token))
        ]
        if token.gender != self.before and not others:
            others = [
                each
                for part in self.sentences[: self.sentences.index(sentence)]
                for each in part.tokens
                if each.work == "person"
                and each.owner == "other"
                and each.gender == token.gender
                and each.low not in GROUPS
            ]
        if token.gender != self.before:
            token.owner = "other" if others else "thing"
            things = [each for each in self.near(sentence, token) if each.work == "noun"]
            if not others and not (
                things and (patterns.THING_VERB.match(rest) or token.low == "il")
            ):
                self.other_sex.append(token.word.text)
            return
        if token.gender == self.before and self.couple(token):
            raise CannotRewrite("ambiguous_pronoun", "couple")
        own_sex = [each for each in others if each.gender == token.gender]
        stressed = index and sentence.tokens[index - 1].low in PREPOSITIONS
        if re.match(r"\s+lui\s+(?:a|avait)\s+(?:donné|mis|fait)", rest) and any(
            each.owner == "other" and each.work == "person" and each.gender == token.gender
            for part in self.sentences[: self.sentences.index(sentence)]
            for each in part.tokens
        ):
            raise CannotRewrite("ambiguous_pronoun", token.word.text)
        if others and self.is_others(sentence, token, others[-1], rest):
            token.owner = "other"
            return
        if self.is_staff_spliced(sentence, index, rest):
            token.owner = "other"
            return
        if own_sex and not (stressed and own_sex[-1] in sentence.tokens):
            self.beside_other(sentence, token, own_sex[-1], rest)
        self.beside_epicene(sentence, index, others, rest)
        self.beside_thing(sentence, index, rest)
        animal = re.match(r"\s+est\s+(?:vaccin|tatou|puc|connue?\b|à\sjour|agressi)", rest)
        if (patterns.TREATED_FOR.match(rest) or animal) and any(
            each.low in patterns.ANIMALS for each in self.near(sentence, token)
        ):
            raise CannotRewrite("ambiguous_pronoun", token.word.text)
        if patterns.THING_VERB.match(rest) and any(
            each.work == "noun" and thing_gender(each.low) in (None, token.gender)
            for each in self.near(sentence, token)
            if each.low not in UNITS and each.owner != "patient"
        ):
            sure = re.match(
                r"\s+est\s+(?:présente?|traitée?(?!\s+pour\b)|améliorée?|aggravée?|calmée?"
                r"|soulagée?|évaluée?)\b"
                r"|\s+(?:s['\u2019]|se\s)",
                rest,
            )
            if sure:
                raise CannotRewrite("ambiguous_pronoun", token.word.text)
            token.owner = "thing"
            return
        check_rival(self.text, sentence, token, self.near(sentence, token))
        token.owner = "patient"
        new = "elle" if self.before == "male" else "il"
        if self.before == "female" and index and sentence.tokens[index - 1].low in PREPOSITIONS:
            new = "lui"
            if sentence.tokens[index - 1].low == "d" and "." in sentence.gap(index):
                new = "il"
            elif sentence.tokens[index - 1].low == "d":
                start = sentence.tokens[index - 1].word.start
                self.change(
                    start,
                    token.word.end,
                    cased_as(self.text[start : start + 1], "de lui")
                    if self.text[start].isupper()
                    else "de lui",
                    "pronoun",
                )
                return
        if (
            self.before == "female"
            and (index == 0 or sentence.gap(index).strip())
            and re.match(r"\s+(?:et\s|aussi\b|non\b)", rest)
        ):
            new = "lui"
        if self.before == "female" and re.search(
            r"\bc['\u2019]est\s$", self.text[: token.word.start], re.I
        ):
            new = "lui"
        if self.before == "female" and re.match(r"-mêmes?\b|-memes?\b", rest):
            new = "lui"
        if_before = re.search(r"\b(s)(?:i\s+|['\u2019]\s?)$", self.text[: token.word.start], re.I)
        if if_before and new in ("il", "elle"):
            start = if_before.start()
            lead = "s'il" if new == "il" else "si elle"
            if "\u2019" in self.text and new == "il":
                lead = "s\u2019il"
            self.change(start, token.word.end, self.cased_lead(start, token, lead), "pronoun")
            return
        self.change(token.word.start, token.word.end, cased_as(token.word.text, new), "pronoun")

    def cased_lead(self, start: int, token: Token, lead: str) -> str:
        """Return "s'il" or "si elle" in the capitals of what it replaces."""
        if token.word.text.isupper():
            return lead.upper()
        return lead[0].upper() + lead[1:] if self.text[start].isupper() else lead

    def this_one(self, sentence: Sentence, token: Token) -> None:
        """Celui-ci, celle-ci: the patient, where only a person does that and nobody is near."""
        rest = self.text[token.word.end :]
        rivals = [
            each
            for each in self.near(sentence, token)
            if each.work == "person"
            and each.owner == "other"
            and each.gender in (self.before, None)
            and each.low not in ANIMALS
            and each.low not in GROUPS
        ]
        if rivals or not _OF_PERSON.match(rest):
            raise CannotRewrite("ambiguous_pronoun", f"{token.word.text}-ci")
        token.owner, token.work, token.gender = "patient", "person", self.before
        new = "celle" if self.before == "male" else "celui"
        self.change(token.word.start, token.word.end, cased_as(token.word.text, new), "pronoun")

    def couple(self, token: Token) -> bool:
        """Tell a note of two people ("couple en voiture") that never says who is the patient."""
        before = self.text[: token.word.start]
        pair = re.search(
            r"\bcouple\b|\bmère et fille\b|\bpère et fils\b|\b(?:deux|les)\s(?:frères|sœurs"
            r"|soeurs)\b",
            before,
            re.I,
        )
        named = any(
            each.owner == "patient" and each.work == "person"
            for part in self.sentences
            for each in part.tokens
        )
        return bool(pair) and not named

    def is_staff(self, each: Token, token: Token) -> bool:
        """Whether a person of staff, named in the masculine by custom, may be the other pronoun."""
        return token.gender != self.before and each.low in CREWS and each.low not in ANIMALS

    def is_inverted(self, token: Token) -> bool:
        """Tell "y a-t-il"."""
        return bool(re.search(r"\by\s+a-t-$", self.text[: token.word.start], re.I))
