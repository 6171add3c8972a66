"""Mimics of real decisions, and the verb that makes them."""

import json
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenhand.tools.datasets import load_visits
from evenhand.tools.finetune import fit_plan, open_lent
from evenhand.tools.vector_index import MODEL_PACKAGE
from evenhand.training.fitting import fit_mimic, refits
from evenhand.training.levels import likeliest_levels
from evenhand.ui.cli import run

Need = Callable[[str, bool], None]


@pytest.fixture
def ktas(shared: Path) -> str:
    return str(shared / "data" / "ktas" / "data.csv")


def _finetune(out: Path, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert run(["finetune", "--out", str(out), "--json", *words]) == 0
    card: dict[str, Any] = json.loads(capsys.readouterr().out)
    return card


def test_a_forest_decides_as_the_nurses_of_ktas_did(
    ktas: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--dataset", "ktas", "--path", ktas)
    card = _finetune(tmp_path / "nurse", capsys, *words)
    full = card["quality"]["full"]
    assert card["n_train"] + full["n"] == 1214
    assert card["source"] == {
        "direction": "higher_is_less_urgent",
        "dataset": "ktas",
        "decider": "KTAS_RN",
    }
    assert full["kappa_w"] > 0.4
    assert full["recall"] > full["majority_share"] + 0.15
    assert full["ece"] < 0.15
    assert card["quality"]["tabular_only"]["kappa_w"] < full["kappa_w"]
    again = _finetune(tmp_path / "nurse", capsys, *words)
    assert again.pop("resumed")
    assert not card.pop("resumed")
    assert again == card
    expert = _finetune(tmp_path / "expert", capsys, *words, "--decider", "expert")
    assert expert["source"]["decider"] == "expert"
    assert expert["data_hash"] != card["data_hash"]


def test_the_card_is_shown_with_n_and_interval(
    ktas: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--dataset", "ktas", "--path", ktas, "--balanced", "--arm", "text_only"]
    assert run(["finetune", "--out", str(tmp_path / "model"), *words]) == 0
    shown = capsys.readouterr().out
    for part in ("kappa_w", " to ", "607", "A visit counted", "text_only", "decided \\ mimic"):
        assert part in shown
    assert "tabular_only" not in shown


def test_a_table_with_its_mapping(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], visit_file: Callable[..., Path]
) -> None:
    path = visit_file("table")
    words = ["--path", str(path), "--map", str(path.with_suffix(".toml"))]
    assert run(["finetune", "--out", str(tmp_path / "model"), *words]) == 2
    assert "a mimic needs at least 30" in capsys.readouterr().err
    assert run(["finetune", "--out", str(tmp_path / "model"), "--dataset", "ktas", *words]) == 2
    assert "--map goes with --path FILE alone" in capsys.readouterr().err
    assert not (tmp_path / "model").exists()


def test_refits_move_some_decisions_without_any_change(ktas: str, tmp_path: Path) -> None:
    visits, _ = load_visits("ktas", ktas, None, 0)
    plan = fit_plan(visits, mimic="random_forest", seed=0)
    fitted = fit_mimic(plan, tmp_path / "model")
    assert plan.audit is not None
    first = likeliest_levels(fitted.mimic.predict_probabilities(plan.audit.rows))
    for again in refits(fitted, plan, tmp_path / "repeat"):
        second = likeliest_levels(again.mimic.predict_probabilities(plan.audit.rows))
        assert 0.02 < np.mean(first != second) < 0.5


def test_a_network_on_real_sentence_vectors(tmp_path: Path, need: Need) -> None:
    need("the sentence encoder", find_spec(MODEL_PACKAGE) is not None)
    visits, _ = load_visits("demo_visits", None, 400, 0)
    plan = fit_plan(visits, mimic="embedding_mlp", seed=0)
    card = fit_mimic(plan, tmp_path / "m", open_lent("embedding_mlp", cache=tmp_path / "v")).card
    assert card.lent == {"embedder": "all-MiniLM-L6-v2"}
    assert (card.quality["full"].kappa_w or 0) > 0.3
    began = time.perf_counter()
    lent = open_lent("embedding_mlp", cache=tmp_path / "v")
    assert fit_mimic(plan, tmp_path / "m", lent).resumed
    assert time.perf_counter() - began < 20


def test_nhamcs_is_fitted_within_minutes(shared: Path, tmp_path: Path) -> None:
    path = shared / "data" / "nhamcs_ed2015" / "nhamcs_ed2015_triage.csv"
    visits, _ = load_visits("nhamcs", str(path), None, 0)
    card = fit_mimic(fit_plan(visits, mimic="random_forest", seed=0), tmp_path / "model").card
    assert card.n_train > 5_000
    assert card.seconds < 240
    assert (card.quality["full"].kappa_w or 0) > 0.3
