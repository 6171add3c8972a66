"""Paper 1's Tables 6 and 8 from its published scores, to the printed digit."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenhand.tools import wording
from evenhand.tools.metrics import Scores, metrics
from evenhand.tools.statistics.divergence import paired_divergence
from evenhand.ui.cli import run

TABLES: dict[str, Any] = json.loads(Path(__file__).with_name("kg_tables.json").read_text("utf-8"))
ROWS: list[dict[str, Any]] = TABLES["rows"]
NAMES = [f"{row['dataset']}, {row['target']} judged by {row['judge']}" for row in ROWS]


def published_scores(shared: Path, file: str) -> Scores:
    """Scores of 20 questions, shape (dimensions, 20)."""
    path = shared / "data" / "llm_kg_bias" / "Results_Bias_Scores" / file
    with path.open(encoding="utf-8", errors="replace", newline="") as lines:
        rows = list(csv.DictReader(lines))
    return np.array([[float(row[name]) for row in rows] for name in TABLES["dimensions"]])


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_means_of_table_6(row: dict[str, Any], shared: Path) -> None:
    for arm, expected in row["mean"].items():
        means = metrics.get("attribute_association").compute(
            published_scores(shared, row["files"][arm])
        )
        assert means == pytest.approx(expected, abs=TABLES["tolerance"]), arm


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_divergences_of_table_8(row: dict[str, Any], shared: Path) -> None:
    for pair, expected in row["divergence"].items():
        first, second = (published_scores(shared, row["files"][a]) for a in pair.split("_vs_"))
        made = [
            paired_divergence(one, other, as_published=True).value
            for one, other in zip(first, second, strict=True)
        ]
        assert made == pytest.approx(expected, abs=TABLES["tolerance"]), pair


def measure_words(row: dict[str, Any], shared: Path) -> list[str]:
    folder = shared / "data" / "llm_kg_bias" / "Results_Bias_Scores"
    files = [f"{arm}={folder / file}" for arm, file in row["files"].items()]
    return ["measure", *files, "--recipe", "kg"]


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_the_verb_measures_the_published_files(
    row: dict[str, Any], shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*measure_words(row, shared), "--as-published", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    values = {
        (m["metric"], m["control_arm"], m["arm"], m["groups"][0]): m for m in found["measurements"]
    }
    for arm, expected in row["mean"].items():
        some = [values["attribute_association", None, arm, name] for name in TABLES["dimensions"]]
        assert [m["value"] for m in some] == pytest.approx(expected, abs=TABLES["tolerance"])
        assert all(m["low"] < m["value"] < m["high"] and m["n"] == 20 for m in some)
    for pair, expected in row["divergence"].items():
        first, second = pair.split("_vs_")
        made = [values["js_divergence", first, second, name] for name in TABLES["dimensions"]]
        assert [m["value"] for m in made] == pytest.approx(expected, abs=TABLES["tolerance"])
        assert all(m["floor"] < m["floor_high"] for m in made)


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_the_verb_prints_the_papers_digits(
    row: dict[str, Any], shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*measure_words(row, shared), "--as-published"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for arm, expected in row["mean"].items():
        line = next(line for line in lines if line.startswith(wording.short_arm(arm)))
        # To the digit, differences in brackets left out.
        printed = [float(word) for word in line.split() if word[0].isdigit()]
        assert printed == expected


def test_the_published_original_questions_are_other_patients_than_the_changed_ones(
    shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """So that only no_hop and multi_hop can be paired; our intervals must not pretend more."""
    assert run([*measure_words(ROWS[0], shared), "--json"]) == 0
    pairs = json.loads(capsys.readouterr().out)["pairs"]
    assert {(p["arm"], p["reference"]): p["paired_by"] for p in pairs} == {
        ("no_hop", "original"): None,
        ("multi_hop", "original"): None,
        ("multi_hop", "no_hop"): "row",
    }
