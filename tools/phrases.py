"""The words of clinical English that extraction and parsing share: findings, lists, relatives.

The word lists and patterns stand in extraction.toml; this module compiles them and cuts sentences
and lists, with positions.
"""

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

LONGEST_SENTENCE = 2_000

_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”)]{0,2}\s+(?=[\"'“(]?[A-Z0-9])|\s*\n\s*")
_ABBREVIATED = re.compile(r"\b(?:dr|mr|mrs|ms|st|vs|e\.g|i\.e|approx|no|fig|[a-z])\.$", re.I)
# Two spellings of a border: a comma may be followed by the conjunction.
_BORDER = re.compile(
    r"\s*,\s*(?:(?:and|or|plus|as well as|along with)\s+)?|\s*[;/]\s+"
    r"|\s+(?:and|or|plus|as well as|along with|accompanied by)\s+"
)
# "a non-itchy, flat rash": a comma between adjectives.
_LOOSE_ADJECTIVE = re.compile(
    r"(?:an?|some|several|many|multiple)(?: [\w-]+){0,2} (?:non-)?[\w-]+"
    r"(?:[^aeiou]y|less|ful|ous|ive|al|able|ish|-shaped|-covered)$"
)
_ADJECTIVE = re.compile(
    r"(?:an? )?(?:itchy|scaly|red|dry|raised|painful|painless|tender|dark|white|purple|flat|"
    r"round|small|large|sharp|dull|warm|hard|soft|enlarged|smooth|firm)",
    re.I,
)
_DETERMINER = re.compile(r"^(?:the|an?|some|his|her|their|my)\s+", re.I)


@cache
def patterns() -> dict[str, Any]:
    """Return extraction.toml, whole."""
    text = (files("evenhand.tools") / "extraction.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def words(name: str) -> re.Pattern[str]:
    """Return one list of extraction.toml as an expression, matched from the start of a word."""
    return re.compile(rf"\b(?:{alternatives(name)})", re.I)


@cache
def whole_words(name: str) -> re.Pattern[str]:
    """Return one list of extraction.toml as an expression of whole words."""
    return re.compile(rf"\b(?:{alternatives(name)})\b", re.I)


def alternatives(name: str) -> str:
    """Return a list of extraction.toml as one line of alternatives."""
    listed: str = patterns()["words"][name]
    return "".join(listed.split("\n")).strip("|")


@cache
def pattern(name: str) -> re.Pattern[str]:
    """Return one of the patterns of extraction.toml."""
    return compiled(patterns()["patterns"][name])


def compiled(written: str) -> re.Pattern[str]:
    """Compile a pattern that may stand on several lines and name a word list as {body}."""
    one_line = "".join(written.split("\n"))
    for name in patterns()["words"]:
        one_line = one_line.replace(f"{{{name}}}", alternatives(name))
    return re.compile(one_line, re.I)


def is_finding(phrase: str) -> bool:
    """Whether a phrase names a symptom or sign by itself: "fever" does, "muscle" does not."""
    return words("findings").search(phrase) is not None


def is_condition(phrase: str) -> bool:
    """Whether a phrase names a condition that a person lives with: diabetes, pregnancy."""
    return words("conditions").search(phrase) is not None


@cache
def _modifiers() -> re.Pattern[str]:
    """Words that are adjectives alone: "acute, severe, central chest pain" is one member."""
    one = rf"(?:{alternatives('modifiers')}|\d+-cm)"
    return re.compile(rf"(?:an? |the |any |some )?(?:{one}(?: |$))+", re.I)


def is_modifier(phrase: str) -> bool:
    """Whether a phrase is adjectives alone that name nothing: "acute", "central, severe"."""
    members = re.split(r"\s*,\s*|\s+and\s+", phrase)
    state = re.match(r"(?:hypo|hyper|tachy|brady)", phrase)
    return not state and not is_finding(phrase) and all(map(_modifiers().fullmatch, members))


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """Cut a text into sentences with their positions, in linear time and without a model.

    What goes on for more than LONGEST_SENTENCE characters is cut there: patterns are tried at
    every word, and text from a model need not have a full stop at all.
    """
    start = 0
    for match in [*_SENTENCE_END.finditer(text), None]:
        end = match.start() if match else len(text)
        before = text[max(start, end - 8) : end]
        if match and "\n" not in match.group() and _ABBREVIATED.search(before):
            continue
        for piece in range(start, end, LONGEST_SENTENCE):
            sentence = text[piece : min(end, piece + LONGEST_SENTENCE)]
            if sentence.strip():
                yield piece, sentence
        start = match.end() if match else end


def list_items(text: str) -> list[tuple[int, int]]:
    """Cut a list of findings into its members, as spans.

    A member that says nothing by itself stays with its neighbour: "muscle and joint pain",
    "aching muscles and joints" and "bleeding from the nose and gums" are one each.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _BORDER.finditer(text):
        spans.append((start, match.start()))
        start = match.end()
    spans.append((start, len(text)))
    spans = [span for span in spans if text[span[0] : span[1]].strip()]
    merged: list[tuple[int, int]] = []
    open_start: int | None = None
    for i, (left, right) in enumerate(spans):
        item = text[left:right].strip(' .:"')
        rest = [text[begin:end].strip(' .:"') for begin, end in spans[i + 1 :]]
        following = rest[0] if rest else ""
        if _waits(item, following) or _qualifies(item, rest):
            open_start = left if open_start is None else open_start
        elif (
            merged
            and open_start is None
            and _belongs_back(item, text[merged[-1][0] : merged[-1][1]])
        ):
            merged[-1] = (merged[-1][0], right)
        else:
            merged.append((left if open_start is None else open_start, right))
            open_start = None
    if open_start is not None:
        merged.append((open_start, spans[-1][1]))
    return merged


def _waits(item: str, following: str) -> bool:
    """Whether "muscle" waits for "and joint pain"."""
    adjective = _LOOSE_ADJECTIVE.match(item) or _ADJECTIVE.fullmatch(item)
    if adjective and _ADJECTIVE.fullmatch(following.strip()):
        return True
    if adjective and len(following.split()) > 1 and not _DETERMINER.match(following.strip()):
        return is_finding(f"{item} {following}")
    if is_finding(item) or not whole_words("body").fullmatch(item):
        return False
    first, *rest = _DETERMINER.sub("", following.strip()).split() or [""]
    return (
        bool(rest) and bool(whole_words("body").fullmatch(first)) and is_finding(" ".join(rest))
    ) or (
        is_finding(following)
        and not is_finding(first)
        and bool(whole_words("body").match(following.strip()))
    )


def _qualifies(item: str, rest: list[str]) -> bool:
    """Whether "acute" is said of what a later member names: "acute, severe, central chest pain"."""
    bare = _modifiers().fullmatch(item) or re.fullmatch(r"an? [\w-]+(?:ed|ing)", item)
    if not rest or not bare or _DETERMINER.match(rest[0]):
        return False
    noun = next((member for member in rest if not _modifiers().fullmatch(member)), None)
    if noun is None or _DETERMINER.match(noun):
        return False
    return bool(_modifiers().match(rest[0])) or (is_finding(rest[0]) and not is_finding(item))


def _belongs_back(item: str, previous: str) -> bool:
    """Whether "feet" belongs to "swellings on arms"."""
    if is_finding(item) or is_condition(item):
        return False
    if not item:
        return False
    owned = re.match(r"(?:my|his|her|their)\b", item, re.I)
    if owned and not re.search(r"\b(?:of|on|in|from|to|around|behind|over|at)\b", previous):
        return False
    bare = re.sub(
        r"\b(?:the|his|her|their|my|lower|upper|left|right|both|inner|outer|area|region)\b",
        "",
        item,
        flags=re.I,
    ).strip()
    return bool(
        whole_words("body").fullmatch(bare) or whole_words("body").fullmatch(item.split()[0])
    ) and is_finding(previous)
