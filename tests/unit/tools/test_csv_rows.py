from pathlib import Path

import pytest

from evenhand.graph_store.errors import UserError
from evenhand.tools.csv_rows import check_rows, read_rows, read_table

COLUMNS = {"name": ("Title", "Case"), "text": ("one line",)}


def write(folder: Path, content: str | bytes) -> Path:
    path = folder / "some.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_marks_line_ends_and_lines_inside_cells(tmp_path: Path) -> None:
    path = write(tmp_path, '\ufeff case ,"ONE LINE",,\r\na,"b,\nc ",,\r\n,,,\r\nd,e,,\r\n')
    assert read_table(path, COLUMNS) == [
        {"name": "a", "text": "b,\nc"},
        {"name": "d", "text": "e"},
    ]
    assert read_rows(path)[1] == ["a", "b,\nc ", "", ""]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("Case,line\na,b\n", ["'one line'", "found: Case, line"]),
        ("Case,one line\n", ["no rows"]),
        ("Case,one line\na,b\nc\n", ["row 2 has 1 columns, expected 2"]),
        ("Case,one line\na,b,c\n", ["row 1 has 3 columns"]),
        ("Case,one line\na, \n", ["row 1 has an empty cell in column text"]),
        (b"Case,one line\na,\xff\n", ["line 2", "UTF-8"]),
        ('Case,one line\na,"b\n', ["CSV"]),
        ("", ["empty"]),
    ],
)
def test_faults(tmp_path: Path, content: str | bytes, words: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        read_table(write(tmp_path, content), COLUMNS)
    for word in ["some.csv", *words]:
        assert word in str(caught.value)


def test_many_faults_are_counted(tmp_path: Path) -> None:
    check_rows(tmp_path / "some.csv", {})
    with pytest.raises(UserError, match=r"row 5 is odd; and 3 more\. Mend"):
        check_rows(tmp_path / "some.csv", {number: "is odd" for number in range(1, 9)})
