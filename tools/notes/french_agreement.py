"""Words of French notes that agree with the patient: adjectives and participles."""

import re

from evenhand.tools.notes import french_patterns as patterns
from evenhand.tools.notes.edits import CannotRewrite
from evenhand.tools.notes.french_note import FrenchNote
from evenhand.tools.notes.french_owners import owner_of
from evenhand.tools.notes.french_reading import Owner, Sentence, Token
from evenhand.tools.notes.french_subjects import subject
from evenhand.tools.notes.french_words import BEFORE_NOUNS, agreement
from evenhand.tools.notes.words import cased_as

_BEFORE_SOMEONE = frozenset(("un", "une", "le", "la", "l", "du", "au", "son", "sa", "par", "autre"))


class Agreement(FrenchNote):
    """What is said of the patient agrees; a word of unknown forms is refused."""

    def unknown(self, sentence: Sentence, index: int, token: Token) -> None:
        """Refuse a word after "il est" that is in no table: how it agrees is not known."""
        place = index - 1
        while place >= 0 and sentence.tokens[place].work == "adverb":
            place -= 1
        if (
            place == index - 1 >= 0
            and sentence.tokens[place].owner == "patient"
            and sentence.tokens[place].work in ("agrees", "person")
            and sentence.gap(index) == " "
            and patterns.ADJECTIVE.search(token.low)
        ):
            raise CannotRewrite("unknown_agreement", token.word.text)
        if place < 1 or sentence.tokens[place].work != "be" or sentence.gap(index).strip():
            return
        if self.text.startswith("-", token.word.end):
            return  # "post-critique": the word behind decides
        if token.word.text.isupper() or subject(sentence, place) != "patient":
            return
        raise CannotRewrite("unknown_agreement", token.word.text)

    def agree(self, sentence: Sentence, index: int, token: Token) -> None:
        """Change an adjective or participle that is said of the patient."""
        previous = sentence.tokens[index - 1] if index else None
        entry = agreement(
            token.low, predicative=bool(previous and previous.work in ("be", "adverb"))
        )
        if entry is None:
            token.owner, token.gender = "thing", "male"
            return
        masculine, feminine, _ = entry
        form = (
            self.before if masculine == feminine else "male" if token.low == masculine else "female"
        )
        token.gender = form
        if form != self.before:
            token.owner = self.owner_or_other(sentence, index, form)
            self.someone(sentence, index, token, entry)
            return
        if self.has_object(sentence, index):
            token.owner = "patient"
            # Right without agreement; a note that agrees all the same is female.
            if self.before == "female":
                self.change(
                    token.word.start,
                    token.word.end,
                    cased_as(token.word.text, masculine),
                    "agreement_object",
                )
            self.taken.add(token.word.start)
            return
        if masculine == feminine:
            token.owner = self.owner_or_other(sentence, index, form)
            self.someone(sentence, index, token, entry)
            return
        token.owner = owner_of(sentence, index, form)
        self.someone(sentence, index, token, entry)
        if token.owner == "patient":
            new = feminine if self.before == "male" else masculine
            if not new:
                raise CannotRewrite("unknown_agreement", token.word.text)
            self.change(
                token.word.start, token.word.end, cased_as(token.word.text, new), "agreement"
            )
            if (
                previous is not None
                and previous.low in BEFORE_NOUNS
                and not sentence.gap(index).strip()
            ):
                self.adjective_before(previous, new)
            if (
                previous is not None
                and previous.low in ("tout", "toute")
                and token.low in ("seul", "seule")
            ):
                word = previous.word
                other = "toute" if self.before == "male" else "tout"
                self.change(word.start, word.end, cased_as(word.text, other), "agreement")

    def someone(
        self, sentence: Sentence, index: int, token: Token, entry: tuple[str, str, str]
    ) -> None:
        """Take "la conductrice" and "par une psychologue" for another person."""
        previous = sentence.tokens[index - 1].low if index else ""
        if token.owner != "thing" or entry[2] != "person" or previous not in _BEFORE_SOMEONE:
            return
        follows = sentence.tokens[index + 1] if index + 1 < len(sentence.tokens) else None
        if (
            follows is not None
            and follows.work in ("noun", "person")
            and sentence.gap(index + 1) == " "
        ):
            return
        rest = self.text[token.word.end :]
        own = re.search(
            r"\b(?:chez|agit\sd['\u2019]|est)\s?une?\s$",
            self.text[: token.word.start],
            re.IGNORECASE,
        )
        if (
            token.gender == self.before
            and previous in ("un", "une")
            and (own or re.match(r"(?:\s[\w-]+){0,2}\s*,?\s*(?:de\s)?\d{1,3}\s?ans", rest))
        ):
            if index != 1 or sentence.tokens[0].word.start != self.first_word():
                raise CannotRewrite("unclear_role", token.word.text)
            # "Une touriste de 45 ans" opens the note.
            token.work, token.owner = "person", "patient"
            new = entry[1] if self.before == "male" else entry[0]
            self.change(token.word.start, token.word.end, cased_as(token.word.text, new), "noun")
            article = sentence.tokens[0].word
            other = "une" if self.before == "male" else "un"
            self.change(article.start, article.end, cased_as(article.text, other), "noun")
            return
        token.work, token.owner = "person", "other"
        if entry[0] == entry[1]:
            token.gender = {
                "une": "female",
                "la": "female",
                "sa": "female",
                "un": "male",
                "le": "male",
                "du": "male",
                "au": "male",
            }.get(previous)

    def first_word(self) -> int:
        """Return where the note's first word begins."""
        return self.sentences[0].tokens[0].word.start

    def adjective_before(self, token: Token, noun: str) -> None:
        """Change "ancien" with "fumeur"."""
        table = patterns.PRE if self.before == "male" else patterns.PRE_MALE
        new = table.get(token.low)
        if new == "vieux" and patterns.VOWEL.match(noun):
            new = "vieil"
        if new and token.word.start not in self.taken:
            self.change(
                token.word.start, token.word.end, cased_as(token.word.text, new), "agreement"
            )

    def owner_or_other(self, sentence: Sentence, index: int, form: str) -> Owner | None:
        """Return the owner of a word that will not change; unclear is no fault there."""
        try:
            return owner_of(sentence, index, form)
        except CannotRewrite:
            return "thing"

    def has_object(self, sentence: Sentence, index: int) -> bool:
        """Tell "s'est fracturé le poignet": the participle does not agree with the subject."""
        reflexive = re.search(
            r"\bs['\u2019]\s*(?:est|était|étant)\s+(?:\w+ment\s+)?$",
            self.text[: sentence.tokens[index].word.start],
            re.I,
        )
        return bool(reflexive) and bool(
            re.match(
                r"\s+(?:le|la|les|l['\u2019]|un|une|des|son|sa|ses|du|de\s+la|compte)\b",
                self.text[sentence.tokens[index].word.end :],
                re.IGNORECASE,
            )
        )
