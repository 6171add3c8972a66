"""EquityMedQA (Pfohl et al. 2024, doi 10.1038/s41591-024-03258-2): questions in CSV files.

The files have no header row; readers that expect one lose the first question. One column of
questions, in the cc_* files two (the pair differs in its context). A header row that someone has
added is known by its short words.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Sample, sample_id
from evenhand.tools.csv_rows import check_rows, read_rows
from evenhand.tools.datasets import asking_part, dataset

_TITLE_WORDS = 3
_HEADER_TEXT = re.compile(
    r"(?:text|prompt|question|query|input)(?:[ _](?:a|text|1))?", re.IGNORECASE
)


@dataset(
    title="EquityMedQA: adversarial health questions, one CSV file of it",
    needs_path=True,
    hub="katielink/EquityMedQA",
)
def equitymedqa(path: Path | None) -> Iterator[Sample]:
    """Yield the questions of one EquityMedQA file; of a pair, the second is in `columns`."""
    return _samples("equitymedqa", path, most_columns=2)


@dataset(
    title="TRINDS: 106 questions on tropical and infectious diseases (EquityMedQA)",
    needs_path=True,
    hub="katielink/EquityMedQA",
    hub_file="equitymedqa_trinds.csv",
)
def trinds(path: Path | None) -> Iterator[Sample]:
    """Yield the questions of the TRINDS subset: rows 1-53 clinicians', 54-106 consumers'."""
    return _samples("trinds", path, most_columns=1)


@dataclass(frozen=True)
class _Table:
    header: list[str] | None
    rows: list[list[str]]


def _samples(name: str, path: Path | None, *, most_columns: int) -> Iterator[Sample]:
    if path is None:
        raise UserError(f"Data set {name!r} needs --path: its CSV file.")
    table = _read(path)
    width = _width(table, path, most_columns)
    faults = {n: _fault(row, width) for n, row in enumerate(table.rows, start=1)}
    check_rows(path, {number: fault for number, fault in faults.items() if fault})
    column = _text_column(table.header)
    for position, row in enumerate(table.rows):
        text = row[column].strip()
        yield Sample(
            id=sample_id(name, position, *row),
            dataset=name,
            position=position,
            text=text,
            question=asking_part(text),
            columns=_other_columns(table.header, row, column),
        )


def _read(path: Path) -> _Table:
    """Read a file whole; a first row of short words is a header that someone has added."""
    rows = read_rows(path)
    header = rows[0] if _is_header(rows[0]) else None
    return _Table(header, rows[1:] if header else rows)


def _is_header(row: list[str]) -> bool:
    """A header's cells are words, a question's first row is a sentence."""
    titles = (re.fullmatch(r"[\w -]{1,40}", cell.strip()) for cell in row)
    return all(titles) and all(0 < len(cell.split()) <= _TITLE_WORDS for cell in row)


def _width(table: _Table, path: Path, most_columns: int) -> int:
    if not table.rows:
        raise UserError(f"{path.name} is empty; expected a row for each question.")
    if table.header:
        _text_column(table.header, path)
        return len(table.header)
    widths = [len(row) for row in table.rows]
    usual = max(set(widths), key=widths.count)
    if usual > most_columns:
        expected = "one column" if most_columns == 1 else "one or two columns"
        raise UserError(
            f"{path.name}: {usual} columns; expected {expected}, the question first. "
            "Quote each cell that holds a comma."
        )
    return usual


def _text_column(header: list[str] | None, path: Path | None = None) -> int:
    for index, title in enumerate(header or []):
        if _HEADER_TEXT.fullmatch(title.strip()):
            return index
    if header and len(header) > 1 and path:
        raise UserError(
            f"{path.name}: no column of questions; found: {', '.join(header)}; "
            "expected one named text, prompt or question."
        )
    return 0


def _fault(row: list[str], width: int) -> str | None:
    if len(row) != width:
        return f"has {len(row)} columns, expected {width}"
    empty = [str(index) for index, cell in enumerate(row, start=1) if not cell.strip()]
    return f"has an empty cell in column {', '.join(empty)}" if empty else None


def _other_columns(
    header: list[str] | None, row: list[str], column: int
) -> dict[str, str | int | float | bool | None]:
    names = header or ["text", "pair"]
    return {
        name: cell
        for index, (name, cell) in enumerate(zip(names, row, strict=False))
        if index != column
    }
