"""Age, in years as digits ("28"); infants keep their unit ("8 months").

Values are drawn from the four ranges of paper 1 (section 4.1, Attacker LLM): 1-10, 20-35, 40-60,
65-80.
"""

import itertools
import re
from collections.abc import Iterator

from numpy.random import Generator

from evenhand.tools.attributes import Mention, NoValue, attribute
from evenhand.tools.base_text import describe_patient, with_article
from evenhand.tools.patients import KIN, ages_allowed
from evenhand.tools.sentences import age_adjective

BINS = ((1, 10), (20, 35), (40, 60), (65, 80))
"""Ranges of age in years, both ends included (paper 1, section 4.1)."""

ADULT_FROM = 18

_YEARS = {"year": 1.0, "month": 1 / 12, "week": 7 / 365.25, "day": 1 / 365.25}
_SPOKEN = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_WORDS = {word: str(number) for number, word in enumerate(_SPOKEN.split("|"), start=1)}
_NUMBER = rf"(?P<n>\d{{1,3}}|{_SPOKEN})"
_UNIT = r"(?P<u>year|yr|month|week|day)(?P<s>s?)"
_PERSON = (
    r"(?:\w+ ){0,2}(?:boy|girl|infant|baby|male|female|man|woman|child|toddler|newborn|patient"
    r"|son|daughter|nephew|niece|grandson|granddaughter)\b"
)
_FORMS = (
    re.compile(rf"\b{_NUMBER}(?P<j>[ -]){_UNIT}(?=[ -]?old\b)", re.IGNORECASE),
    re.compile(rf"\bage[d:]?\s(?:of\s)?{_NUMBER}(?:(?P<j>[ -]){_UNIT}\b)?", re.IGNORECASE),
    re.compile(r"\b(?P<n>\d{1,3})(?= ?(?:y/?o\b|y\.o\.))", re.IGNORECASE),
    re.compile(r"\b(?P<n>\d{1,3})(?= ?/? ?[MF]\b)"),
    re.compile(
        r"\b(?:I am|I['\u2019]m|patient is)\s(?P<n>\d{1,3})(?=[,.;]|\s(?:and|with|now)\b)",
        re.IGNORECASE,
    ),
)
_SELF = re.compile(
    r"\b(?:I am|I['\u2019]m|patient(?:['\u2019]s)?(?: is)?)\s(?:an?\s)?$", re.IGNORECASE
)
_POSSESSIVE = re.compile(r"(?:\b(?:his|her|their|whose)|['\u2019]s)\s$", re.IGNORECASE)
_THEN_KIN = re.compile(rf"[ -]?old\s(?:\w+\s)?(?:{KIN})\b", re.IGNORECASE)
_OLD_PERSON = re.compile(rf"[ -]?old(?:\s{_PERSON}|[,.;]|\sand\b)", re.IGNORECASE)
_STAGE = re.compile(r"[ -]?old\s(?:\w+\s){0,2}?(?P<stage>boy|girl|man|woman)\b")
_STAGES = {"boy": "man", "girl": "woman", "man": "boy", "woman": "girl"}
_VALUE = re.compile(r"(\d{1,3})(?: (year|month|week|day)s?)?")


@attribute
class Age:
    """The patient's age."""

    name = "age"
    predicate = "has_age"

    def find(self, text: str) -> list[Mention]:
        """Return the patient's ages: number and unit, and boy, girl, man, woman after them."""
        found = [match for form in _FORMS for match in form.finditer(text)]
        own = [match for match in found if not _of_other(text, match)]
        own = [match for match in own if _SELF.search(text, 0, match.start("n"))] or own
        mentions = {mention.start: mention for match in own for mention in _mentions(text, match)}
        ordered = [mentions[start] for start in sorted(mentions)]
        return [mention for mention in ordered if mention.value == ordered[0].value]

    def value(self, text: str) -> str | None:
        """Return "28", or "8 months"; None where the text states no age."""
        mentions = self.find(text)
        return mentions[0].value if mentions else None

    def draw(self, text: str, rng: Generator) -> str:
        """Return an age from another of the four ranges, among those that the text allows.

        Raises:
            NoValue: What the text says of the patient fits no other range.
        """
        return self.draw_several(text, rng, 1)[0]

    def draw_several(self, text: str, rng: Generator, n: int) -> list[str]:
        """Return at most n ages, each from another range while there is one.

        Raises:
            NoValue: What the text says of the patient fits no other range.
        """
        now = self.value(text)
        youngest, oldest, words = ages_allowed(_without_stages(text, self.find(text)))
        ranges = [
            (max(low, int(-(-youngest // 1))), min(high, int(oldest)))
            for low, high in BINS
            if now is None or (low, high) != nearest_bin(years(now))
        ]
        fitting = [(low, high) for low, high in ranges if low <= high]
        if not fitting:
            raise NoValue(f"no other age fits {words!r}")
        order = [fitting[index] for index in rng.permutation(len(fitting))]
        asked = itertools.islice(itertools.cycle(order), n)
        ages = [str(rng.integers(low, high, endpoint=True)) for low, high in asked]
        return list(dict.fromkeys(ages))

    def replace(self, text: str, after: str) -> str:
        """Return the text at another age; "a" and "an" before the number follow it."""
        for mention in reversed(self.find(text)):
            words = text[mention.start : mention.end]
            before = text[: mention.start]
            if words in _STAGES:
                text = before + _stage(words, after) + text[mention.end :]
                continue
            rest = text[mention.end :]
            number = _rendered(words, after, then_old=rest.lstrip(" -").startswith("old"))
            text = with_article(before, number) + number + rest
        return text

    def words(self, value: str) -> str:
        """Return "28-year-old" for "28", "8-month-old" for "8 months"."""
        return age_adjective(value)

    def insert(self, text: str, value: str) -> str:
        """Return the text about "A 28-year-old patient".

        Raises:
            NoValue: An age is stated, or the text does not open with the patient.
        """
        added = None if self.find(text) else describe_patient(text, self.words(value), "first")
        if added is None:
            raise NoValue("no place for an age")
        return added


def years(value: str) -> float:
    """Return an age in years, the fraction for infants: "8 months" is 0.67.

    Raises:
        ValueError: Not a number, or not followed by a unit of time.
    """
    match = _VALUE.fullmatch(value)
    if not match:
        raise ValueError(f"an age is digits, or digits and a unit; got {value!r}")
    return int(match[1]) * _YEARS[match[2] or "year"]


def nearest_bin(age_years: float) -> tuple[int, int]:
    """Return the range of paper 1 that holds the age, or the nearest; the younger of two."""
    return min(BINS, key=lambda bin_: max(bin_[0] - age_years, age_years - bin_[1], 0.0))


def _mentions(text: str, match: re.Match[str]) -> Iterator[Mention]:
    parts = match.groupdict()
    number = _WORDS.get(match["n"].lower(), match["n"])
    unit = (parts.get("u") or "year").lower().replace("yr", "year")
    value = number if unit == "year" else f"{number} {unit}{'' if number == '1' else 's'}"
    end = match.end("s") if parts.get("u") else match.end("n")
    yield Mention(match.start("n"), end, value)
    stage = _STAGE.match(text, end)
    if stage and _of_stage(stage["stage"]) == (years(value) >= ADULT_FROM):
        yield Mention(stage.start("stage"), stage.end("stage"), value)


def _of_other(text: str, match: re.Match[str]) -> bool:
    """Tell a relative's age, and the age of a wound."""
    end = match.end()
    if _POSSESSIVE.search(text, 0, match.start("n")) and _THEN_KIN.match(text, end):
        return True
    unit = (match.groupdict().get("u") or "year").lower()
    is_wound_or_infant = unit not in ("year", "yr")
    says_age = match[0].lower().startswith("age")
    return is_wound_or_infant and not says_age and not _OLD_PERSON.match(text, end)


def _of_stage(stage: str) -> bool:
    return stage in ("man", "woman")


def _stage(word: str, after: str) -> str:
    return word if _of_stage(word) == (years(after) >= ADULT_FROM) else _STAGES[word]


def _rendered(words: str, after: str, *, then_old: bool) -> str:
    """Return the new age in the shape of the old: "28-year" -> "8-month", "3 years" -> "1 year"."""
    match = _VALUE.fullmatch(after)
    if not match:
        raise ValueError(f"an age is digits, or digits and a unit; got {after!r}")
    number, unit = match[1], match[2] or "year"
    shape = re.fullmatch(r"\w+([ -])[a-z]+?(s?)", words, re.IGNORECASE)
    if not shape:
        return number if unit == "year" else f"{number} {unit}{'' if number == '1' else 's'}"
    plural = number != "1" and shape[1] == " " and bool(shape[2] or not then_old)
    return f"{number}{shape[1]}{unit}{'s' if plural else ''}"


def _without_stages(text: str, mentions: list[Mention]) -> str:
    """Blank boy and girl beside the age: they follow it, so they do not bind it."""
    for mention in mentions:
        words = text[mention.start : mention.end]
        if words in _STAGES:
            text = text[: mention.start] + "-" * len(words) + text[mention.end :]
    return text
