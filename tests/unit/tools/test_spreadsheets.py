"""CSV as people's programs save it, and cells that no program runs."""

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.graph_store.errors import UserError
from evenhand.tools.spreadsheets import read_spreadsheet, spreadsheet_text


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_what_spreadsheets_save_is_read(tmp_path: Path, encoding: str, delimiter: str) -> None:
    file = tmp_path / "filled.csv"
    text = f'Id{delimiter} Choice \r\nx1{delimiter}"Zoë, twice\r\nover"\r\n\r\nx2{delimiter}b\r\n'
    file.write_text(text, encoding=encoding, newline="")
    table = read_spreadsheet(file)
    assert table.header == ("id", "choice")
    rows = [(number, row["id"], row["choice"].split()) for number, row in table.numbered()]
    assert rows == [(1, "x1", ["Zoë,", "twice", "over"]), (3, "x2", ["b"])]


def test_a_row_that_ends_early_has_empty_cells(tmp_path: Path) -> None:
    file = tmp_path / "short.csv"
    file.write_text("id,choice,comment\nx1\n")
    assert list(read_spreadsheet(file).numbered()) == [
        (1, {"id": "x1", "choice": "", "comment": ""})
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (b"\n \n", "empty"),
        (b"PK\x03\x04\x00\x00", "Excel workbook.*save its sheet as CSV"),
        (b"a,b\n1,\x00\n", "not a text table"),
        (b"id,Id\n1,2\n", "two columns 'id'"),
    ],
)
def test_what_is_no_table_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "odd.csv"
    file.write_bytes(content)
    with pytest.raises(UserError, match=message):
        read_spreadsheet(file)


def test_no_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="No file"):
        read_spreadsheet(tmp_path / "no.csv")


@given(st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=9), min_size=1))
def test_no_text_runs_as_a_formula(cells: list[str]) -> None:
    text = spreadsheet_text(["a"], [{"a": cell} for cell in cells])
    rows = list(csv.reader(io.StringIO(text, newline="")))[1:]
    assert [row[0] if row else "" for row in rows] == [
        f"'{cell}" if cell.startswith(("=", "+", "-", "@")) else cell for cell in cells
    ]


def test_a_number_stays_a_number() -> None:
    rows: list[dict[str, str | float]] = [{"answer": "=1+1", "gap": -0.25}]
    assert spreadsheet_text(["answer", "gap", "x"], rows).splitlines()[1] == "'=1+1,-0.25,"
