"""M and F in English notes: the patient's sex beside an age or in a form, or a unit, or unclear."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from evenhand.tools.notes.edits import CannotRewrite

_UNIT = (
    r"(?:[ -]?(?:y\.?/?o\.?|yrs?|y|years?|mo|mos|m/o|mths?|months?|/12|wks?|w/o|weeks?|/52|days?"
    r"|d/o"
    r"|/7)(?:[ -]?old)?\.?)"
)
_AFTER_AGE = re.compile(
    rf"(?<![\w.,/])(?P<age>\d{{1,3}})(?P<unit>{_UNIT})?(?P<gap>\s?[(,/-]?\s?)"
    r"(?:(?:hispanic|white|black|asian|caucasian|african[- ]american|latin[oa]|healthy|obese"
    r"|pleasant"
    r"|thin|frail|indian|chinese|homeless)\s)?(?P<race>W|B|AA|H"
    r"|A)?(?P<letter>[MF])(?![\w/+'\u2019]|-[a-z\d]|\s?\d|\.\d)",
    re.IGNORECASE,
)
_BEFORE_AGE = re.compile(
    r"(?<![\w.\u00b0/+-])(?P<letter>[MF])(?:[ ,/:]|, | - |-|(?<=^[MF]))(?P<age>\d{1,3})"
    r"(?![\d.,/:]\d|\d|\s*(?:mg|ml|%|mm|cm|kg|F\b|C\b|\u00b0))"
)
_BESIDE_NOUN = re.compile(
    r"(?<![\w.\u00b0/+-])(?P<letter>[MF])(?=\s(?:pt|patient|infant|child|baby|neonate|newborn|adult"
    r"|toddler|teen)\b)|\b(?:pt|patient|infant|child|baby|neonate|newborn)\W{1,3}(?P<second>[MF])"
    r"(?![\w/.'\u2019-])"
)
_FIELD = re.compile(
    r"\b(?:sex|gender|m/f|f/m)\b\s*(?:is\b)?\s*[:=\u2013-]?\s*(?P<letter>M|F|male|female)\b"
    r"(?!\s*[/|])",
    re.IGNORECASE,
)
_BRACKETED = re.compile(r"\((?P<letter>[MF])\)")
_FAHRENHEIT = range(93, 112)
_NOT_AN_AGE_AFTER = re.compile(
    r"\s*(?:ago\b|f/u|follow|IU\b|units?\b|mg|mL|catheter|sheath|foley|introducer|stent|NaCl|HCl"
    r"|KCl|solution|temp|fever|degrees|above|below|away|deep|tall|high)",
    re.IGNORECASE,
)
_TEMPERATURE = re.compile(
    r"(?:\bT(?:emp(?:erature)?|max)?|fever|febrile|\u00b0|to|of|at|temp)\b[\s:=\u00b0]*(?:(?:is"
    r"|was|of"
    r"|to|up to|at)\b[\s:=]*)?$",
    re.IGNORECASE,
)
_OPENS = re.compile(
    r"(?:^|[.,\n:;-]|\b(?:an?|pt|patient|this|elderly|obese|old|aged?|[A-Z]{2,}|[A-Z]\.)"
    r"|[A-Z][a-z'\u2019-]+,?)$"
)
_THEN_HISTORY = re.compile(
    r"[)\].,;:-]?\s*(?:$|\n|[-\u2013]|(?:with|w/|c/o|who|presents?|presenting|p/w|here|s/p|h/o"
    r"|hx|BIB"
    r"|BIBA|fell|fall|mech|pt|from|in |re\b|post|2/7|\?))|[,.;]\s",
    re.IGNORECASE,
)
_DISTANCE = re.compile(
    r"\s*(?:ago|run|runner|fall|fell|from|height|away|sprint|swim|deep|tall|high|of|to|x|/)\b",
    re.IGNORECASE,
)
_RACED = frozenset(("W", "B", "AA"))


@dataclass(frozen=True)
class Letter:
    """A letter or word that states a sex: where it stands, and which."""

    start: int
    end: int
    text: str
    sex: Literal["male", "female"]


def sex_letters(text: str) -> Iterator[Letter]:
    """Yield the places where M, F, or a form's word is a person's sex, each once.

    Raises:
        CannotRewrite: A letter could be the sex or something else ("70 yo AF").
    """
    seen: set[int] = set()
    for match in _matches(text):
        group = "letter" if match.groupdict().get("letter") else "second"
        start, end = match.span(group)
        if start in seen:
            continue
        seen.add(start)
        sex: Literal["male", "female"] = "male" if match[group][0] in "mM" else "female"
        yield Letter(start, end, match[group], sex)


def _matches(text: str) -> Iterator[re.Match[str]]:
    yield from _FIELD.finditer(text)
    for match in _AFTER_AGE.finditer(text):
        if _is_sex(text, match):
            yield match
    for match in _BEFORE_AGE.finditer(text):
        before = text[: match.start()].rstrip(" ")
        age = int(match["age"])
        if 0 < age < 120 and (not before or before[-1] in ".\n:;,-("):
            yield match
    yield from _BESIDE_NOUN.finditer(text)
    yield from (each for each in _BRACKETED.finditer(text) if each.start() < 120)


def _is_sex(text: str, match: re.Match[str]) -> bool:
    """Tell 67M, 67 yo M, 82yF and 67 M of a person from 5 M IU, 101F and a 16F catheter."""
    age, letter, gap = int(match["age"]), match["letter"], match["gap"]
    before, rest = text[: match.start()].rstrip(" \t("), text[match.end() :]
    if _NOT_AN_AGE_AFTER.match(rest) or not 0 < age < 120:
        return False
    opens = not before or bool(_OPENS.search(before))
    if letter.islower():
        # "3m ago" and "45 m run" are no sex; "45f c/o" at the start and "45 yo f" are.
        pt = re.search(r"(?:^|[.\n]\s?)(?:pt|patient),?$", before, re.IGNORECASE)
        return (
            bool(match["unit"])
            or bool(pt)
            or (not before and not gap and not _DISTANCE.match(rest))
        )
    if match["race"]:
        if not match["unit"] and not opens:
            return False
        if match["race"].upper() in _RACED and match["race"].isupper():
            return True
        raise CannotRewrite("unclear_letter", match[0])
    if match["unit"]:
        return not (match["unit"].strip(" -").lower() in ("/7", "/12", "/52") and not opens)
    if letter == "F" and re.search(
        r"\b(?:T|temp\w*|tmax|fever)[\s:=]{0,2}(?:of|is|was)?$", before, re.I
    ):
        return False
    if letter == "F" and age in _FAHRENHEIT:
        if _TEMPERATURE.search(before):
            return False
        if re.search(r"\b(?:is|for)$", before) and not re.search(
            r"\b(?:pt|patient|this) is$", before
        ):
            return False
        if not opens:
            raise CannotRewrite("unclear_letter", match[0])
    if re.search(r"\b(?:ht|height|approx|about|fell|from|x|for|of)$", before, re.IGNORECASE):
        return re.search(r"\bfor$", before) is not None and not gap
    if gap.strip() or gap == " " or letter == "M":
        return opens or (_is_history(rest) and not re.match(r"[,.;]", rest))
    return True


def _is_history(rest: str) -> bool:
    return bool(_THEN_HISTORY.match(rest))
