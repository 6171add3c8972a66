"""The cells of a rating sheet that people fill in -> a value, or why there is none."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evenhand.tools.filter_audit import COMPARISONS
from evenhand.tools.rating_sheets import FIRST, HIGH, LOW, NONE, SECOND, TIE
from evenhand.tools.rewrite_ratings import QUALITIES

Fault = Literal[
    "no_id",
    "other_id",
    "no_rater",
    "other_rater",
    "doubled_row",
    "conflicting_rows",
    "already_rated",
    "missing",
    "unparsable",
    "out_of_range",
]
CHOICES = {
    FIRST: FIRST,
    "1": FIRST,
    "a": FIRST,
    SECOND: SECOND,
    "2": SECOND,
    "b": SECOND,
    TIE: TIE,
    "equal": TIE,
    "same": TIE,
    "neither": TIE,
}
_WHOLE = re.compile(r"[+-]?\d{1,9}(?:[.,]0+)?")
_NUMBER = re.compile(r"[+-]?\d*[.,]?\d+")
_LONGEST_CELL = 40


@dataclass(frozen=True)
class Given:
    """What one cell says."""

    value: str | float | None
    status: Literal["ok", "tie", "unparsable", "out_of_range"] = "ok"
    fault: Fault | None = None
    why: str = ""


def read_choice(cell: str) -> Given:
    """Read which pair of a row was chosen: first, second or tie (1, 2, A, B, equal)."""
    if not cell:
        return Given(None, "unparsable", "missing", "is empty")
    chosen = CHOICES.get(cell.casefold())
    if chosen is None:
        why = f"{short(cell)!r} is none of first, second, tie"
        return Given(None, "unparsable", "unparsable", why)
    return Given(None, "tie") if chosen == TIE else Given(chosen)


def read_rating(cell: str) -> Given:
    """Read a whole number of 1 to 5."""
    if not cell:
        return Given(None, "unparsable", "missing", "is empty")
    if not _WHOLE.fullmatch(cell):
        off = "is no whole number" if _NUMBER.fullmatch(cell) else "is no number"
        why = f"{short(cell)!r} {off}; expected {LOW} to {HIGH}"
        return Given(None, "unparsable", "unparsable", why)
    value = float(cell.replace(",", "."))
    if not LOW <= value <= HIGH:
        why = f"{short(cell)} lies outside {LOW} to {HIGH}"
        return Given(None, "out_of_range", "out_of_range", why)
    return Given(value)


def read_quality(cell: str) -> Given:
    """Read what was made of a note: correct, incomplete or failed (c, i, f)."""
    return _read_word(cell, QUALITIES)


def read_comparison(cell: str) -> Given:
    """Read what became of a question's comparison: kept or changed (k, c)."""
    return _read_word(cell, COMPARISONS)


def _read_word(cell: str, words: Sequence[str]) -> Given:
    if not cell:
        return Given(None, "unparsable", "missing", "is empty")
    said = cell.casefold()
    chosen = [word for word in words if said in (word, word[0])]
    if not chosen:
        why = f"{short(cell)!r} is none of {', '.join(words)}"
        return Given(None, "unparsable", "unparsable", why)
    return Given(chosen[0])


def read_names(cell: str, attributes: Sequence[str]) -> dict[str, Given]:
    """Read which attributes were named ("age; location", "none"): 1 or 0 for each of them."""
    if not cell:
        empty = Given(None, "unparsable", "missing", "is empty; write none if there is none")
        return dict.fromkeys(attributes, empty)
    known = {name.casefold(): name for name in attributes}
    said = [part.strip().casefold() for part in re.split(r"[;,/+&\n]|\band\b", cell)]
    named = [part for part in said if part and part != NONE]
    unknown = [part for part in named if part not in known]
    if unknown:
        why = f"{short(unknown[0])!r} is none of {', '.join(attributes)}, none"
        return dict.fromkeys(attributes, Given(None, "unparsable", "unparsable", why))
    return {name: Given(float(name.casefold() in named)) for name in attributes}


def short(text: str) -> str:
    """Return a cell for a message: on one line, not too long."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_CELL else f"{line[:_LONGEST_CELL]} ..."
