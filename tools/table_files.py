"""Rows of a table file as they were written: text cells, empty apart from quoted-empty, in order.

Nothing is typed here: an id such as 00123 or 891e3 stays what it is, and the words NA and None
are words. A file is read in blocks, so that it may be larger than memory. What the values are,
tools/column_kinds.py says; what they mean, a mapping.
"""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.graph_store.errors import UserError
from evenhand.tools.spreadsheets import inert
from evenhand.tools.table_format import TableFormat, find_format, open_bytes

if TYPE_CHECKING:
    import pyarrow as pa

Row = dict[str, str | None]
"""Column name -> cell; None where nothing stands between the delimiters."""

BLOCK_BYTES = 1 << 23
"""A file is read in blocks of 8 MiB; a row must fit into one."""
MAX_CELL_CHARACTERS = 1_000_000
_SHOWN_FAULTS = 5


def read_rows(path: Path, table: TableFormat | None = None) -> Iterator[Row]:
    """Yield the rows of a CSV, JSON lines or Parquet file.

    Args:
        path: The file.
        table: How to read it; None to find out.

    Raises:
        UserError: Rows of another width than the header's, cells of more than a million
            characters, bytes outside the encoding, a quote that is never closed; the message
            names the rows, counted from 1 without the header.
    """
    how = table or find_format(path)
    first = 0
    for block in _blocks(path, how):
        names = list(block)
        for cells in zip(*block.values(), strict=True):
            first += 1
            for name, cell in zip(names, cells, strict=True):
                if cell is not None and len(cell) > MAX_CELL_CHARACTERS:
                    raise UserError(_too_long(path, first, name, len(cell)))
            yield dict(zip(names, cells, strict=True))


def column_names(path: Path, table: TableFormat | None = None) -> list[str]:
    """Return the names of the columns, in the order of the file."""
    how = table or find_format(path)
    if how.kind == "csv":
        return _header(path, how)
    return list(next(iter(read_rows(path, how)), {}))


def write_csv(path: Path, rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> None:
    """Write rows as a CSV file that a spreadsheet may open: no text cell runs as a formula.

    A text that begins with =, +, -, @ gets an apostrophe before it, as spreadsheets themselves
    do; numbers keep their sign.
    """
    with path.open("w", encoding="utf-8-sig", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow([inert(name) for name in columns])
        for row in rows:
            writer.writerow([inert(row.get(name)) for name in columns])


def _blocks(path: Path, table: TableFormat) -> Iterator[dict[str, list[str | None]]]:
    if table.kind == "csv":
        return _csv_blocks(path, table)
    if table.kind == "parquet":
        return _parquet_blocks(path)
    return _jsonl_blocks(path, table)


# CSV


def _header(path: Path, table: TableFormat) -> list[str]:
    with io.TextIOWrapper(open_bytes(path), table.encoding, newline="") as stream:
        try:
            names = next((row for row in csv.reader(stream, delimiter=table.delimiter) if row), [])
        except UnicodeError as error:
            raise UserError(_explained(path, table, str(error))) from error
        except csv.Error as error:
            raise UserError(
                f"{path.name}: its first line is no header ({error}); "
                "expected the names of the columns."
            ) from error
    names = [name.strip().lstrip("\ufeff").strip('"') for name in names]
    if not any(names):
        raise UserError(f"{path.name} is empty; expected a header line and a line for each visit.")
    twice = sorted({name for name in names if name and names.count(name) > 1})
    if twice:
        raise UserError(
            f"{path.name}: two columns are named {', '.join(map(repr, twice))}; rename one."
        )
    return [name or f"column {place}" for place, name in enumerate(names, start=1)]


def _csv_blocks(path: Path, table: TableFormat) -> Iterator[dict[str, list[str | None]]]:
    from pyarrow import ArrowInvalid

    names = _header(path, table)
    faults: list[str] = []
    last: list[str | None] = []
    try:
        for batch in _open_csv(path, table, names, faults):
            block = batch.to_pydict()
            if faults:
                break
            if batch.num_rows:
                last = [block[name][-1] for name in names]
                yield block
    except (ArrowInvalid, UnicodeError) as error:
        raise UserError(_explained(path, table, str(error))) from error
    if faults:
        more = f"; and {len(faults) - _SHOWN_FAULTS} more" if len(faults) > _SHOWN_FAULTS else ""
        raise UserError(
            f"{path.name}: {'; '.join(faults[:_SHOWN_FAULTS])}{more}, expected {len(names)} as in "
            "the header. Quote each cell that holds the delimiter or a line break."
        )
    if any(cell and "\n" in cell for cell in last) and _odd_quotes(path):
        raise UserError(
            f"{path.name}: a quote opens in the last cell that was read and is never closed; "
            f"it begins {next(cell for cell in last if cell and chr(10) in cell)[:40]!r}. Close it."
        )


def _open_csv(
    path: Path, table: TableFormat, names: list[str], faults: list[str]
) -> Iterator["pa.RecordBatch"]:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    def note(row: Any) -> str:
        # The header is row 1 for the reader.
        faults.append(f"row {(row.number or 1) - 1} has {row.actual_columns} cells")
        return "skip"

    reading = arrow_csv.ReadOptions(
        use_threads=False,
        block_size=BLOCK_BYTES,
        encoding=table.encoding,
        column_names=names,
        skip_rows_after_names=1,
    )
    parsing = arrow_csv.ParseOptions(
        delimiter=table.delimiter, newlines_in_values=True, invalid_row_handler=note
    )
    converting = arrow_csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()),
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
        null_values=[""],
    )
    with open_bytes(path) as stream:
        yield from arrow_csv.open_csv(stream, reading, parsing, converting)


def _explained(path: Path, table: TableFormat, error: str) -> str:
    if "straddling" in error:
        return (
            f"{path.name}: a row has more than {BLOCK_BYTES >> 20} MiB, or a quote is never "
            f"closed; a cell may have at most {MAX_CELL_CHARACTERS:,} characters."
        )
    if "Empty CSV" in error:
        return f"{path.name} is empty; expected a header line and a line for each visit."
    return (
        f"{path.name} cannot be read as {table.encoding} with delimiter {table.delimiter!r} "
        f"({error.splitlines()[0][:120]}); give encoding and delimiter in the mapping's [file]."
    )


def _odd_quotes(path: Path) -> bool:
    with open_bytes(path) as stream:
        return sum(chunk.count(b'"') for chunk in iter(lambda: stream.read(1 << 20), b"")) % 2 == 1


def _too_long(path: Path, row: int, name: str, length: int) -> str:
    return (
        f"{path.name}: row {row} has {length:,} characters in column {name!r}; at most "
        f"{MAX_CELL_CHARACTERS:,} are read. Cut the cell, or take the row out."
    )


# JSON lines and Parquet


def _jsonl_blocks(path: Path, table: TableFormat) -> Iterator[dict[str, list[str | None]]]:
    """One row a block: lines end at a line feed alone, never at a separator inside a string."""
    names: list[str] | None = None
    with io.TextIOWrapper(open_bytes(path), table.encoding, newline="\n") as stream:
        for number, line in enumerate(stream, start=1):
            if not line.strip("\ufeff \r\n"):
                continue
            row = _json_object(path, number, line)
            names = names or list(row)
            if set(row) != set(names):
                raise UserError(
                    f"{path.name}: line {number} has the keys {', '.join(row)}; "
                    f"expected {', '.join(names)} as in the first line."
                )
            yield {name: [_cell(row[name])] for name in names}


def _json_object(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line.lstrip("\ufeff"))
    except ValueError as error:
        raise UserError(f"{path.name}: line {number} is not JSON ({error}).") from error
    if not isinstance(row, dict):
        raise UserError(f"{path.name}: line {number} is no JSON object; expected one a line.")
    return row


def _parquet_blocks(path: Path) -> Iterator[dict[str, list[str | None]]]:
    from pyarrow import ArrowInvalid, parquet

    try:
        file = parquet.ParquetFile(path)
    except ArrowInvalid as error:
        raise UserError(f"{path.name} is no whole Parquet file ({error}).") from error
    with file:
        for batch in file.iter_batches(batch_size=4096):
            yield {
                name: [_cell(cell) for cell in cells] for name, cells in batch.to_pydict().items()
            }


def _cell(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value) if not isinstance(value, dict | list) else json.dumps(value)
