"""What the cells of a column look like: numbers, codes, categories, text; and what may be missing.

A proposal for a person to confirm, made in one pass and in bounded memory: nothing is converted
because of it. A column is numeric only where every cell is a plain number: a leading zero, an
exponent or more than fifteen digits make it a code.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from evenhand.tools.table_files import Row, column_names, read_rows
from evenhand.tools.table_format import TableFormat, find_format

Kind = Literal["number", "category", "code", "text", "empty"]

_NUMBER = re.compile(r"[+-]?(?:0|[1-9]\d{0,14})(?:([.,])\d*)?")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
_CODE = re.compile(r"[\w.:/-]{1,40}")
_MISSING_WORDS = frozenset(
    {
        *("na", "n/a", "nan", "null", "none", "nil", "missing", "unknown", "unk", "not recorded"),
        *("#null!", "#n/a", "#boş!", "#boþ!", "#bos!", "??", "?", ".", "-", "--"),
        *("inconnu", "inconnue", "nr", "n.r.", "nsp", "nd", "n.d."),
        *("non renseigné", "non renseignée"),
    }
)
_MISSING_NUMBERS = frozenset({"-9", "-8", "-7", "-99", "-999", "-1", "999", "9999"})
_AFTER_DECISION = re.compile(
    r"diagnos|dispo|outcome|admi(?:t|ss)|discharge|sortie|orientation|length.?of.?stay|\blo[sv]\b"
    r"|dur[ée]e|icd|cim.?10|died|death|dec[eè]s|mistriage|expert|waittime|left|seen by",
    re.IGNORECASE,
)
_MOST_DISTINCT = 1000
_MOST_CATEGORIES = 30


@dataclass(frozen=True)
class ColumnSummary:
    """One column as it looks.

    Attributes:
        name: As in the header.
        kind: number, category (at most 30 values, most of them repeated), code (ids, dates),
            text, or empty.
        cells: Cells that hold something.
        empty: Cells that hold nothing.
        suspects: Cells that look like "missing", with their counts; they are not taken as such
            before a mapping says so.
        distinct: Different values, counted up to 1,000.
        values: The most frequent values with their counts, at most 30.
        low: Least number; None unless kind is number.
        high: Greatest number.
        longest: Characters of the longest cell.
        multi_line: Cells with a line break.
        flags: decimal_comma; ambiguous_comma (1,234 may be either); maybe_after_decision.
    """

    name: str
    kind: Kind
    cells: int
    empty: int
    suspects: Mapping[str, int]
    distinct: int
    values: Mapping[str, int]
    low: float | None
    high: float | None
    longest: int
    multi_line: int
    flags: tuple[str, ...]


@dataclass(frozen=True)
class TableSummary:
    """A table file as it looks."""

    file: str
    format: TableFormat
    rows: int
    columns: tuple[ColumnSummary, ...]

    @property
    def flags(self) -> tuple[str, ...]:
        """Flags of the file and of its columns, each once."""
        found = [*self.format.flags, *(flag for column in self.columns for flag in column.flags)]
        return tuple(dict.fromkeys(found))

    def column(self, name: str) -> ColumnSummary:
        """Return the summary of the column of that name."""
        return next(column for column in self.columns if column.name == name)


def summarise_table(path: Path, table: TableFormat | None = None) -> TableSummary:
    """Read a table file once and say what its columns look like.

    Raises:
        UserError: As read_rows.
    """
    how = table or find_format(path)
    names = column_names(path, how)
    rows = 0
    seen = {name: _Seen() for name in names}
    for row in read_rows(path, how):
        rows += 1
        for name, cell in row.items():
            seen[name].add(cell)
    return TableSummary(
        path.name, how, rows, tuple(each.summary(name) for name, each in seen.items())
    )


def summarise_column(name: str, cells: Iterable[str | None]) -> ColumnSummary:
    """Say what the cells of one column look like.

    Example:
        >>> summarise_column("score", ["0,75", "1,5"]).flags
        ('decimal_comma',)
        >>> summarise_column("patient", ["00123", "891"]).kind
        'code'
    """
    seen = _Seen()
    for cell in cells:
        seen.add(cell)
    return seen.summary(name)


def as_number(cell: str) -> float | None:
    """Return a plain number, with decimal point or comma; None for anything else.

    Example:
        >>> as_number("36,5"), as_number("1e5"), as_number("nan")
        (36.5, None, None)
    """
    plain = cell.strip()
    if not re.fullmatch(r"[+-]?(?:\d{1,15}(?:[.,]\d*)?|[.,]\d+)", plain):
        return None
    return float(plain.replace(",", "."))


def typed_cells(summary: ColumnSummary, rows: Iterable[Row]) -> list[str | float | None]:
    """Return a column's cells, as numbers where its kind is number, else as they are."""
    cells = [row[summary.name] for row in rows]
    if summary.kind != "number":
        return list(cells)
    numbers: list[str | float | None] = []
    for cell in cells:
        number = None if cell is None else as_number(cell)
        numbers.append(cell if number is None and cell not in (None, "") else number)
    return numbers


@dataclass
class _Seen:
    cells: int = 0
    empty: int = 0
    longest: int = 0
    multi_line: int = 0
    commas: int = 0
    maybe_thousands: int = 0
    numbers: int = 0
    codes: int = 0
    low: float | None = None
    high: float | None = None
    suspects: Counter[str] = field(default_factory=Counter)
    values: Counter[str] = field(default_factory=Counter)

    def add(self, cell: str | None) -> None:
        if cell is None or not cell.strip():
            self.empty += 1
            return
        plain = cell.strip()
        self.cells += 1
        self.longest = max(self.longest, len(cell))
        self.multi_line += "\n" in cell
        if plain in self.values or len(self.values) < _MOST_DISTINCT:
            self.values[plain] += 1
        if plain.casefold() in _MISSING_WORDS or plain in _MISSING_NUMBERS:
            self.suspects[plain] += 1
            return
        self.codes += bool(_CODE.fullmatch(plain) and any(map(str.isdigit, plain)))
        number = _NUMBER.fullmatch(plain)
        if number:
            self._add_number(plain, number[1])

    def _add_number(self, plain: str, mark: str | None) -> None:
        self.numbers += 1
        self.commas += mark == ","
        self.maybe_thousands += bool(_THOUSANDS.fullmatch(plain))
        value = float(plain.replace(",", "."))
        self.low = value if self.low is None else min(self.low, value)
        self.high = value if self.high is None else max(self.high, value)

    def summary(self, name: str) -> ColumnSummary:
        kind = self._kind()
        number = kind == "number"
        return ColumnSummary(
            name=name,
            kind=kind,
            cells=self.cells,
            empty=self.empty,
            suspects=dict(self._suspects(kind)),
            distinct=len(self.values),
            values=dict(self.values.most_common(_MOST_CATEGORIES)),
            low=self.low if number else None,
            high=self.high if number else None,
            longest=self.longest,
            multi_line=self.multi_line,
            flags=tuple(self._flags(name, number)),
        )

    def _kind(self) -> Kind:
        if not self.cells:
            return "empty"
        told = self.cells - sum(self.suspects.values())
        if told and self.numbers == told:
            return "number"
        few = len(self.values) <= min(_MOST_CATEGORIES, self.cells // 2)
        if few and self.longest <= 60:
            return "category"
        return "code" if told and self.codes >= 0.95 * told else "text"

    def _suspects(self, kind: Kind) -> Iterable[tuple[str, int]]:
        """A number such as -9 is suspicious only where all others are above it by far."""
        for value, count in self.suspects.most_common():
            number = as_number(value)
            if number is None or (kind == "number" and self._is_outside(number)):
                yield value, count

    def _is_outside(self, number: float) -> bool:
        if self.low is None or self.high is None:
            return False
        return number < min(0, self.low) or number > 2 * self.high

    def _flags(self, name: str, number: bool) -> Iterable[str]:
        if number and self.commas:
            sure = self.maybe_thousands < self.commas
            yield "decimal_comma" if sure else "ambiguous_comma"
        if _AFTER_DECISION.search(name):
            yield "maybe_after_decision"
