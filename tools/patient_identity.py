"""Who the patient of a clinical text is: age, sex, and the relative whom a question is about."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from evenhand.tools.phrases import alternatives, pattern, whole_words

_SMALL = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    "nineteen",
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


@dataclass(frozen=True)
class Statement:
    """What a text states of the patient or a relative, and where."""

    start: int
    subject: str
    predicate: str
    object: str


@dataclass(frozen=True)
class Patient:
    """The patient: the relative who is ill in a person's own question, and the sex if told."""

    relative: str | None
    sex: str | None

    @property
    def other_pronouns(self) -> str | None:
        """Pronouns of the other sex: they are somebody else's."""
        return {"female": "he|his|him", "male": "she|her|hers"}.get(self.sex or "")


def patient_relative(text: str) -> str | None:
    """The relative who is the patient of a person's own question, None where it is the speaker."""
    if re.search(r"\bpatient\b", text, re.I) or pattern("somebody_else").search(text):
        return None
    mine = re.search(rf"\bmy (?:[\w-]+ ){{0,5}}?(?P<who>{alternatives('relatives')})\b", text, re.I)
    speaker = pattern("first_person").search(text)
    if mine is None or (speaker and speaker.start() < mine.start()):
        return None
    return mine["who"].lower()


def read_age(text: str) -> Iterator[Statement]:
    """Read the patient's age, not that of a relative or of a newborn's mother."""
    for match in pattern("age").finditer(text):
        before = text[max(0, match.start() - 25) : match.start()]
        of_relative = re.search(
            r"\b(?:father|mother|brother|sister|husband|wife)\b(?:\W+\w+){0,2}\W*$", before
        )
        mother = re.search(
            r"\b(?:newborn|neonate|infant|baby)\b[^.]*\bto an? $", text[: match.start()]
        )
        if mother:
            continue
        if of_relative and not re.match(r"\W*(?:son|daughter|child|infant)\b", text[match.end() :]):
            continue
        number = match["aged"] or match["short"] or _digits(match["n"])
        unit = (match["unit"] or "years").lower()
        months = unit[0] in "mwd"
        unit = unit.rstrip("s") + ("" if number == "1" else "s")
        yield Statement(
            match.start(), "patient", "has_age", f"{number} {unit}" if months else number
        )
        return


def _digits(word: str) -> str:
    if word.isdigit():
        return word
    first, *rest = re.split(r"[- ]", word.lower())
    if first in _SMALL:
        return str(_SMALL.index(first))
    return str(10 * (_TENS.index(first) + 2) + (_SMALL.index(rest[0]) if rest else 0))


def read_gender(text: str, relative: str | None) -> Iterator[Statement]:
    """By the noun beside the age, the patient's own noun, else by pronouns of one gender alone."""
    age = pattern("age").search(text)
    if age and age["short"]:
        yield Statement(
            age.end(), "patient", "has_gender", "male" if age.group()[-1] == "M" else "female"
        )
        return
    if age:
        near = text[age.end() : age.end() + 45].split(".")[0]
        before = text[max(0, age.start() - 30) : age.start()]
        for window, offset in ((near, age.end()), (before, max(0, age.start() - 30))):
            if noun := _gender_noun(window, offset):
                yield noun
                return
    else:
        noun = _gender_noun(text[:80], 0) if relative is None else None
        if noun and not re.search(
            r"\b(?:mother|father|brother|sister|son|daughter|wife|husband)\b", text[:80], re.I
        ):
            yield noun
            return
    if relative and (noun := _gender_noun(relative, text.lower().find(relative))):
        yield noun
        return
    if pattern("about_no_patient").search(text):
        return
    pronouns = [
        (m.start(), m.group().lower())
        for m in re.finditer(r"\b(?:he|she|his|her|him|hers)\b", text, re.I)
    ]
    sexes = {"male" if word.startswith("hi") or word == "he" else "female" for _, word in pronouns}
    if len(sexes) == 1:
        yield Statement(pronouns[0][0], "patient", "has_gender", sexes.pop())


def _gender_noun(window: str, offset: int) -> Statement | None:
    female, male = whole_words("female").search(window), whole_words("male").search(window)
    first = min((m for m in (female, male) if m), key=lambda m: m.start(), default=None)
    if first is None:
        return None
    return Statement(
        offset + first.start(), "patient", "has_gender", "female" if first is female else "male"
    )
