"""Table 3 of paper 1 (knowledge-graph red teaming): people's choices, from a CSV through the CLI.

The printed share and the one-sided p of each scenario come out of a rating sheet that many people
filled in.
"""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evenhand.graph_store.run_directory import RunDirectory
from evenhand.tools.rating_sheets import SheetSource, draw_items
from evenhand.tools.statistics.agreement import share_at_least
from evenhand.ui.cli import run as evenhand

MakeRun = Callable[..., RunDirectory]
FILE = Path(__file__).with_name("human_binomial.json")
CASES: list[dict[str, Any]] = json.loads(FILE.read_text("utf-8"))["cases"]
PRINTED_SHARES = (84.6, 75.0, 90.9, 92.9)
ROUNDING = 0.00005
"""Half of the last printed digit."""


def test_they_are_the_shared_ones(shared: Path) -> None:
    assert json.loads((shared / "golden" / "human_binomial.json").read_text())["cases"] == CASES


@pytest.mark.parametrize(("case", "percent"), [*zip(CASES, PRINTED_SHARES, strict=True)])
def test_share_and_p_as_printed(case: dict[str, Any], percent: float) -> None:
    made = share_at_least(case["chose"], case["of"])
    assert made.value is not None
    assert made.p == pytest.approx(case["p"], abs=ROUNDING)
    assert round(100 * made.value, 1) == percent


def filled_in(run: RunDirectory) -> str:
    """Return a survey's CSV: 16 people, those that chose nothing left the cell empty."""
    items = draw_items(SheetSource(run), "pairs", n=len(CASES), seed=0)
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, ("id", "rater", "choice", "attributes"))
    writer.writeheader()
    for item, case in zip(items, CASES, strict=True):
        ours = "first" if item.answers[0].arm == "multi_hop" else "second"
        theirs = "second" if ours == "first" else "first"
        for rater in range(16):
            chose = ours if rater < case["chose"] else theirs
            writer.writerow(
                {
                    "id": item.id,
                    "rater": f"P{rater}",
                    "choice": chose if rater < case["of"] else "",
                    "attributes": "location" if rater < 7 else "none" if rater < 15 else "",
                }
            )
    return text.getvalue()


def test_the_same_from_a_csv_through_the_command_line(
    make_run: MakeRun, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = make_run(n=8)
    sheet = tmp_path / "survey.csv"
    sheet.write_text(filled_in(run), encoding="utf-8")
    place = ["--runs-dir", str(run.path.parent)]
    words = ["label", "import", run.run_id, str(sheet), "--sheet", "pairs", *place]
    assert evenhand(words) == 0
    told = capsys.readouterr().out
    assert "64 rows of 16 raters read" in told
    assert "missing" in told
    assert evenhand(["label", "show", run.run_id, "--json", *place]) == 0
    numbers = json.loads(capsys.readouterr().out)
    by_case = [m for m in numbers if m["metric"] == "people_choice" and m["groups"] != ["all"]]
    assert [m["counts"] for m in by_case] == [
        {"chose": case["chose"], "choices": case["of"], "raters": 16} for case in CASES
    ]
    for made, case in zip(by_case, CASES, strict=True):
        assert made["arm"] == "multi_hop"
        assert made["p"] == pytest.approx(case["p"], abs=ROUNDING)
        assert made["unscored"] == {"empty_cell": 16 - case["of"]}
        assert made["low"] < made["value"] < made["high"]
    named = [m for m in numbers if m["metric"] == "people_detection" and len(m["groups"]) == 2]
    location = [m for m in named if m["groups"][0] == "location"]
    assert [round(100 * m["value"], 2) for m in location] == [46.67] * len(CASES)
