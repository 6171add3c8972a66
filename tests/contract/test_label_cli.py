"""`evenhand label`: out, in, shown; a mistake is one sentence and exit 2, nothing is written."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from evenhand.graph_store.run_directory import RunDirectory
from evenhand.ui.cli import run as evenhand

MakeRun = Callable[..., RunDirectory]
Say = Callable[..., tuple[int, str, str]]


@pytest.fixture
def finished(make_run: MakeRun) -> RunDirectory:
    return make_run(n=6)


@pytest.fixture
def say(finished: RunDirectory, capsys: pytest.CaptureFixture[str]) -> Say:
    def say(*words: str) -> tuple[int, str, str]:
        code = evenhand(["label", *words, "--runs-dir", str(finished.path.parent)])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return say


def fill(sheet: Path, column: str, value: str) -> None:
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        rows = [row | {column: value} for row in csv.DictReader(file)]
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def test_a_sheet_goes_out_and_comes_back(tmp_path: Path, finished: RunDirectory, say: Say) -> None:
    sheet = tmp_path / "sheet.csv"
    code, out, _ = say(
        "export", finished.run_id, "--sheet", "correctness", "--out", str(sheet), "--n", "8"
    )
    assert code == 0
    assert "8 rows written" in out
    assert f"label import {finished.run_id}" in out
    assert sheet.read_bytes().startswith(b"\xef\xbb\xbf"), "Excel then reads it as UTF-8"
    fill(sheet, "correctness", "4")
    code, out, _ = say(
        "import", finished.run_id, str(sheet), "--sheet", "correctness", "--rater", "R1"
    )
    assert code == 0
    assert "8 rows of 1 rater read: 8 verdicts added" in out
    place = ["--runs-dir", str(finished.path.parent)]
    assert evenhand(["show", finished.run_id, finished.labels()[0].id, *place]) == 0
    code, out, _ = say("show", finished.run_id)
    assert code == 0
    assert "R1" in out, "a verdict of a person has its lineage as well"
    assert "clinical correctness, 1 to 5" in out
    assert "4.00 [" in out


def test_faults_are_listed_by_row_and_counted(
    tmp_path: Path, finished: RunDirectory, say: Say
) -> None:
    sheet = tmp_path / "sheet.csv"
    say("export", finished.run_id, "--sheet", "correctness", "--out", str(sheet), "--n", "3")
    fill(sheet, "correctness", "6")
    words = ["import", finished.run_id, str(sheet), "--sheet", "correctness", "--rater", "R1"]
    code, out, _ = say(*words)
    assert code == 0
    assert "Left out: 3 out of range." in out
    assert "row 2, correctness: 6 lies outside 1 to 5" in out
    code, out, _ = say(*words, "--json")
    told = json.loads(out)
    assert (told["verdicts"], told["faults"]) == (0, {"out_of_range": 3})
    assert told["problems"][0]["row"] == 1


MISTAKES = {
    "unknown sheet": (["export", "--sheet", "pair", "--out", "x.csv"], "expected one of: pairs"),
    "unknown arm": (
        ["export", "--sheet", "pairs", "--out", "x.csv", "--arms", "no_hop,hop"],
        "Unknown way of asking 'hop'",
    ),
    "no folder": (["export", "--sheet", "pairs", "--out", "no/x.csv"], "cannot be written"),
    "no file": (["import", "last", "no.csv", "--sheet", "pairs", "--rater", "R"], "No file"),
    "no rows": (["export", "--sheet", "pairs", "--out", "x.csv", "--n", "0"], "range x>=1"),
    "nobody yet": (["show"], "Nobody has rated"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_sentence(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, say: Say
) -> None:
    monkeypatch.chdir(tmp_path)
    words, expected = MISTAKES[name]
    code, out, err = say(*words)
    assert code == 2
    assert expected in err
    assert err.count("\n") == 1
    assert not out
    assert not list(tmp_path.rglob("*.csv"))


def test_ratings_are_never_written_over(tmp_path: Path, say: Say) -> None:
    sheet = tmp_path / "rated.csv"
    sheet.write_text("mine")
    code, _, err = say("export", "--sheet", "pairs", "--out", str(sheet))
    assert code == 2
    assert "may hold ratings" in err
    assert sheet.read_text() == "mine"
