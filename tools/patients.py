"""Which patients are possible: what a text says of the patient that only some people can be.

The list (patients.csv) holds patterns at the start of a word, each with the sex and the ages that
it allows: pregnancy, a prostate, a school child, a retired smoker. Sentences about a relative are
left out before it is asked.
"""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

Sex = Literal["male", "female"]

OLDEST = 120.0

KIN = (
    "mother|father|mum|mom|dad|parents?|brothers?|sisters?|siblings?|sons?|daughters?|child|children"
    "|wife|husband|spouse|partner|uncle|aunt|cousin|nephew|niece|grandfather|grandmother|grandson"
    "|granddaughter|grandparents?|family|friend|neighbou?r|colleague|roommate|flatmate"
)
_SENTENCE_END = re.compile(r"(?<=[.?!])\s+")
_OF_RELATIVE = re.compile(
    rf"^(?:(?:his|her|their|the patient['\u2019]s)\s+(?:\w+\s+)?(?:{KIN})\b"
    r"(?!\s+\w*\s*(?:bring|brought))"
    rf"|a\s+(?:{KIN}|family member|relative|contact)\b.*? of the patient\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Limit:
    """Words that only some patients can have; ages in years, both ends included."""

    pattern: re.Pattern[str]
    sex: Sex | None
    youngest: float
    oldest: float


@cache
def limits() -> tuple[Limit, ...]:
    """Read patients.csv, once."""
    text = (files("evenhand.tools") / "patients.csv").read_text("utf-8")
    return tuple(_limits(text))


def _limits(text: str) -> Iterator[Limit]:
    for row in csv.DictReader(text.splitlines()):
        sexes: dict[str, Sex | None] = {"male": "male", "female": "female", "": None}
        yield Limit(
            pattern=re.compile(rf"\b(?:{row['pattern']})\w*", re.IGNORECASE),
            sex=sexes[row["sex"]],
            youngest=float(row["youngest"] or 0),
            oldest=float(row["oldest"] or OLDEST),
        )


def patient_part(text: str) -> str:
    """Return the text without the sentences whose subject is a relative of the patient."""
    sentences = _SENTENCE_END.split(text)
    return " ".join(each for each in sentences if not _OF_RELATIVE.match(each))


def sex_required(text: str) -> tuple[Sex, str] | None:
    """Return the only sex that the text allows and the word that says so; None where both fit."""
    own = patient_part(text)
    for limit in limits():
        found = limit.pattern.search(own) if limit.sex else None
        if limit.sex and found:
            return limit.sex, found[0]
    return None


def ages_allowed(text: str) -> tuple[float, float, str]:
    """Return the youngest and oldest age in years that the text allows, and the words for it.

    The ages may be empty (youngest > oldest) where a text contradicts itself.
    """
    own = patient_part(text)
    youngest, oldest, words = 0.0, OLDEST, list[str]()
    for limit in limits():
        found = limit.pattern.search(own)
        if found and (limit.youngest > 0 or limit.oldest < OLDEST):
            youngest, oldest = max(youngest, limit.youngest), min(oldest, limit.oldest)
            words.append(found[0])
    return youngest, oldest, ", ".join(words)


def impossible(text: str, *, age_years: float | None, gender: str | None) -> str | None:
    """Say why no such patient can be ("prostat in a female patient"); None where one can."""
    required = sex_required(text)
    if required and gender in ("male", "female") and gender != required[0]:
        return f"{required[1]!r} in a {gender} patient"
    youngest, oldest, words = ages_allowed(text)
    if age_years is not None and not youngest <= age_years <= oldest:
        return f"{words!r} at an age of {age_years:g} years"
    return None
