"""Score files as they are published, and as they break."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.graph_store.errors import UserError
from evenhand.tools.score_files import CellProblem, read_scores

HEADER = "questions,answers,age,gender,age_gender,location,age_gender_location,total\n"
ROW = '"Why?\nReally?","{""response"": ""1, 2""}",0.1,0,0.2,0.3,0.45,0.5\n'


def written(folder: Path, text: str | bytes, name: str = "scores.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
    return path


@pytest.mark.parametrize(
    "content",
    [
        (HEADER + ROW).encode("utf-8"),
        (HEADER + ROW).encode("utf-8-sig"),
        (HEADER + ROW).replace("Why", "Whé").encode("cp1252"),
        (HEADER + ROW).encode("utf-16"),
        (HEADER + ROW).replace("\n", "\r\n").encode("utf-8"),
        HEADER.replace(",", ";").encode() + b"q;a;0,1;0;0,2;0,3;0,45;0,5\n",
        HEADER.replace(",", "\t").encode() + b"q\ta\t.1\t0\t.2\t.3\t.45\t.5\n",
        HEADER.replace("total", "Overall").replace("age_gender,", "Age + Gender,").encode()
        + ROW.encode(),
    ],
)
def test_every_published_quirk_gives_the_same_scores(content: bytes, tmp_path: Path) -> None:
    file = read_scores(written(tmp_path, content))
    assert file.dimensions[-1] == "overall"
    assert file.scores.tolist() == [[0.1, 0, 0.2, 0.3, 0.45, 0.5]]
    assert not file.problems


def test_a_cell_that_holds_no_score_is_named_and_the_rest_kept(tmp_path: Path) -> None:
    rows = ["1,high,0.5", "2,1.24,0.5", "3,,0.5", "4,-0.1,0.5", "5,1e400,.5", '6,"1,000",0.5', ""]
    file = read_scores(written(tmp_path, "id,age,gender\n" + "\n".join(rows) + "\n7,0.2,0.3,0.4\n"))
    assert [str(problem) for problem in file.problems] == [
        "row 1, age: 'high' is no number",
        "row 2, age: 1.24 lies outside 0 to 1",
        "row 3, age: is empty",
        "row 4, age: -0.1 lies outside 0 to 1",
        "row 5, age: 1e400 lies outside 0 to 1",
        "row 6, age: '1,000' is no number",
        "row 8: 4 cells under 3 columns",
    ]
    assert np.isnan(file.column("age")).all()
    assert file.column("gender")[:6].tolist() == [0.5] * 6
    assert file.unscored("age") == {
        "empty": 1,
        "misaligned": 1,
        "not_a_number": 2,
        "out_of_range": 3,
    }
    assert file.unscored("gender") == {"misaligned": 1}
    assert file.keys == ("1", "2", "3", "4", "5", "6", "")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "is empty"),
        ("id,age\n", "a header and no row"),
        ("question,answer\na,b\n", "no column of scores, only question, answer"),
        ("age,Age\n.1,.2\n", "two columns"),
        ("age + gender,age_gender\n.1,.2\n", "two columns for age_gender"),
        ("total,overall\n.1,.2\n", "two columns for overall"),
        (b"PK\x03\x04\x00\x00", "is an Excel workbook"),
    ],
)
def test_a_file_without_scores_is_refused_in_one_sentence(
    text: str | bytes, part: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=part.replace("+", r"\+")):
        read_scores(written(tmp_path, text))


def test_no_file_is_named() -> None:
    with pytest.raises(UserError, match=r"nowhere\.csv"):
        read_scores(Path("nowhere.csv"))


CELL = st.one_of(
    st.floats(0, 1).map(lambda x: f"{x:.4f}"),
    st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters='",;\t'), max_size=8),
    st.floats(allow_nan=True, allow_infinity=True).map(str),
)


@given(st.lists(CELL, min_size=1, max_size=20))
def test_every_row_is_a_score_or_a_problem_and_no_score_lies_off_the_scale(
    tmp_path_factory: pytest.TempPathFactory, cells: list[str]
) -> None:
    lines = "".join(f'{i},"{cell}"\n' for i, cell in enumerate(cells))
    file = read_scores(written(tmp_path_factory.mktemp("f"), "id,age\n" + lines))
    named = {problem.row for problem in file.problems}
    for row, value in enumerate(file.column("age"), start=1):
        assert (row in named) == math.isnan(value)
        assert math.isnan(value) or 0 <= value <= 1


def test_a_problem_says_where_it_is() -> None:
    assert str(CellProblem(3, "age", "empty", "")) == "row 3, age: is empty"
