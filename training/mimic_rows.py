"""What a mimic is shown: the note and the columns of each visit, typed, nothing rendered yet.

Records become rows here, so that a random forest, a network on embeddings and a language model
can be fitted to the same thing, and so that an arm takes the same thing away from all of them.
"""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Scalar
from evenhand.training.levels import Levels, Numbers

ColumnKind = Literal["number", "category"]
_EMPTY: ColumnKind = "category"
MimicArm = Literal["full", "text_only", "tabular_only"]
"""What the model is shown: all; all but the attribute's column; all but the note."""
ARMS: tuple[MimicArm, ...] = ("full", "text_only", "tabular_only")


@dataclass(frozen=True)
class MimicRows:
    """Visits as a model is shown them, shape (n,) each.

    Attributes:
        texts: The notes; "" where there is none.
        numbers: Name -> values, NaN where nothing was recorded.
        categories: Name -> values, None where nothing was recorded. Attributes are among them.
    """

    texts: tuple[str, ...]
    numbers: Mapping[str, Numbers]
    categories: Mapping[str, tuple[str | None, ...]]

    def __post_init__(self) -> None:
        """Check the lengths.

        Raises:
            ValueError: A column is shorter or longer than the notes.
        """
        for name, values in (*self.numbers.items(), *self.categories.items()):
            if len(values) != len(self.texts):
                raise ValueError(f"column {name!r} has {len(values)} values for {len(self)} texts")

    def __len__(self) -> int:
        """Return the number of visits."""
        return len(self.texts)

    @property
    def kinds(self) -> dict[str, ColumnKind]:
        """Kind of each column, numbers first, in order."""
        kinds: dict[str, ColumnKind] = {name: "number" for name in self.numbers}
        kinds.update({name: "category" for name in self.categories})
        return kinds

    def take(self, places: Sequence[int] | Levels) -> "MimicRows":
        """Return the rows at these places, in this order; a place may come twice."""
        chosen = [int(place) for place in places]
        return MimicRows(
            tuple(self.texts[place] for place in chosen),
            {name: values[chosen] for name, values in self.numbers.items()},
            {
                name: tuple(values[place] for place in chosen)
                for name, values in self.categories.items()
            },
        )

    def shown_in(self, arm: MimicArm, attributes: Sequence[str]) -> "MimicRows":
        """Return the rows as an arm shows them: what is dropped is there, but nowhere recorded.

        Args:
            arm: full, text_only (the attributes' columns dropped) or tabular_only (note dropped).
            attributes: The audited attributes.

        Raises:
            ValueError: An attribute has no column.
        """
        if arm == "tabular_only":
            return replace(self, texts=("",) * len(self))
        if arm == "full":
            return self
        unknown = [name for name in attributes if name not in self.categories]
        if unknown:
            raise ValueError(f"no category {unknown[0]!r}; expected one of {list(self.categories)}")
        nothing: dict[str, tuple[str | None, ...]] = dict.fromkeys(attributes, (None,) * len(self))
        return replace(self, categories={**self.categories, **nothing})

    def keys(self) -> list[str]:
        """Return the content of each row as one string: equal exactly where all is equal."""
        columns = {
            **{name: values.tolist() for name, values in self.numbers.items()},
            **self.categories,
        }
        names = sorted(columns)
        return [
            json.dumps([text, *(_plain(columns[name][place]) for name in names)])
            for place, text in enumerate(self.texts)
        ]


def _plain(value: float | str | None) -> float | str | None:
    return None if isinstance(value, float) and math.isnan(value) else value


@dataclass(frozen=True)
class Decisions:
    """Visits and what was decided on them.

    Attributes:
        rows: What the decision could know.
        levels: The decided level of each visit, as a place in the ordered levels, shape (n,).
        patients: Whose visit it is, shape (n,).
    """

    rows: MimicRows
    levels: Levels
    patients: tuple[str, ...]

    def __post_init__(self) -> None:
        """Check the lengths.

        Raises:
            ValueError: They differ.
        """
        if not len(self.rows) == len(self.levels) == len(self.patients):
            raise ValueError("rows, levels and patients must be as long")

    def __len__(self) -> int:
        """Return the number of visits."""
        return len(self.rows)

    def take(self, places: Sequence[int] | Levels) -> "Decisions":
        """Return the visits at these places, in this order."""
        chosen = np.asarray(places, dtype=np.int64)
        patients = tuple(self.patients[place] for place in chosen)
        return Decisions(self.rows.take(chosen), self.levels[chosen], patients)

    def shown_in(self, arm: MimicArm, attributes: Sequence[str]) -> "Decisions":
        """Return the visits as an arm shows them."""
        return replace(self, rows=self.rows.shown_in(arm, attributes))

    def in_order(self) -> "Decisions":
        """Return the visits in the order of their content: a fit may not depend on the file's."""
        return self.take(sorted(range(len(self)), key=self._keys().__getitem__))

    def content_hash(self) -> str:
        """Return the SHA-256 of rows, levels and patients, whatever their order."""
        names = json.dumps(sorted(self.rows.kinds.items()))
        lines = "\n".join([names, *sorted(self._keys())])
        return hashlib.sha256(lines.encode("utf-8", "surrogatepass")).hexdigest()

    def _keys(self) -> list[str]:
        return [
            f"{key}\x1f{level}\x1f{patient}"
            for key, level, patient in zip(
                self.rows.keys(), self.levels.tolist(), self.patients, strict=True
            )
        ]


def column_kinds(columns: Iterable[Mapping[str, Scalar]]) -> dict[str, ColumnKind]:
    """Say of each column whether it holds numbers or categories.

    A column with no value at all is a category; true and false are categories.

    Raises:
        UserError: A column holds numbers and words.

    Example:
        >>> column_kinds([{"age": 40, "arrival": None}, {"age": None, "arrival": "walking"}])
        {'age': 'number', 'arrival': 'category'}
    """
    found: dict[str, set[ColumnKind]] = {}
    for row in columns:
        for name, value in row.items():
            kinds = found.setdefault(name, set())
            if value is not None:
                is_number = isinstance(value, int | float) and not isinstance(value, bool)
                kinds.add("number" if is_number else "category")
    mixed = [name for name, kinds in found.items() if len(kinds) > 1]
    if mixed:
        raise UserError(
            f"Column {mixed[0]!r} holds numbers and words; expected one of the two: name its kind "
            "and its codes for missing values in the mapping."
        )
    return {name: kinds.pop() if kinds else _EMPTY for name, kinds in found.items()}


def mimic_rows(
    texts: Sequence[str],
    columns: Sequence[Mapping[str, Scalar]],
    kinds: Mapping[str, ColumnKind] | None = None,
) -> MimicRows:
    """Make rows of notes and columns.

    Args:
        texts: Shape (n,).
        columns: Name -> value of each visit, shape (n,); a name that is absent was not recorded.
        kinds: Kind of each column to show, as in training; None to see it from the values.

    Raises:
        UserError: A value is not of its column's kind.

    Example:
        >>> rows = mimic_rows(["fell"], [{"age": 40, "gender": "female"}])
        >>> rows.numbers["age"].tolist(), rows.categories["gender"]
        ([40.0], ('female',))
    """
    known = column_kinds(columns) if kinds is None else kinds
    return MimicRows(
        tuple(texts),
        {
            name: np.array([_number(name, row.get(name)) for row in columns], dtype=np.float64)
            for name, kind in known.items()
            if kind == "number"
        },
        {
            name: tuple(_category(row.get(name)) for row in columns)
            for name, kind in known.items()
            if kind == "category"
        },
    )


def _number(name: str, value: Scalar) -> float:
    if value is None:
        return math.nan
    if isinstance(value, str | bool) or not math.isfinite(value):
        raise UserError(f"Column {name!r} holds numbers, but one visit has {value!r}; mend it.")
    return float(value)


def _category(value: Scalar) -> str | None:
    return None if value is None else str(value)
