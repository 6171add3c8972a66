"""Rows of a table of visits, by a mapping, one at a time: samples, and what was left out, counted.

A value that the mapping does not explain is a UserError that names the rows; nothing is dropped
without a line in the flow table. The table may be larger than memory.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Sample, Scalar, sample_id
from evenhand.tools.code_values import MISSING, NO_GROUP, read_codes
from evenhand.tools.column_kinds import as_number
from evenhand.tools.notes.content import as_published, sex_content
from evenhand.tools.table_files import Row
from evenhand.tools.visit_mapping import VisitMapping

StepCode = Literal[
    "no_label", "no_attribute", "no_age", "under_age", "missing_field", "no_text", "sex_specific",
    "excluded_level",
]  # fmt: skip
STEPS: dict[StepCode, str] = {
    "no_label": "no level was given",
    "no_attribute": "attribute missing, or neither group",
    "no_age": "age missing",
    "under_age": "younger than the least age",
    "missing_field": "a required field is missing",
    "no_text": "no note",
    "sex_specific": "content that only one sex can have",
    "excluded_level": "level left out by the mapping",
}
"""The filters, in the order in which they are applied, in words."""
_SHOWN_FAULTS = 5


@dataclass(frozen=True)
class FlowStep:
    """One line of the flow table.

    Attributes:
        code: "read", a link of a loader, or a filter.
        words: What the step leaves out, for a reader.
        left_out: Visits left out here.
        remaining: Visits that go on.
        details: Why, with counts: meanings of an attribute, names of fields; under sex_specific
            also what the other list (as_published or own) would have left out.
    """

    code: str
    words: str
    left_out: int
    remaining: int
    details: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class VisitSource:
    """Where visits come from: rows of one table, and what the columns mean."""

    name: str
    rows: Callable[[], Iterable[Row]]
    columns: tuple[str, ...]
    mapping: VisitMapping
    links: tuple[FlowStep, ...] = ()
    """Steps of a loader that joins tables, before the first filter."""
    sides: bool = False
    """Whether the rows bring their side (frozen data), in the column SIDE."""


SIDE = "evenhand_side"
"""Column of frozen rows that says which half a visit is in."""


class VisitReader:
    """Turns rows into samples and counts what it leaves out; one use."""

    def __init__(
        self,
        source: VisitSource,
        attribute: str | None = None,
        decider: str | None = None,
        *,
        published_list: bool = False,
    ) -> None:
        """Check the mapping against the table's columns; nothing is read yet.

        Raises:
            UserError: A column is missing, or the attribute or decider is unknown.
        """
        self.source = source
        self.mapping = source.mapping
        self.mapping.check_columns(source.columns, source.name)
        self.attribute = attribute or next(iter(self.mapping.attributes))
        if self.attribute not in self.mapping.attributes:
            raise UserError(
                f"Attribute {self.attribute!r} has no column; the mapping of {source.name} names: "
                f"{', '.join(self.mapping.attributes)}."
            )
        self._label = self.mapping.label_column(decider)
        self._published_list = published_list
        self._pattern = re.compile(self.mapping.missing_pattern or r"(?!)")
        self._meanings: dict[str, dict[str, str]] = defaultdict(dict)
        self._left_out: Counter[StepCode] = Counter()
        self._details: dict[StepCode, Counter[str]] = defaultdict(Counter)
        self._faults: dict[str, list[str]] = defaultdict(list)
        self._ids: dict[str, int] = {}
        self.rows_read = 0
        self.seen_groups: Counter[str] = Counter()

    def samples(self) -> Iterator[Sample]:
        """Yield the visits that pass every filter, in the order of the file.

        Raises:
            UserError: At the end, where values were met that the mapping does not explain.
        """
        for row in self.source.rows():
            sample = self._sample(self.rows_read, row)
            self.rows_read += 1
            if sample is not None:
                yield sample
        self._raise_faults()

    def flow(self) -> tuple[FlowStep, ...]:
        """Return the flow table; of use after samples() has come to its end."""
        steps = list(self.source.links) or [FlowStep("read", "rows read", 0, self.rows_read)]
        # Frozen rows bring the steps that led to them; only what is left out now is added.
        again = self.source.sides
        remaining = self.rows_read
        for code, words in STEPS.items():
            remaining -= self._left_out[code]
            if not again or self._left_out[code]:
                details = dict(self._details[code])
                steps.append(FlowStep(code, words, self._left_out[code], remaining, details))
        return tuple(steps)

    def _sample(self, position: int, row: Row) -> Sample | None:
        number = position + 1
        visit = self._visit_id(number, row)
        labels = self._labels(number, row)
        attributes = self._attributes(number, row)
        columns = self._columns(number, row)
        text = "\n".join(cell for name in self.mapping.text if (cell := self._text(row, name)))
        code = self._left_out_by(labels, attributes, columns, text)
        if code:
            self._left_out[code] += 1
            return None
        own, label = labels
        self.seen_groups[attributes[self.attribute]] += 1
        return Sample(
            id=sample_id(
                self.source.name, position, visit, text, json.dumps([columns, attributes])
            ),
            dataset=self.source.name,
            position=position,
            text=text,
            label=label,
            # Another decider's audit is split as the own one is, and may be compared with it.
            reference=own if own != label or self._label != self.mapping.label else None,
            patient=self._patient(number, row),
            attributes={k: v for k, v in attributes.items() if v not in NO_GROUP},
            columns=columns,
            split=row.get(SIDE) if self.source.sides else None,
        )

    def _left_out_by(
        self,
        labels: tuple[str | None, str | None],
        attributes: Mapping[str, str],
        columns: Mapping[str, Scalar],
        text: str,
    ) -> StepCode | None:
        filters = self.mapping.filters
        if None in labels:
            return "no_label"
        meaning = attributes[self.attribute]
        if meaning in NO_GROUP:
            self._details["no_attribute"][meaning] += 1
            return "no_attribute"
        if filters.min_age:
            age = columns["age"]
            if not isinstance(age, int | float):
                return "no_age"
            if age < filters.min_age:
                return "under_age"
        lacking = [name for name in filters.require if columns[name] is None]
        if lacking:
            self._details["missing_field"].update(lacking)
            return "missing_field"
        if self.mapping.text and not text:
            return "no_text"
        if filters.sex_specific and self._is_sex_specific(text):
            return "sex_specific"
        return "excluded_level" if labels[0] in filters.exclude_levels else None

    def _is_sex_specific(self, text: str) -> bool:
        own = bool(sex_content(text, self.mapping.language).specific)
        published = bool(as_published(text, self.mapping.language))
        self._details["sex_specific"].update({"own list": own, "as published": published})
        return published if self._published_list else own

    # Cells

    def _text(self, row: Row, name: str, missing: Sequence[str] = ()) -> str | None:
        cell = (row[name] or "").strip()
        nothing = cell in self.mapping.missing or cell in missing or self._pattern.fullmatch(cell)
        return None if not cell or nothing else cell

    def _visit_id(self, number: int, row: Row) -> str:
        if self.mapping.id is None:
            return str(number)
        visit = self._text(row, self.mapping.id)
        if visit is None:
            self._faults["id"].append(f"row {number} has none")
            return str(number)
        first = self._ids.setdefault(visit, number)
        if first != number:
            self._faults["id"].append(f"{visit!r} in rows {first} and {number}")
        return visit

    def _patient(self, number: int, row: Row) -> str | None:
        if self.mapping.patient is None:
            return None
        patient = self._text(row, self.mapping.patient)
        if patient is None:
            self._faults["patient"].append(f"row {number}")
        return patient

    def _labels(self, number: int, row: Row) -> tuple[str | None, str | None]:
        """The data set's own label and the decider's; with deciders, a row needs all of them."""
        columns = dict.fromkeys([self.mapping.label, self._label, *self.mapping.deciders.values()])
        found = {name: self._level(number, row, name) for name in columns}
        if None in found.values():
            return None, None
        return found[self.mapping.label], found[self._label]

    def _level(self, number: int, row: Row, name: str) -> str | None:
        level = self._text(row, name, self.mapping.undecided)
        if level is not None and level not in self.mapping.levels:
            self._faults["level"].append(f"{level!r} in row {number} of {name!r}")
        return level

    def _attributes(self, number: int, row: Row) -> dict[str, str]:
        return {
            name: self._meaning(number, name, self._text(row, part.column) or "")
            for name, part in self.mapping.attributes.items()
        }

    def _meaning(self, number: int, name: str, cell: str) -> str:
        known = self._meanings[name]
        if cell not in known:
            codes = read_codes(
                [cell],
                codebook=self.mapping.attributes[name].codes,
                attribute=name,
                language=self.mapping.language,
            )
            if codes.mapped[0] is None:
                self._faults["code"].append(f"{cell!r} of {name} in row {number}")
            known[cell] = codes.mapped[0] or MISSING
        return known[cell]

    def _columns(self, number: int, row: Row) -> dict[str, Scalar]:
        made: dict[str, Scalar] = {}
        for name, part in self.mapping.tabular.items():
            cell = self._text(row, part.column, part.missing)
            if cell is None or part.kind == "category":
                made[name] = cell if cell is None else part.codes.get(cell, cell)
                continue
            value = as_number(cell)
            if value is None:
                self._faults["number"].append(f"{cell[:40]!r} in row {number} of {part.column!r}")
            # 981 tenths are 98.1, not 98.10000000000001.
            made[name] = None if value is None else round(value * part.scale, 6)
        return made

    def _raise_faults(self) -> None:
        for kind, faults in self._faults.items():
            shown = "; ".join(faults[:_SHOWN_FAULTS])
            more = len(faults) - _SHOWN_FAULTS
            listed = f"{shown}; and {more} more" if more > 0 else shown
            raise UserError(f"{self.source.name}: {_FAULTS[kind].format(listed)}")


_FAULTS = {
    "id": "the id of a visit must be there once: {}. Mend the rows, or name another id column.",
    "patient": "the patient is missing in {}; fill the cells, or take the patient column out.",
    "level": "levels that the mapping does not list: {}. Add them to levels, undecided or missing.",
    "code": (
        "codes without a meaning: {}. Give them in the mapping, as in "
        'codes = {{ 1 = "female", 2 = "male" }}; 1 and 2 mean opposite sexes in different sources.'
    ),
    "number": "no numbers: {}. List the words for missing values under missing, or mend the cells.",
}
