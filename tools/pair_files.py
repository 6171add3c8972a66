"""Predictions that exist already: a table with a row a pair, read into arms.

Columns: pair_id, group (the patient's own), original and counterfactual (levels); where they are
there also to (the group it was shown as; needed with more than two), patient, arm, level (what
people recorded). A level cell that is empty or holds a word such as refused is unscored, and
counted under that word; any other cell that is no level stops the reading: nothing is guessed and
nothing is dropped.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evenhand.graph_store.errors import UserError
from evenhand.tools.statistics.estimate import Counts
from evenhand.tools.table_files import Row, column_names, read_rows
from evenhand.tools.triage.pairs import MAIN_ARM, TriagePairs, patient_numbers

NEEDED = ("pair_id", "group", "original", "counterfactual")
OPTIONAL = ("to", "patient", "arm", "level")
REPEAT = "repeat"
"""The arm that may hold several rows of a pair: one a refit."""

UNSCORED = {
    "": "empty",
    "na": "empty",
    "n/a": "empty",
    "nan": "empty",
    "none": "empty",
    "null": "empty",
    "refused": "refused",
    "truncated": "truncated",
    "unparsable": "unparsable",
    "out_of_range": "out_of_range",
    "error": "error",
}
"""What stands in a cell without a level -> the status it is counted under."""
_MALE = ("m", "male", "man", "h", "homme")
_FEMALE = ("f", "female", "woman", "w", "femme")
_WHOLE = re.compile(r"[+-]?\d+(?:\.0*)?")
_MOST_LEVELS = 101
_SHOWN = 5


@dataclass(frozen=True)
class PairFile:
    """The pairs of a file by arm."""

    path: Path
    arms: dict[str, TriagePairs]
    levels: tuple[str, ...]
    groups: tuple[str, ...]
    notes: tuple[str, ...] = ()
    """What a reader must know of the file, in sentences."""


def read_pairs(path: Path, *, levels: Sequence[str] = (), groups: Sequence[str] = ()) -> PairFile:
    """Read a table of pairs.

    Args:
        path: CSV, JSON lines or Parquet.
        levels: The scale, lowest number first; () for whole numbers, from the least to the
            greatest that is there.
        groups: The groups, reference first; () for male before female, else by name.

    Raises:
        UserError: A column is missing; a cell is no level; a group is unknown or there is only
            one; a pair is there twice; a scale from high to low; no row.
    """
    columns = _columns(path)
    rows = [
        {name: _text(row, column) for name, column in columns.items()} for row in read_rows(path)
    ]
    if not rows:
        raise UserError(f"{path.name} holds a header and no row; expected a row a pair.")
    scale = _scale(path, rows, levels)
    own, other, names = _group_columns(path, rows, groups)
    _check_ids(path, rows, other)
    table = _table(path, rows, scale, names, own, other)
    arms = np.array([row.get("arm") or MAIN_ARM for row in rows])
    by_arm = {arm: table.where(arms == arm) for arm in dict.fromkeys(arms.tolist())}
    return PairFile(path, by_arm, scale, names, tuple(_notes(by_arm)))


def _columns(path: Path) -> dict[str, str]:
    """Return the file's own name of each known column."""
    there = {name.strip().casefold(): name for name in column_names(path)}
    missing = [name for name in NEEDED if name not in there]
    if missing:
        raise UserError(
            f"{path.name} has no column {', '.join(missing)}, only {', '.join(there)}; expected "
            f"{', '.join(NEEDED)}, and where they are known {', '.join(OPTIONAL)}."
        )
    return {name: there[name] for name in (*NEEDED, *OPTIONAL) if name in there}


def _text(row: Row, column: str) -> str:
    return (row.get(column) or "").strip()


# The scale


def _scale(path: Path, rows: Sequence[Mapping[str, str]], levels: Sequence[str]) -> tuple[str, ...]:
    if levels:
        return _checked_scale(path, tuple(levels))
    seen: set[int] = set()
    for column in ("original", "counterfactual", "level"):
        for number, row in enumerate(rows, start=1):
            cell = row.get(column, "")
            if cell.casefold() in UNSCORED:
                continue
            if not _WHOLE.fullmatch(cell):
                raise UserError(
                    f"{path.name}: row {number}, {column}: {cell[:40]!r} is no whole number; name "
                    "the levels from the lowest to the highest with --levels A,B,C."
                )
            seen.add(int(float(cell)))
    if not seen:
        raise UserError(f"{path.name}: no cell holds a level; every pair is unscored.")
    low, high = min(seen), max(seen)
    if high - low >= _MOST_LEVELS:
        raise UserError(
            f"{path.name}: levels from {low} to {high} are no scale of at most {_MOST_LEVELS}; "
            "check the columns original and counterfactual."
        )
    return tuple(str(level) for level in range(low, high + 1))


def _checked_scale(path: Path, levels: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(levels)) < 2 or len(set(levels)) < len(levels):
        raise UserError(
            f"{','.join(levels)} is no scale; expected two or more different levels, lowest first."
        )
    if all(_WHOLE.fullmatch(level) for level in levels):
        numbers = [float(level) for level in levels]
        if numbers != sorted(numbers):
            raise UserError(
                f"Levels {','.join(levels)} do not rise; {path.name} needs them from the lowest "
                "number to the highest. Which end is urgent is said with --direction."
            )
    return levels


def _places(
    path: Path, rows: Sequence[Mapping[str, str]], column: str, scale: tuple[str, ...]
) -> tuple[Counts, list[str]]:
    """Return the place of each level, -1 where there is none, and the status of each cell."""
    place = {level: at for at, level in enumerate(scale)}
    as_number = {_key(level): at for at, level in enumerate(scale)}
    places, statuses = np.full(len(rows), -1, np.int64), []
    for number, row in enumerate(rows, start=1):
        cell = row.get(column, "")
        at = place.get(cell, as_number.get(_key(cell)))
        if at is None and cell.casefold() not in UNSCORED:
            raise UserError(
                f"{path.name}: row {number}, {column}: {cell[:40]!r} is no level; expected one of "
                f"{', '.join(scale)}. An unscored cell is left empty, or says refused, truncated, "
                "unparsable, out_of_range or error."
            )
        places[number - 1] = -1 if at is None else at
        statuses.append("ok" if at is not None else UNSCORED[cell.casefold()])
    return places, statuses


def _key(cell: str) -> str:
    """Return "3" for "3.0" and "03"; other words as they are."""
    return str(int(float(cell))) if _WHOLE.fullmatch(cell) else cell


# Groups and ids


def _group_columns(
    path: Path, rows: Sequence[Mapping[str, str]], groups: Sequence[str]
) -> tuple[list[str], list[str], tuple[str, ...]]:
    """Return each row's own group and the one it was shown as, and all groups in order."""
    own = [row["group"] for row in rows]
    said = [row.get("to", "") for row in rows]
    for number, group in enumerate(own, start=1):
        if not group:
            raise UserError(f"{path.name}: row {number} names no group; expected one in each row.")
    there = set(own) | {group for group in said if group}
    names = tuple(groups) if groups else _in_order(there)
    if unknown := there - set(names):
        raise UserError(
            f"{path.name}: group {sorted(unknown)[0]!r} is not among {', '.join(names)}; name all "
            "with --groups."
        )
    if len(names) < 2:
        raise UserError(
            f"{path.name} holds the one group {''.join(names)!r}; expected two. Name both, the "
            "reference first: --groups A,B, or add a column 'to' with the group that a visit is "
            "shown as."
        )
    if len(names) > 2 and not all(said):
        raise UserError(
            f"{path.name} has {len(names)} groups; expected a column 'to' that says in each row "
            "as which the visit was shown."
        )
    other = [to or names[1 - names.index(group)] for group, to in zip(own, said, strict=True)]
    for number, (group, to) in enumerate(zip(own, other, strict=True), start=1):
        if group == to:
            raise UserError(
                f"{path.name}: row {number} is shown as its own group {group!r}; expected another."
            )
    return own, other, names


def _in_order(groups: Iterable[str]) -> tuple[str, ...]:
    """Male before female, as the paper's NMD needs the reference first; others by name."""
    names = sorted(groups)
    words = [name.casefold() for name in names]
    if len(names) == 2 and any(w in _MALE for w in words) and any(w in _FEMALE for w in words):
        names.sort(key=lambda name: name.casefold() in _FEMALE)
    return tuple(names)


def _check_ids(path: Path, rows: Sequence[Mapping[str, str]], other: Sequence[str]) -> None:
    keys: list[tuple[str, str, str]] = []
    for number, (row, to) in enumerate(zip(rows, other, strict=True), start=1):
        if not row["pair_id"]:
            raise UserError(f"{path.name}: row {number} has no pair_id; expected one in each row.")
        arm = row.get("arm") or MAIN_ARM
        if arm != REPEAT:
            keys.append((arm, row["pair_id"], to))
    if twice := duplicates(keys):
        arm, first, _ = twice[0]
        more = f" and {len(twice) - 1:,} more" if len(twice) > 1 else ""
        raise UserError(
            f"{path.name}: pair_id {first!r}{more} is there more than once in arm {arm!r}; "
            "expected each once. A patient who came several times has one patient and several "
            "pair_ids."
        )


def duplicates(keys: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return the keys that are there more than once, each once, in their order."""
    return [key for key, times in Counter(keys).items() if times > 1]


def join_ids(original: Sequence[str], counterfactual: Sequence[str]) -> list[tuple[int, int]]:
    """Return the rows that hold the two sides of each pair, one row to one row.

    Raises:
        UserError: An id that is there twice on a side, which would join each with each; or an id
            without the other side.
    """
    for side in (original, counterfactual):
        if twice := duplicates((one,) for one in side):
            said = ", ".join(repr(key[0]) for key in twice[:_SHOWN])
            raise UserError(f"Id {said} is there more than once; expected each once on a side.")
    at = {one: place for place, one in enumerate(counterfactual)}
    if lone := set(original) ^ set(counterfactual):
        raise UserError(f"Id {sorted(lone)[0]!r} has one side only; expected both sides of a pair.")
    return [(place, at[one]) for place, one in enumerate(original)]


# The table


def _table(
    path: Path,
    rows: Sequence[Mapping[str, str]],
    scale: tuple[str, ...],
    groups: tuple[str, ...],
    own: Sequence[str],
    other: Sequence[str],
) -> TriagePairs:
    first, why = _places(path, rows, "original", scale)
    second, why_not = _places(path, rows, "counterfactual", scale)
    status = [a if a != "ok" else b for a, b in zip(why, why_not, strict=True)]
    place = {group: at for at, group in enumerate(groups)}
    return TriagePairs(
        levels=scale,
        groups=groups,
        ids=np.array([row["pair_id"] for row in rows]),
        source=np.array([place[group] for group in own], np.int64),
        target=np.array([place[group] for group in other], np.int64),
        original=first,
        counterfactual=second,
        status=np.array(status),
        patient=_patients(rows),
        recorded=_places(path, rows, "level", scale)[0] if "level" in rows[0] else None,
    )


def _patients(rows: Sequence[Mapping[str, str]]) -> Counts | None:
    """Return a number a patient: as said, else the pair, which a repeat arm holds several times."""
    if "patient" in rows[0]:
        return patient_numbers([row["patient"] or f"pair {row['pair_id']}" for row in rows])
    if any(row.get("arm") == REPEAT for row in rows):
        return patient_numbers([row["pair_id"] for row in rows])
    return None


def _notes(arms: Mapping[str, TriagePairs]) -> Iterable[str]:
    first, *others = arms
    base = set(arms[first].ids.tolist())
    for arm in others:
        ids = set(arms[arm].ids.tolist())
        if ids != base:
            yield (
                f"Arms {first} and {arm} are not of the same pairs: {len(base - ids):,} are in the "
                f"first only, {len(ids - base):,} in the second only."
            )
    if all(pairs.patient is None for pairs in arms.values()):
        yield "No column 'patient': each row is taken for another patient."
