from collections.abc import Callable
from pathlib import Path

import pytest

from evenhand.graph_store.errors import UserError
from evenhand.tools.column_kinds import summarise_table
from evenhand.tools.datasets import load_visits
from evenhand.tools.frozen_visits import freeze_visits, frozen_source
from evenhand.tools.mapping_draft import draft_mapping
from evenhand.tools.table_files import Row
from evenhand.tools.visit_mapping import parse_mapping
from evenhand.tools.visit_rows import VisitSource
from evenhand.tools.visits import check_direction, drawn_visits, read_visits

VisitFile = Callable[..., Path]
MAPPING = """
language = "en"
label = "level"
levels = ["1", "2", "3"]
direction = "higher_is_less_urgent"
text = ["note"]
missing = ["NR"]
[attributes.gender]
column = "sex"
[tabular]
age = { column = "age", kind = "number" }
pulse = { column = "pulse", kind = "number" }
"""
SEXES = ("F", "M")


def _row(**cells: str | None) -> Row:
    return {"sex": "F", "age": "40", "level": "2", "note": "fell", "pulse": "80", **cells}


def _rows(n: int = 8) -> list[Row]:
    return [_row(sex=SEXES[i % 2], level=str(1 + i % 3)) for i in range(n)]


def _source(rows: list[Row], mapping: str = MAPPING, more: str = "") -> VisitSource:
    """`more` stands before the sections."""
    columns = tuple(rows[0]) if rows else tuple(_row())
    return VisitSource("table", lambda: rows, columns, parse_mapping(more + mapping, "m.toml"))


def test_each_filter_has_its_line_and_nothing_else_is_lost() -> None:
    rows = [
        *_rows(),
        _row(level=None),
        _row(sex="U"),
        _row(sex=""),
        _row(age="NR"),
        _row(age="17"),
        _row(note=" "),
        _row(note="30 weeks pregnant"),
    ]
    visits = read_visits(_source(rows), seed=0)
    left = {step.code: step.left_out for step in visits.flow}
    assert left == {
        "read": 0,
        "no_label": 1,
        "no_attribute": 2,
        "no_age": 1,
        "under_age": 1,
        "missing_field": 0,
        "no_text": 1,
        "sex_specific": 1,
        "excluded_level": 0,
    }
    details = {step.code: dict(step.details) for step in visits.flow}
    assert details["no_attribute"] == {"unknown": 1, "missing": 1}
    assert len(visits.samples) == 8


def test_both_lists_are_counted_and_either_may_decide() -> None:
    rows = [*_rows(), _row(note="works at a computer")]
    own = read_visits(_source(rows), seed=0)
    published = read_visits(_source(rows), seed=0, published_list=True)
    assert (len(own.samples), len(published.samples)) == (9, 8)
    for visits in (own, published):
        (step,) = [step for step in visits.flow if step.code == "sex_specific"]
        assert step.details == {"own list": 0, "as published": 1}


def test_a_sample_holds_typed_columns_and_no_sex_besides_its_attribute() -> None:
    (sample, *_) = read_visits(_source([_row(pulse="NR"), *_rows()]), seed=0).samples
    assert sample.columns == {"age": 40.0, "pulse": None}
    assert sample.attributes == {"gender": "female"}
    assert sample.label == "2"


def test_every_decider_has_the_same_visits_and_halves(visit_file: VisitFile) -> None:
    path = visit_file("ktas")
    # The expert disagrees on the first visit.
    path.write_bytes(path.read_bytes().replace(b";Angina;2;3;", b";Angina;2;4;", 1))
    nurse, _ = load_visits("ktas", str(path), None, 1, decider="nurse")
    expert, _ = load_visits("ktas", str(path), None, 1, decider="expert")
    assert [(s.id, s.split) for s in nurse.samples] == [(s.id, s.split) for s in expert.samples]
    assert [s.label for s in expert.samples] == ["4", "3", "3", "3"]
    with pytest.raises(UserError, match=r"Unknown decider 'doctor'.*nurse, expert"):
        load_visits("ktas", str(path), None, 1, decider="doctor")


BAD_ROWS: dict[str, tuple[list[Row], str]] = {
    "unknown level": ([*_rows(), _row(level="7")], r"'7' in row 9 of 'level'.*Add them"),
    "one class": ([_row(sex=sex) for sex in SEXES], "all 2 visits have level 2"),
    "one group": ([_row(level=level) for level in "123"], "are gender female; a comparison"),
    "no rows": ([], "has a header but no rows"),
    "no notes": ([{**row, "note": ""} for row in _rows()], "text columns note are empty in all 8"),
    "nobody left": ([_row(age="9"), _row(age="8")], "none of 2 visits is left"),
    "sex codes": ([*_rows(), _row(sex="1")], "'1' of gender in row 9.*opposite sexes"),
    "no number": ([*_rows(), _row(pulse="fast")], "'fast' in row 9 of 'pulse'"),
}


@pytest.mark.parametrize("case", BAD_ROWS)
def test_bad_input_is_one_sentence(case: str) -> None:
    rows, words = BAD_ROWS[case]
    with pytest.raises(UserError, match=words):
        read_visits(_source(rows), seed=0)


def test_an_id_stands_once() -> None:
    rows = [{**row, "visit": str(i // 2)} for i, row in enumerate(_rows(4))]
    with pytest.raises(UserError, match="'0' in rows 1 and 2; '1' in rows 3 and 4"):
        read_visits(_source(rows, more='id = "visit"\n'), seed=0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (('direction = "higher_is_less_urgent"\n', ""), "direction is missing.*no verdict"),
        (("higher_is_less_urgent", "up"), "direction: Input should be"),
        (('["1", "2", "3"]', '["3", "2", "1"]'), "do not rise.*direction"),
        (('["1", "2", "3"]', '["1"]'), "levels"),
        (('["1", "2", "3"]', '["1", "1"]'), "one level twice"),
        (('"note"', '"level"'), "'level' is a decision"),
        (('column = "age"', 'column = "sex"'), "'sex' is an attribute's column"),
        (('missing = ["NR"]', 'leaks = ["pulse"]'), "'pulse' is under leaks"),
        (('missing = ["NR"]', 'colour = "red"'), "colour is unknown"),
        (("[tabular]", "[tabular"), "is not TOML"),
        (("age = {", "years = {"), "min_age needs"),
    ],
)
def test_a_faulty_mapping_is_one_sentence(change: tuple[str, str], words: str) -> None:
    assert change[0] in MAPPING
    with pytest.raises(UserError, match=words):
        parse_mapping(MAPPING.replace(*change), "m.toml")


def test_a_column_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(UserError, match="no column 'sex'; found: gender, level"):
        read_visits(
            VisitSource(
                "t", list, ("gender", "level", "note", "age", "pulse"), _source([]).mapping
            ),
            seed=0,
        )


def test_outcomes_contradict_a_reversed_scale() -> None:
    outcome = '[outcome]\ncolumn = "admitted"\ncodes = ["1"]\n'
    rows = [
        {**_row(level=level), "admitted": admitted}
        for level, admitted in [("1", "1"), ("1", "1"), ("2", "1"), ("3", "0"), ("3", "0")] * 40
    ]
    check_direction(_source(rows, MAPPING + outcome))
    reversed_ = MAPPING.replace("is_less_urgent", "is_more_urgent") + outcome
    with pytest.raises(UserError, match=r"mean level 1\.33.*others 3\.00; check the direction"):
        check_direction(_source(rows, reversed_))


def test_a_larger_draw_holds_the_smaller() -> None:
    visits = read_visits(_source(_rows(60)), seed=0)
    small, large = drawn_visits(visits, 20, 7), drawn_visits(visits, 40, 7)
    assert {each.id for each in small.samples} <= {each.id for each in large.samples}
    assert small.flow[-1].remaining == 20
    with pytest.raises(UserError, match="61 visits were asked, but 60"):
        drawn_visits(visits, 61, 0)


def test_frozen_data_read_the_same_and_say_so_when_changed(tmp_path: Path) -> None:
    rows = [*_rows(40), _row(age="12")]
    source = _source(rows)
    frozen = freeze_visits(source, tmp_path / "frozen", seed=3)
    again = freeze_visits(source, tmp_path / "again", seed=3)
    assert frozen.content_sha256 == again.content_sha256
    assert frozen.sides == {"train": 20, "audit": 20}

    def told(visits_seed: int, given: VisitSource) -> list[tuple[object, ...]]:
        visits = read_visits(given, seed=visits_seed)
        return [(s.text, s.label, s.split, s.attributes, s.columns) for s in visits.samples]

    assert told(99, frozen_source(tmp_path / "frozen", "table")) == told(3, source)
    flow = read_visits(frozen_source(tmp_path / "frozen", "table"), seed=0).flow
    assert flow == frozen.flow
    data = tmp_path / "frozen" / "data.parquet"
    other = freeze_visits(_source(_rows(42)), tmp_path / "other", seed=3)
    data.write_bytes((other.folder / "data.parquet").read_bytes())
    with pytest.raises(UserError, match="not those that were frozen"):
        frozen_source(tmp_path / "frozen", "table")


def test_a_failed_freeze_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="are gender female"):
        freeze_visits(_source([_row(), _row(level="1")]), tmp_path / "frozen", seed=0)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "there").mkdir()
    with pytest.raises(UserError, match="exists; give a new folder"):
        freeze_visits(_source(_rows()), tmp_path / "there", seed=0)
    with pytest.raises(UserError, match="is no frozen data set"):
        frozen_source(tmp_path / "there", "table")


def test_a_draft_lacks_only_what_a_person_must_say(tmp_path: Path) -> None:
    path = tmp_path / "urgences.csv"
    rows = "".join(
        f"{i};P{i};{'HF'[i % 2]};{20 + i};{1 + i % 5};36,{i % 9};"
        f"douleur forte depuis {i} heures;domicile\n"
        for i in range(40)
    )
    path.write_text(f"visite;ipp;sexe;âge;tri;temp;motif;orientation\n{rows}", "utf-8")
    draft = draft_mapping(summarise_table(path), "fr")
    with pytest.raises(UserError, match="direction is missing"):
        parse_mapping(draft, "draft")
    said = draft.replace("# direction", "direction")
    mapping = parse_mapping(said, "draft")
    assert (mapping.id, mapping.patient, mapping.label) == ("visite", "ipp", "tri")
    assert mapping.levels == ("1", "2", "3", "4", "5")
    assert mapping.attributes["gender"].codes == {"H": "male", "F": "female"}
    assert mapping.text == ("motif",)
    assert mapping.leaks == ("orientation",)
