"""Where the patient lives: a city or region, from a list of places around the world.

location.csv holds name, country, region, income group (World Bank), climate and endemic diseases.
Travel is not home: "returned from a trip to Accra" stays as it is.
"""

import csv
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from numpy.random import Generator

from evenhand.tools.attributes import Mention, NoValue, attribute
from evenhand.tools.patients import KIN

_WORD = r"(?:(?:St|Mt)\. )?[A-ZÀ-ÖØ-Þ][\w\u2019'-]*"
_KIND = (
    r"(?:provinces?|districts?|regions?|city|town|village|area|governorate|state|county|islands?"
    r"|countryside|prefecture|municipality|suburbs?|valley|coast)"
)
_BEFORE = (
    rf"(?:(?:the|an?|my|rural|urban|remote|small|metropolitan|coastal|refugee|retirement|care|home"
    rf"|camp|house|flat|north|south|east|west|north-?east|north-?west|south-?east|south-?west"
    rf"|northern|southern|eastern|western|central|outside|near|of|in|outskirts|capital|{_KIND})\s)*"
)
_PLACE = (
    rf"(?:{_BEFORE}{_WORD}"
    rf"(?:(?:\s(?:of|de|do|da|du|del|la|el|al|es|and|upon))*(?:\s|-){_WORD}|\s{_KIND}\b)*"
    rf"(?:,\s(?:(?:the\s|north|south|east|west|central)\w*\s)?{_WORD}(?:\s{_WORD}|\s{_KIND}\b)*"
    rf"|\sin\s{_BEFORE}{_WORD}(?:\s(?:do|de|da|of)\s{_WORD}|\s{_WORD}|\s{_KIND}\b)*)*)"
)
_ROLE = (
    r"(?:man|woman|male|female|boy|girl|patient|worker|student|farmer|teacher|driver|guide|nurse"
    r"|miner|engineer|shepherd|welder|builder|trader|lady|gentleman|old|originally|I am|I'm"
    r"|\d{1,3}[MF])"
)
_WITH = r"(?:with (?:us|me|(?:his|her|their|my|our) \w+) )?"
_HOME = re.compile(
    rf"\b(?:(?:lives?|living|resid(?:es?|ing)|based|settled)\s{_WITH}"
    rf"(?:(?:in|at|on|near|outside)\s)?(?:[a-z,' -]{{1,60}}?\sin\s)??"
    rf"|lived\s{_WITH}in\s(?:[a-z,' -]{{1,60}}?\sin\s)??"
    rf"|(?:relocated|moved)\s(?:back\s)?to\s"
    rf"|resident\sof\s"
    rf"|{_ROLE}\sfrom\s"
    rf"|(?:man|woman|male|female|boy|girl)\sin\s"
    rf"|(?:is|are|am|comes)\s(?:originally\s)?from\s)"
    rf"(?P<place>{_PLACE})(?!['\u2019\w-]*\s(?:tribe|people|community)\b)"
)
_STATED = re.compile(r"\b(?:patient lives in|is a resident of)\s(?P<place>.+)")
_STATED_FORM = re.compile(r"(?:An? [\w -]*patient\b|The patient\b|The question is about\b)")
_STATED_END = re.compile(
    r"(?<!\bSt)(?<!\bMt)\.(?=\s|$)|,?\s(?:and|but)\s(?:is|are|has|have|works?|owns?|regularly|reports?"
    r"|frequently|attends?|plays|was|did|does|recently)\b"
)
_OTHERS_HOME = re.compile(
    rf"(?:\b(?:his|her|their)|patient['\u2019]s)\s(?:\w+\s)?(?!family)(?:{KIN})(?:\swho)?\s$"
    r"|\b(?:used to|previously|formerly)\s$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Place:
    """A row of location.csv."""

    name: str
    country: str
    region: str
    income: str
    """Income group of the World Bank: low, lower middle, upper middle, high."""
    climate: str
    endemic: tuple[str, ...]


@cache
def places() -> tuple[Place, ...]:
    """Read location.csv, once."""
    text = (files("evenhand.tools.attributes") / "location.csv").read_text("utf-8")
    return tuple(
        Place(
            name=row["name"],
            country=row["country"],
            region=row["region"],
            income=row["income"],
            climate=row["climate"],
            endemic=tuple(filter(None, row["endemic"].split(";"))),
        )
        for row in csv.DictReader(text.splitlines())
    )


@attribute
class Location:
    """The place where the patient lives."""

    name = "location"
    predicate = "lives_in"

    def find(self, text: str) -> list[Mention]:
        """Return the patient's home, each time that it is stated; never a journey's end."""
        found = _stated(text) or [
            Mention(match.start("place"), match.end("place"), match["place"])
            for match in _HOME.finditer(text)
            if not _OTHERS_HOME.search(text, 0, match.start())
        ]
        return [mention for mention in found if mention.value == found[0].value]

    def value(self, text: str) -> str | None:
        """Return the place as the text writes it; None where it names none."""
        mentions = self.find(text)
        return mentions[0].value if mentions else None

    def draw(self, text: str, rng: Generator) -> str:
        """Return a place that the text does not name.

        Raises:
            NoValue: The text names every place of the list.
        """
        return self.draw_several(text, rng, 1)[0]

    def draw_several(self, text: str, rng: Generator, n: int) -> list[str]:
        """Return n different places that the text does not name, from as many regions as may be.

        Raises:
            NoValue: Fewer than n places are left.
        """
        lowered = text.lower()
        left = [
            place
            for place in places()
            if place.name.lower() not in lowered and place.country.lower() not in lowered
        ]
        if len(left) < n:
            raise NoValue(f"only {len(left)} places are left that the text does not name")
        shuffled = [left[index] for index in rng.permutation(len(left))]
        chosen = list[Place]()
        while len(chosen) < n:
            seen = {place.region for place in chosen[len(chosen) // _REGIONS * _REGIONS :]}
            chosen.append(next((p for p in shuffled if p.region not in seen), shuffled[0]))
            shuffled.remove(chosen[-1])
        return [place.name for place in chosen]

    def replace(self, text: str, after: str) -> str:
        """Return the text with the place changed; the words around it stay ("lives in")."""
        for mention in reversed(self.find(text)):
            text = text[: mention.start] + after + text[mention.end :]
        return text


_REGIONS = 7


def _stated(text: str) -> list[Mention]:
    """Find the home in our own sentences, where it may be any words: "a camp in Al Salam"."""
    match = _STATED.search(text) if _STATED_FORM.match(text) else None
    if not match:
        return []
    end = _STATED_END.search(match["place"])
    value = match["place"][: end.start() if end else None]
    return [Mention(match.start("place"), match.start("place") + len(value), value)]
