"""A filled-in rating sheet -> verdicts of people, each fault named by its row and counted.

What cannot be counted is no reason to lose the rest: a row of another run, a doubled rater, a value
off the scale or an empty cell is told and left out. An empty cell and a value off the scale are
stored as unscored, so that the numbers say how many there were; they may be given again.
"""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Judgement, child_id
from evenhand.graph_store.run_directory import RunDirectory
from evenhand.tools.filter_audit import COMPARISON_KEPT
from evenhand.tools.pairing import DIMENSIONS
from evenhand.tools.question_sheets import QuestionSource
from evenhand.tools.rating_cells import (
    CHOICES,
    Fault,
    Given,
    read_choice,
    read_comparison,
    read_names,
    read_quality,
    read_rating,
    short,
)
from evenhand.tools.rating_sheets import (
    CORRECTNESS,
    FILLED,
    FIRST,
    PAIR_ATTRIBUTES,
    PAIR_CHOICE,
    RATING,
    SECOND,
    TIE,
    Item,
    Rows,
    SheetName,
    SheetSource,
)
from evenhand.tools.rewrite_ratings import REWRITE_QUALITY
from evenhand.tools.rewrite_sheets import RewriteSource
from evenhand.tools.spreadsheets import Spreadsheet

_LONGEST_NAME = 80


@dataclass(frozen=True)
class Problem:
    """What was left out of an import, and why."""

    row: int
    """From 1 below the header."""
    column: str
    """Empty where the whole row is left out."""
    fault: Fault
    text: str

    def __str__(self) -> str:
        """Say it as one line."""
        return f"row {self.row}{f', {self.column}' if self.column else ''}: {self.text}"


@dataclass(frozen=True)
class Import:
    """What a filled-in sheet holds."""

    labels: tuple[Judgement, ...]
    """New verdicts, the unscored ones included."""
    problems: tuple[Problem, ...]
    raters: tuple[str, ...]
    rows: int
    """Rows that hold anything."""

    @property
    def scored(self) -> int:
        """Verdicts that count."""
        return sum(one.status == "ok" for one in self.labels)

    @property
    def faults(self) -> dict[str, int]:
        """Problems by kind."""
        return dict(sorted(Counter(one.fault for one in self.problems).items()))


@dataclass(frozen=True)
class _Row:
    number: int
    cells: Mapping[str, str]
    rater: str
    item: Item


def read_sheet(
    sheet: SheetName,
    table: Spreadsheet,
    source: Rows,
    known: Sequence[Judgement],
    rater: str,
) -> Import:
    """Read a filled-in sheet against the run that it was made from.

    Args:
        sheet: Kind of sheet.
        table: The file.
        source: The run.
        known: Verdicts of people that the run has already.
        rater: Who filled it in; empty where a column `rater` says so row by row.

    Raises:
        UserError: A column is missing, no rater is named, or no row is of this run.
    """
    _check_columns(sheet, table, rater)
    reading = _Reading(sheet, source, known)
    rows = list(table.numbered())
    usable = reading.usable(rows, rater)
    if not usable:
        raise UserError(
            f"{table.name}: none of {len(rows)} rows can be used ("
            f"{'; '.join(map(str, reading.problems[:3])) or 'the sheet is empty'}). Expected rows "
            f"of `evenhand label export {source.run_id} --sheet {sheet}`."
        )
    labels = tuple(label for row in usable for label in reading.labels_of(row))
    problems = tuple(sorted(reading.problems, key=lambda one: one.row))
    raters = tuple(dict.fromkeys(row.rater for row in usable))
    return Import(labels, problems, raters, len(rows))


def import_sheet(run: RunDirectory, sheet: SheetName, table: Spreadsheet, rater: str) -> Import:
    """Read a filled-in sheet and append what it holds to labels.jsonl; see `read_sheet`."""
    with run.lock():
        read = read_sheet(sheet, table, rows_of(run, sheet), run.labels(), rater)
        run.append("labels", read.labels)
    return read


def rows_of(run: RunDirectory, sheet: SheetName) -> Rows:
    """Return the rows that a sheet of a run could hold."""
    match sheet:
        case "rewrites":
            return RewriteSource(run)
        case "questions":
            return QuestionSource(run)
        case _:
            return SheetSource(run)


def _check_columns(sheet: SheetName, table: Spreadsheet, rater: str) -> None:
    needed = ("id", *FILLED[sheet])
    missing = [name for name in needed if name not in table.header]
    if missing:
        raise UserError(
            f"{table.name} has no column {missing[0]!r}; a sheet of {sheet} has "
            f"{', '.join(needed)}. Fill in the exported file and keep its header."
        )
    if not rater and "rater" not in table.header:
        raise UserError(
            f"{table.name} does not say who rated; expected --rater NAME, or a column 'rater'."
        )
    if len(rater) > _LONGEST_NAME:
        raise UserError(
            f"The rater's name has {len(rater)} characters; expected at most {_LONGEST_NAME}."
        )


@dataclass
class _Reading:
    """The rows of one file, checked one after another."""

    sheet: SheetName
    source: Rows
    known: Sequence[Judgement]
    problems: list[Problem] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._items = {item.id: item for item in self.source.every_item(self.sheet)}
        self._earlier: dict[tuple[str, ...], list[Judgement]] = defaultdict(list)
        self._names: dict[str, str] = {}
        for one in self.known:
            self._earlier[label_key(one)].append(one)
            self._names.setdefault(_folded(one.judge), one.judge)

    def usable(self, rows: Sequence[tuple[int, dict[str, str]]], rater: str) -> list[_Row]:
        """Return the rows that are of this run and of one rater each, the first of doubles."""
        found: dict[tuple[str, frozenset[str]], list[_Row]] = defaultdict(list)
        for number, cells in rows:
            row = self._row(number, cells, rater)
            if row is not None:
                found[row.rater, frozenset(row.item.subjects)].append(row)
        return [row for same in found.values() for row in self._once(same)]

    def _row(self, number: int, cells: Mapping[str, str], rater: str) -> _Row | None:
        identity, said = cells["id"], cells.get("rater", "")
        name = rater or said
        if not identity:
            self._left_out(number, "no_id", "no id; keep the column 'id' as it was exported")
        elif identity not in self._items:
            self._left_out(number, "other_id", f"{short(identity)!r} is no row of this run's sheet")
        elif not name or len(name) > _LONGEST_NAME:
            self._left_out(number, "no_rater", "no rater is named")
        elif rater and said and _folded(said) != _folded(rater):
            self._left_out(
                number,
                "other_rater",
                f"the rater is {short(said)!r}, not {rater!r} as --rater says",
            )
        else:
            return _Row(
                number, cells, self._names.setdefault(_folded(name), name), self._items[identity]
            )
        return None

    def _once(self, same: Sequence[_Row]) -> Sequence[_Row]:
        """Return one row of those that one rater gave for one item; none if they contradict."""
        first, *others = same
        if any(self._filled(row) != self._filled(first) for row in others):
            numbers = ", ".join(str(row.number) for row in same)
            for row in same:
                text = (
                    f"{row.rater} rated this twice and differently (rows {numbers}); neither counts"
                )
                self._left_out(row.number, "conflicting_rows", text)
            return ()
        for row in others:
            self._left_out(row.number, "doubled_row", f"the same as row {first.number}")
        return (first,)

    def _filled(self, row: _Row) -> tuple[object, ...]:
        """Return what a row says, whichever of a pair was shown first."""
        cells = [row.cells[name].casefold() for name in FILLED[self.sheet]]
        if self.sheet == "pairs":
            chosen = CHOICES.get(cells[0], cells[0])
            ids = row.item.subjects
            shown = {FIRST: ids[0], SECOND: ids[1]}
            return (shown.get(chosen, chosen), *cells[1:])
        return tuple(cells)

    def labels_of(self, row: _Row) -> Iterator[Judgement]:
        """Yield the new verdicts of a row."""
        empty = not any(row.cells[name] for name in FILLED[self.sheet])
        if empty:
            self._left_out(row.number, "missing", "nothing is filled in")
        told: set[str] = set()
        for column, rubric, dimension, given in self._given(row):
            label = _label(row, rubric, dimension, given)
            earlier = self._earlier[label_key(label)]
            rated = any(one.status in ("ok", TIE) for one in earlier)
            if column not in told and not empty:
                self._tell(row, column, given, rated)
            told.add(column)
            if not rated and not (earlier and earlier[-1].status == given.status):
                yield label.model_copy(update={"id": _label_id(label, len(earlier))})

    def _tell(self, row: _Row, column: str, given: Given, rated: bool) -> None:
        if rated:
            text = f"{row.rater} has rated this already; the earlier value stays"
            self._problem(row.number, column, "already_rated", text)
        elif given.fault is not None:
            self._problem(row.number, column, given.fault, given.why)

    def _given(self, row: _Row) -> Iterator[tuple[str, str, str, Given]]:
        """Yield (column, rubric, dimension, what it says) of each verdict of a row."""
        match self.sheet:
            case "pairs":
                yield "choice", PAIR_CHOICE, "more_bias", read_choice(row.cells["choice"])
                named = read_names(row.cells["attributes"], self.source.attributes)
                for name, given in named.items():
                    yield "attributes", PAIR_ATTRIBUTES, name, given
            case "ratings":
                for name in DIMENSIONS:
                    yield name, RATING, name, read_rating(row.cells[name])
            case "correctness":
                yield "correctness", CORRECTNESS, "overall", read_rating(row.cells["correctness"])
            case "rewrites":
                yield "quality", REWRITE_QUALITY, "overall", read_quality(row.cells["quality"])
            case "questions":
                given = read_comparison(row.cells["comparison"])
                yield "comparison", COMPARISON_KEPT, "overall", given

    def _left_out(self, number: int, fault: Fault, text: str) -> None:
        self._problem(number, "", fault, text)

    def _problem(self, number: int, column: str, fault: Fault, text: str) -> None:
        self.problems.append(Problem(number, column, fault, text))


def label_key(label: Judgement) -> tuple[str, ...]:
    """Return what a verdict is about and whose it is; the order of a pair does not matter."""
    answers = sorted(filter(None, (label.subject_id, label.against_id)))
    return (label.rubric, label.dimension, _folded(label.judge), *answers)


def _label(row: _Row, rubric: str, dimension: str, given: Given) -> Judgement:
    first, *second = row.item.subjects
    return Judgement(
        id="",
        status=given.status,
        subject_id=first,
        against_id=second[0] if second else None,
        rubric=rubric,
        dimension=dimension,
        judge=row.rater,
        value=given.value if given.status == "ok" else None,
        reason=row.cells.get("comment") or None,
        reason_code=given.fault,
        flags=("conclusion",) if row.item.conclusion else (),
    )


def _label_id(label: Judgement, position: int) -> str:
    against = label.against_id or ""
    return child_id(
        label.subject_id, "l", position, label.rubric, label.dimension, against, label.judge
    )


def _folded(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())
