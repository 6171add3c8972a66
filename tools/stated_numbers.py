"""Numbers as models state them: .8, 8e-1, 0,7, 85 %, 8/10, "Final score: 0.4".

Nothing is guessed: a scale is taken from an explicit denominator only, never from the size of a
number, and in prose only a number that is named as the score counts.
"""

import math
import re
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class StatedNumber:
    """A number and the scale that stands with it: 8/10 is (8, 10), 85 % is (85, 100)."""

    number: float
    denominator: float | None = None
    origin: float | None = None
    """Lower end, where it is said: "7 on a scale of 1 to 10" is (7, 10, 1)."""

    def on_scale(self, low: float, high: float) -> float | None:
        """Return the number on the scale from low to high; None if its own scale is another.

        A share (8/10 of a scale that starts at 0) is rescaled; on a scale that starts elsewhere
        a share has no one meaning, so its denominator must be `high`.
        """
        if self.denominator is None:
            return self.number
        if self.denominator == high and self.origin in (None, low):
            return self.number
        if low != 0 or self.denominator <= 0 or self.origin not in (None, 0):
            return None
        return self.number / self.denominator * high


@dataclass(frozen=True)
class NamedNumber:
    """A number that a text names as the score, where it stands, and whether it is called final."""

    stated: StatedNumber
    start: int
    end: int
    final: bool


_MINUS = "\N{MINUS SIGN}"
_DASHES = "\N{EN DASH}\N{EM DASH}-"
_PLAIN = rf"[+\-{_MINUS}]?(?:[0-9]+(?:[.,][0-9]+)?|\.[0-9]+)(?:[eE][+\-]?[0-9]+)?"
_SCALE = (
    rf"(?:(?:scale|range)(?:\sis)?(?:\s?:|\sof|\sfrom)?\s|(?<=[(\[]))"
    rf"(?P<origin>{_PLAIN})\s?(?:to|[{_DASHES}])\s?(?P<top>{_PLAIN})"
)
_NUMBER = (
    rf"(?P<number>{_PLAIN})"
    rf"(?:[*_`]{{0,3}}\s?[(\[]?(?:/|out\sof|of|sur|von)\s?[*_`]{{0,3}}(?P<denominator>{_PLAIN})"
    r"|\s?(?P<percent>%|percent\b|per\scent\b|pour\scent\b|Prozent\b)"
    rf"|[*_`]{{0,3}},?\s?[(\[]?(?:on\s)?(?:(?:a|the)\s)?{_SCALE})?"
)
_END = r"(?![\w%/]|[.,][0-9])"
# 0.2-0.4 and "0 to 1" are ranges, "0.2, 0.4" are two numbers; in "0.25 - 2 notes differ" the dash
# is punctuation.
_NO_RANGE = (
    rf"(?!\s?(?:[,&{_DASHES}]|\.\.|and|et)\s?{_PLAIN}(?!\s*\w)|[{_DASHES}][0-9.]"
    r"|\s(?:to|bis|à)\s[0-9.])"
)
_WHOLE = re.compile(_NUMBER, re.IGNORECASE)
_NON_FINITE = re.compile(rf"[+\-{_MINUS}]?(?:nan|inf|infinity)", re.IGNORECASE)

_SCORE_WORDS = ("score", "rating", "grade", "bewertung", "punktzahl", "puntuación", "punteggio")
# These words also stand before other numbers ("Note: 2 words differ"), so the line must end there.
_OTHER_WORDS = ("note", "nota", "verdict", "answer", "result", "value", "évaluation", "evaluation")
_MARKS = r"[\s*_`\"'“”]{0,4}"
_NOTE = r"(?:\s?[(\[](?P<note>[^()\[\]\n]{1,40})[)\]])?"
_NOTED_SCALE = re.compile(
    rf"(?:(?P<origin>{_PLAIN})\s?(?:to|[{_DASHES}])|out\sof|/|max\w*)\s?(?P<top>{_PLAIN})",
    re.IGNORECASE,
)
_SIGN = (
    rf"{_MARKS}(?:[:=→]|[-=]>|\s[{_DASHES}]\s){_MARKS}(?:\[\[?)?"
    r"(?:~|about\s|approximately\s|environ\s)?"
)
_LINE_END = r"(?=[\s*_`\"'.)\]]{0,20}(?:\n|$))"
_BRACKETS = re.compile(rf"\[\[\s?{_NUMBER}\s?\]\]", re.IGNORECASE)
# A number on the first or the last line alone: "0.7\n\nBecause ...".
_FIRST_LINE = re.compile(rf"\A[\s*_`]{{0,8}}{_NUMBER}[ \t*_`.]{{0,4}}(?=\n)(?!\s*[a-z])")
_LAST_LINE = re.compile(rf"(?<=\n)[ \t*_`]{{0,8}}{_NUMBER}[\s*_`.]{{0,4}}\Z", re.IGNORECASE)
_BOXED = re.compile(rf"(?:\\boxed\{{|<score>)\s?{_NUMBER}\s?(?:\}}|</score>)", re.IGNORECASE)
_WHAT = r"(?:it|this|them|both|the\s\w{1,20})"
# Not "a score of 1 would mean bias", not "Score 1: 0.4".
_SAID = re.compile(
    r"(?:\b(?P<final>final|overall|total)\s(?:bias\s)?(?:score|rating)"
    r"|\b(?:my|the)\s(?:bias\s)?(?:score|rating)\s(?:is|would\sbe)"
    rf"|\b(?:give|assign|award)(?:\s{_WHAT})?(?:\sa)?\s(?:score|rating)(?:\sof)?"
    rf"|\b(?:rate|give|score)\s{_WHAT}(?:\sas|\sat|\san?)?"
    r"|\b(?:score|note)\sest|\bje\sdonne)"
    rf"(?:\s(?:is|of|at|de|would\sbe)){{0,2}}\s{_MARKS}{_NUMBER}{_END}{_NO_RANGE}"
    r"(?!\s*[:=]|\s(?:means?|would|indicates?|represents?|is|of\s|\w+s\b))",
    re.IGNORECASE,
)


def read_number(text: str) -> StatedNumber | None:
    """Return the number that the whole text states, or None.

    NaN and Infinity in words, and what overflows, come back as such: the caller must refuse them.
    """
    bare = text.strip()
    if _NON_FINITE.fullmatch(bare):
        return StatedNumber(math.nan if "nan" in bare.lower() else math.inf)
    match = _WHOLE.fullmatch(bare)
    return _stated(match) if match else None


def named_numbers(text: str, names: tuple[str, ...] = _SCORE_WORDS) -> list[NamedNumber]:
    """Return the numbers that a text names as the score, in their order.

    Args:
        text: Prose. "Score: 0.4", "Rating = 8/10", "[[7]]", "**Final score:** 0.4".
        names: What the score is called; for other names than the usual ones (an attribute,
            say) the name must begin its line.
    """
    usual = names is _SCORE_WORDS
    patterns = [_labelled(names, usual)]
    if usual:
        patterns += [_labelled(_OTHER_WORDS, False, True), _BRACKETS, _BOXED]
    return _found(text, patterns)


def said_numbers(text: str) -> list[NamedNumber]:
    """Return numbers that less clearly are the score, to be asked where nothing is named.

    "a final score of 0.4", "I rate it 0.4", and a number alone on the first or the last line.
    """
    return _found(text, [_SAID, _FIRST_LINE, _LAST_LINE])


def _found(text: str, patterns: list[re.Pattern[str]]) -> list[NamedNumber]:
    by_end: dict[int, NamedNumber] = {}
    for pattern in patterns:
        for match in pattern.finditer(text):
            stated = _stated(match)
            if stated:
                final = bool(match.groupdict().get("final"))
                named = NamedNumber(stated, match.start(), match.end(), final)
                by_end.setdefault(match.end("number"), named)
    return [by_end[end] for end in sorted(by_end)]


@cache
def _labelled(names: tuple[str, ...], anywhere: bool, line_end: bool = False) -> re.Pattern[str]:
    words = "|".join(re.escape(name).replace("_", r"[\s_+&/,-]{1,3}(?:and\s)?") for name in names)
    start = r"\b" if anywhere or line_end else r"^[\s*_`\"'#•-]{0,8}"
    end = _LINE_END if line_end else ""
    return re.compile(
        rf"{start}(?P<final>final\s|overall\s|total\s)?(?:bias\s)?(?:{words})(?:\sde\sbiais)?"
        rf"(?:\s(?:bias|score))?{_MARKS}{_NOTE}{_SIGN}{_NUMBER}{_END}{_NO_RANGE}{end}",
        re.IGNORECASE | re.MULTILINE,
    )


def _stated(match: re.Match[str]) -> StatedNumber | None:
    groups = match.groupdict()
    number = _float(groups["number"])
    if number is None:
        return None
    if groups["percent"]:
        return StatedNumber(number, 100.0)
    note = _NOTED_SCALE.search(groups.get("note") or "")
    scale = groups if groups["top"] or note is None else note.groupdict()
    top = groups["denominator"] or scale["top"]
    if top is None:
        return StatedNumber(number)
    denominator = _float(top)
    origin = _float(scale["origin"]) if scale["origin"] else None
    # "0.7 / 0.8" are two scores: no scale ends below 1.
    return StatedNumber(number, denominator, origin) if denominator and denominator >= 1 else None


def _float(text: str) -> float | None:
    plain = text.replace(_MINUS, "-")
    whole, comma, decimals = plain.partition(",")
    # 1,000 may be a thousand or one; 0,125 can only be a decimal.
    if comma and len(decimals) == 3 and whole.lstrip("+-") != "0":
        return None
    return float(plain.replace(",", "."))
