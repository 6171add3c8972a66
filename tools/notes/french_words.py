"""French words: nouns of persons, words that agree, and how the other gender is formed."""

import csv
import re
import tomllib
import unicodedata
from functools import cache
from importlib.resources import files
from typing import Literal

Agrees = Literal["person", "either", "thing", "open"]
"""What a word that agrees is said of; "open" is known by its ending alone."""

_SAID_OF: dict[str, Agrees] = {
    "of_person": "person",
    "of_either": "either",
    "of_thing": "thing",
}
NOUN_KINDS = frozenset(("noun", "kin", "spouse", "person"))


def _words(name: str) -> frozenset[str]:
    return frozenset(_CLASSES[name].split())


_CLASSES: dict[str, str] = tomllib.loads(
    (files("evenhand.tools.notes") / "french_words.toml").read_text("utf-8")
)
FUNCTION = _words("function")
ADVERBS = _words("adverbs")
BE = _words("be")
HAVE = _words("have")
VERBS = _words("verbs")
THING_NOUNS = _words("thing_nouns")
PREPOSITIONS = _words("prepositions")
BEFORE_NOUNS = _words("before_nouns")
BOUNDARIES = _words("boundaries")
UNITS = _words("units")
GROUPS = _words("groups")
SPEECH = _words("speech")
DONE_TO_PATIENTS = _words("done_to_patients")
OF_ANIMALS = _words("of_animals")
NOTIFIED = _words("notified")
CREWS: dict[str, str | None] = {
    **dict.fromkeys(_words("crews_feminine"), "female"),
    **dict.fromkeys(_words("crews_masculine"), "male"),
    **dict.fromkeys(_words("crews_epicene")),
}
"""Other people who are named by their work or together, with the gender of the word."""
_REGULAR = (
    (re.compile(r"(?<=[a-zéèêëîïâôûç]{2})é$"), "ée"),
    (re.compile(r"(?<=[a-zéèêëîïâôûç]{2})eux$"), "euse"),
)
_PREDICATIVE = (
    (re.compile(r"(?<=[a-zéèêëîïâôûç]{2})if$"), "ive"),
    (re.compile(r"(?<=[a-zéèêëîïâôûç]{2})u$"), "ue"),
    (re.compile(r"(?<=[a-zéèêëîïâôûç]{2})ien$"), "ienne"),
    (re.compile(r"(?<=[a-zéèêëîïâôûç]{3})ant$"), "ante"),
    (re.compile(r"(?<=[a-zéèêëîïâôûç]{3})i$"), "ie"),
)
_NOUN_ENDING = re.compile(
    r"(?:[aeiou]lité|ilité|sité|rité|nité|vité|cité|dité|mité|uité|anté|erté)e?$"
)
_NOUN_BY_ENDING = re.compile(r"(?:rrhée|pnée|phalée|iété)$")
_EPICENE = re.compile(r"(?:ique|able|ible|aire|iste|ide|aque|ile|ane|oque)$")
_FEMININE_THING = re.compile(
    r"(?:tion|sion|xion|ité|ure|ance|ence|ie|ée|ose|ite|ette|esse|eur|emie|émie|ade|elle|ille|ine"
    r"|onne|aine|euse|ique|otte|ale|che|gne|rge|pe|nte|rte|sse|ffe|lle|nne|tte)$"
)
_MASCULINE_THING = re.compile(
    r"(?:ment|isme|age|ome|eau|oir|al|el|il|us|um|in|ain|on(?<!ion)|ot|et|at|it|ot|ut|ol|ac|oc|ous"
    r"|teur|moteur|ès|an|ent|ant|ort|ard|os|er|aire|ex|ax|ou|oux)$"
)
NOUNS_IN_MENT = frozenset(low for low in _words("masculine_things") if low.endswith("ment")) | {
    "traitement",
    "vêtement",
    "appartement",
    "logement",
    "dément",
}
_FEMININE_SHORT = _words("feminine_things")
_MASCULINE_SHORT = _words("masculine_things")
NAMED_THINGS = _FEMININE_SHORT | _MASCULINE_SHORT


_MOVED = {"passé": "passé", "passée": "passé"}
"""A noun ("le passé") that is a participle after être: "il est passé au bloc"."""


@cache
def _rows() -> tuple[tuple[str, str, str], ...]:
    text = (files("evenhand.tools.notes") / "french.csv").read_text("utf-8")
    return tuple(
        (row["masculine"], row["feminine"], row["kind"])
        for row in csv.DictReader(text.splitlines())
    )


@cache
def person_nouns() -> dict[str, list[tuple[str, str, str]]]:
    """Return word -> rows (masculine, feminine, kind) of the nouns of persons."""
    table: dict[str, list[tuple[str, str, str]]] = {}
    for row in _rows():
        if row[2] in NOUN_KINDS:
            for word in dict.fromkeys(row[:2]):
                table.setdefault(word, []).append(row)
    return table


@cache
def _agreeing() -> dict[str, tuple[str, str, str]]:
    table: dict[str, tuple[str, str, str]] = {}
    for row in _rows():
        if row[2] not in NOUN_KINDS:
            for word in row[:2]:
                table.setdefault(word, row)
    return table


def _plain(word: str) -> str:
    letters = unicodedata.normalize("NFD", word.replace("œ", "oe"))
    return "".join(each for each in letters if not unicodedata.combining(each))


@cache
def _unaccented() -> dict[str, tuple[str, str, str]]:
    """Return the words that agree as typed without accents: "agitee" -> agite, agitee."""
    table: dict[str, tuple[str, str, str]] = {}
    for masculine, feminine, kind in _rows():
        plain = (_plain(masculine), _plain(feminine), kind)
        if kind in NOUN_KINDS or kind == "of_thing" or plain[:2] == (masculine, feminine):
            continue
        for word in plain[:2]:
            if word not in _agreeing() and word not in (FUNCTION | BE | VERBS | ADVERBS):
                table.setdefault(word, plain)
    return table


@cache
def with_accents(masculine: str) -> str:
    """Return the masculine form as the tables have it: "opere" -> "opéré"."""
    if masculine in _agreeing():
        return masculine
    return next((row[0] for row in _rows() if _plain(row[0]) == masculine), masculine)


def may_agree_unaccented(low: str) -> bool:
    """Tell "retrouve", which may be "retrouvé" typed without its accent."""
    return low in _unaccented()


def is_unaccented_masculine(low: str) -> bool:
    """Tell "agite", which changes, from "agitee" and "epileptique", which does not."""
    masculine, feminine, _ = _unaccented()[low]
    return low == masculine != feminine


def agreement(low: str, *, predicative: bool = False) -> tuple[str, str, Agrees] | None:
    """Return (masculine, feminine, what it is said of) of a singular word that agrees, or None.

    Words of the table first; then by ending, more of them where the word stands after "est".
    """
    row = _agreeing().get(low)
    if row:
        return row[0], row[1], _SAID_OF[row[2]]
    unaccented = _unaccented().get(low)
    if unaccented and (predicative or low == unaccented[1]):
        return unaccented[0], unaccented[1], _SAID_OF[unaccented[2]]
    if low in THING_NOUNS and predicative and low in _MOVED:
        return _MOVED[low], _MOVED[low] + "e", "open"
    if low in THING_NOUNS or low in VERBS or low in FUNCTION or low in person_nouns():
        return None
    if _NOUN_ENDING.search(low) or _NOUN_BY_ENDING.search(low):
        return None
    if _EPICENE.search(low):
        return (low, low, "open") if predicative else None
    if low.endswith("euse"):
        # -eux or -eur: the table knows, the ending does not.
        return "", low, "open"
    for masculine, feminine in (*_REGULAR, *(_PREDICATIVE if predicative else ())):
        if masculine.search(low):
            return low, masculine.sub(feminine, low), "open"
        ending = masculine.pattern.rpartition(")")[2].rstrip("$")
        if low.endswith(feminine) and len(low) > len(feminine) + 2:
            return low[: -len(feminine)] + ending, low, "open"
    return None


def thing_gender(low: str) -> Literal["male", "female"] | None:
    """Return the likely gender of a thing's noun by its ending; None where it could be either."""
    if low in _FEMININE_SHORT:
        return "female"
    if low in _MASCULINE_SHORT:
        return "male"
    if low.endswith("ment") and low.removesuffix("ment").endswith(("é", "am", "em", "i", "u")):
        return None  # an adverb: "récemment"
    feminine = bool(_FEMININE_THING.search(low))
    masculine = bool(_MASCULINE_THING.search(low)) and not low.endswith(("tion", "sion", "ement_"))
    if low.endswith(("teur", "ment", "isme", "ome")):
        return "male"
    if feminine != masculine:
        return "female" if feminine else "male"
    return None
