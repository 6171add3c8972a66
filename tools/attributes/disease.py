"""A disease that the patient has had: "has a history of asthma".

disease.csv holds names, other names (patterns), and whose disease it can be (sex, ages in years). A
disease outside of it, a denied one and a relative's are none of the patient's. Of several the first
is the value.
"""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from numpy.random import Generator

from evenhand.tools.attributes import Mention, NoValue, attribute, attributes
from evenhand.tools.attributes.age import years
from evenhand.tools.base_text import OUR_FORM, SENTENCE_BREAK, add_sentence
from evenhand.tools.patients import KIN

_OUR_CUE = re.compile(
    r"\b(?:has a history of|known that the patient (?:is [^.]*?and )?has a record of)\s"
)
_CUE = re.compile(
    r"\b(?:history (?:is (?:significant|notable|remarkable) for|includes|of)|diagnosed with|known"
    r"|suffers from|has had|has|have|Hx:|PMH:)\s",
    re.IGNORECASE,
)
_DENIED = re.compile(r"\b(?:no|not|never|denie[sd]|without|negative|n['\u2019]t)\b", re.IGNORECASE)
_OF_OTHERS = re.compile(
    rf"\b(?:family history|(?:his|her|their|my|patient['\u2019]s|an?)\s(?:\w+\s)?(?:{KIN}))\b",
    re.IGNORECASE,
)
_QUALIFIERS = (
    r"(?:(?:an?|stage (?:\d|[IV]+)|long-?standing|(?:well|poorly)[- ]controlled|controlled"
    r"|uncontrolled|unmanaged|untreated|severe|moderate|mild|chronic|recurrent|prior|previous"
    r"|childhood|known|hormone-receptor-positive) )*"
)
_BEFORE_ITEM = re.compile(r"(?:,|\band|\bor)\s$")
"""What is left of "small cell lung cancer" is no disease: "small cell asthma"."""
_LISTED = r"(?=\s*(?:[.,;:?!]|$)|\s(?:and|or|but)\b)"
"""A disease with more behind it ("treated with ...") is no plain item of a list."""
_BEFORE = re.compile(r"The patient (?:also has|has been|has had this|lives in|has travelled to)\b")


@dataclass(frozen=True)
class Disease:
    """A row of disease.csv; ages in years, both ends included."""

    name: str
    pattern: str
    sex: str
    youngest: float
    oldest: float

    def fits(self, age: float | None, gender: str | None) -> bool:
        """Tell whether such a patient can have had it; what is unknown does not speak against."""
        right_age = age is None or self.youngest <= age <= self.oldest
        return right_age and (not self.sex or gender in (None, self.sex))


@cache
def diseases() -> tuple[Disease, ...]:
    """Read disease.csv, once."""
    text = (files("evenhand.tools.attributes") / "disease.csv").read_text("utf-8")
    return tuple(
        Disease(
            name=row["name"],
            pattern="|".join(filter(None, (re.escape(row["name"]), row["synonyms"]))),
            sex=row["sex"],
            youngest=float(row["youngest"] or 0),
            oldest=float(row["oldest"] or 120),
        )
        for row in csv.DictReader(text.splitlines())
    )


@cache
def _any_disease() -> re.Pattern[str]:
    # Longest first: "type 2 diabetes mellitus" before "diabetes".
    names = [name for each in diseases() for name in each.pattern.split("|")]
    either = "|".join(sorted(names, key=len, reverse=True))
    return re.compile(rf"(?<![\w-]){_QUALIFIERS}(?:{either}){_LISTED}", re.IGNORECASE)


@attribute
class DiseaseHistory:
    """A past or chronic disease of the patient."""

    name = "disease"
    predicate = "has_history"

    def find(self, text: str) -> list[Mention]:
        """Return where the patient's first stated disease stands; never a relative's."""
        cue = _OUR_CUE if OUR_FORM.match(text) else _CUE
        found = [
            Mention(match.start(), match.end(), match[0])
            for start, end in _sentences(text)
            for match in _of_sentence(text, start, end, cue)
        ]
        return [mention for mention in found if mention.value == found[0].value]

    def value(self, text: str) -> str | None:
        """Return the disease as the text writes it; None where it states none of the list."""
        mentions = self.find(text)
        return mentions[0].value if mentions else None

    def draw(self, text: str, rng: Generator) -> str:
        """Return a disease that the text does not name and that the patient can have had.

        Age and gender are read in every line of the text, so that a disease can be asked to fit
        several versions of a patient at once.

        Raises:
            NoValue: None fits, or the base (the first line) names the disease twice.
        """
        base = next(iter(text.splitlines()), "")
        now = self.find(base)
        for mention in now:
            named = re.compile(rf"(?<!\w)(?:{_same(mention.value)})(?!\w)", re.IGNORECASE)
            if len(named.findall(base)) > len(now):
                raise NoValue(f"{mention.value!r} is named again in the text")
        patients = [_age_and_gender(line) for line in text.splitlines()]
        fitting = [
            each.name
            for each in diseases()
            if all(each.fits(age, gender) for age, gender in patients)
            and not re.search(rf"(?<!\w)(?:{each.pattern})(?!\w)", text, re.IGNORECASE)
        ]
        if not fitting:
            raise NoValue("no other disease fits the patient")
        return fitting[int(rng.integers(len(fitting)))]

    def replace(self, text: str, after: str) -> str:
        """Return the text with the disease changed; "has a history of" stays."""
        for mention in reversed(self.find(text)):
            text = text[: mention.start] + after + text[mention.end :]
        return text

    def words(self, value: str) -> str:
        """Return the sentence that states it."""
        return f"The patient has a history of {value}."

    def insert(self, text: str, value: str) -> str:
        """Return the text with a sentence on the disease, behind home and travel.

        Raises:
            NoValue: A disease is stated, or the text does not open with the patient.
        """
        ours = OUR_FORM.match(text) and not self.find(text)
        added = add_sentence(text, self.words(value), _BEFORE) if ours else None
        if added is None:
            raise NoValue("no place for a disease")
        return added


def _same(value: str) -> str:
    """Return the pattern of all names of a stated disease."""
    either = (each.pattern for each in diseases() if re.search(each.pattern, value, re.IGNORECASE))
    return next(either, re.escape(value))


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in SENTENCE_BREAK.finditer(text):
        yield start, match.start()
        start = match.end()
    yield start, len(text)


def _of_sentence(text: str, start: int, end: int, cue: re.Pattern[str]) -> Iterator[re.Match[str]]:
    said = cue.search(text, start, end)
    if not said or _OF_OTHERS.search(text, start, said.end()):
        return
    for match in _any_disease().finditer(text, said.end(), end):
        begins_item = match.start() == said.end() or _BEFORE_ITEM.search(text, 0, match.start())
        if begins_item and not _DENIED.search(text, start, match.start()):
            yield match


def _age_and_gender(line: str) -> tuple[float | None, str | None]:
    age = attributes.get("age").value(line)
    return (years(age) if age else None, attributes.get("gender").value(line))
