"""JSON Lines files of any data set, read row by row; faults are named by their rows."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from evenhand.graph_store.errors import UserError
from evenhand.tools.csv_rows import check_rows

T = TypeVar("T")


def read_json_lines(
    name: str, path: Path | None, read_row: Callable[[Mapping[str, Any]], T | str]
) -> list[T]:
    """Return what is read of each line; empty lines are left out and not counted.

    Args:
        name: The data set's, for messages.
        path: Its file.
        read_row: An object -> what it holds, or a text that says what is wrong with it.

    Raises:
        UserError: No file, no UTF-8, or faulty rows, named by number from 1.
    """
    if path is None:
        raise UserError(f"Data set {name!r} needs --path: its JSON Lines file.")
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{path.name} is not UTF-8; save the file as UTF-8.") from error
    found: list[T] = []
    faults: dict[int, str] = {}
    for number, line in enumerate((each for each in text.split("\n") if each.strip()), start=1):
        try:
            row: Any = json.loads(line)
        except json.JSONDecodeError:
            faults[number] = "is not JSON"
            continue
        made = read_row(row) if isinstance(row, Mapping) else "is no JSON object"
        if isinstance(made, str):
            faults[number] = made
        else:
            found.append(made)
    check_rows(path, faults)
    return found
