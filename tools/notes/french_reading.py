"""A French sentence as words with their work: who is named, what a word that agrees is said of."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from evenhand.tools.notes.edits import CannotRewrite
from evenhand.tools.notes.french_words import (
    ADVERBS,
    BE,
    BEFORE_NOUNS,
    BOUNDARIES,
    CREWS,
    FUNCTION,
    HAVE,
    PREPOSITIONS,
    UNITS,
    VERBS,
    agreement,
    person_nouns,
    thing_gender,
)
from evenhand.tools.notes.words import Word

Owner = Literal["patient", "other", "thing"]
Work = Literal["person", "agrees", "be", "have", "verb", "adverb", "function", "noun"]

_PARTICIPLE = re.compile(r"(?:é|i|u|is|it|ert)$")
_STATES_OF_THINGS = frozenset(("position", "tabagisme", "alcoolisme", "éthylisme", "station"))
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
    "trouvé": ("au", "par", "sur", "dans"),
    "vu": ("en", "par", "aux", "au"),
    "atteint": ("de", "d", "du"),
    "touché": ("par",),
    "déposé": ("par", "aux", "aux"),
    "appareillé": ("pour",),
    "surveillé": ("en", "par"),
}


@dataclass
class Token:
    """One word and what is known of it so far."""

    word: Word
    work: Work
    owner: Owner | None = None
    gender: str | None = None
    segment: int = 0
    is_clause_start: bool = False
    """Whether punctuation or a conjunction stands before it."""

    @property
    def low(self) -> str:
        """The word in small letters."""
        return self.word.low


@dataclass
class Sentence:
    """The words of one sentence, cut into segments at commas and conjunctions."""

    text: str
    tokens: list[Token] = field(default_factory=list)

    def gap(self, index: int) -> str:
        """Return what stands between a word and the one before it."""
        return self.text[self.tokens[index - 1].word.end : self.tokens[index].word.start]

    def next_low(self, index: int) -> str:
        """Return the next word in small letters, "" at the end."""
        return self.tokens[index + 1].low if index + 1 < len(self.tokens) else ""

    def segment(self, number: int) -> list[Token]:
        """Return the words of one segment."""
        return [token for token in self.tokens if token.segment == number]


def read_sentences(text: str, words: Sequence[Word]) -> list[Sentence]:
    """Cut a note into sentences and segments, each word with its work."""
    sentences: list[Sentence] = []
    number = -1
    for word in words:
        if word.sentence != number:
            sentences.append(Sentence(text))
            number = word.sentence
        sentence = sentences[-1]
        previous = sentence.tokens[-1] if sentence.tokens else None
        if previous and len(sentence.tokens) == 1 and previous.word.text == "A":
            # "A vomi", not "A l'arrivée".
            previous.work = "have" if _PARTICIPLE.search(word.low) else "function"
        token = Token(word, _work(word, previous))
        if token.work in ("noun", "verb") and _is_participle(sentence, word.low):
            token.work = "agrees"
        sentence.tokens.append(token)
        if previous is None:
            token.is_clause_start = True
            continue
        gap = text[previous.word.end : word.start]
        cut = any(mark in gap for mark in ',:()+-/\u2013\u2014\u2022>\u00ab"') and not _hyphened(
            gap
        )
        conjunction = token.low in BOUNDARIES
        token.segment = previous.segment + (cut or conjunction)
        token.is_clause_start = (
            cut or conjunction or (previous.low in BOUNDARIES and (previous.is_clause_start))
        )
    return sentences


def _is_participle(sentence: Sentence, low: str) -> bool:
    """Tell "vomi" in "a souvent vomi" from a noun."""
    before = next((each for each in reversed(sentence.tokens) if each.work != "adverb"), None)
    return before is not None and before.work == "have" and bool(_PARTICIPLE.search(low))


def _hyphened(gap: str) -> bool:
    return gap in ("-", "/")


def _work(word: Word, previous: Token | None) -> Work:
    low = word.low
    if low in BE and not (low in ("être",) and previous and previous.low in ("l", "bien")):
        return "be"
    if low in HAVE and not (low == "a" and word.text == "A" and previous is None):
        return "have"
    if low in person_nouns() or low in CREWS:
        return "person"
    if low in FUNCTION:
        return "function"
    if low in ADVERBS or (
        low.endswith("ment") and previous is not None and previous.work != "function"
    ):
        return "adverb"
    if low in VERBS and not (
        previous and previous.low in ("le", "la", "l", "une", "un", "sa", "de")
    ):
        return "verb"
    if low.endswith("ant") and len(low) > 5 and previous and previous.work in ("person", "agrees"):
        return "agrees" if agreement(low) else "verb"
    if agreement(low, predicative=bool(previous and previous.work in ("be", "adverb"))):
        return "agrees"
    return "noun"


def subject(sentence: Sentence, index: int, sex: str | None = None) -> Owner | None:
    """Return who the verb at `index` is said of; "patient" where a note leaves the subject out.

    Raises:
        CannotRewrite: A relative pronoun without a noun.
    """
    tokens = sentence.tokens
    number = tokens[index].segment
    while number >= 0:
        inside = [
            token
            for token in sentence.segment(number)
            if token.word.start < tokens[index].word.start
        ]
        if inside and inside[0].low == "qui":
            return _antecedent(sentence, inside[0], sex)
        found = None if _is_apposition(inside) else _named(sentence, inside)
        if found:
            return found
        number -= 1
    return "patient"


def _is_apposition(inside: Sequence[Token]) -> bool:
    """Tell a stretch that says more of a noun before it: "suivi pour une BPCO"."""
    first = next((token for token in inside if token.work != "adverb"), None)
    verbs = any(token.work in ("be", "have", "verb") for token in inside)
    return first is not None and first.work == "agrees" and not verbs


def _named(sentence: Sentence, inside: Sequence[Token]) -> Owner | None:
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


def owner_of(sentence: Sentence, index: int, sex: str) -> Owner | None:
    """Return what a word that agrees is said of.

    Args:
        sentence: The sentence, its words before `index` with owners.
        index: The place of the word.
        sex: The gender of the word's form, the patient's own.

    Raises:
        CannotRewrite: It could be said of the patient and of something else.
    """
    token = sentence.tokens[index]
    entry = agreement(token.low, predicative=True)
    kind = entry[2] if entry else "open"
    masculine = entry[0] if entry else token.low
    place = _before(sentence, index)
    if kind == "person":
        while place is not None and place >= 0 and sentence.tokens[place].low in BEFORE_NOUNS:
            place = place - 1 if place else None
    if place is None:
        return _opening(sentence, index, kind, masculine)
    previous = sentence.tokens[place]
    joined = _is_joined(sentence, place, index)
    conjunction = any(
        each.low in ("et", "ou", "mais", "ni") for each in sentence.tokens[place + 1 : index]
    )
    if conjunction and previous.work != "agrees":
        return _after_conjunction(sentence, index, place, kind, masculine, sex)
    if previous.work == "agrees" and kind == "person" and joined and not conjunction:
        have = _have_before(sentence, place)
        if have is not None:
            return subject(sentence, have, sex)
    if previous.work == "agrees" and previous.owner:
        inherits = previous.owner == "patient" or conjunction or not token.is_clause_start
        if inherits and not (previous.owner == "thing" and kind == "person"):
            return (
                _after_thing(sentence, index, kind) if previous.owner == "thing" else previous.owner
            )
    if not joined:
        return _after_break(sentence, index, place, kind, masculine, sex)
    if previous.low == "été" and place and sentence.tokens[place - 1].work == "have":
        return subject(sentence, place - 1, sex)
    if previous.work == "be":
        return subject(sentence, place, sex)
    if previous.work == "have":
        return _after_have(sentence, place)
    if previous.work == "verb":
        return _after_verb(sentence, place, kind)
    if previous.work in ("person", "noun"):
        return _after_noun(sentence, index, place, kind, sex)
    return _after_function(sentence, index, place, kind)


def _have_before(sentence: Sentence, place: int) -> int | None:
    """Return the place of the "a" of "a dormi"; None where the word is no such participle."""
    place -= 1
    while place >= 0 and sentence.tokens[place].work == "adverb":
        place -= 1
    return place if place >= 0 and sentence.tokens[place].work == "have" else None


def _before(sentence: Sentence, index: int) -> int | None:
    """Return the place of the word that decides: adverbs, ages and "et" are passed over."""
    place = index - 1
    while place >= 0:
        token = sentence.tokens[place]
        low = token.low
        if (
            token.work == "adverb"
            or low in ADVERBS
            or low in ("et", "ou", "ni", "mais", "puis", "ne", "n")
        ):
            place -= 1
        elif (
            low in UNITS and place and sentence.tokens[place - 1].low in ("de", "d", "depuis", "à")
        ):
            place -= 2
        elif (
            low in ("masculin", "féminin")
            and place >= 2
            and sentence.tokens[place - 1].low == "sexe"
        ):
            place -= 3
        elif low in UNITS or low in ("y", "environ"):
            place -= 1
        else:
            return place
    return None


def _is_joined(sentence: Sentence, place: int, index: int) -> bool:
    """Whether no comma or other mark stands between two words."""
    tokens = sentence.tokens
    gap = sentence.text[tokens[place].word.end : tokens[index].word.start]
    return not any(mark in gap for mark in ",:()+;/\u2013\u2014\u2022>") and " - " not in gap


def _opening(sentence: Sentence, index: int, kind: str, masculine: str) -> Owner | None:
    """The first word of a sentence that leaves its subject out."""
    if kind == "thing":
        return "thing"
    if (
        kind == "person"
        or _said_of_patient(sentence, index, masculine)
        or _by_person(sentence, index)
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


def _by_person(sentence: Sentence, index: int) -> bool:
    """Tell "déposé par un collègue" from "traité par amoxicilline"."""
    if sentence.next_low(index) != "par":
        return False
    later = [token.low for token in sentence.tokens[index + 2 : index + 4]]
    return any(low in person_nouns() or low in CREWS for low in later)


def _said_of_patient(sentence: Sentence, index: int, masculine: str) -> bool:
    follows = sentence.next_low(index)
    return follows in _SAID_OF_PATIENT_BEFORE.get(masculine, ())


def _after_break(
    sentence: Sentence, index: int, place: int, kind: str, masculine: str, sex: str
) -> Owner | None:
    """After a comma: an apposition to the patient, or more about the last noun."""
    previous = sentence.tokens[place]
    if kind == "thing":
        return "thing"
    if previous.owner == "patient" and previous.work in ("person", "agrees"):
        return "patient"
    last = _last_noun(sentence, place)
    if last is not None and last.owner == "other" and last.gender == sex:
        head = _named(sentence, sentence.segment(last.segment))
        if head == "other" and _is_first_noun(sentence, last):
            return "other"
        raise CannotRewrite("ambiguous_agreement", sentence.tokens[index].word.text, last.word.text)
    if (
        kind == "person"
        or _said_of_patient(sentence, index, masculine)
        or _by_person(sentence, index)
    ):
        return "patient"
    if last is None:
        return _opening(sentence, index, kind, masculine)
    things = [
        noun.low
        for noun in sentence.tokens[: place + 1]
        if noun.work == "noun" and noun.owner != "patient" and noun.low not in UNITS
    ]
    if all(thing_gender(low) not in (None, sex) for low in things):
        return "patient"
    raise CannotRewrite("ambiguous_agreement", sentence.tokens[index].word.text, last.word.text)


def _after_conjunction(
    sentence: Sentence, index: int, place: int, kind: str, masculine: str, sex: str
) -> Owner | None:
    """After "et": one more word beside the last one that agrees in the same gender."""
    for token in reversed(sentence.tokens[: place + 1]):
        if token.work == "noun" and thing_gender(token.low) in (None, sex):
            break  # it could be said of this thing
        if token.work == "agrees" and token.gender == sex and token.owner:
            if kind == "thing" or (token.owner == "thing" and kind == "person"):
                break
            return token.owner
    return _after_break(sentence, index, place, kind, masculine, sex)


def _last_noun(sentence: Sentence, place: int) -> Token | None:
    for token in reversed(sentence.tokens[: place + 1]):
        if token.work in ("person", "noun") and token.low not in UNITS:
            return token
    return None


def _is_first_noun(sentence: Sentence, noun: Token) -> bool:
    nouns = [
        token
        for token in sentence.segment(noun.segment)
        if token.work in ("person", "noun") and token.low not in UNITS
    ]
    before = [token for token in sentence.tokens if token.word.start < noun.word.start]
    return (
        bool(nouns)
        and nouns[0] is noun
        and not (before and any(token.low in PREPOSITIONS for token in before[-2:]))
    )


def _after_have(sentence: Sentence, place: int) -> Owner | None:
    """A participle after avoir agrees with the object before it ("l'a adressée") alone."""
    if place and sentence.tokens[place - 1].low == "l" and "'" in _quote(sentence.gap(place)):
        return "patient"
    return "thing"


def _quote(gap: str) -> str:
    return gap.replace("\u2019", "'")


def _after_verb(sentence: Sentence, place: int, kind: str) -> Owner | None:
    if kind == "thing":
        return "thing"
    before = sentence.tokens[place - 1] if place else None
    if before is not None and before.low in ("le", "la", "l"):
        return "patient"
    return subject(sentence, place)


def _after_noun(sentence: Sentence, index: int, place: int, kind: str, sex: str) -> Owner | None:
    noun = sentence.tokens[place]
    if noun.low == "fois":
        return "patient"
    if kind == "thing":
        return "thing"
    if noun.owner in ("patient", "other"):
        if noun.owner == "other" and noun.gender not in (None, sex):
            if kind == "person":
                return "patient"
            raise CannotRewrite(
                "ambiguous_agreement", sentence.tokens[index].word.text, noun.word.text
            )
        return noun.owner
    if noun.low in _STATES_OF_THINGS:
        return "thing"
    if kind == "person" and thing_gender(noun.low) in (None, sex):
        word = sentence.tokens[index].word.text
        raise CannotRewrite("ambiguous_agreement", word, noun.word.text)
    return _after_thing(sentence, index, kind)


def _after_thing(sentence: Sentence, index: int, kind: str) -> Owner | None:
    """Right after the noun of a thing: what only a person can be is the patient's."""
    if kind != "person":
        return "thing"
    if any(token.owner == "patient" for token in sentence.tokens[:index]):
        return "patient"
    first = sentence.tokens[0]
    if first.work in ("noun",) and not first.low.isdigit():
        raise CannotRewrite("ambiguous_agreement", sentence.tokens[index].word.text)
    return "patient"


def _after_function(sentence: Sentence, index: int, place: int, kind: str) -> Owner | None:
    """After a determiner or preposition it is a noun or stands before one ("une petite plaie")."""
    previous = sentence.tokens[place]
    if previous.low in ("comme", "que") and kind == "person":
        return "patient"
    if previous.low in ("s", "se"):
        return subject(sentence, place)
    follows = sentence.tokens[index + 1] if index + 1 < len(sentence.tokens) else None
    if kind == "person" and previous.low in ("un", "une", "le", "la", "cet", "cette", "ce"):
        if follows is not None and follows.work == "noun" and sentence.gap(index + 1) == " ":
            return "thing"
        before = sentence.tokens[place - 1] if place else None
        if before is not None and before.work == "be":
            return subject(sentence, place - 1)
        return "thing"
    if previous.low in ("il", "elle") and kind == "person":
        return previous.owner
    return "thing"
