"""What the codes of an attribute's column mean: words by a shipped table, numbers by a codebook.

1 and 2 mean opposite sexes in different sources, so a number without a codebook means nothing.
What is neither group keeps its own word (unknown, declined ...), is counted, and never becomes one.
"""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

MISSING = "missing"
NO_GROUP = frozenset({MISSING, "unknown", "undetermined", "other_or_unspecified", "declined"})
"""Meanings that put a visit in no group of a comparison."""


@dataclass(frozen=True)
class CodeMeanings:
    """The meaning of each value: a word, or None where only a codebook could tell.

    Attributes:
        mapped: In the order of the values.
        reason: "codebook_required" where one is None, else None.
        unclear: The values without a meaning, each once.
    """

    mapped: tuple[str | None, ...]
    reason: str | None
    unclear: tuple[str, ...]


def read_codes(
    values: Iterable[str | None],
    *,
    codebook: Mapping[str, str] | None = None,
    attribute: str = "gender",
    language: str = "en",
) -> CodeMeanings:
    """Return what the values of an attribute's column mean.

    Args:
        values: Cells of the column.
        codebook: Code -> meaning, of the data set; it goes before the table.
        attribute: A name in code_values.csv; of another, only the codebook knows the codes.
        language: "en" or "fr": H is homme in French alone.

    Example:
        >>> read_codes(["F", "2", ""]).mapped
        ('female', None, 'missing')
    """
    known = _table(attribute, language)
    own = {code.strip().casefold(): meaning for code, meaning in (codebook or {}).items()}
    cells = [(value or "").strip() for value in values]
    mapped = tuple(_meaning(cell, own, known) for cell in cells)
    unclear = tuple(
        dict.fromkeys(cell for cell, word in zip(cells, mapped, strict=True) if word is None)
    )
    return CodeMeanings(mapped, "codebook_required" if unclear else None, unclear)


def _meaning(cell: str, own: Mapping[str, str], known: Mapping[str, str]) -> str | None:
    key = cell.casefold()
    if key in own:
        return own[key]
    return known.get(key) if cell else MISSING


@cache
def _table(attribute: str, language: str) -> dict[str, str]:
    text = (files("evenhand.tools") / "code_values.csv").read_text("utf-8")
    rows = [row for row in csv.DictReader(text.splitlines()) if row["attribute"] == attribute]
    # Words of the language go before words of all languages.
    ordered = sorted(rows, key=lambda row: row["language"] == language)
    return {
        word: row["value"]
        for row in ordered
        if row["language"] in ("", language)
        for word in row["words"].split("|")
    }
