"""A CSV file -> its rows, read whole, with faults named by row.

UTF-8 with or without a byte order mark, any line ends, line breaks inside quoted cells. Rows are
counted from 1 without the header, as a person counts them in a spreadsheet's body.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from evenhand.graph_store.errors import UserError

_SHOWN_FAULTS = 5


def read_rows(path: Path, *, or_encoding: str | None = None) -> list[list[str]]:
    """Return the rows of a CSV file, the first one too; lines without any cell are left out.

    Args:
        path: The file.
        or_encoding: What it is read as where it is not UTF-8: "gb18030".

    Raises:
        UserError: Not UTF-8, empty, or not CSV; the message names the line.
    """
    content = path.read_bytes()
    try:
        text = _decoded(content, or_encoding)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise UserError(
            f"{path.name}: line {line} is not UTF-8 (byte {error.start}); save the file as UTF-8."
        ) from error
    if not text.strip():
        raise UserError(f"{path.name} is empty; expected a row for each question.")
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        return [row for row in reader if row]
    except csv.Error as error:
        raise UserError(
            f"{path.name}: line {reader.line_num} is not CSV ({error}); "
            "quote each cell that holds a comma, a quote or a line break."
        ) from error


def _decoded(content: bytes, or_encoding: str | None) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        if or_encoding is None:
            raise
        return content.decode(or_encoding)


def read_table(
    path: Path, columns: Mapping[str, Sequence[str]], *, or_encoding: str | None = None
) -> list[dict[str, str]]:
    """Read the named columns of a CSV file with a header; its other columns are left out.

    Args:
        path: The file.
        columns: Name of each wanted column -> the titles it may have in the file, compared without
            case and outer blanks.
        or_encoding: As in `read_rows`.

    Returns:
        A dictionary a row under the wanted names; cells stripped; rows of empty cells left out.

    Raises:
        UserError: A column is missing, or rows have too many, too few or empty cells, by number.
    """
    header, *rows = read_rows(path, or_encoding=or_encoding)
    places = {name: _place(header, titles, path) for name, titles in columns.items()}
    last = max(places.values())
    filled = [row for row in rows if any(cell.strip() for cell in row)]
    if not filled:
        raise UserError(f"{path.name} has no rows below its header; expected one for each case.")
    faults = {}
    for number, row in enumerate(filled, start=1):
        empty = [name for name, at in places.items() if at < len(row) and not row[at].strip()]
        if len(row) <= last or any(cell.strip() for cell in row[len(header) :]):
            faults[number] = f"has {len(row)} columns, expected {len(header)}"
        elif empty:
            faults[number] = f"has an empty cell in column {', '.join(empty)}"
    check_rows(path, faults)
    return [{name: row[at].strip() for name, at in places.items()} for row in filled]


def check_rows(path: Path, faults: Mapping[int, str]) -> None:
    """Raise a UserError that names the faulty rows, where there are any.

    Args:
        path: The file.
        faults: Number of a row, from 1 without the header -> what is wrong with it: "has 2
            columns, expected 1".
    """
    if not faults:
        return
    listed = [f"row {number} {fault}" for number, fault in faults.items()]
    more = len(listed) - _SHOWN_FAULTS
    shown = "; ".join(listed[:_SHOWN_FAULTS]) + (f"; and {more} more" if more > 0 else "")
    raise UserError(f"{path.name}: {shown}. Mend or remove these rows.")


def _place(header: Sequence[str], titles: Sequence[str], path: Path) -> int:
    wanted = {title.casefold() for title in titles}
    for place, title in enumerate(header):
        if title.strip().casefold() in wanted:
            return place
    found = ", ".join(title.strip() for title in header if title.strip())
    shown = found if len(found) <= 200 else f"{found[:200]} ..."
    raise UserError(
        f"{path.name}: no column {' or '.join(map(repr, titles))}; found: {shown}; "
        "give the file in its original format."
    )
