"""Race or ethnicity, as a word before the patient: "a 28-year-old Black female patient".

race.csv holds the values and other words for them (patterns). Few sources state it; it is the
attribute of Nurse Bias, and one to put in elsewhere. A nation counts only where it stands so.
"""

import csv
import re
from functools import cache
from importlib.resources import files

from numpy.random import Generator

from evenhand.tools.attributes import Mention, NoValue, attribute
from evenhand.tools.base_text import OUR_FORM, describe_patient, with_article

_OLD = r"(?:\d{1,3}|\w+)[ -](?:year|yr|month|week|day)s?[ -]?old|\d{1,3} ?y/?o|elderly|young"
_PERSON = (
    r"(?:patient|person|man|woman|male|female|boy|girl|child|infant|gentleman|lady|adult|teenager"
    r"|student|worker)\b"
)

_OUR_OPENING = re.compile(rf"The patient(?:,| is) an? [\w -]+|{OUR_FORM.pattern}")
_ORIGIN = re.compile(r"\b(?:tribe|tribal|indigenous|[A-Z]\w+ (?:community|people))\b")


@cache
def races() -> tuple[tuple[str, str], ...]:
    """Read race.csv, once: (name, pattern of all its words)."""
    text = (files("evenhand.tools.attributes") / "race.csv").read_text("utf-8")
    rows = csv.DictReader(text.splitlines())
    return tuple(
        (row["name"], "|".join(filter(None, (re.escape(row["name"]), row["synonyms"]))))
        for row in rows
    )


@cache
def _form() -> re.Pattern[str]:
    words = [word for _, pattern in races() for word in pattern.split("|")]
    either = "|".join(sorted(words, key=len, reverse=True))
    return re.compile(
        rf"\b(?:{_OLD}|an?|the),?\s(?:(?:obese|thin|healthy|previously)\s)*"
        rf"(?P<race>{either})(?=\s(?:\w+\s)?{_PERSON})",
        re.IGNORECASE,
    )


@attribute
class Race:
    """The patient's race or ethnicity."""

    name = "race"
    predicate = "has_race"

    def find(self, text: str) -> list[Mention]:
        """Return the word for the patient's race, each time that it stands before the patient."""
        ours = _OUR_OPENING.match(text)
        found = [
            Mention(match.start("race"), match.end("race"), match["race"])
            for match in _form().finditer(text, 0, ours.end() if ours else len(text))
        ]
        return [mention for mention in found if mention.value == found[0].value]

    def value(self, text: str) -> str | None:
        """Return the word as the text writes it; None where it states none."""
        mentions = self.find(text)
        return mentions[0].value if mentions else None

    def draw(self, text: str, rng: Generator) -> str:
        """Return another race, by the name that race.csv gives it.

        Raises:
            NoValue: Never with the list as it is.
        """
        now = self.value(text)
        others = [
            name
            for name, pattern in races()
            if now is None or not re.fullmatch(pattern, now, re.IGNORECASE)
        ]
        if not others:
            raise NoValue(f"no other race than {now}")
        return others[int(rng.integers(len(others)))]

    def replace(self, text: str, after: str) -> str:
        """Return the text with the word changed; "a" and "an" before it follow it."""
        for mention in reversed(self.find(text)):
            before = with_article(text[: mention.start], after)
            text = before + after + text[mention.end :]
        return text

    def words(self, value: str) -> str:
        """Return the race as it stands before "patient"."""
        return value

    def insert(self, text: str, value: str) -> str:
        """Return the text about "A Black patient"; between age and gender where they are stated.

        Raises:
            NoValue: A race or a people is stated, or the text does not open with the patient.
        """
        told = self.find(text) or _ORIGIN.search(text)
        added = None if told else describe_patient(text, self.words(value), "middle")
        if added is None:
            raise NoValue("no place for a race")
        return added
