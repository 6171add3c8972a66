"""Background runs: real child processes, seen and stopped from outside."""

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from evenhand.agents import jobs
from evenhand.graph_store.errors import UserError
from evenhand.graph_store.run_directory import Event, Manifest, RunDirectory

WORKER = """
import sys, time
from pathlib import Path
from evenhand.agents.jobs import claimed
from evenhand.graph_store.run_directory import Event, RunDirectory
run = RunDirectory(Path(sys.argv[1]))
with claimed(run):
    run.append_event(Event(at=time.time(), kind="run"))
    run.append_event(Event(at=time.time(), kind="stage", stage="answer"))
    for done in range(600):
        run.report_progress("target", done, 600)
        time.sleep(0.05)
        if (run.path / "stop").exists():
            run.append_event(Event(at=time.time(), kind="stopped", message="asked to"))
            raise SystemExit(3)
"""


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    manifest = Manifest(run="r", created="2026-11-30T00:00:00+00:00", plan={}, seed=0)
    return RunDirectory.create(tmp_path / "r", manifest)


def _worker(run: RunDirectory, before: str = "") -> list[str]:
    return [sys.executable, "-c", before + WORKER, str(run.path)]


def _wait(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < until, "waited 20 s in vain"
        time.sleep(0.05)


def test_a_job_runs_in_a_session_of_its_own_is_seen_and_stops_on_a_wish(run: RunDirectory) -> None:
    assert jobs.state(run).status == "planned"
    # As the workflow does: between two answers, not by dying of the signal.
    pid = jobs.start(run, _worker(run, "import signal; signal.signal(15, signal.SIG_IGN)\n"))
    assert os.getsid(pid) == pid != os.getsid(0)
    _wait(lambda: jobs.state(run).stages != ())
    assert jobs.state(run).status == "running"
    assert jobs.process_id(run) == pid
    assert jobs.start(run, ["false"]) == pid, "two approvals are one job"
    assert jobs.stop(run)
    _wait(lambda: jobs.process_id(run) is None)
    assert (jobs.state(run).status, jobs.state(run).message) == ("stopped", "asked to")
    assert not jobs.stop(run)


def test_a_killed_job_counts_as_stopped_and_can_be_started_again(run: RunDirectory) -> None:
    pid = jobs.start(run, _worker(run))
    _wait(lambda: jobs.state(run).stages != ())
    os.kill(pid, signal.SIGKILL)
    _wait(lambda: jobs.process_id(run) is None)
    assert jobs.state(run).status == "stopped"
    again = jobs.start(run, _worker(run))
    _wait(lambda: jobs.state(run).status == "running")
    assert again != pid
    jobs.stop(run)
    _wait(lambda: jobs.process_id(run) is None)


def test_only_one_process_claims_a_run(run: RunDirectory) -> None:
    pid = jobs.start(run, _worker(run))
    with pytest.raises(UserError, match=f"process {pid}"), jobs.claimed(run):
        pass
    jobs.stop(run)
    _wait(lambda: jobs.process_id(run) is None)
    with jobs.claimed(run):
        assert jobs.process_id(run) == os.getpid()
    assert jobs.process_id(run) is None


def test_a_job_that_cannot_begin_says_why(run: RunDirectory) -> None:
    jobs.start(run, [sys.executable, "-c", "import sys; sys.exit('Error: no weights')"])
    _wait(lambda: jobs.process_id(run) is None)
    _wait(lambda: jobs.state(run).status == "failed")
    assert jobs.state(run).message == "Error: no weights"


def test_a_reused_process_number_is_not_taken_for_the_job(run: RunDirectory) -> None:
    (run.path / "job.json").write_text(f'{{"pid": {os.getpid()}, "born": "1"}}')
    assert jobs.process_id(run) is None
    (run.path / "job.json").write_text("torn")
    assert jobs.process_id(run) is None


def _events(*events: Event) -> jobs.RunState:
    state = jobs.RunState("planned")
    for event in events:
        state = jobs.step(state, event)
    return state


def test_rate_and_time_left_count_what_this_process_did() -> None:
    state = _events(
        Event(at=0, kind="run"),
        Event(at=0, kind="stage", stage="answer"),
        # Resumed: 40 of 100 lay there.
        Event(at=10, kind="progress", stage="target", done=40, total=100),
        Event(at=70, kind="progress", stage="target", done=60, total=100),
    )
    stage = state.current
    assert stage is not None
    assert (stage.stage, stage.done, stage.total, stage.finished) == ("answer", 60, 100, False)
    assert stage.per_minute == pytest.approx(20)
    assert stage.seconds_left == pytest.approx(120)


def test_the_last_report_of_a_stage_keeps_its_total_and_says_what_it_left() -> None:
    counts = {"ok": 97, "refused": 2, "error": 1}
    state = _events(
        Event(at=0, kind="stage", stage="answer"),
        Event(at=1, kind="progress", stage="target", done=99, total=100),
        Event(at=2, kind="progress", stage="answer", done=1, total=1, counts=counts),
        Event(at=3, kind="stage", stage="judge"),
        Event(at=4, kind="warning", message="graph: down"),
        Event(at=5, kind="note", message="runs on the CPU"),
    )
    answer, judge = state.stages
    assert (answer.done, answer.total, answer.finished) == (100, 100, True)
    assert not judge.finished
    assert (state.count("refused"), state.count("refused", "error")) == (2, 3)
    assert state.warnings == ("graph: down",)
    assert state.notes == ("runs on the CPU",)
    assert jobs.step(state, Event(at=6, kind="run")).notes == state.notes, "kept when it goes on"


@pytest.mark.parametrize(
    ("kind", "status"), [("done", "done"), ("error", "failed"), ("stopped", "stopped")]
)
def test_the_last_word_of_a_run_is_its_status(kind: str, status: str) -> None:
    last = Event.model_validate({"at": 5, "kind": kind, "message": "so"})
    state = _events(Event(at=0, kind="run"), Event(at=1, kind="stage", stage="load"), last)
    assert (state.status, state.message) == (status, "so")
    assert jobs.step(state, Event(at=6, kind="run")).status == "running"


def test_a_follower_reads_only_what_is_new(run: RunDirectory) -> None:
    follower = jobs.Follower(run)
    assert follower.look().status == "planned"
    run.append_event(Event(at=0, kind="stage", stage="load"))
    assert [stage.stage for stage in follower.look().stages] == ["load"]
    run.append_event(Event(at=1, kind="stage", stage="extract"))
    assert [stage.stage for stage in follower.look().stages] == ["load", "extract"]
    assert follower.look() == follower.look()
