"""Tables of pairs as people write them."""

import json
from pathlib import Path

import pytest

from evenhand.graph_store.errors import UserError
from evenhand.tools.pair_files import join_ids, read_pairs
from evenhand.ui.triage_measure import measure_pairs

HEADER = "pair_id,group,original,counterfactual"
ROWS = ["1,F,3,2", "2,M,3,4", "3,M,3,3"]


def write(folder: Path, *rows: str, header: str = HEADER) -> Path:
    path = folder / "pairs.csv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def test_groups_levels_and_arms_are_read(tmp_path: Path) -> None:
    read = read_pairs(write(tmp_path, *ROWS))
    assert read.groups == ("M", "F")
    assert read.levels == ("2", "3", "4")
    assert read.arms["full"].between("M", "F").counts.sum() == 2
    assert read.arms["full"].clusters is None


def test_patients_arms_and_recorded_levels(tmp_path: Path) -> None:
    rows = ["1,F,3,2,p1,full,3", "2,F,3,3,p1,full,4", "1,F,3,3,p1,placebo,3"]
    path = write(tmp_path, *rows, header=f"{HEADER},patient,arm,level")
    read = read_pairs(path, groups=("M", "F"))
    assert list(read.arms) == ["full", "placebo"]
    assert read.arms["full"].clusters is not None
    assert read.arms["full"].recorded is not None
    assert "not of the same pairs" in read.notes[0]


def test_unscored_words_are_counted_and_other_words_stop(tmp_path: Path) -> None:
    read = read_pairs(write(tmp_path, *ROWS, "4,F,3,refused", "5,F,,3"))
    assert read.arms["full"].unscored == {"empty": 1, "refused": 1}
    with pytest.raises(UserError, match="row 4, counterfactual: 'urgent'"):
        read_pairs(write(tmp_path, *ROWS, "4,F,3,urgent"))
    with pytest.raises(UserError, match="'5' is no level; expected one of 2, 3, 4"):
        read_pairs(write(tmp_path, *ROWS, "4,F,3,5"), levels=("2", "3", "4"))


def test_a_named_scale_need_not_be_numbers(tmp_path: Path) -> None:
    path = write(tmp_path, "1,F,green,red", "2,M,red,red")
    assert read_pairs(path, levels=("green", "red")).arms["full"].steps.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], "no row"),
        (["1,F,3,2", "1,F,3,2", "2,M,3,2"], "more than once"),
        (["1,F,3,2"], "one group 'F'"),
        (["1,F,3,2", "2,,3,2"], "row 2 names no group"),
        (["1,F,3,2", "2,M,3,2", "3,X,3,2"], "column 'to'"),
        (["1,F,3,2", ",M,3,2"], "no pair_id"),
        (["1,F,,", "2,M,,refused"], "every pair is unscored"),
        (["1,F,3,900", "2,M,3,2"], "no scale"),
    ],
)
def test_bad_files_are_one_sentence(tmp_path: Path, rows: list[str], words: str) -> None:
    with pytest.raises(UserError, match=words):
        read_pairs(write(tmp_path, *rows))


def test_a_missing_column_and_a_falling_scale_are_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no column group, counterfactual"):
        read_pairs(write(tmp_path, "1,2", header="pair_id,original"))
    with pytest.raises(UserError, match="do not rise"):
        read_pairs(write(tmp_path, *ROWS), levels=("4", "3", "2"))
    with pytest.raises(UserError, match="is no scale"):
        read_pairs(write(tmp_path, *ROWS), levels=("3",))


def test_a_repeat_arm_may_hold_a_pair_several_times(tmp_path: Path) -> None:
    rows = ["1,F,3,2,full", "2,M,3,2,full", "1,F,3,3,repeat", "1,F,3,2,repeat"]
    read = read_pairs(write(tmp_path, *rows, header=f"{HEADER},arm"))
    assert read.arms["repeat"].clusters is not None


def test_ids_join_one_to_one_or_not_at_all() -> None:
    assert join_ids(["a", "b"], ["b", "a"]) == [(0, 1), (1, 0)]
    with pytest.raises(UserError, match="'a' is there more than once"):
        join_ids(["a", "a"], ["a", "b"])
    with pytest.raises(UserError, match="'b' has one side only"):
        join_ids(["a", "b"], ["a"])


def test_the_command_prints_numbers_and_a_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"{i},{'MF'[i % 2]},3,{4 if i % 2 == 0 and i < 60 else 3}" for i in range(200)]
    path = str(write(tmp_path, *rows))
    measure_pairs([path], as_json=True, direction="higher_is_less_urgent")
    made = json.loads(capsys.readouterr().out)
    assert made["verdict"]["findings"][0]["words"] == "less urgent"
    skew = next(m for m in made["measurements"] if m["symbol"] == "DTS_F|M")
    assert skew["value"] == pytest.approx(0.3)
    assert skew["low"] < 0.3 < skew["high"]
    assert skew["bootstrap"]["low"] is not None
    measure_pairs([path], as_json=True)
    assert json.loads(capsys.readouterr().out)["verdict"]["reason_code"] == "no_direction"
    measure_pairs([path], as_published=True)
    assert "As the paper's Table 3 labels them" in capsys.readouterr().out


def test_a_volume_needs_its_period_and_source(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--volume-source"):
        measure_pairs([str(write(tmp_path, *ROWS))], volume=1e6)
    with pytest.raises(UserError, match="2 files"):
        measure_pairs(["a.csv", "b.csv"])
