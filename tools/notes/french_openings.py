"""A French sentence that leaves its subject out: "Connu asthmatique", "Mise à jeun"."""

from collections.abc import Sequence

from evenhand.tools.notes.edits import CannotRewrite
from evenhand.tools.notes.french_reading import Owner, Sentence, Token
from evenhand.tools.notes.french_words import (
    CREWS,
    UNITS,
    agreement,
    person_nouns,
    thing_gender,
)

_WHEN = frozenset(
    (
        "lundi",
        "mardi",
        "mercredi",
        "jeudi",
        "vendredi",
        "samedi",
        "dimanche",
        "hier",
        "récemment",
        "matin",
        "jour",
        "soir",
    )
)


_SAID_OF_PATIENT_BEFORE = {
    "connu": ("pour", "de", "du", "des"),
    "suivi": ("pour", "par", "en", "au", "à", "depuis", "dans", "chez"),
    "opéré": ("de", "d", "du", "des", "pour", "à"),
    "traité": ("pour", "au"),
    "pris": ("en",),
    "mis": ("sous",),
    "retrouvé": (
        "au",
        "à",
        "par",
        "sur",
        "dans",
        "en",
        "chez",
        "sans",
        "inconsciente",
        "inconscient",
    ),
    "découvert": ("au", "par", "sur", "dans"),
    "trouvé": ("en", "au", "par", "sur", "dans"),
    "vu": ("normal", "normale", "bien", "en", "par", "aux", "au"),
    "atteint": ("de", "d", "du"),
    "couvert": ("de", "d"),
    "attendu": ("en", "au", "aux"),
    "hydraté": ("par", "et"),
    "touché": ("par",),
    "déposé": ("par", "aux", "aux"),
    "appareillé": ("pour",),
    "occupé": ("à",),
    "refroidi": ("sous", "à", "par", "pendant"),
    "brûlé": ("à", "au", "aux", "par", "sur"),
    "ponté": ("en", "il"),
    "stenté": ("en", "il"),
    "fiévreux": ("depuis", "hier", "ce", "cette", "à", "au"),
    "surveillé": ("en", "par"),
}


def masculine_of(entry: tuple[str, str, str] | None) -> str:
    """Return the masculine form of an entry of the tables, "" of none."""
    return entry[0] if entry else ""


def none_fits(tokens: Sequence[Token], sex: str) -> bool:
    """Whether nothing and nobody else among the words could carry a word of that gender."""
    for place, noun in enumerate(tokens):
        if noun.work == "person" and noun.owner == "other" and noun.gender in (None, sex):
            return False
        if noun.work != "noun" or noun.owner == "patient" or noun.low in UNITS:
            continue
        before = tokens[place - 1].low if place else ""
        if before in ("les", "des", "ses", "aux", "deux", "trois", "plusieurs", "quelques", "ces"):
            continue
        follows = tokens[place + 1] if place + 1 < len(tokens) else None
        if (
            thing_gender(noun.low) is None
            and follows is not None
            and follows.work == "agrees"
            and follows.owner == "thing"
            and follows.gender not in (None, sex)
        ):
            continue  # "Masque mis": the word behind it tells its gender
        if thing_gender(noun.low) in (None, sex):
            return False
    return True


_KEPT_WATCH = frozenset(
    ("surveillé", "gardé", "attendu", "connu", "levé", "installé", "scopé", "isolé")
)
"""What notes say of patients: "Surveillée 6 h", "Connu Alzheimer", "Attendue lit 3"."""


def is_kept_watch(sentence: Sentence, index: int, masculine: str) -> bool:
    """Tell "Surveillé 6h" and "Mise à jeun" of the patient from "TA surveillée"."""
    later = [each.low for each in sentence.tokens[index + 1 : index + 3]]
    if masculine in ("mis", "laissé", "gardé") and later[:2] == ["à", "jeun"]:
        return True
    if masculine in ("mis", "laissé", "gardé") and later[:2] == ["a", "jeun"]:
        return True
    return masculine in _KEPT_WATCH


def opening_owner(
    sentence: Sentence, index: int, kind: str, masculine: str, sex: str
) -> Owner | None:
    """The first word of a sentence that leaves its subject out."""
    if kind == "thing":
        return "thing"
    if (
        kind == "person"
        or said_of_patient(sentence, index, masculine)
        or is_kept_watch(sentence, index, masculine)
        or by_person(sentence, index)
        or (sentence.earlier and none_fits(sentence.earlier, sex))
    ):
        return "patient"
    if sentence.next_low(index) in ("en", "de", "d", "du") and masculine in (
        "mis",
        "pris",
        "vu",
        "suivi",
    ):
        return "thing"
    raise CannotRewrite("ambiguous_agreement", sentence.tokens[index].word.text)


def by_person(sentence: Sentence, index: int) -> bool:
    """Tell "déposé par un collègue" from "traité par amoxicilline"."""
    if sentence.next_low(index) != "par":
        return False
    later = [token.low for token in sentence.tokens[index + 2 : index + 4]]
    return any(low in person_nouns() or low in CREWS for low in later)


def said_of_patient(sentence: Sentence, index: int, masculine: str) -> bool:
    """Tell by what follows: "connu pour", "retrouvé au sol"."""
    start = index
    while index + 2 < len(sentence.tokens) and (
        sentence.next_low(index) in _WHEN
        or (sentence.next_low(index) == "ce" and sentence.next_low(index + 1) in _WHEN)
    ):
        index += 1
    follows = sentence.next_low(index)
    later = [each.low for each in sentence.tokens[index + 1 : index + 3]]
    if masculine == "laissé" and later == ["à", "jeun"]:
        return True
    if index != start and follows in ("par", "aux", "chez", "en"):
        return masculine in _SAID_OF_PATIENT_BEFORE
    state = agreement(follows, predicative=True) if follows else None
    if (
        state
        and state[2] == "person"
        and follows in state[:2]
        and not sentence.gap(index + 1).strip()
    ):
        return True  # "connu cardiaque", "trouvée errante"
    return follows in _SAID_OF_PATIENT_BEFORE.get(masculine, ())
