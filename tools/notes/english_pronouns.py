"""Who a pronoun means, in English: the patient, another person, or it cannot be told.

Only a person of the pronoun's own sex, or of unknown sex, can take it from the patient. The rules
follow the ways in which notes speak: "brought by his brother because he ..." is the patient, "his
brother called; he says ..." cannot be told.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evenhand.tools.notes.edits import CannotRewrite
from evenhand.tools.notes.english_words import is_object
from evenhand.tools.notes.words import Word

Role = Literal["relative", "spouse", "stranger", "staff"]

_STAFF = (
    r"(?:dr|doctor|physician|nurse|gp|pcp|cardiologist|surgeon|neurologist|paramedics?|medic"
    r"|therapist|dentist|pediatrician|specialist|psychiatrist)"
)
_NEUTRAL = re.compile(
    rf"\b(?:{_STAFF}|partner|spouse|neighbou?r|friend|roommate|flatmate|housemate|cousin|colleague"
    r"|co-?worker|boss|caregiver|carer|teacher|parent|sibling|witness|bystander|driver)\b",
    re.IGNORECASE,
)
_SAYS = (
    r"(?:reports?|reported|says?|said|states?|stated|notes?|noted|notice[sd]?|mentions?|mentioned"
    r"|thinks?|thought|describes?|described|believes?|confirms?|confirmed|claims?|tells?|told"
    r"|denie[sd]|feels|felt|adds?|added|recalls?|complains?|complained|insists?|explains?|informs?"
    r"|worrie[sd]|insisted)"
)
_ACTS = (
    r"(?:called|calls|dialled|phoned|brought|drove|found|helped|tried|started|performed|gave|thinks"
    r"|also|witnessed|heard|saw|held|took|ran|carried|lives|works)"
)
_STAFF_ACTS = (
    r"(?:recommend\w*|advise[sd]?|prescribe[sd]?|order(?:ed|s)|refer(?:red|s)|examine[sd]?"
    r"|suggest\w*|told|asked|increased|diagnosed|performed|reviewed|wrote|called)"
)
_CALLER = re.compile(rf"\s+(?:also\s+|then\s+|has\s+|had\s+)?(?:{_SAYS}|{_ACTS})\b", re.IGNORECASE)
_STAFF_VERB = re.compile(rf"\s+(?:also\s+|then\s+|has\s+|had\s+)?{_STAFF_ACTS}\b", re.IGNORECASE)
_SAW = re.compile(
    r"\s+(?:also\s+|then\s+|has\s+|had\s+)?(?:notice[sd]?|found|finds|called|calls|heard"
    r"|saw|witnessed"
    r"|brought|drove|thinks|gave|gives|helped|tried|told|is concerned|is worried|was worried)\b",
    re.IGNORECASE,
)
_HISTORY = re.compile(
    r"(?:'s)?\s+(?:also\s+)?(?:has|had|have|died|with|suffers|was diagnosed|takes"
    r"|is (?:alive|healthy|well))\b"
)
_DIED = re.compile(r"\s+(?:also\s+)?(?:died|passed|was \d+|is (?:dead|deceased|alive|healthy))\b")
_WORRIED = re.compile(
    r"\s+(?:is|was|has been|are)\s+(?:very\s+|quite\s+|so\s+)?(?:worried|concerned|afraid|unsure"
    r"|not sure|certain|anxious|scared|upset|not aware)\b",
    re.IGNORECASE,
)
_FOR_PATIENT = re.compile(
    r"\s+(?:POA|HCP|DPOA|proxy|health care proxy|healthcare proxy|power of attorney"
    r"|emergency contact"
    r"|caregiver|caretaker|guardian|carer)\b",
    re.IGNORECASE,
)
_ACTS_ON = re.compile(
    r"[^.,;:]*\b(?:him\b|her\b(?=\s*(?:[.,;:]|$|(?:for|to|in|on|at|with|up|out|from|and|by)\b)))",
    re.IGNORECASE,
)
_KIN_NEXT = re.compile(
    r"\s+(?:[\w-]+\s)?(?:mother|father|brothers?|sisters?|sons?|daughters?|wife|husband|mom|mum|dad"
    r"|uncle|aunt|grandmother|grandfather|nephew|niece|parents|partner|girlfriend|boyfriend|family"
    r"|cousin|fiancée?|stepfather|stepmother)\b(?!['\u2019]s)",
    re.IGNORECASE,
)
_BY = re.compile(
    r"\b(?:by|with|to|from|for|per|of|and|via|against|saw|visited|called|told|helping|including"
    r"|caring for|than)\s+(?:(?:his|her|the|an?|their|both)\s+)?(?:[\w-]+\s+){0,2}$",
    re.IGNORECASE,
)
_CONNECTIVE = re.compile(
    r"\b(?:because|after|when|as|for|since|and|while|where|but|until|before|so|if|although|though"
    r"|with|due|following|once|then)\b|[,:(\u2013\u2014]",
    re.IGNORECASE,
)
_WHO = re.compile(r"^\s*(?:\([^)]*\))?,?\s*(?:who|that)\b", re.IGNORECASE)
_SAYS_WORD = re.compile(rf"\b{_SAYS}\b(?:\s+that)?\s*(?:[\w\s,]*)$", re.IGNORECASE)
_RIGHT_AFTER_SAYS = re.compile(
    rf"\b{_SAYS}\b(?:\s+(?:that|how|when|EMS|staff|us|the\s\w+)){{0,2}}\s*$", re.IGNORECASE
)


@dataclass(frozen=True)
class Person:
    """Someone other than the patient; gender None where the word does not tell."""

    word: Word
    gender: str | None
    role: Role


@dataclass(frozen=True)
class Reading:
    """A pronoun and what stands around it."""

    text: str
    words: Sequence[Word]
    pronoun: Word
    people: Sequence[Person]
    mentions: Sequence[Word]
    """Where the patient is named, or a pronoun already resolved."""

    def start_of_sentence(self) -> int:
        """Return where the pronoun's sentence begins."""
        number = self.pronoun.sentence
        return next(word.start for word in self.words if word.sentence == number)

    def others(self, sentence: int, gender: str) -> list[Person]:
        """Return the other people of that sex named before the pronoun in one sentence."""
        return [
            person
            for person in self.people
            if person.gender == gender
            and person.word.sentence == sentence
            and person.word.start < self.pronoun.start
        ]

    def mentioned_before(self) -> bool:
        """Whether the patient is named in this sentence before the pronoun."""
        return any(
            word.sentence == self.pronoun.sentence and word.start < self.pronoun.start
            for word in self.mentions
        )

    def between(self, person: Person) -> str:
        """Return the text from a person to the pronoun."""
        return self.text[person.word.end : self.pronoun.start]

    def rest(self) -> str:
        """Return what follows the pronoun."""
        return self.text[self.pronoun.end : self.pronoun.end + 120]


_MALE = ("he", "him", "his", "himself")


def referent(reading: Reading) -> Literal["patient", "other"]:
    """Return who the pronoun means.

    Raises:
        CannotRewrite: It could be another person of the same sex.
    """
    word = reading.pronoun
    gender = "male" if word.low in _MALE else "female"
    here = reading.others(word.sentence, gender)
    if here:
        return _after_person(reading, here[-1])
    if reading.mentioned_before():
        return _after_neutral(reading)
    earlier = reading.others(word.sentence - 1, gender)
    if earlier:
        return _after_sentence(reading, earlier[-1])
    return _after_neutral(reading)


def _unclear(reading: Reading, person: str) -> CannotRewrite:
    return CannotRewrite("ambiguous_pronoun", f"{reading.pronoun.text} ({person})")


def _is_oblique(reading: Reading, person: Person) -> bool:
    return bool(_BY.search(reading.text[max(0, person.word.start - 40) : person.word.start]))


def _after_person(reading: Reading, person: Person) -> Literal["patient", "other"]:
    """A person of the same sex stands before the pronoun in its sentence."""
    word, between, rest = reading.pronoun, reading.between(person), reading.rest()
    low = word.low
    relative = person.role in ("relative", "spouse")
    if low in ("his", "her") and _KIN_NEXT.match(rest) and relative:
        return "patient"
    if low in ("he", "she") and _WORRIED.match(rest):
        raise _unclear(reading, person.word.text)
    if _RIGHT_AFTER_SAYS.search(between):
        # "his father says he fed him": he and him are two people, and either may be the patient.
        if low in ("he", "she") and _ACTS_ON.match(rest):
            raise _unclear(reading, person.word.text)
        return "patient"
    if low in ("his", "her") and _FOR_PATIENT.match(rest) and relative:
        return "patient"
    object_here = low == "him" or (low == "her" and is_object(reading.text, word))
    oblique = _is_oblique(reading, person)
    if oblique and not _WHO.match(between):
        return _after_oblique(reading, person)
    if object_here:
        return "patient"
    said = any(
        mention.start > person.word.end and mention.start < word.start
        for mention in reading.mentions
    )
    if said and low not in ("himself", "herself"):
        return "patient"
    raise _unclear(reading, person.word.text)


def _after_oblique(reading: Reading, person: Person) -> Literal["patient", "other"]:
    between, low = reading.between(person), reading.pronoun.low
    if _CONNECTIVE.search(between) or low in ("him", "his"):
        if low in ("he", "she") and _CALLER.match(reading.rest()) and person.role == "stranger":
            raise _unclear(reading, person.word.text)
        return "patient"
    if reading.mentioned_before():
        return "patient"
    raise _unclear(reading, person.word.text)


def _after_sentence(reading: Reading, person: Person) -> Literal["patient", "other"]:
    """A person of the same sex stands in the sentence before, and none in this one."""
    rest, low = reading.rest(), reading.pronoun.low
    if low in ("he", "she") and _DIED.match(rest):
        raise _unclear(reading, person.word.text)
    if (
        low in ("he", "she")
        and _HISTORY.match(reading.text, person.word.end)
        and not _SAW.match(rest)
    ):
        return "patient"
    if _is_oblique(reading, person) and person.role != "stranger":
        if low in ("he", "she") and (re.match(r"\s+also\b", rest) or _SAW.match(rest)):
            raise _unclear(reading, person.word.text)
        return "patient"
    if low in ("he", "she") and _CALLER.match(rest):
        raise _unclear(reading, person.word.text)
    if low in ("his", "her") and person.role == "stranger":
        raise _unclear(reading, person.word.text)
    return "patient"


def _after_neutral(reading: Reading) -> Literal["patient", "other"]:
    """Someone of unknown sex may have spoken or acted."""
    rest = reading.rest()
    if reading.pronoun.low not in ("he", "she"):
        return "patient"
    first = reading.start_of_sentence()
    if reading.mentioned_before():
        return "patient"
    previous = [word for word in reading.words if word.sentence == reading.pronoun.sentence - 1]
    if reading.pronoun.start == first and previous:
        opening = reading.text[previous[0].start : previous[-1].end][:40]
        subject = _NEUTRAL.search(opening)
        if (
            subject
            and subject.start() < 25
            and not re.search(r"\bby\b", opening[: subject.start()])
        ):
            staff = re.fullmatch(_STAFF, subject[0], re.IGNORECASE)
            verb = _STAFF_VERB if staff else _CALLER
            if verb.match(rest):
                raise _unclear(reading, subject[0])
    return "patient"
