"""The counterfactual recipe end to end: what was planted is found, and a kill loses nothing."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from evenhand.graph_store.records import Measurement
from evenhand.graph_store.run_directory import RunDirectory, list_runs
from evenhand.tools.datasets.ktas import ktas
from evenhand.tools.run_visits import read_run_visits
from evenhand.tools.triage.measure import measure_arms
from evenhand.tools.triage.run_pairs import read_arms
from evenhand.tools.triage.verdict import judge
from evenhand.ui.cli import run as command_line

SKEW = "directional_triage_skew"


def audit(folder: Path, dataset: str, *words: str) -> RunDirectory:
    line = ["audit", "--recipe", "counterfactual", "--dataset", dataset, "--target", "mimic"]
    # Three refits, the least: what ten cost is for bench/hospitals.py.
    few = ["--refits", "3"]
    assert command_line([*line, *few, "--yes", "--runs-dir", str(folder), *words]) == 0
    (run,) = list_runs(folder)
    return run


def skews(run: RunDirectory, arm: str) -> dict[str, Measurement]:
    """The skew of an arm by the group that was shown."""
    found = [m for m in run.measurements() if m.metric == SKEW and m.arm == arm]
    return {one.groups[1]: one for one in found}


@pytest.mark.parametrize("dataset", ["demo_visits", "demo_visits_fr"])
def test_the_planted_effect_of_the_text_is_recovered(tmp_path: Path, dataset: str) -> None:
    run = audit(tmp_path, dataset, "--n", "600")
    arms = read_arms(run)
    assert list(arms) == ["full", "text_only", "tabular_only", "placebo", "repeat"]
    for arm in ("full", "text_only"):
        found = skews(run, arm)
        low, high = found["female"].low, found["male"].high
        assert low is not None
        assert high is not None
        assert low > 0 > high, arm
    text, whole = skews(run, "text_only")["female"], skews(run, "full")["female"]
    assert text.n + sum(text.unscored.values()) == whole.n + sum(whole.unscored.values())
    verdict = judge(measure_arms(arms), arms, read_run_visits(run).direction)
    assert verdict.status == "found"
    assert {(f.shown_as, f.words) for f in verdict.findings} == {
        ("female", "less urgent"),
        ("male", "more urgent"),
    }
    kappa = [m for m in run.measurements() if m.metric == "mimic_kappa_w" and m.arm == "full"]
    assert (kappa[0].low or 0) > 0.2
    assert (run.path / "report.html").stat().st_size > 10_000


def test_a_finished_run_shows_where_a_level_came_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = audit(tmp_path, "demo_visits", "--n", "120", "--controls", "none")
    changed = next(v for v in run.variants() if v.arm == "full" and v.changes and v.status == "ok")
    capsys.readouterr()
    assert command_line(["show", "last", changed.id, "--runs-dir", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "decider's mimic: level" in shown
    assert "isolation, by rules: accepted" in shown
    assert not (run.path / "refits").exists()


def test_ktas_has_no_note_that_states_the_sex(shared: Path, tmp_path: Path) -> None:
    data = shared / "data" / "ktas" / "data.csv"
    assert ktas(data).mapping.deciders.keys() == {"nurse", "expert"}
    run = audit(tmp_path, "ktas", "--path", str(data))
    chosen = read_run_visits(run)
    assert [step.left_out for step in chosen.flow if step.left_out] == [13, 21, 19]
    assert (len(chosen.visits.samples), run.manifest.plan["decider"]) == (1214, "nurse")
    for one in skews(run, "text_only").values():
        assert (one.status, one.reason_code) == ("not_estimable", "no_note_states_it")
    assert all(one.status == "ok" for one in skews(run, "full").values())


KILLER = """
import os, signal, sys
from evenhand.{module} import {name} as real
import evenhand.{module} as module

calls = []

def killing(*args, **kwargs):
    calls.append(1)
    if len(calls) == {nth}:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*args, **kwargs)

module.{name} = killing
from evenhand.ui.cli import run
sys.exit(run(sys.argv[1:]))
"""
PLACES = {
    "in the fit": ("training.fitting", "write_card", 1),
    "in a refit": ("training.fitting", "write_card", 3),
    "before the gate": ("agents.counterfactuals", "gate_verdicts", 1),
    "in the answers": ("agents.mimic_target", "write_scores", 2),
    "in the measurements": ("agents.mimic_target", "measure_pairs_of", 1),
}
"""Where the process is killed, at which call."""


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> RunDirectory:
    return audit(tmp_path_factory.mktemp("undisturbed"), "demo_visits", "--n", "90")


@pytest.mark.parametrize("place", PLACES)
def test_kill_9_loses_nothing_and_changes_nothing(
    undisturbed: RunDirectory, tmp_path: Path, place: str
) -> None:
    module, name, nth = PLACES[place]
    line = ["audit", "--recipe", "counterfactual", "--dataset", "demo_visits", "--n", "90"]
    line += ["--refits", "3"]
    words = [*line, "--target", "mimic", "--yes", "--runs-dir", str(tmp_path)]
    script = KILLER.format(module=module, name=name, nth=nth)
    killed = subprocess.run(
        [sys.executable, "-c", script, *words], env=os.environ, capture_output=True, check=False
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()[-2000:]
    (run,) = list_runs(tmp_path)
    assert not run.measurements()
    before = {path: path.read_bytes() for path in run.path.glob("scores/*.parquet")}
    whole = [run.path / "model", *run.path.glob("refits/refit-*")]
    models = {path: path.stat().st_mtime_ns for path in whole if path.is_dir()}

    assert command_line(["resume", run.run_id, "--runs-dir", str(tmp_path)]) == 0
    assert run.run_id == undisturbed.run_id
    assert run.measurements() == undisturbed.measurements()
    assert run.variants() == undisturbed.variants()
    found, wanted = run.scores(), undisturbed.scores()
    assert found.keys == wanted.keys
    assert np.array_equal(found.probabilities, wanted.probabilities)
    # What was there was neither fitted nor asked again.
    assert {path: path.read_bytes() for path in before} == before
    assert {path: path.stat().st_mtime_ns for path in models} == models
    assert not [path for path in run.path.rglob(".*") if path.is_dir()]
