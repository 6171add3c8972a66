"""Tables of scores that exist already: CSV files, one row an answer, a column a dimension.

Read as they are published (tools/spreadsheets.py), the judge's own sum called total or overall.
A cell that is no number, or lies off the scale, is named by its row and counted; the rest
of the row is kept.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from evenhand.graph_store.errors import UserError
from evenhand.tools.pairing import DIMENSIONS, NAN
from evenhand.tools.spreadsheets import read_spreadsheet
from evenhand.tools.statistics.estimate import Numbers

OVERALL = "overall"
"""The judge's own sum of a row; no mean of the others."""
COLUMNS = (*DIMENSIONS, OVERALL)
_NAMES = {"total": OVERALL, "overall_score": OVERALL, "total_score": OVERALL, "sex": "gender"}
_ID_NAMES = ("id", "sample_id", "question_id", "item", "case")
_TEXT_NAMES = ("question", "questions", "prompt", "text")
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"0?,\d+|1,00?")
_NOTHING = frozenset({"", "na", "n/a", "nan", "null", "none", "-"})

CellStatus = Literal["empty", "not_a_number", "out_of_range", "misaligned"]


@dataclass(frozen=True)
class CellProblem:
    """A cell that holds no score, and why."""

    row: int
    """From 1, the header not counted; empty rows are, a cell of several lines is no row."""
    column: str
    """As the file names it; "" where the whole row is meant."""
    status: CellStatus
    value: str
    """What stands there, shortened."""

    def __str__(self) -> str:
        """Say it in a sentence's part."""
        if self.status == "misaligned":
            return f"row {self.row}: {self.value}"
        said = {
            "empty": "is empty",
            "not_a_number": f"{self.value!r} is no number",
            "out_of_range": f"{self.value} lies outside 0 to 1",
        }
        return f"row {self.row}, {self.column}: {said[self.status]}"


@dataclass(frozen=True)
class ScoreFile:
    """The scores of one file."""

    path: Path
    dimensions: tuple[str, ...]
    """Those of COLUMNS that the file has, in that order."""
    scores: Numbers
    """Shape (rows, dimensions), in [0, 1]; NaN where a cell holds no score."""
    keys: tuple[str, ...] | None
    """What tells which item a row is: its id or its question; None without such a column."""
    key_column: str | None
    problems: tuple[CellProblem, ...] = ()

    def column(self, dimension: str) -> Numbers:
        """Return the scores of a dimension, shape (rows,)."""
        scores: Numbers = self.scores[:, self.dimensions.index(dimension)]
        return scores

    def unscored(self, dimension: str) -> dict[str, int]:
        """Count the rows without a score in a dimension, by why."""
        kinds = (p.status for p in self.problems if _dimension(p.column) in (dimension, ""))
        return dict(sorted(Counter(kinds).items()))


def read_scores(path: Path) -> ScoreFile:
    """Read a table of scores.

    Raises:
        UserError: No file, no table, no column of scores, a column twice, or no row.
    """
    table = read_spreadsheet(path)
    places = _score_columns(path, table.header)
    key_column = next((n for n in (*_ID_NAMES, *_TEXT_NAMES) if n in table.header), None)
    read = [
        _read_row(number, cells, table.header, places)
        for number, cells in enumerate(table.rows, start=1)
        if any(cells)
    ]
    if not read:
        raise UserError(f"{path.name} holds a header and no row; expected a row an answer.")
    at = table.header.index(key_column) if key_column else None
    return ScoreFile(
        path=path,
        dimensions=tuple(places),
        scores=np.array([scores for _, scores, _ in read], dtype=np.float64),
        keys=None if at is None else tuple(_key(cells, at) for cells, _, _ in read),
        key_column=key_column,
        problems=tuple(problem for _, _, problems in read for problem in problems),
    )


_Row = tuple[Sequence[str], list[float], list[CellProblem]]
"""Cells (none of a misaligned row), scores in the order of the dimensions, what is left out."""


def _read_row(
    number: int, cells: Sequence[str], header: Sequence[str], places: Mapping[str, int]
) -> _Row:
    if any(cells[len(header) :]):
        wrong = f"{len(cells)} cells under {len(header)} columns"
        return (), [NAN] * len(places), [CellProblem(number, "", "misaligned", wrong)]
    row = [*cells, *("" for _ in header[len(cells) :])]
    scores: list[float] = []
    problems: list[CellProblem] = []
    for at in places.values():
        value, status = _read_score(row[at])
        scores.append(value)
        if status is not None:
            problems.append(CellProblem(number, header[at], status, _short(row[at])))
    return row, scores, problems


def _score_columns(path: Path, header: Sequence[str]) -> dict[str, int]:
    """Return where each dimension stands, in the order of COLUMNS."""
    found: dict[str, list[int]] = {}
    for at, name in enumerate(header):
        found.setdefault(_dimension(name), []).append(at)
    for name in COLUMNS:
        if len(found.get(name, ())) > 1:
            twice = " and ".join(repr(header[at].strip()) for at in found[name])
            raise UserError(
                f"{path.name} has two columns for {name}, {twice}; expected one. Delete one."
            )
    places = {name: found[name][0] for name in COLUMNS if name in found}
    if not places:
        there = ", ".join(_short(name) for name in header)
        raise UserError(
            f"{path.name} has no column of scores, only {there}; expected some of "
            f"{', '.join(DIMENSIONS)}. Name the columns so."
        )
    return places


def _dimension(name: str) -> str:
    """Return "age_gender" for "Age + Gender", "overall" for "total"."""
    words = [word for word in re.findall(r"[^\W_]+", name.casefold()) if word != "and"]
    bare = "_".join(words)
    return _NAMES.get(bare, bare)


def _read_score(cell: str) -> tuple[float, CellStatus | None]:
    """Return a score, or NaN and why there is none."""
    if cell.casefold() in _NOTHING:
        return NAN, "empty"
    # A decimal comma is one only where it can be nothing else: "1,000" may be a thousand.
    text = cell.replace(",", ".") if _DECIMAL_COMMA.fullmatch(cell) else cell
    if not _NUMBER.fullmatch(text):
        return NAN, "not_a_number"
    value = float(text)
    return (value + 0.0, None) if 0 <= value <= 1 else (NAN, "out_of_range")


def _key(cells: Sequence[str], at: int) -> str:
    """Return what names the item of a row; "" of a misaligned one."""
    return " ".join(cells[at].split()) if cells else ""


def _short(text: str, length: int = 40) -> str:
    text = " ".join(text.split())
    return text if len(text) <= length else text[: length - 1] + "…"
