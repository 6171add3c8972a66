"""A last look at a rewritten French note: a word of the old sex that nothing in it explains."""

import re
from collections.abc import Sequence

from evenhand.tools.notes import french_patterns as patterns
from evenhand.tools.notes.edits import CannotRewrite
from evenhand.tools.notes.french_note import FrenchNote
from evenhand.tools.notes.french_owners import SPEAKS
from evenhand.tools.notes.french_reading import Sentence, Token
from evenhand.tools.notes.french_words import (
    BEFORE_NOUNS,
    NOTIFIED,
    PREPOSITIONS,
    UNITS,
    agreement,
    may_agree_unaccented,
    person_nouns,
    thing_gender,
)

_SURE_ENDING = re.compile(r"(?:ée?|eux|euse)$")
_BEFORE_OBJECTS = frozenset(("le", "la", "l", "les", "un", "une", "des", "son", "sa", "ses"))
_DETERMINERS = _BEFORE_OBJECTS | {
    *("du", "au", "ce", "cet", "cette", "leur", "mon", "ma", "de", "d", "en"),
    *("ça", "cela", "c", "rien", "on", "aucun", "aucune"),
}
_BEFORE_A_NOUN = frozenset(("dernier", "dernière", "premier", "première", "nouvelle", "seconde"))
_OF_PERSONS_TOO = frozenset(("douloureux", "souillé", "froid", "chaud", "étendu"))
_SOMEONE_THERE = re.compile(
    r"(?:^|[.\n;]\s*)(?P<who>[^\W\d_]{3,})(?:[\s'\u2019][\w'\u2019]+){0,4}?"
    r"\s(?:présente?|sur\splace|au\stél(?:éphone)?)\s?[,:(]\s*(?:ne\s)?(?:il|elle|dit)\s"
)
"""Who is on the phone, "gardienne au téléphone : elle dit", may be another person."""
_RIDERS = {
    "conducteur": "conducteur",
    "conductrice": "conducteur",
    "passager": "passager",
    "passagère": "passager",
}
"""Who drives is not who rides along; only one of them is the patient."""
_SOMETHING = frozenset(("ça", "cela", "c", "ce", "rien", "on", "quoi"))


class Leftovers(FrenchNote):
    """Refuses a note in which an adjective of the old sex has no noun to belong to."""

    def leftovers(self, quotes: Sequence[tuple[int, int]]) -> None:
        """Look at every adjective and participle of the old sex that has stayed.

        Raises:
            CannotRewrite: No noun of that gender stands where one would explain it.
        """
        if not self.edits or self.other_sex:
            return
        for match in _SOMEONE_THERE.finditer(self.text):
            low = match["who"].lower()
            patient = any(row[2] == "noun" for row in person_nouns().get(low, []))
            if match.start("who") in self.taken and not patient:
                raise CannotRewrite("unclear_role", match["who"])
        riders = {
            _RIDERS[word] for word in re.findall(r"\w+", self.text.lower()) if word in _RIDERS
        }
        changed_riders = {_RIDERS.get(edit.before.lower()) for edit in self.edits} - {None}
        if len(riders) > 1 and len(changed_riders) > 1:
            raise CannotRewrite("two_patients", *sorted(riders))
        for sentence in self.sentences:
            for index, token in enumerate(sentence.tokens):
                start = token.word.start
                changed = start in self.taken or any(
                    edit.start <= start < edit.end for edit in self.edits
                )
                if changed or any(a <= start < b for a, b in quotes):
                    continue
                self.check_pronoun(sentence, token)
                self.check_clitic(sentence, index, token)
                if self.is_of_old_sex(token) and not self.is_explained(sentence, index):
                    raise CannotRewrite("unread_agreement", token.word.text)

    def check_pronoun(self, sentence: Sentence, token: Token) -> None:
        """Refuse an il or elle of the old sex that no thing and no other person explains.

        Raises:
            CannotRewrite: It has stayed, and others of the note were changed.
        """
        if token.low != ("il" if self.before == "male" else "elle"):
            return
        rest = self.text[token.word.end :]
        inverted = re.search(r"-t?-?$", self.text[: token.word.start])
        if (token.low == "il" and patterns.IMPERSONAL.match(rest)) or inverted:
            return
        if not any(self.carries(each, unknown=True) for each in self.near(sentence, token)):
            raise CannotRewrite("ambiguous_pronoun", token.word.text)

    def check_clitic(self, sentence: Sentence, index: int, token: Token) -> None:
        """Refuse a le or la of the old sex before a verb, where nothing but the patient fits.

        Raises:
            CannotRewrite: It has stayed, and others of the note were changed.
        """
        if token.low != ("le" if self.before == "male" else "la") or token.owner == "thing":
            return
        follows = sentence.tokens[index + 1] if index + 1 < len(sentence.tokens) else None
        if follows is None or follows.work not in ("verb", "be", "have") or not index:
            return
        if thing_gender(follows.low) is not None and sentence.tokens[index - 1].work != "function":
            return
        if sentence.tokens[index - 1].low in PREPOSITIONS | {"et", "ou"}:
            return
        if not any(self.carries(each, unknown=True) for each in self.near(sentence, token)):
            raise CannotRewrite("ambiguous_pronoun", token.word.text)

    def is_of_old_sex(self, token: Token) -> bool:
        """Tell an adjective in the form of the old sex, from nouns, verbs and plain words."""
        if token.work not in ("agrees", "noun") or token.word.text.isupper():
            return False
        if may_agree_unaccented(token.low):
            return False  # "sonde", which is no "sondé"; a note without accents is read elsewhere
        entry = agreement(token.low, predicative=True)
        if entry is None or entry[0] == entry[1]:
            return False
        if entry[2] == "thing" and entry[0] not in _OF_PERSONS_TOO:
            return False
        if entry[2] == "open" and not _SURE_ENDING.search(token.low):
            return False
        if token.work == "noun" and entry[2] == "open":
            return False
        return token.low == entry[0 if self.before == "male" else 1]

    def is_explained(self, sentence: Sentence, index: int) -> bool:
        """Whether a noun of the same gender carries the word, or it is itself a noun or no one's.

        A noun of unknown gender carries what stands right beside it, not what stands after a comma.
        """
        tokens = sentence.tokens
        token = tokens[index]
        if self.is_before_noun(sentence, index) or self.takes_object(sentence, index):
            return True
        if index and tokens[index - 1].low in _BEFORE_A_NOUN:
            return True  # "dernière poussée"
        place = index - 1
        while place >= 0 and (
            tokens[place].work in ("adverb", "agrees") or tokens[place].low in ("et", "ou", "peu")
        ):
            place -= 1
        near = tokens[place] if place >= 0 else None
        joined = near is not None and near.segment >= token.segment - 1
        if near is not None and joined:
            if near.work == "have" or near.low in _DETERMINERS or near.low in PREPOSITIONS | SPEAKS:
                return True
            beside = near.segment == token.segment or any(
                each.low in ("et", "ou") for each in tokens[place + 1 : index]
            )
            if beside and self.carries(near, unknown=True):
                return True
            said = near.work == "be" or near.low == "été"
            if said and any(
                self.carries(each, unknown=True) for each in tokens[:index] if each is not near
            ):
                return True  # "la boîte n'a pas été trouvée"
        return any(
            (self.carries(each, unknown=False) and not self.is_past_patient(tokens, each, token))
            or each.low in _SOMETHING
            or (
                each.low in ("il", "elle")
                and each.owner in ("other", "thing")
                and not self.is_past_patient(tokens, each, token)
            )
            for each in tokens[:index]
        )

    def is_past_patient(self, tokens: Sequence[Token], other: Token, token: Token) -> bool:
        """Tell "l'aide l'a trouvée au sol, souillée": between the two it is about the patient."""
        if token.low in NOTIFIED:
            return False  # "famille de la patiente prévenue"
        return (other.work == "person" or other.low in ("il", "elle")) and any(
            each.owner == "patient"
            for each in tokens
            if other.word.start < each.word.start < token.word.start
        )

    def takes_object(self, sentence: Sentence, index: int) -> bool:
        """Tell "avoir fait sa dose mais sauté le repas": a verb, which does not agree."""
        return (
            self.before == "male"
            and any(each.work == "have" for each in sentence.tokens[:index])
            and sentence.next_low(index) in _BEFORE_OBJECTS
        )

    def is_before_noun(self, sentence: Sentence, index: int) -> bool:
        """Tell "une petite plaie" and "importante dyspnée"."""
        place = index + 1
        while place < len(sentence.tokens) and sentence.gap(place) == " ":
            each = sentence.tokens[place]
            if each.work != "agrees" and each.low not in BEFORE_NOUNS:
                return self.carries(each, unknown=True)
            place += 1
        return False

    def carries(self, noun: Token, *, unknown: bool) -> bool:
        """Whether a thing or another person could carry a word of the old sex."""
        if noun.owner == "patient" or noun.low in UNITS:
            return False
        if noun.work == "person":
            return noun.gender == self.before or (unknown and noun.gender is None)
        if noun.work != "noun":
            return False
        gender = thing_gender(noun.low)
        return gender == self.before or (unknown and gender is None)
