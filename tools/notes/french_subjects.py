"""Who a French verb is said of: the subject of its clause, or the noun before "qui"."""

from collections.abc import Sequence

from evenhand.tools.notes.edits import CannotRewrite
from evenhand.tools.notes.french_reading import Owner, Sentence, Token
from evenhand.tools.notes.french_words import PREPOSITIONS, UNITS, thing_gender

_CLITICS = frozenset(("ne", "n", "se", "s", "y", "en", "l", "le", "la", "lui", "les", "me", "nous"))


def subject(sentence: Sentence, index: int, sex: str | None = None) -> Owner | None:
    """Return who the verb at `index` is said of; "patient" where a note leaves the subject out.

    Raises:
        CannotRewrite: A relative pronoun without a noun.
    """
    tokens = sentence.tokens
    place = index - 1
    while place >= 0 and tokens[place].low in _CLITICS:
        place -= 1
    if place >= 0 and tokens[place].low in ("il", "elle"):
        return tokens[place].owner or "thing"
    number = tokens[index].segment
    while number >= 0:
        inside = [
            token
            for token in sentence.segment(number)
            if token.word.start < tokens[index].word.start
        ]
        if inside and inside[0].low == "qui":
            return _antecedent(sentence, inside[0], sex)
        found = None if _is_apposition(inside) else first_named(sentence, inside)
        if found:
            return found
        number -= 1
    return "patient"


def _is_apposition(inside: Sequence[Token]) -> bool:
    """Tell a stretch that says more of a noun before it: "suivi pour une BPCO"."""
    first = next((token for token in inside if token.work != "adverb"), None)
    verbs = any(token.work in ("be", "have", "verb") for token in inside)
    return first is not None and first.work == "agrees" and not verbs


def first_named(sentence: Sentence, inside: Sequence[Token]) -> Owner | None:
    """Return the owner of the first noun or pronoun that no preposition governs."""
    governed = False
    for token in inside:
        if token.low in ("il", "elle"):
            return token.owner or "thing"
        if token.low in ("on", "nous", "je", "j", "ils", "elles", "cela", "ça", "ceci"):
            return "other"
        if token.low in PREPOSITIONS:
            governed = True
        elif token.work in ("person", "noun"):
            if token.low in UNITS:
                continue
            if not governed:
                return token.owner or "thing"
        elif token.work in ("verb", "be", "have"):
            governed = True
    return None


def _antecedent(sentence: Sentence, who: Token, sex: str | None) -> Owner:
    """Return the owner of the noun before "qui" whose gender the word that agrees allows."""
    before = [
        token
        for token in sentence.tokens
        if token.word.start < who.word.start
        and token.work in ("person", "noun")
        and token.low not in UNITS
    ]
    if not before:
        raise CannotRewrite("ambiguous_agreement", who.word.text)
    for noun in reversed(before):
        if noun.owner == "patient":
            return "patient"
        gender = noun.gender if noun.work == "person" else thing_gender(noun.low)
        if sex is not None and gender not in (None, sex):
            continue
        gap = sentence.text[noun.word.end : who.word.start]
        if "," in gap and any(each.owner == "patient" for each in before):
            raise CannotRewrite("ambiguous_agreement", who.word.text, noun.word.text)
        return noun.owner or "thing"
    return "patient"
