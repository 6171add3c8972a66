import csv
import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.graph_store.errors import UserError
from evenhand.tools import table_files
from evenhand.tools.table_files import column_names, read_rows, write_csv
from evenhand.tools.table_format import find_format

CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=20)


def _file(folder: Path, content: bytes, name: str = "visits.csv") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_delimiter_and_encoding_are_found(tmp_path: Path, delimiter: str, encoding: str) -> None:
    text = delimiter.join(["id", "note"]) + "\r\n" + delimiter.join(["1", '"gêne, l\'œil\nrouge"'])
    path = _file(tmp_path, f"{text}\r\n".encode(encoding))
    assert list(read_rows(path)) == [{"id": "1", "note": "gêne, l'œil\nrouge"}]
    assert find_format(path).delimiter == delimiter


@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=8))
def test_what_the_csv_module_writes_is_read_back(rows: list[tuple[str, str]]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "visits.csv"
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, quoting=csv.QUOTE_ALL)
            writer.writerows([("first", "second"), *rows])
        table = find_format(path, encoding="utf-8", delimiter=",")
        read = [tuple(row.values()) for row in read_rows(path, table)]
    assert read == rows


def test_nothing_is_not_an_empty_text(tmp_path: Path) -> None:
    path = _file(tmp_path, b'id,note\n1,\n2,""\n3,NA\n')
    assert [row["note"] for row in read_rows(path)] == [None, "", "NA"]


def test_korean_bytes_are_not_taken_for_western_ones(tmp_path: Path) -> None:
    path = _file(tmp_path, "id,note\n1,가슴 통증과 호흡곤란이 심함\n".encode("cp949"))
    assert next(read_rows(path))["note"] == "가슴 통증과 호흡곤란이 심함"
    assert find_format(path).flags == ("encoding_guessed",)


def test_a_packed_file_and_a_row_across_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_files, "BLOCK_BYTES", 4096)
    rows = "".join(f'{i},"line {i}\nand {i}"\n' for i in range(3000))
    path = _file(tmp_path, gzip.compress(f"id,note\n{rows}".encode()), "visits.csv.gz")
    read = list(read_rows(path))
    assert len(read) == 3000
    assert read[2999]["note"] == "line 2999\nand 2999"


def test_json_lines_and_parquet_give_the_same_rows(tmp_path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    rows = [{"id": "00123", "note": "a\u2028b"}, {"id": "7", "note": None}]
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    assert list(read_rows(_file(tmp_path, lines.encode(), "visits.jsonl"))) == rows
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "visits.parquet")
    assert list(read_rows(tmp_path / "visits.parquet")) == rows
    assert column_names(tmp_path / "visits.parquet") == ["id", "note"]


BAD = {
    "wide row": (b"a,b\n1,x\n2,y,z\n3\n", "row 2 has 3 cells; row 3 has 1 cells"),
    "open quote": (b'a,b\n1,"x\n2,y\n', "never closed"),
    "same names": (b"a,a\n1,2\n", "two columns are named 'a'"),
    "nul": (b"a,b\n1,x\0y\n", "NUL byte"),
    "workbook": (b"PK\x03\x04....", "Excel workbook"),
    "nothing": (b" \n", "is empty"),
    "long cell": (b'a,b\n1,"' + b"x" * 1_000_001 + b'"\n', "row 1 has 1,000,001 characters"),
    "half a json": (b'{"a": 1}\n{"a": \n', "line 2 is not JSON"),
    "other keys": (b'{"a": 1}\n{"b": 2}\n', "line 2 has the keys b"),
    "cut parquet": (b"PAR1....", "no whole Parquet file"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_faulty_file_is_one_sentence(tmp_path: Path, case: str) -> None:
    content, words = BAD[case]
    with pytest.raises(UserError, match=words):
        list(read_rows(_file(tmp_path, content)))


def test_a_note_of_100_mb_is_refused(tmp_path: Path) -> None:
    path = _file(tmp_path, b'a,b\n1,"' + b"x" * 100_000_000 + b'"\n')
    with pytest.raises(UserError, match="more than 8 MiB"):
        list(read_rows(path))


def test_bytes_outside_a_named_encoding_are_refused(tmp_path: Path) -> None:
    path = _file(tmp_path, b"a,b\n1,\xe9\n")
    with pytest.raises(UserError, match=r"cannot be read as utf-8.*\[file\]"):
        list(read_rows(path, find_format(path, encoding="utf-8")))
    with pytest.raises(UserError, match="unknown encoding 'utf-99'"):
        find_format(path, encoding="utf-99")


def test_no_exported_text_runs_as_a_formula(tmp_path: Path) -> None:
    cells = ["=1+1", "+1", "-a", "@sum", "\t=1", "plain", "'quoted"]
    write_csv(tmp_path / "out.csv", [{"a": cell, "b": -0.25} for cell in cells], ["a", "b"])
    read = list(read_rows(tmp_path / "out.csv"))
    assert [row["a"] for row in read] == [*(f"'{cell}" for cell in cells[:5]), *cells[5:]]
    assert {row["b"] for row in read} == {"-0.25"}
