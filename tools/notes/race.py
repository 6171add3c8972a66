"""Race and ethnicity of the patient in a note: a colour word counts beside a person word only."""

import csv
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from evenhand.graph_store.errors import UserError
from evenhand.tools.notes.edits import CannotRewrite, Edit
from evenhand.tools.notes.words import cased_as

_PERSON = {
    "en": (
        r"(?:man|woman|male|female|boy|girl|gentleman|lady|patient|pt|child|infant|adult"
        r"|person|M|F)"
    ),
    "fr": r"(?:patiente?|homme|femme|garçon|fille|monsieur|dame|enfant|sujet|adolescente?)",
}
_FORMS_EN = (
    r"\b(?P<race>{words})(?=[ -](?:[\w-]+ ){{0,2}}{person}\b)",
    r"\b(?:race|ethnicity)\s*[:=-]?\s*(?P<race>{words})\b",
    r"\bof (?P<race>{words})(?= (?:descent|origin|ethnicity|background|heritage)\b)",
    r"\b(?:patient|pt|he|she) (?:is|identifies as|self-identifies as) (?:an? )?(?P<race>{words})\b",
)
_FORMS_FR = (
    r"\b{person}\s(?:\w+\s)?(?P<race>{words})\b",
    r"\b(?P<race>d['\u2019]origine (?:{origins}))\b",
)
_STAFF = re.compile(
    r"(?:nurse|doctor|physician|staff|interpreter|officer|neighbou?r)", re.IGNORECASE
)


@cache
def _values(language: str) -> dict[str, tuple[str, ...]]:
    text = (files("evenhand.tools.notes") / "values.csv").read_text("utf-8")
    return {
        row["value"]: tuple(row["forms"].split("|"))
        for row in csv.DictReader(text.splitlines())
        if row["language"] == language and row["attribute"] == "race"
    }


def rewrite_race(text: str, before: str, after: str, language: str) -> tuple[list[Edit], list[str]]:
    """Return the edits, and the patient's mentions of another value than `before`.

    Raises:
        UserError: A value that the table does not hold.
        CannotRewrite: The new value has no form of that kind.
    """
    known = _values(language)
    for value in (before, after):
        if value not in known:
            raise UserError(f"no race or ethnicity {value!r}; known: {', '.join(known)}.")
    edits: list[Edit] = []
    others: list[str] = []
    for value in known:
        for start, end in _mentions(text, value, language):
            word = text[start:end]
            if value == before:
                new = _form(word, before, after, language)
                edits += [_edit(text, start, end, new), *_article(text, start, new)]
            else:
                others.append(word)
    return sorted(set(edits), key=lambda edit: edit.start), others


def _edit(text: str, start: int, end: int, new: str) -> Edit:
    return Edit(start, end, text[start:end], new, "race")


def _article(text: str, start: int, new: str) -> Iterator[Edit]:
    match = re.search(r"\b(an?) $", text[:start], re.IGNORECASE)
    if match and (new[0].lower() in "aeiou") != (len(match[1]) == 2):
        wanted = "an" if new[0].lower() in "aeiou" else "a"
        yield Edit(*match.span(1), match[1], cased_as(match[1][0], wanted), "article")


def _mentions(text: str, value: str, language: str) -> Iterator[tuple[int, int]]:
    forms = _values(language)[value]
    words = "|".join(re.escape(each) for form in forms for each in form.split("/"))
    origins = "|".join(form.rpartition(" ")[2] for form in forms if " " in form)
    templates = _FORMS_EN if language == "en" else _FORMS_FR
    seen: set[tuple[int, int]] = set()
    for template in templates:
        if "{origins}" in template and not origins:
            continue
        filled = template.format(words=words, person=_PERSON[language], origins=origins)
        for match in re.finditer(filled, text, re.IGNORECASE):
            if _STAFF.match(text[match.end("race") + 1 :]):
                continue
            seen.add(match.span("race"))
    yield from sorted(seen)


def _form(word: str, before: str, after: str, language: str) -> str:
    """Return the new word in the shape of the old: adjective by gender, or "d'origine ..."."""
    old, new = _values(language)[before], _values(language)[after]
    low = word.lower().replace("\u2019", "'")
    if language == "en":
        return new[0] if word[0].isupper() or after not in ("Black", "White") else new[0].lower()
    if low.startswith("d'"):
        return next(form for form in new if form.startswith("d'"))
    place = next(form.split("/").index(low) for form in old if low in form.split("/"))
    adjective = next((form for form in new if "/" in form), None)
    if adjective is None:
        raise CannotRewrite("no_form", word)
    return cased_as(word, adjective.split("/")[place])
