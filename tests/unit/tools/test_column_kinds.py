from pathlib import Path

import pytest

from evenhand.tools.code_values import read_codes
from evenhand.tools.column_kinds import as_number, summarise_column, summarise_table


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "2.5", "-3"], "number"),
        (["0,75", "1,5"], "number"),
        (["36.", "36.5"], "number"),
        (["00123", "891e3", "1234567890123456789"], "code"),
        (["219E01", "007.50", "2024-03-01", "1-2"], "code"),
        (["F", "M", "F", "F"], "category"),
        (["chest pain", "fell down", "cut on the hand", "fever, cough"], "text"),
        ([None, "", " "], "empty"),
    ],
)
def test_kinds(cells: list[str | None], kind: str) -> None:
    assert summarise_column("x", cells).kind == kind


def test_a_comma_is_decimal_only_where_it_must_be() -> None:
    assert summarise_column("x", ["36,5", "37"]).flags == ("decimal_comma",)
    assert summarise_column("x", ["1,234", "2,500"]).flags == ("ambiguous_comma",)
    assert summarise_column("x", ["0,123", "0,500"]).flags == ("decimal_comma",)


def test_suspects_are_counted_and_do_not_hide_the_numbers() -> None:
    summary = summarise_column("pulse", ["80", "-9", "#NULL!", "90", "-9", "998"])
    assert summary.kind == "number"
    assert summary.suspects == {"-9": 2, "#NULL!": 1}
    assert (summary.low, summary.high) == (80, 998)
    assert summarise_column("change", ["-9", "-12", "5"]).suspects == {}


def test_what_comes_after_the_decision_is_suspected_by_name() -> None:
    assert summarise_column("Diagnosis in ED", ["a"]).flags == ("maybe_after_decision",)
    assert summarise_column("Length of stay_min", ["a"]).flags == ("maybe_after_decision",)
    assert summarise_column("blood", ["a"]).flags == ()


def test_a_table_that_is_larger_than_what_is_kept_of_it(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("id,note\n" + "".join(f"{i},word {i}\n" for i in range(5000)))
    summary = summarise_table(path)
    assert summary.rows == 5000
    assert summary.column("id").distinct == 1000
    assert len(summary.column("note").values) <= 30


@pytest.mark.parametrize(
    ("cell", "number"),
    [("36,5", 36.5), (".5", 0.5), ("+3", 3.0), ("1e5", None), ("nan", None), ("1 2", None)],
)
def test_plain_numbers(cell: str, number: float | None) -> None:
    assert as_number(cell) == number


def test_a_codebook_goes_before_the_table_and_h_is_french() -> None:
    assert read_codes(["1", "2"], codebook={"1": "male", "2": "female"}).mapped == (
        "male",
        "female",
    )
    assert read_codes(["H"], language="en").reason == "codebook_required"
    assert read_codes(["H", "F", "Féminin"], language="fr").mapped == ("male", "female", "female")
    assert read_codes(["F"], codebook={"f": "male"}).mapped == ("male",)
