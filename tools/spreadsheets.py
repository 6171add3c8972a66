"""CSV as spreadsheets write and read it: files that people open, fill in and send back.

Reading takes what Excel, Calc and survey tools save: UTF-8 with or without a mark at its start,
UTF-16, Windows' cp1252; commas, semicolons or tabs; cells of several lines. Writing makes sure that
no cell of ours is run as a formula.
"""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.graph_store.errors import UserError
from evenhand.tools.table_format import find_format

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
Cell = str | int | float


@dataclass(frozen=True)
class Spreadsheet:
    """A table of text: cells stripped, columns by their titles in small letters."""

    name: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """The rows below the header, empty ones too, so that their numbers are those on the screen."""

    def numbered(self) -> Iterator[tuple[int, dict[str, str]]]:
        """Yield (number from 1 below the header, cells by column) of the rows that hold anything.

        A row that is shorter than the header has empty cells at its end, as spreadsheets save it.
        """
        for number, row in enumerate(self.rows, start=1):
            if any(row):
                cells = (*row, *("" for _ in self.header[len(row) :]))
                yield number, dict(zip(self.header, cells, strict=False))


def read_spreadsheet(path: Path) -> Spreadsheet:
    """Read a CSV file whole.

    Raises:
        UserError: No such file, no text (a workbook, say), empty, or two columns of one title.
    """
    if not path.is_file():
        raise UserError(f"No file {str(path)!r}; expected a CSV file. Give its path.")
    found = find_format(path)
    if found.kind == "parquet":
        raise UserError(f"{path.name} is no text; expected CSV. Save the sheet as CSV.")
    text = path.read_bytes().decode(found.encoding, errors="replace").removeprefix("\ufeff")
    # A cell may hold a long answer: no limit on it but the file's own length.
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    table = list(csv.reader(io.StringIO(text, newline=""), delimiter=found.delimiter))
    start = next((at for at, row in enumerate(table) if any(cell.strip() for cell in row)), None)
    if start is None:
        raise UserError(f"{path.name} is empty; expected a header and a row for each item.")
    header = tuple(title.strip().casefold() for title in table[start])
    twice = sorted({title for title in header if title and header.count(title) > 1})
    if twice:
        raise UserError(f"{path.name} has two columns {twice[0]!r}; expected one. Delete one.")
    rows = tuple(tuple(cell.strip() for cell in row) for row in table[start + 1 :])
    return Spreadsheet(path.name, header, rows)


def spreadsheet_text(columns: Sequence[str], rows: Sequence[Mapping[str, Cell]]) -> str:
    """Return a table as CSV; a text that a spreadsheet would run begins with an apostrophe.

    Args:
        columns: Titles, in order.
        rows: Cells by column; one that is absent is empty. Numbers stay numbers, "-0.25" too.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows([inert(row.get(column, "")) for column in columns] for row in rows)
    return text.getvalue()


def inert(cell: Any) -> Any:
    """Return a cell that no spreadsheet runs: what looks like a formula gets an apostrophe."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell
