"""What the columns of a table of visits mean, as a person declares it in a TOML file.

Which way the scale runs is declared and never guessed: without it there is no verdict. A column
that is in no section is not used; one under `leaks` is known only after the decision and may not
be shown to a model.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from evenhand.graph_store.errors import UserError
from evenhand.tools.column_kinds import as_number
from evenhand.tools.table_format import TableFormat, find_format

Direction = Literal["higher_is_less_urgent", "higher_is_more_urgent"]
_GUIDE = "docs/data.md shows a whole mapping"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class FileForm(_Part):
    """How the file is written, where finding out would go wrong."""

    encoding: str | None = None
    delimiter: str | None = None


class AttributeColumn(_Part):
    """The column that states an attribute, and what its codes mean."""

    column: str
    codes: dict[str, str] = Field(default_factory=dict)


class TabularColumn(_Part):
    """A column that the decision could know: a number with its unit, or a category."""

    column: str
    kind: Literal["number", "category"]
    unit: str = ""
    scale: float = 1.0
    """What a number of the file is multiplied by: 0.1 where 981 is 98.1."""
    codes: dict[str, str] = Field(default_factory=dict)
    """Code -> word, for categories; a code that is not here stays as it is."""
    missing: tuple[str, ...] = ()


class Filters(_Part):
    """Which visits are left out; each is counted in the flow table."""

    min_age: float | None = 18
    """Years; 0 for visits of any age, and of none that is known."""
    require: tuple[str, ...] = ()
    """Names under [tabular] that must be given."""
    sex_specific: bool = True
    """Leave out notes with content that only one sex can have."""
    exclude_levels: tuple[str, ...] = ()


class Outcome(_Part):
    """What happened later, looked at only to see whether the declared direction is plausible."""

    column: str
    codes: tuple[str, ...]
    """Codes of the bad outcome, such as admitted to hospital."""


class VisitMapping(_Part):
    """The meaning of a table's columns.

    Attributes:
        language: Of the notes.
        label: Column of the decision.
        levels: Its levels, the lowest number first.
        direction: Whether a higher level is less or more urgent.
        undecided: Codes of the label that mean that nobody decided.
        text: Columns of the note, in the order of reading.
        attributes: Attribute -> its column; the first is compared unless a plan says otherwise.
        tabular: Name -> a column that the decision could know; one named age serves min_age.
        id: Column that names the visit; None: its place in the file.
        patient: Column that names the patient; None: each visit is taken as its own patient.
        missing: Cells that mean "nothing", in every column.
        missing_pattern: Likewise, as a regular expression of the whole cell.
        leaks: Columns known only after the decision.
        placebo: Name under [tabular] of what should not matter to the decision; the placebo arm
            changes it.
        deciders: Name -> column, where several people decided on the same visits.
    """

    language: Literal["en", "fr"]
    label: str
    levels: Annotated[tuple[str, ...], Field(min_length=2)]
    direction: Direction
    undecided: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    attributes: Annotated[dict[str, AttributeColumn], Field(min_length=1)]
    tabular: dict[str, TabularColumn] = Field(default_factory=dict)
    id: str | None = None
    patient: str | None = None
    missing: tuple[str, ...] = ()
    missing_pattern: str | None = None
    leaks: tuple[str, ...] = ()
    placebo: str | None = None
    deciders: dict[str, str] = Field(default_factory=dict)
    filters: Filters = Filters()
    outcome: Outcome | None = None
    file: FileForm = FileForm()

    @field_validator("missing_pattern")
    @classmethod
    def _is_pattern(cls, pattern: str | None) -> str | None:
        re.compile(pattern or "")
        return pattern

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        for fault in self._faults():
            raise ValueError(fault)
        return self

    def _faults(self) -> Iterator[str]:
        if len(set(self.levels)) < len(self.levels):
            yield f"levels {', '.join(self.levels)} name one level twice"
        numbers = [as_number(level) for level in self.levels]
        known = [number for number in numbers if number is not None]
        if len(known) == len(numbers) and known != sorted(known):
            yield (
                f"levels {', '.join(self.levels)} do not rise; list the lowest number first and "
                "say with direction which end is urgent"
            )
        unknown = set(self.filters.exclude_levels) - set(self.levels)
        if unknown:
            yield f"exclude_levels names {', '.join(sorted(unknown))}, which is no level"
        missing = set(self.filters.require) - set(self.tabular)
        if missing:
            yield f"require names {', '.join(sorted(missing))}, which is not under [tabular]"
        if self.placebo is not None and self.placebo not in self.tabular:
            yield f"placebo names {self.placebo}, which is not under [tabular]"
        if self.filters.min_age and "age" not in self.tabular:
            yield (
                "min_age needs a column [tabular.age]; name the age's column, or say min_age = 0 "
                "under [filters] for visits of any age"
            )
        yield from self._double_uses()

    def _double_uses(self) -> Iterator[str]:
        """A model may see neither the decision, nor what came after it, nor the sex twice."""
        shown = {part.column for part in self.tabular.values()} | set(self.text)
        hidden = {
            **dict.fromkeys(self.leaks, "under leaks"),
            **dict.fromkeys([self.label, *self.deciders.values()], "a decision"),
            **{part.column: "an attribute's column" for part in self.attributes.values()},
        }
        for column in sorted(shown & set(hidden)):
            yield f"column {column!r} is {hidden[column]} and cannot be shown to a model too"

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that the mapping names, each once."""
        named = [
            *(name for name in (self.id, self.patient) if name),
            self.label,
            *self.deciders.values(),
            *self.text,
            *(part.column for part in self.attributes.values()),
            *(part.column for part in self.tabular.values()),
            *((self.outcome.column,) if self.outcome else ()),
        ]
        return tuple(dict.fromkeys(named))

    def label_column(self, decider: str | None) -> str:
        """Return the column of a decider's label; None: the data set's own.

        Raises:
            UserError: Nobody of that name decided.
        """
        if decider is None:
            return self.label
        if decider not in self.deciders:
            names = ", ".join(self.deciders) or "(none)"
            raise UserError(f"Unknown decider {decider!r}; the mapping names: {names}.")
        return self.deciders[decider]

    def check_columns(self, found: Sequence[str], source: str) -> None:
        """Raise a UserError that names what the table lacks."""
        lacking = [name for name in self.columns if name not in found]
        lacking += [name for name in self.leaks if name not in found]
        if lacking:
            raise UserError(
                f"{source}: no column {', '.join(map(repr, lacking))}; found: {', '.join(found)}. "
                "Name the file's own columns in the mapping (docs/data.md)."
            )

    def format_of(self, path: Path) -> TableFormat:
        """Return how to read the file, what the mapping says of it first."""
        return find_format(path, encoding=self.file.encoding, delimiter=self.file.delimiter)


def read_mapping(path: Path) -> VisitMapping:
    """Read a mapping from a TOML file.

    Raises:
        UserError: No such file, no TOML, or a field missing, unknown or contradictory.
    """
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise UserError(f"{path}: the mapping cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path.name} is not UTF-8; save the mapping as UTF-8.") from error
    return parse_mapping(text, path.name)


def shipped_mapping(name: str) -> VisitMapping:
    """Return the mapping that lies beside a data set of the package."""
    text = (files("evenhand.tools.datasets") / f"{name}.toml").read_text("utf-8")
    return parse_mapping(text, f"{name}.toml")


def parse_mapping(text: str, source: str) -> VisitMapping:
    """Read a mapping from TOML text; `source` names it in messages.

    Raises:
        UserError: As read_mapping.
    """
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{source} is not TOML: {error}; {_GUIDE}.") from error
    try:
        return VisitMapping.model_validate(values)
    except ValidationError as error:
        raise UserError(f"{source}: {'; '.join(_sentences(error))}; {_GUIDE}.") from error


def _sentences(error: ValidationError) -> Iterator[str]:
    for fault in error.errors():
        place = ".".join(map(str, fault["loc"]))
        if fault["type"] == "missing" and place == "direction":
            yield (
                'direction is missing; say "higher_is_less_urgent" or "higher_is_more_urgent", '
                "there is no verdict without it"
            )
        elif fault["type"] == "missing":
            yield f"{place} is missing"
        elif fault["type"] == "extra_forbidden":
            yield f"{place} is unknown"
        else:
            message = fault["msg"].removeprefix("Value error, ")
            yield f"{place}: {message}" if place else message
