"""The patient's age in a note, in years: the number in an age's own form, and nothing beside it.

"52 pack-years" and "bed 52" are no ages, "his 52-year-old brother" and "asthma since the age of 9"
are not the patient's. What the note tells of the patient must be possible at the new age
(life_stages.csv), else the note is refused.
"""

import csv
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from evenhand.graph_store.errors import UserError
from evenhand.tools.notes.content import own_text
from evenhand.tools.notes.edits import CannotRewrite, Edit
from evenhand.tools.notes.words import cased_as

_FORMS = {
    "en": (
        r"(?<![\d.,])(?P<n>{n})(?=[ -](?:years?|yrs?|y)[ -]?(?:old|o)\b)",
        r"(?<![\d.,])(?P<n>{n})(?= ?(?:yo|y/o|y\.o\.|yr old|yrs old)(?:\b|[MF]))",
        r"(?<![\d.,/])(?P<n>{n})(?= ?/?[MF]\b)",
        r"\b(?:[Aa]ge[ds]?|AGE)\s*[:=]?\s*(?:of\s)?(?P<n>{n})(?!\d)",
        r"\b(?:he|she|patient|pt) is (?P<n>{n})(?=[,.;]| (?:and|with|years)\b|$)",
    ),
    "fr": (
        r"(?:\bâgée?|\bde|,|^|\b[HF]|\b[Hh]omme|\b[Ff]emme|[Pp]atiente?"
        r"|\bâge\s?:?)\s?(?P<n>{n})(?= ?ans\b)",
        r"\b[Ââ]ge\s*[:=]\s*(?P<n>{n})(?!\d)",
    ),
}
_NOT_OWN = re.compile(
    r"(?:\b(?:his|her|their|mother|father|brother|sister|son|daughter|wife|husband|since|at|until"
    r"|from)\b[\w\s]{0,12}$|\bage of $|\b(?:depuis|dès|jusqu)\b[\w\s'\u2019]{0,12}$"
    r"|l['\u2019]âge de\s?$"
    r"|\b(?:sa|son|leur|un|une|des|ses)\s(?:\w+\s)?(?:fils|fille|mère|père|frère"
    r"|s\u0153ur|soeur|mari|femme|épouse|enfants?)\s(?:âgée?\s)?(?:de\s)?$"
    r"|\b(?:il y a|pendant|durant)\s(?:environ\s)?(?:de\s)?$)",
    re.IGNORECASE,
)
_BIRTH = re.compile(
    r"\b(?:DOB|born (?:in|on) \d|date of birth|née? (?:en|le) \d|DDN)\b[^\n.]{0,14}", re.IGNORECASE
)
_STAGE = {"man": "boy", "woman": "girl", "boy": "man", "girl": "woman"}
_SINCE = re.compile(
    r"(?:since (?:age |the age of )?|at (?:age |the age of )|depuis l['\u2019]âge de "
    r"|à l['\u2019]âge de )(\d+)"
)
ADULT_FROM = 18
OLDEST = 120


@cache
def _stages(language: str) -> tuple[tuple[re.Pattern[str], int, int], ...]:
    text = (files("evenhand.tools.notes") / "life_stages.csv").read_text("utf-8")
    return tuple(
        (
            re.compile(rf"(?<!\w)(?:{row['pattern']})", re.IGNORECASE),
            int(row["youngest"] or 0),
            int(row["oldest"] or OLDEST),
        )
        for row in csv.DictReader(text.splitlines())
        if row["language"] == language
    )


def rewrite_age(text: str, before: str, after: str, language: str) -> tuple[list[Edit], list[str]]:
    """Return the edits, and the patient's ages that are not `before`.

    Raises:
        UserError: An age that is no whole number of years up to 120.
        CannotRewrite: The note states a date of birth, or what the new age does not allow.
    """
    for value in (before, after):
        if not (value.isdigit() and int(value) <= OLDEST):
            raise UserError(f"an age is a whole number of years, 0 to {OLDEST}; got {value!r}.")
    edits = list(_edits(text, before, after, language))
    if not edits:
        return [], [match["n"] for match in _ages(text, r"\d{1,3}", language)]
    birth = _BIRTH.search(text)
    if birth:
        raise CannotRewrite("birth_date", birth[0])
    wrong = _impossible(text, int(after), language)
    if wrong:
        raise CannotRewrite("age_inconsistent_content", *wrong)
    return sorted(set(edits), key=lambda edit: edit.start), []


def _ages(text: str, number: str, language: str) -> Iterator[re.Match[str]]:
    for form in _FORMS[language]:
        for match in re.finditer(form.replace("{n}", number), text, re.MULTILINE):
            line = text[max(0, match.start("n") - 30) : match.start("n")]
            if not _NOT_OWN.search(line):
                yield match


def _edits(text: str, before: str, after: str, language: str) -> Iterator[Edit]:
    for match in _ages(text, before, language):
        start, end = match.span("n")
        yield Edit(start, end, before, after, "age")
        if language == "en":
            yield from _article(text, start, after)
            yield from _stage(text, end, int(before), int(after))


def _article(text: str, start: int, after: str) -> Iterator[Edit]:
    match = re.search(r"\b(an?) $", text[:start], re.IGNORECASE)
    vowel = after.startswith("8") or after in ("11", "18")
    if match and vowel != (len(match[1]) == 2):
        yield Edit(
            *match.span(1), match[1], cased_as(match[1][0], "an" if vowel else "a"), "article"
        )


def _stage(text: str, end: int, before: int, after: int) -> Iterator[Edit]:
    """Man and boy, woman and girl beside the age follow it."""
    if (before < ADULT_FROM) == (after < ADULT_FROM):
        return
    match = re.match(r"[ -]year[ -]old\s(?:\w+\s){0,2}?(man|woman|boy|girl)\b", text[end:])
    if match:
        start = end + match.start(1)
        yield Edit(start, start + len(match[1]), match[1], _STAGE[match[1]], "age")


def _impossible(text: str, after: int, language: str) -> list[str]:
    own = own_text(text)
    wrong = [
        match[0]
        for pattern, youngest, oldest in _stages(language)
        for match in pattern.finditer(own)
        if not youngest <= after <= oldest
    ]
    later = [match[0] for match in _SINCE.finditer(own) if int(match[1]) > after]
    return list(dict.fromkeys([*wrong, *later]))
