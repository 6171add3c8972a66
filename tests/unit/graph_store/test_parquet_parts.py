"""Parts: none is ever written over another, and none that is half written is read."""

from pathlib import Path

import pyarrow as pa
import pytest

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.parquet_parts import parts_of, read_parts, write_part


def rows(folder: Path) -> list[int]:
    return [
        row for table in read_parts(folder, ["row"], again="x") for row in table["row"].to_pylist()
    ]


def test_a_part_that_was_deleted_costs_no_other(tmp_path: Path) -> None:
    for row in range(3):
        write_part(tmp_path, pa.table({"row": [row]}))
    parts_of(tmp_path)[0].unlink()
    assert write_part(tmp_path, pa.table({"row": [9]})).name == "part-00003.parquet"
    assert rows(tmp_path) == [1, 2, 9]


def test_what_was_being_written_is_no_part(tmp_path: Path) -> None:
    (tmp_path / ".part-00000.parquet.12").write_bytes(b"PAR1")
    assert rows(tmp_path) == []
    assert rows(tmp_path / "none") == []


def test_a_damaged_part_is_named_with_what_to_do(tmp_path: Path) -> None:
    write_part(tmp_path, pa.table({"row": [0]})).write_bytes(b"torn")
    with pytest.raises(UserError, match=r"part-00000\.parquet is damaged .* x asks what it held"):
        rows(tmp_path)
