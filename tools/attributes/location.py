"""Where the patient lives: a city or region, from a list of places around the world.

location.csv holds name, country, region, income group (World Bank), climate and endemic diseases;
endemic.csv the words of a question that point to such a disease (patterns), by which a place is
relevant to a question or not.
Travel is not home: "returned from a trip to Accra" stays as it is.
"""

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from numpy.random import Generator

from evenhand.tools.attributes import Mention, NoValue, attribute
from evenhand.tools.base_text import OUR_FORM, add_sentence
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
_NAMED = (
    rf"{_WORD}"
    rf"(?:(?:\s(?:of the|of|de|do|da|du|del|la|el|al|es|and|upon))*(?:\s|-){_WORD}|\s{_KIND}\b)*"
    rf"(?:,\s(?:(?:the\s|north|south|east|west|central)\w*\s)?{_WORD}(?:\s{_WORD}|\s{_KIND}\b)*"
    rf"|\sin\sthe\s(?:\w+ern|central)\s{_KIND}\b"
    rf"|\sin\s{_BEFORE}{_WORD}(?:\s(?:do|de|da|of)\s{_WORD}|\s{_WORD}|\s{_KIND}\b)*)*"
)
_PLACE = rf"(?:{_BEFORE}{_NAMED})"
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
_STATED = re.compile(r"\b(?:patient (?:lives|is living) in|is a resident of)\s(?P<place>.+)")
_NAMED_PART = re.compile(
    rf"(?:the\s)?(?:(?:state|province|district|region|city|county|governorate|island)\sof\s)?{_NAMED}"
)
_RURAL = re.compile(r"\b(?:rural|countryside|farms?)\b")
_WITH_ARTICLE = re.compile(r"United|Philippines|Democratic")
_PEOPLE = re.compile(r"['\u2019\w-]*\s(?:tribe|people|community)\b")
_TIE = re.compile(
    r"\b(?:works?|worker|farmer|attends?|student|nurse|teacher|driver)\b[^.]*?\s(?:in|at|of|from)\s"
    r"(?:the\s)?(?-i:[A-Z])\w+|\b(?-i:[A-Z])\w+ (?:tribe|people|community)\b",
    re.IGNORECASE,
)
_STATED_END = re.compile(
    r"(?<!\bSt)(?<!\bMt)\.(?=\s|$)|,?\s(?:and|but)\s(?:is|are|has|have|works?|owns?|regularly|reports?"
    r"|frequently|attends?|plays|was|did|does|recently)\b"
)
_COMPLAINT = re.compile(r"The patient (?:also has|has had this|has been)\b")
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
            NoValue: As `draw_several`.
        """
        return self.draw_several(text, rng, 1)[0]

    def draw_several(self, text: str, rng: Generator, n: int) -> list[str]:
        """Return n different places that the text does not name, from as many regions as may be.

        Cities, and countries where the base speaks of country life ("the countryside of Peru").

        Of several, half are places where a disease is endemic that the text points to, if there
        are such places, and half are not; their order is random.

        Raises:
            NoValue: Fewer than n places are left, or work or kin binds the patient to one.
        """
        base = next(iter(text.splitlines()), "")
        tie = _other_tie(base, self.find(base))
        if tie:
            raise NoValue(f"{tie!r} binds the patient to a place")
        lowered = text.lower()
        left = [
            place
            for place in places()
            if place.name.lower() not in lowered and place.country.lower() not in lowered
        ]
        if len(left) < n:
            raise NoValue(f"only {len(left)} places are left that the text does not name")
        shuffled = [left[index] for index in rng.permutation(len(left))]
        rural = bool(_RURAL.search(_home_phrase(base)))
        if n == 1:
            return [_called(shuffled[0], rural=rural)]
        near = [place for place in shuffled if is_relevant(place, text)]
        far = [place for place in shuffled if place not in near]
        chosen = _spread(near, min(n // 2, len(near)), ())
        chosen += _spread(far, min(n - len(chosen), len(far)), chosen)
        chosen += _spread(near, n - len(chosen), chosen)
        said = [_called(chosen[index], rural=rural) for index in rng.permutation(n)]
        return list(dict.fromkeys(said))

    def replace(self, text: str, after: str) -> str:
        """Return the text with the place changed; the words around it stay ("lives in")."""
        for mention in reversed(self.find(text)):
            text = text[: mention.start] + after + text[mention.end :]
        return text

    def words(self, value: str) -> str:
        """Return the sentence that states it."""
        return f"The patient lives in {value}."

    def insert(self, text: str, value: str) -> str:
        """Return the text with a sentence on the home, behind the complaints.

        Raises:
            NoValue: A home is stated, or the text does not open with the patient.
        """
        ours = OUR_FORM.match(text) and not _STATED.search(text)
        added = add_sentence(text, self.words(value), _COMPLAINT) if ours else None
        if added is None:
            raise NoValue("no place for a home")
        return added


def place_named(value: str) -> Place | None:
    """Return the row of a city, or the first of a country; None where the list has neither."""
    name = value.removeprefix("the ")
    cities = (place for place in places() if place.name == name)
    return next(cities, next((place for place in places() if place.country == name), None))


def _called(place: Place, *, rural: bool) -> str:
    if not rural:
        return place.name
    return f"the {place.country}" if _WITH_ARTICLE.match(place.country) else place.country


def _home_phrase(text: str) -> str:
    match = _STATED.search(text)
    end = _STATED_END.search(match["place"]) if match else None
    return match["place"][: end.start() if end else None] if match else ""


def is_relevant(place: Place, text: str) -> bool:
    """Tell whether a disease that the text points to is endemic in the place."""
    return any(
        re.search(signs()[disease], text, re.IGNORECASE)
        for disease in place.endemic
        if disease in signs()
    )


@cache
def signs() -> dict[str, str]:
    """Read endemic.csv, once: disease -> pattern of the words that point to it."""
    text = (files("evenhand.tools.attributes") / "endemic.csv").read_text("utf-8")
    return {row["disease"]: row["signs"] for row in csv.DictReader(text.splitlines())}


def _spread(pool: Sequence[Place], n: int, chosen: Sequence[Place]) -> list[Place]:
    """Return the first n places of the pool, each from a region not yet seen while there is one."""
    taken = list(chosen)
    for _ in range(n):
        left = [place for place in pool if place not in taken]
        seen = Counter(place.region for place in taken)
        taken.append(min(left, key=lambda place: seen[place.region]))
    return taken[len(chosen) :]


def _stated(text: str) -> list[Mention]:
    """Find the home in our own sentences; what kind of home it is stays: "a camp in Al Salam"."""
    match = _STATED.search(text) if OUR_FORM.match(text) else None
    if not match:
        return []
    end = _STATED_END.search(match["place"])
    named = _NAMED_PART.search(match["place"][: end.start() if end else None])
    if not named or _PEOPLE.match(match["place"], named.end()):
        return []
    start = match.start("place")
    return [Mention(start + named.start(), start + named.end(), named[0])]


def _other_tie(text: str, home: list[Mention]) -> str | None:
    """Return what else binds the patient to a place, so that no other home would be credible."""
    for mention in home:
        text = text[: mention.start] + text[mention.end :]
    tie = _TIE.search(text)
    return tie[0] if tie else None
