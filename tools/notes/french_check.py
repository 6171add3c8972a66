"""A last check of a French rewriting, apart from the rules: is every mark of the old sex read?"""

import re
from collections.abc import Sequence

from evenhand.tools.notes.edits import CannotRewrite
from evenhand.tools.notes.french_note import FrenchNote
from evenhand.tools.notes.french_openings import none_fits
from evenhand.tools.notes.french_owners import SPEAKS
from evenhand.tools.notes.french_reading import Sentence, Token
from evenhand.tools.notes.french_words import (
    NAMED_THINGS,
    THING_NOUNS,
    UNITS,
    agreement,
    is_unaccented_masculine,
    may_agree_unaccented,
    person_nouns,
    thing_gender,
    with_accents,
)

_ARTICLES = frozenset(
    ("un", "une", "le", "la", "l", "du", "au", "ce", "cet", "cette", "son", "sa", "de", "d")
)
_NAMES_A_PERSON = {
    "female": re.compile(r"(?:ienne|euse|trice|ière|onne|aise|oise|ée|ive|ante|ente|arde)$"),
    "male": re.compile(r"(?:ien|eux|teur|ier|é|if|ois|ais|ard)$"),
}
_MARKS = {
    "female": re.compile(
        r"\b(?:mme|mlle|madame|mademoiselle|dame|femme|fille|fillette|gamine|patiente|pte|elle"
        r"|celle-ci)\b"
        r"|\u2640",
        re.IGNORECASE,
    ),
    "male": re.compile(
        r"\b(?:mr|monsieur|homme|garçon|garçonnet|gamin|celui-ci)\b|\u2642|(?-i:\bM\.\s[A-Z])",
        re.IGNORECASE,
    ),
}
_LETTER = {
    "female": re.compile(
        r"(?:^|[\n(:]\s?|\d\s?(?:ans|a|mois)?[\s,]{1,2})(?P<l>F)(?![\w.'\u2019/+-]"
        r"|\s?\d{1,2}\s?(?:mg|fr))"
    ),
    "male": re.compile(
        r"(?:^|[\n(:]\s?|\d\s?(?:ans|a|mois)?[\s,]{1,2})(?P<l>[HM])(?![\w.'\u2019/+-])"
    ),
}
_NOTIFIED = frozenset(("presente", "prevenu", "avise", "present", "appele", "alerte"))
_BY_ENDING = re.compile(r"(?:ante?|ie?)$")
_HOURS = re.compile(r"\d\s?$")


class Check(FrenchNote):
    """Refuses what the rules have left of the old sex and have not given to another."""

    def check(self, quotes: Sequence[tuple[int, int]]) -> None:
        """Look at each word once more.

        Raises:
            CannotRewrite: A word of the old sex is neither changed nor another's.
        """
        for sentence in self.sentences:
            for index, token in enumerate(sentence.tokens):
                start = token.word.start
                if self.is_done(start) or any(a <= start < b for a, b in quotes):
                    continue
                self.check_agreement(sentence, index, token)
                self.check_unknown(sentence, index, token)
                self.check_trade(sentence, index, token)
        tokens = {each.word.start: each for part in self.sentences for each in part.tokens}
        for match in _MARKS[self.before].finditer(self.text):
            read = tokens.get(match.start())
            if self.is_done(match.start()) or any(a <= match.start() < b for a, b in quotes):
                continue
            if read is None or read.owner not in ("other", "thing"):
                raise CannotRewrite("unread_word", match[0])
        for match in _LETTER[self.before].finditer(self.text):
            hours = match["l"] == "H" and _HOURS.search(self.text[: match.start("l")])
            if not self.is_done(match.start("l")) and not hours:
                raise CannotRewrite("unread_letter", match[0])

    def is_done(self, start: int) -> bool:
        """Whether a place was changed, or read as the patient's."""
        return start in self.taken or any(edit.start <= start < edit.end for edit in self.edits)

    def check_agreement(self, sentence: Sentence, index: int, token: Token) -> None:
        """A word that agrees with persons alone, in the old gender, that stays."""
        plain = (
            self.text.isascii()
            and may_agree_unaccented(token.low)
            and is_unaccented_masculine(token.low)
        )
        if (
            (
                plain
                and self.before == "male"
                and token.low not in _NOTIFIED
                and token.owner != "other"
            )
            and not token.low.endswith("ee")
            and token.work not in ("verb", "be", "have")
        ):
            raise CannotRewrite("unread_agreement", token.word.text)
        if (
            self.text.isascii()
            and self.before == "male"
            and token.work == "verb"
            and (index == 0 or sentence.tokens[index - 1].work == "be")
            and with_accents(token.low) != token.low
        ):
            raise CannotRewrite("unread_agreement", token.word.text)
        if may_agree_unaccented(token.low) and not self.text.isascii():
            return
        if self.text.isascii() and token.low in _NOTIFIED:
            return
        entry = agreement(token.low, predicative=True)
        if entry and entry[2] == "open" and token.work == "noun" and token.low in NAMED_THINGS:
            return  # "peau"
        if entry and entry[2] == "open" and token.work != "agrees" and _BY_ENDING.search(token.low):
            return
        if not entry or entry[0] == entry[1] or token.low in person_nouns() or token.work == "verb":
            return
        form = "male" if token.low == entry[0] else "female"
        if form != self.before or token.owner == "other":
            return
        place = index - 1
        while place >= 0 and sentence.tokens[place].work == "adverb":
            place -= 1
        previous = sentence.tokens[place] if place >= 0 else None
        if entry[2] == "thing" or previous is None:
            return
        if entry[2] != "person":
            cut = re.search(r"[,.:;(]", sentence.gap(place + 1)) or place < index - 1
            said = token.owner == "thing" and cut and previous.work not in ("have", "function")
            if said and none_fits(sentence.tokens[:index], self.before):
                raise CannotRewrite("unread_agreement", token.word.text)
            return
        if (
            previous.work == "have"
            or previous.low in SPEAKS
            or previous.low in _ARTICLES
            or previous.low in ("en", "les", "des")
        ):
            return
        if previous.work == "noun" and thing_gender(previous.low) in (None, self.before):
            return
        if previous.work == "agrees" and previous.owner == "thing":
            return
        if token.work == "noun" and token.owner == "thing" and previous.work == "function":
            return
        raise CannotRewrite("unread_agreement", token.word.text)

    def check_trade(self, sentence: Sentence, index: int, token: Token) -> None:
        """Refuse "boucher de métier" where the word is in no table and has another form."""
        rest = self.text[token.word.end : token.word.end + 20]
        if re.match(
            r"\s+(?:de\s(?:métier|profession|formation)|à\sla\sretraite|retraitée?)\b", rest
        ):
            ending = (
                r"(?:er|eur|ien|on|an|ois|ais|ant|eux)$"
                if self.before == "male"
                else r"(?:ère|euse|rice|ienne|onne|ane|oise|aise|ante)$"
            )
            if re.search(ending, token.low) and token.owner != "other":
                raise CannotRewrite("unknown_agreement", token.word.text)

    def check_unknown(self, sentence: Sentence, index: int, token: Token) -> None:
        """A word in no table that stands where the patient's work or state stands."""
        low = token.low
        if token.work not in ("noun", "verb") or not _NAMES_A_PERSON[self.before].search(low):
            return
        if low in THING_NOUNS or low in UNITS or low in person_nouns() or len(low) < 5:
            return
        if re.search(r"(?:rrhée|pnée|phalée|urée|gnée|rnée|lée de|ité|été|tié|té|aux|cié)$", low):
            return
        if agreement(low) or (token.work == "verb") or (token.word.text[0].isupper() and index):
            return
        rest = self.text[token.word.end : token.word.end + 20]
        if (
            all(
                each.low in ("non", "peu", "très", "assez", "plutôt", "bien")
                for each in sentence.tokens[:index]
            )
            and index
        ):
            raise CannotRewrite("unknown_agreement", token.word.text)
        if index == 0:
            aged = re.match(r"\s*,?\s*(?:de\s|d['\u2019])?\s*\d{1,3}\s?(?:ans|a\b|mois)", rest)
            if aged:
                raise CannotRewrite("unknown_agreement", token.word.text)
            return
        place = index - 1
        while place >= 0 and sentence.tokens[place].low in UNITS:
            place -= 1
        before = sentence.tokens[place] if place >= 0 else None
        gap = self.text[before.word.end : token.word.start] if before else ""
        epicene = (
            before is not None and before.work == "agrees" and place == index - 1 and gap == " "
        )
        if epicene and place == 0 and re.match(r"\s*,", rest):
            raise CannotRewrite("unknown_agreement", token.word.text)
        if before is None or before.owner != "patient" or before.work not in ("person", "agrees"):
            return
        if re.fullmatch(r"\s*,?\s*(?:(?:de\s)?\d{1,3}\s?(?:ans|a|mois)\s?,?\s)?", gap) and re.match(
            r"\s*(?:,|\.|$|de\s\d|\d)", rest
        ):
            raise CannotRewrite("unknown_agreement", token.word.text)
