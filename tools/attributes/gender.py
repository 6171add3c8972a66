"""Gender, male or female, as a noun or adjective, a title, a pronoun, or a role of the patient.

Words and their counterparts lie in gender.csv; what only one sex can have, in tools/patients.csv.
"""

import csv
import re
from functools import cache
from importlib.resources import files

from numpy.random import Generator

from evenhand.tools.attributes import Mention, NoValue, attribute
from evenhand.tools.base_text import describe_patient
from evenhand.tools.patients import sex_required

GENDERS = ("male", "female")

_AGE = r"(?:\d{1,3}|six|seven|eight|nine|ten|one|two|three|four|five)"
_OLD = rf"{_AGE}(?:[ -](?:year|yr|month|week|day)s?[ -]?old| ?y/?o)"
_ADJECTIVES = r"(?:[a-z-]+\s){0,2}?"
_NOUN = r"(man|woman|male|female|boy|girl|gentleman|lady)\b(?!['\u2019]s)"
_OWN_NOUNS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"\b{_OLD},?\s{_ADJECTIVES}{_NOUN}",  # a 28-year-old (white) male
        rf"\b(?:I am|I['\u2019]m|patient is|patient,)\s(?:currently\s)?an?\s{_ADJECTIVES}{_NOUN}",
        rf"(?:^|[.?!]\s)An?\s{_ADJECTIVES}{_NOUN}",  # A woman who lives in
        r"\b(male|female)\s(?:\w+\s)?patient\b",
    )
)
_LETTER = re.compile(rf"(?<=\d)\s?/?\s?([MF])\b|\b{_AGE} ?y/?o ([MF])\b")
_TITLE = re.compile(r"\b(Mr|Ms|Mrs|Miss)\b(?=\.?\s[A-Z])")
_PRONOUN = re.compile(r"\b(he|she|him|her|his|hers|himself|herself)\b", re.IGNORECASE)
_KIN = (
    r"son|daughter|father|mother|dad|mum|mom|brother|sister|nephew|niece|uncle|aunt|grandfather"
    r"|grandmother|grandson|granddaughter|husband|wife"
)
_MY_KIN = re.compile(rf"\b(?:my|our)\s(?:(?:{_OLD}|[a-z]+)\s){{0,3}}?({_KIN})\b", re.IGNORECASE)
_SPEAKER_IS_PATIENT = re.compile(
    r"\b(?:I am|I['\u2019]m|I was|I have(?! a (?:son|daughter|brother|sister))|I feel|I had"
    r"|I recently|I bought|I usually"
    r"|my (?:legs|head|chest|back|stomach|skin|eyes|feet|arm|leg|throat))\b",
    re.IGNORECASE,
)
_TREATS = re.compile(r"\b(?:worker assessing|worker and I am|assessing|seeing|treating|my wards)\b")
_RELATIVE_FIRST = re.compile(
    rf"^(?:(?:his|her|the patient['\u2019]s|my)\s)(?:\w+\s)?({_KIN})\b(.*)$", re.IGNORECASE
)
_REPORTS = re.compile(
    r"\b(?:reports?|says?|said|states?|notices?|noticed|mentions?|brought|brings|thinks?|describes?"
    r"|is worried|found|confirms?)\b"
)
_SENTENCE = re.compile(r"[^.?!]+(?:[.?!]+|$)")
_AFTER_OBJECT = re.compile(
    r"\s*(?:[.,;:?!)]|$|(?:to|in|on|at|for|with|by|from|and|or|but|because|when|if|that|after"
    r"|before|as|than|the|a|an|was|is|are|were|has|had|about|into|up|down|out|off|over|while"
    r"|since|until|so|during|again|today|yesterday|now|home|feel|feeling)\b)",
    re.IGNORECASE,
)


@attribute
class Gender:
    """The patient's gender."""

    name = "gender"
    predicate = "has_gender"

    def find(self, text: str) -> list[Mention]:
        """Return the words that give the patient's gender; relatives and staff keep theirs."""
        spans = _nouns(text) or _kin_patient(text)
        gender = _gender_of(text, spans[0]) if spans else None
        pronouns = [] if _patient_speaks(text) else _own_pronouns(text)
        if gender is None and pronouns:
            gender = _gender_of(text, pronouns[0])
        own = sorted({*spans, *pronouns})
        return [
            Mention(start, end, gender)
            for start, end in own
            if gender and _gender_of(text, (start, end)) == gender
        ]

    def value(self, text: str) -> str | None:
        """Return "male" or "female"; None where the text states neither."""
        mentions = self.find(text)
        return mentions[0].value if mentions else None

    def draw(self, text: str, rng: Generator) -> str:
        """Return the other gender; either, where the text states none.

        Raises:
            NoValue: The text says of the patient what only one sex can have.
        """
        now = self.value(text)
        required = sex_required(text)
        others = [gender for gender in GENDERS if gender != now]
        fitting = [gender for gender in others if required is None or gender == required[0]]
        if not fitting:
            raise NoValue(f"{required[1] if required else now!r} in a {others[0]} patient")
        return fitting[int(rng.integers(len(fitting)))]

    def replace(self, text: str, after: str) -> str:
        """Return the text with the patient's gender words changed; "her" becomes him or his.

        Raises:
            ValueError: `after` is neither "male" nor "female".
        """
        if after not in GENDERS:
            raise ValueError(f"a gender is one of {', '.join(GENDERS)}; got {after!r}")
        for mention in reversed(self.find(text)):
            word = text[mention.start : mention.end]
            if mention.value != after:
                new = _counterpart(word, after, text[mention.end :])
                text = text[: mention.start] + new + text[mention.end :]
        return text

    def words(self, value: str) -> str:
        """Return the gender as it stands before "patient"."""
        return value

    def insert(self, text: str, value: str) -> str:
        """Return the text about "A female patient".

        Raises:
            NoValue: A gender is stated, or the text does not open with the patient.
        """
        added = None if self.find(text) else describe_patient(text, self.words(value), "last")
        if added is None:
            raise NoValue("no place for a gender")
        return added


@cache
def _pairs() -> tuple[tuple[str, str, str], ...]:
    """Read gender.csv, once: (male word, female word, kind)."""
    text = (files("evenhand.tools.attributes") / "gender.csv").read_text("utf-8")
    return tuple(
        (row["male"], row["female"], row["kind"]) for row in csv.DictReader(text.splitlines())
    )


@cache
def _genders() -> dict[str, str]:
    male = {pair[0].lower(): "male" for pair in _pairs()}
    return male | {pair[1].lower(): "female" for pair in _pairs()}


Span = tuple[int, int]


def _gender_of(text: str, span: Span) -> str:
    return _genders()[text[span[0] : span[1]].lower()]


def _nouns(text: str) -> list[Span]:
    found = {match.span(1) for form in _OWN_NOUNS for match in form.finditer(text)}
    found |= {match.span(1) for match in _TITLE.finditer(text)}
    found |= {match.span(match.lastindex or 0) for match in _LETTER.finditer(text)}
    return sorted(found)


def _kin_patient(text: str) -> list[Span]:
    """Return the speaker's relative where that is the patient: "My daughter drank raw milk"."""
    match = _MY_KIN.search(text)
    if not match:
        return []
    speaker = _SPEAKER_IS_PATIENT.search(text)
    if speaker and speaker.start() < match.start():
        return []
    same = match[1].lower()
    return [each.span(1) for each in _MY_KIN.finditer(text) if each[1].lower() == same]


def _patient_speaks(text: str) -> bool:
    """Tell whether the patient is "I": then he and she are other people."""
    speaks = _SPEAKER_IS_PATIENT.search(text)
    return bool(speaks) and not _TREATS.search(text) and not _kin_patient(text)


def _own_pronouns(text: str) -> list[Span]:
    """Return he and she where they mean the patient, not the relative a sentence is about."""
    spans = list[Span]()
    for sentence in _SENTENCE.finditer(text):
        found = list(_PRONOUN.finditer(text, *sentence.span()))
        start = len(sentence[0]) - len(sentence[0].lstrip()) + sentence.start()
        relative = _RELATIVE_FIRST.match(text[start : sentence.end()])
        if relative and not _REPORTS.search(relative[2]):
            gender = _genders()[relative[1].lower()]
            kin_at = start + relative.start(1)
            found = [
                each
                for each in found
                if each.start() < kin_at or _genders()[each[0].lower()] != gender
            ]
        spans += [each.span() for each in found]
    return spans


def _counterpart(word: str, after: str, rest: str) -> str:
    """Return the word of the other gender, with the same capitals."""
    key = word.lower()
    if key == "her":
        new = "him" if _AFTER_OBJECT.match(rest) else "his"
    elif key == "his":
        new = "hers" if re.match(r"\s*(?:[.,;:?!)]|$)", rest) else "her"
    else:
        new = _counterparts(after)[key]
    if len(word) > 1 and word.isupper():
        return new.upper()
    return new[:1].upper() + new[1:] if word[0].isupper() else new


@cache
def _counterparts(after: str) -> dict[str, str]:
    """Return word -> the word of gender `after`; of several, the first in gender.csv."""
    table = dict[str, str]()
    for male, female, _ in _pairs():
        source, target = (female, male) if after == "male" else (male, female)
        table.setdefault(source.lower(), target)
    return table
