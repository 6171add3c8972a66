"""Does a reply decline to answer? English and French; a disclaimer before an answer is none.

The words stand in refusals.toml.
"""

import re
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

LONGEST_REFUSAL = 2000
"""Characters; a longer reply has said something, whatever it begins with."""

_SENTENCE_END = re.compile(
    r"(?<=[.!?])\s+|\n+|;\s|,?\s(?:but|however|though|mais|cependant|toutefois)\b,?\s"
)
_MARKS = re.compile(r"[*_`>#]+")
_QUOTED = re.compile(r'"[^"]{0,300}"|“[^”]{0,300}”|«[^»]{0,300}»')
_APOSTROPHES = str.maketrans("\N{RIGHT SINGLE QUOTATION MARK}\N{LEFT SINGLE QUOTATION MARK}", "''")
_WORD = re.compile(r"\w+")


def is_refusal(text: str) -> bool:
    """Say whether a reply declines to answer and says nothing else of substance.

    "I cannot rule out malaria" and "the patient cannot breathe" are answers: the one who declines
    must be the speaker, and what is declined a service. "I'm not able to diagnose you, but fever
    and rash suggest measles" is an answer too. What somebody else says in quotes does not count.
    """
    plain = _plain(text)
    if len(plain) > LONGEST_REFUSAL:
        return False
    sentences = _sentences(plain)
    others = [sentence for sentence in sentences if not _declines(sentence)]
    return len(others) < len(sentences) and not any(map(_has_substance, others))


def declines(text: str) -> bool:
    """Say whether any sentence of a reply declines; for judges, whose answer is a number."""
    return any(map(_declines, _sentences(_plain(text)[:LONGEST_REFUSAL])))


def _plain(text: str) -> str:
    start = text[: 2 * LONGEST_REFUSAL].translate(_APOSTROPHES)
    return _QUOTED.sub("...", _MARKS.sub("", start)).strip()


def _sentences(plain: str) -> list[str]:
    return [part.strip() for part in _SENTENCE_END.split(plain) if part.strip()]


def _declines(sentence: str) -> bool:
    return any(pattern.search(sentence) for pattern in _refusals())


def _has_substance(sentence: str) -> bool:
    return len(_WORD.findall(sentence)) > 1 and not _filler().search(sentence)


@cache
def _refusals() -> tuple[re.Pattern[str], ...]:
    patterns: list[str] = []
    for words in _words().values():
        service = rf"{_any(words['service'])}\b"
        adverbs = rf"(?:[\s,]*{_any(words['adverb'])})*"
        patterns += [
            rf"\b{_any(words['speaker'])}\b{adverbs}[\s,]*{_any(words['unable'])}{adverbs}"
            rf"(?:\s*{service}|\s*[.!]?$)",
            rf"\b{_any(words['whole'])}",
            rf"^\W*{_any(words['start']).replace('{service}', service)}",
        ]
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)


@cache
def _filler() -> re.Pattern[str]:
    words = [word for language in _words().values() for word in language["filler"]]
    return re.compile(rf"\b{_any(words)}\b", re.IGNORECASE)


@cache
def _words() -> dict[str, dict[str, list[str]]]:
    text = (files("evenhand.tools") / "refusals.toml").read_text("utf-8")
    return tomllib.loads(text)


def _any(words: Iterable[str]) -> str:
    blanks = [word.replace(" ", r"\s+") for word in words]
    return f"(?:{'|'.join(blanks)})"
