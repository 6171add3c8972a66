"""Paper 1's Tables 6 and 8 from its published scores, to the printed digit."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenhand.tools.metrics import Scores, metrics
from evenhand.tools.statistics.divergence import paired_divergence

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
