"""A folder of Parquet parts, each written whole and renamed into place.

What is to be done is always "rows that should be, less rows in the parts"; a process that is killed
while it writes a part leaves none, and what a deleted part held is written under a new name.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.graph_store.errors import UserError

if TYPE_CHECKING:
    import pyarrow as pa


def parts_of(folder: Path) -> list[Path]:
    """Return the parts in the order in which they were written; none where there is no folder."""
    return sorted(folder.glob("part-*.parquet"))


def write_part(folder: Path, table: "pa.Table") -> Path:
    """Write the next part into an existing folder, whole or not at all; return its path."""
    from pyarrow import parquet

    taken = [int(part.stem.partition("-")[2]) for part in parts_of(folder)]
    part = folder / f"part-{max(taken, default=-1) + 1:05d}.parquet"
    new = folder / f".{part.name}.{os.getpid()}"
    with new.open("wb") as file:
        parquet.write_table(table, file)
        file.flush()
        os.fsync(file.fileno())
    new.replace(part)
    return part


def read_parts(
    folder: Path, columns: Sequence[str] | None = None, *, again: str
) -> Iterator["pa.Table"]:
    """Yield the parts as tables, in the order in which they were written.

    Args:
        folder: Of the parts.
        columns: Names of those that are read; None: all.
        again: What asks anew for what a deleted part held, for the message.

    Raises:
        UserError: A part is damaged.
    """
    import pyarrow as pa
    from pyarrow import parquet

    for part in parts_of(folder):
        try:
            yield parquet.read_table(part, columns=None if columns is None else list(columns))
        except (pa.ArrowException, OSError) as error:
            raise UserError(
                f"{part} is damaged ({type(error).__name__}); delete it, {again} asks what it held "
                "again."
            ) from error
