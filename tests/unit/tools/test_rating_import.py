"""A filled-in sheet: each fault is named by its row and counted, and the rest is kept."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Judgement
from evenhand.graph_store.run_directory import RunDirectory
from evenhand.tools.rating_cells import read_choice, read_names, read_rating
from evenhand.tools.rating_import import Import, import_sheet, label_key, read_sheet
from evenhand.tools.rating_sheets import SheetName, SheetSource, draw_items, sheet_text
from evenhand.tools.spreadsheets import Spreadsheet

MakeRun = Callable[..., RunDirectory]
Filled = dict[str, str]
ALL_FOUR = {
    "age": "4",
    "gender": "1",
    "age_gender": "2",
    "location": "5",
    "age_gender_location": "3",
}


@pytest.fixture
def run(make_run: MakeRun) -> RunDirectory:
    return make_run(n=6)


def exported(run: RunDirectory, sheet: SheetName, seed: int = 0, n: int = 6) -> list[Filled]:
    source = SheetSource(run)
    text = sheet_text(source, sheet, draw_items(source, sheet, n=n, seed=seed))
    return list(csv.DictReader(io.StringIO(text, newline="")))


def table(rows: Sequence[Mapping[str, str]]) -> Spreadsheet:
    header = tuple(rows[0])
    return Spreadsheet("filled.csv", header, tuple(tuple(r[c] for c in header) for r in rows))


def read(run: RunDirectory, sheet: SheetName, rows: Sequence[Filled], rater: str = "R1") -> Import:
    return read_sheet(sheet, table(rows), SheetSource(run), run.labels(), rater)


def rated(run: RunDirectory) -> list[Filled]:
    return [row | ALL_FOUR for row in exported(run, "ratings")]


def faults(made: Import) -> list[tuple[int, str, str]]:
    return [(one.row, one.column, one.fault) for one in made.problems]


def test_what_is_filled_in_becomes_verdicts(run: RunDirectory) -> None:
    made = read(run, "ratings", rated(run))
    assert (made.rows, made.scored, made.problems) == (6, 30, ())
    answers = {answer.id for answer in run.answers()}
    assert all(one.subject_id in answers and one.judge == "R1" for one in made.labels)
    assert {one.value for one in made.labels if one.dimension == "location"} == {5.0}
    assert all(one.id.startswith(f"{one.subject_id}/l0-") for one in made.labels)


def test_each_fault_is_named_and_the_rest_counts(run: RunDirectory) -> None:
    rows = rated(run)
    rows[0]["id"] = "r000000000000"
    rows[1]["location"] = "7"
    rows[2]["age"] = "high"
    rows[3]["gender"] = ""
    rows[4]["id"] = ""
    made = read(run, "ratings", rows)
    assert faults(made) == [
        (1, "", "other_id"),
        (2, "location", "out_of_range"),
        (3, "age", "unparsable"),
        (4, "gender", "missing"),
        (5, "", "no_id"),
    ]
    assert made.scored == 4 * 5 - 3
    assert len(made.labels) == 20
    assert made.faults["out_of_range"] == 1
    unscored = [one for one in made.labels if one.status != "ok"]
    assert [one.status for one in unscored] == ["out_of_range", "unparsable", "unparsable"]
    assert all(one.value is None for one in unscored)


def test_a_row_given_twice_counts_once_or_not_at_all(run: RunDirectory) -> None:
    rows = rated(run)
    rows += [dict(rows[0]), rows[1] | {"age": "1"}]
    made = read(run, "ratings", rows)
    assert faults(made) == [
        (2, "", "conflicting_rows"),
        (7, "", "doubled_row"),
        (8, "", "conflicting_rows"),
    ]
    assert made.scored == 5 * 5


def test_a_rater_counts_once_however_the_name_is_written(run: RunDirectory) -> None:
    run.append("labels", read(run, "ratings", rated(run), "Zoe Lee").labels)
    again = read(run, "ratings", rated(run), " zoe  LEE ")
    assert not again.labels
    assert {one.fault for one in again.problems} == {"already_rated"}
    assert read(run, "ratings", rated(run), "R2").scored == 30


def test_what_was_left_empty_can_be_given_later(run: RunDirectory) -> None:
    rows = rated(run)
    blank = dict(rows[0], location="")
    import_sheet(run, "ratings", table([blank]), "R1")
    import_sheet(run, "ratings", table([blank]), "R1")
    assert len(run.labels()) == 5
    made = import_sheet(run, "ratings", table([rows[0]]), "R1")
    assert [one.dimension for one in made.labels] == ["location"]
    assert "/l1-" in made.labels[0].id
    latest = {label_key(one): one for one in run.labels()}
    assert [one.status for one in latest.values()] == ["ok"] * 5


def test_an_empty_row_is_told_once_and_counted(run: RunDirectory) -> None:
    rows = rated(run)
    rows[0] |= dict.fromkeys(ALL_FOUR, "")
    made = read(run, "ratings", rows)
    assert faults(made) == [(1, "", "missing")]
    assert sum(one.reason_code == "missing" for one in made.labels) == 5


def test_one_file_may_hold_several_raters(run: RunDirectory) -> None:
    rows = [row | {"rater": name} for row in rated(run) for name in ("R1", "R2", "")]
    made = read(run, "ratings", rows, "")
    assert made.raters == ("R1", "R2")
    assert made.faults == {"no_rater": 6}
    mixed = read(run, "ratings", rows, "R1")
    assert mixed.raters == ("R1",)
    assert mixed.faults["other_rater"] == 6


def test_a_choice_names_the_pair_by_its_place(run: RunDirectory) -> None:
    first, *rest = exported(run, "pairs")
    first |= {"choice": "A", "attributes": "Age and LOCATION"}
    rest[0] |= {"choice": "tie", "attributes": "none"}
    rest[1] |= {"choice": "third", "attributes": "age; sex"}
    made = read(run, "pairs", [first, *rest[:2]])
    choices = [one for one in made.labels if one.rubric == "pair_choice"]
    assert [(one.status, one.value) for one in choices] == [
        ("ok", "first"),
        ("tie", None),
        ("unparsable", None),
    ]
    named = {one.dimension: one.value for one in made.labels if one.rubric == "pair_attributes"}
    assert set(named) == {"age", "gender", "location"}
    by_subject = [one for one in made.labels if one.subject_id == choices[0].subject_id]
    assert {one.dimension: one.value for one in by_subject[1:]} == {
        "age": 1.0,
        "gender": 0.0,
        "location": 1.0,
    }
    assert faults(made) == [(3, "choice", "unparsable"), (3, "attributes", "unparsable")]


def test_the_other_order_of_a_pair_is_the_same_pair(run: RunDirectory) -> None:
    source = SheetSource(run)
    items = {item.answers: item.id for item in source.every_item("pairs") if not item.conclusion}
    shown = next(answers for answers in items)
    rows = [
        {"id": items[shown], "choice": "first", "attributes": "none", "comment": ""},
        {"id": items[shown[::-1]], "choice": "second", "attributes": "none", "comment": ""},
    ]
    made = read(run, "pairs", rows)
    assert faults(made) == [(2, "", "doubled_row")], "both chose the same answer"
    rows[1]["choice"] = "first"
    with pytest.raises(UserError, match="twice and differently"):
        read(run, "pairs", rows)


def test_a_file_that_is_no_such_sheet_is_one_sentence(run: RunDirectory) -> None:
    with pytest.raises(UserError, match="no column 'choice'"):
        read(run, "pairs", rated(run))
    with pytest.raises(UserError, match="--rater NAME"):
        read(run, "ratings", rated(run), "")
    with pytest.raises(UserError, match="none of 6 rows"):
        read(run, "correctness", [row | {"correctness": "3"} for row in exported(run, "ratings")])


@given(st.text(max_size=12))
def test_a_cell_is_a_value_or_a_reason(cell: str) -> None:
    for given_ in (
        read_rating(cell.strip()),
        read_choice(cell.strip()),
        *read_names(cell.strip(), ("age", "location")).values(),
    ):
        assert (given_.value is None) == (given_.status != "ok")
        assert (given_.fault is None) == (given_.status in ("ok", "tie"))
        Judgement(
            id="x",
            status=given_.status,
            subject_id="a",
            rubric="r",
            dimension="d",
            judge="R1",
            value=given_.value,
        )


@pytest.mark.parametrize(
    ("cell", "value"),
    [("4", 4), ("4.0", 4), ("4,0", 4), ("4.5", None), ("0", None), ("6", None), ("-3", None)],
)
def test_ratings_are_whole_numbers_of_the_scale(cell: str, value: int | None) -> None:
    assert read_rating(cell).value == value
