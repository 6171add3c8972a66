"""Gender in French notes, by rules: nouns, titles, pronouns, and every word that agrees.

The patient's words change, with the determiner and the adjectives, participles that agree with
them; relatives, staff and things keep theirs. A word that could agree with the patient and with
something else is unclear, and the note is then refused, not guessed.
"""

from dataclasses import dataclass

from evenhand.tools.notes import french_patterns as patterns
from evenhand.tools.notes.edits import Edit
from evenhand.tools.notes.french_agreement import Agreement
from evenhand.tools.notes.french_check import Check
from evenhand.tools.notes.french_nouns import Nouns
from evenhand.tools.notes.french_pronouns import Pronouns
from evenhand.tools.notes.french_reading import Sentence, Token, read_sentences
from evenhand.tools.notes.french_titles import Titles
from evenhand.tools.notes.words import first_person_quotes, words_of


@dataclass
class French(Titles, Nouns, Pronouns, Agreement, Check):
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
        return sorted(self.edits, key=lambda edit: edit.start)

    def token(self, sentence: Sentence, index: int, token: Token) -> None:
        """Sort one word; change it where it is the patient's."""
        low = token.low
        if token.work == "person":
            self.noun(sentence, index, token)
        elif low in ("il", "elle"):
            self.pronoun(sentence, index, token)
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
