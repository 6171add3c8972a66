"""Gender in French notes, by rules: nouns, titles, pronouns, and every word that agrees.

The patient's words change, with the determiner and the adjectives, participles that agree with
them; relatives, staff and things keep theirs. A word that could agree with the patient and with
something else is unclear, and the note is then refused, not guessed.
"""

import re
from dataclasses import dataclass

from evenhand.tools.notes import french_patterns as patterns
from evenhand.tools.notes.edits import CannotRewrite, Edit
from evenhand.tools.notes.french_agreement import Agreement
from evenhand.tools.notes.french_check import Check
from evenhand.tools.notes.french_families import other_form, sex_by_ending
from evenhand.tools.notes.french_leftovers import Leftovers
from evenhand.tools.notes.french_nouns import Nouns
from evenhand.tools.notes.french_pronouns import Pronouns
from evenhand.tools.notes.french_reading import Sentence, Token, read_sentences
from evenhand.tools.notes.french_titles import Titles
from evenhand.tools.notes.french_words import CREWS, agreement, person_nouns
from evenhand.tools.notes.words import cased_as, first_person_quotes, words_of

_OPENING_TRADE = re.compile(
    r"\s*(?:(?P<article>une?)\s)?(?:jeune\s)?(?P<noun>[^\W\d_]{5,})"
    r"(?:\s(?!H\b|F\b|M\b|chez|depuis)[^\W\d_]+['\u2019]?){0,4}\s*,?\s*(?:de\s|âgée?\sde\s)?\d{1,3}\s?(?:ans|a\b|mois)",
    re.IGNORECASE,
)
_BEFORE_SURNAMES = patterns.TITLE_WORDS - {"dr"}


@dataclass
class French(Titles, Nouns, Pronouns, Agreement, Check, Leftovers):
    """One note, read word by word."""

    def read(self) -> list[Edit]:
        """Return the edits; [] where the note does not state the patient's gender.

        Raises:
            CannotRewrite: It states it, and a word's owner or form is unclear.
        """
        self.sentences = read_sentences(self.text, words_of(self.text))
        quotes = first_person_quotes(self.text)
        self.letters()
        self.titles()
        self.opening_trade()
        for sentence in self.sentences:
            for index, token in enumerate(sentence.tokens):
                if any(a <= token.word.start < b for a, b in quotes):
                    continue
                if token.word.start in self.taken:
                    token.owner, token.work = "patient", "person"
                    continue
                self.token(sentence, index, token)
        self.names()
        self.check(quotes)
        self.leftovers(quotes)
        return sorted(self.edits, key=lambda edit: edit.start)

    def opening_trade(self) -> None:
        """Change "Vacancière de 30 ans" and "Veilleur de nuit, 52 ans": a noun of no table.

        Raises:
            CannotRewrite: The other sex's form is not sure.
        """
        match = _OPENING_TRADE.match(self.text)
        if not match:
            return
        low = match["noun"].lower()
        known = low in person_nouns() or low in CREWS or agreement(low, predicative=True)
        if (known and not low.endswith("euse")) or sex_by_ending(low) is None:
            return
        if agreement(low) and agreement(low, predicative=True)[0]:  # type: ignore[index]
            return
        if sex_by_ending(low) != self.before:
            self.other_sex.append(match["noun"])
            return
        new = other_form(low)
        if new is None:
            raise CannotRewrite("unknown_agreement", match["noun"])
        start, end = match.span("noun")
        self.change(start, end, cased_as(match["noun"], new), "noun")
        article = match["article"]
        if article:
            other = {"un": "une", "une": "un"}[article.lower()]
            self.change(*match.span("article"), cased_as(article, other), "noun")

    def reached(self, token: Token) -> None:
        """Change "l'a eue au téléphone"; what else was had is not known.

        Raises:
            CannotRewrite: It may agree with the patient.
        """
        if (token.low == "eu") != (self.before == "male"):
            return
        if not re.match(r"\s+(?:au\stéléphone|en\sligne|au\sbout)", self.text[token.word.end :]):
            raise CannotRewrite("ambiguous_agreement", token.word.text)
        new = "eue" if token.low == "eu" else "eu"
        self.change(token.word.start, token.word.end, cased_as(token.word.text, new), "agreement")

    def token(self, sentence: Sentence, index: int, token: Token) -> None:
        """Sort one word; change it where it is the patient's."""
        low = token.low
        before = sentence.tokens[index - 1].low if index else ""
        titled = (
            before in _BEFORE_SURNAMES
            and sentence.tokens[index - 1].word.start in self.taken
            and sentence.gap(index) in (" ", ". ")
        )
        if (
            titled
            and token.word.text[0].isupper()
            and low not in patterns.NO_NAMES | {*person_nouns()}
        ):
            token.owner, token.work = sentence.tokens[index - 1].owner, "person"
            token.gender = sentence.tokens[index - 1].gender
            return
        if (
            low == "ex"
            and before in ("son", "sa")
            and self.text[token.word.end : token.word.end + 1] != "-"
        ):
            token.work, token.owner = "person", "other"
            return
        if low == "aide" and re.match(
            r"(?:\s+|-)(?:à\sdomicile|ménagère|soignante?)\b", self.text[token.word.end :]
        ):
            token.work, token.owner = "person", "other"
            return
        if low in ("assistant", "assistante") and sentence.next_low(index).startswith("social"):
            rest = self.text[token.word.end : token.word.end + 30]
            if not re.search(r"\d\s?ans", rest):
                token.work, token.owner = "person", "other"
                token.gender = "male" if low == "assistant" else "female"
                return
        if low == "abri" and before == "sans":
            raise CannotRewrite("unclear_role", "sans-abri")
        if token.work == "person":
            self.noun(sentence, index, token)
        elif low in ("il", "elle"):
            self.pronoun(sentence, index, token)
        elif low in ("eu", "eue") and re.search(
            r"\bl['\u2019](?:a|avait|ont)\s$", self.text[: token.word.start], re.IGNORECASE
        ):
            self.reached(token)
        elif low in ("petit", "petite") and self.is_child(sentence, index):
            self.own_noun_of_child(sentence, index, token)
        elif low == "lui" and self.before == "male":
            self.stressed(sentence, index, token)
        elif low in ("le", "la"):
            self.clitic(sentence, index, token)
        elif low in ("celui", "celle") and sentence.next_low(index) == "ci":
            if ("male" if low == "celui" else "female") == self.before:
                self.this_one(sentence, token)
        elif token.work == "agrees":
            self.agree(sentence, index, token)
        elif token.work == "noun":
            previous = sentence.tokens[index - 1] if index else None
            if previous and previous.low in patterns.TITLE_WORDS and token.word.text[0].isupper():
                token.owner, token.work = previous.owner, "person"
                token.gender = previous.gender
                return
            token.owner = "thing"
            self.unknown(sentence, index, token)
