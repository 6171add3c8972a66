"""What changes with a noun in a French note: its determiner and the adjectives before it."""

from evenhand.tools.notes import french_patterns as patterns
from evenhand.tools.notes.edits import CannotRewrite
from evenhand.tools.notes.french_note import FrenchNote
from evenhand.tools.notes.french_reading import Sentence, Token
from evenhand.tools.notes.french_words import agreement
from evenhand.tools.notes.words import cased_as


class Phrases(FrenchNote):
    """A noun is replaced with all that stands before it and agrees."""

    def swap_spouse(
        self, sentence: Sentence, index: int, token: Token, row: tuple[str, str, str]
    ) -> None:
        """Change husband and wife, with what stands before; what agrees with them is not known."""
        for later in sentence.tokens[index + 1 :]:
            if later.work == "agrees" and later.segment <= token.segment + 1:
                entry = agreement(later.low)
                if entry and entry[0] != entry[1]:
                    raise CannotRewrite("spouse_agreement", later.word.text)
        new = row[1] if token.low == row[0] else row[0]
        self.phrase(
            sentence, index, new, toward="female" if token.low == row[0] else "male", rule="spouse"
        )

    def phrase(
        self,
        sentence: Sentence,
        index: int,
        new: str,
        *,
        toward: str | None = None,
        rule: str = "noun",
    ) -> None:
        """Replace a noun and adapt "le", "du", "cet", "jeune", "vieille" before it."""
        toward = toward or self.after
        token = sentence.tokens[index]
        head = cased_as(token.word.text, new)
        self.change(token.word.start, token.word.end, head, rule)
        place, first = index - 1, new
        while (
            place >= 0
            and sentence.tokens[place].low in patterns.PRE_ALL
            and sentence.gap(place + 1) == " "
        ):
            low = sentence.tokens[place].low
            adjective = (
                patterns.PRE.get(low, low)
                if toward == "female"
                else patterns.PRE_MALE.get(low, low)
            )
            if (
                toward == "male"
                and patterns.VOWEL.match(first)
                and adjective in ("vieux", "nouveau")
            ):
                adjective = {"vieux": "vieil", "nouveau": "nouvel"}[adjective]
            word = sentence.tokens[place].word
            self.change(word.start, word.end, cased_as(word.text, adjective), rule)
            first, place = adjective, place - 1
        if place >= 0 and sentence.gap(place + 1).strip() in ("", "'", "\u2019"):
            self.determiner(sentence, place, first, toward, rule)

    def determiner(
        self, sentence: Sentence, place: int, first: str, toward: str, rule: str
    ) -> None:
        """Replace the determiner before a phrase that now begins with `first`."""
        tokens = sentence.tokens
        token = tokens[place]
        low = token.low
        vowel = bool(patterns.VOWEL.match(first))
        end = tokens[place + 1].word.start
        start = token.word.start
        before = tokens[place - 1].low if place else ""
        if low in ("le", "la", "l") and before in ("de", "à"):
            start = tokens[place - 1].word.start
            lead = before
        elif low in ("du", "au"):
            lead = "de" if low == "du" else "à"
        elif low in ("le", "la", "l"):
            lead = ""
        elif low in ("de", "d"):
            self.change(
                start,
                end,
                cased_as(self.text[start : token.word.end], "d'" if vowel else "de "),
                rule,
            )
            return
        else:
            new = patterns.simple_determiner(low, toward, vowel)
            if new:
                self.change(start, token.word.end, cased_as(token.word.text, new), rule)
            return
        new = patterns.definite(lead, toward, vowel)
        self.change(
            start,
            end,
            cased_as(self.text[start : start + 2] if lead else token.word.text[:1], new)
            if self.text[start].isupper()
            else new,
            rule,
        )

    def is_child(self, sentence: Sentence, index: int) -> bool:
        """Tell "la petite pleure" from "la petite plaie"."""
        if not index or sentence.tokens[index - 1].low not in ("le", "la"):
            return False
        token = sentence.tokens[index]
        follows = sentence.tokens[index + 1] if index + 1 < len(sentence.tokens) else None
        if follows is None or sentence.gap(index + 1).strip():
            return True
        return (
            follows.work in ("verb", "be", "have")
            or follows.low in ("ne", "n", "se", "s", "l")
            or (token.low == "petit" and follows.low in ("patient",))
        )

    def own_noun_of_child(self, sentence: Sentence, index: int, token: Token) -> None:
        """Change "le petit" to "la petite"; of the other sex it is another child."""
        token.work, token.gender = "person", "male" if token.low == "petit" else "female"
        if token.gender != self.before:
            token.owner = "other"
            return
        token.owner = "patient"
        self.phrase(sentence, index, "petite" if self.before == "male" else "petit")
