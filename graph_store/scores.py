"""Levels in bulk: Parquet parts of a run, each written whole and renamed into place.

A row is one asking of a variant: a level with its probabilities, or a status that says why there is
none. What is to be done is always "keys that should be, less keys in the parts".
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from evenhand.graph_store.parquet_parts import read_parts, write_part

if TYPE_CHECKING:
    import pyarrow as pa

ScoreKey = tuple[str, int]
"""Variant id, and repeat: 0 for the target itself, 1 and more for its refits."""

FOLDER = "scores"
UNSCORED = -1
_AGAIN = "`evenhand resume`"


@dataclass(frozen=True)
class Scores:
    """Askings in columns, shape (n,) each.

    Attributes:
        variant_ids: What was shown.
        repeats: 0, or the number of the refit.
        levels: Places on the scale; -1 where the status is not "ok".
        probabilities: Shape (n, L), each row summing to 1; NaN where the status is not "ok".
        statuses: "ok", or why there is no level.
    """

    variant_ids: tuple[str, ...]
    repeats: NDArray[np.int64]
    levels: NDArray[np.int64]
    probabilities: NDArray[np.float64]
    statuses: tuple[str, ...]

    def __len__(self) -> int:
        """Return the number of askings."""
        return len(self.variant_ids)

    @cached_property
    def keys(self) -> list[ScoreKey]:
        """The askings, in order."""
        return list(zip(self.variant_ids, self.repeats.tolist(), strict=True))

    @cached_property
    def places(self) -> dict[ScoreKey, int]:
        """Where each asking stands; of one that was written twice, the first."""
        found: dict[ScoreKey, int] = {}
        for place, key in enumerate(self.keys):
            found.setdefault(key, place)
        return found

    def level(self, variant_id: str, repeat: int = 0) -> int:
        """Return the level's place on the scale; -1 where it is unscored or not asked (yet)."""
        place = self.places.get((variant_id, repeat))
        return UNSCORED if place is None else int(self.levels[place])

    def status(self, variant_id: str, repeat: int = 0) -> str:
        """Return "ok", why there is no level, or "missing" where it was not asked (yet)."""
        place = self.places.get((variant_id, repeat))
        return "missing" if place is None else self.statuses[place]


def scored(
    keys: Sequence[ScoreKey], levels: NDArray[np.int64], probabilities: NDArray[np.float64]
) -> Scores:
    """Return askings that all have a level."""
    return Scores(
        tuple(variant for variant, _ in keys),
        np.array([repeat for _, repeat in keys], dtype=np.int64),
        levels,
        probabilities,
        ("ok",) * len(keys),
    )


def write_scores(run: Path, scores: Scores) -> Path:
    """Write the next part of a run, whole or not at all.

    Args:
        run: The run's folder; its lock is held.
        scores: At least one asking.

    Returns:
        The part's path.
    """
    import pyarrow as pa

    folder = run / FOLDER
    folder.mkdir(exist_ok=True)
    return write_part(
        folder,
        pa.table(
            {
                "variant_id": pa.array(scores.variant_ids, pa.string()),
                "repeat": pa.array(scores.repeats, pa.int64()),
                "level": pa.array(scores.levels, pa.int64()),
                "status": pa.array(scores.statuses, pa.string()),
                "probabilities": pa.array(list(scores.probabilities), pa.list_(pa.float64())),
            }
        ),
    )


def read_scores(run: Path) -> Scores:
    """Return all askings of a run, in the order in which they were written; none where none are.

    Raises:
        UserError: A part is damaged.
    """
    parts = [_scores(table) for table in read_parts(run / FOLDER, again=_AGAIN)]
    if not parts:
        nothing = np.empty(0, np.int64)
        return Scores((), nothing, nothing, np.empty((0, 0)), ())
    return Scores(
        tuple(name for part in parts for name in part.variant_ids),
        np.concatenate([part.repeats for part in parts]),
        np.concatenate([part.levels for part in parts]),
        np.concatenate([part.probabilities for part in parts]),
        tuple(status for part in parts for status in part.statuses),
    )


def score_keys(run: Path) -> Iterator[ScoreKey]:
    """Yield the askings that a run's parts hold, without their numbers.

    Raises:
        UserError: A part is damaged.
    """
    for columns in read_parts(run / FOLDER, ("variant_id", "repeat"), again=_AGAIN):
        yield from zip(
            columns["variant_id"].to_pylist(), columns["repeat"].to_pylist(), strict=True
        )


def _scores(table: "pa.Table") -> Scores:
    return Scores(
        tuple(table["variant_id"].to_pylist()),
        table["repeat"].to_numpy().astype(np.int64),
        table["level"].to_numpy().astype(np.int64),
        np.array(table["probabilities"].to_pylist(), dtype=np.float64),
        tuple(table["status"].to_pylist()),
    )
