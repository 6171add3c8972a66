"""Background runs: a child process a run, which outlives whoever started it.

The run directory is the only channel. A job writes its process into job.json while it works and its
progress into events.jsonl; anybody may read both, from any process and after a restart. Stopping is
a wish in the run directory, which the job obeys between two answers: resuming goes on at the
first missing id.
"""

import contextlib
import json
import os
import signal
import subprocess
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.run_directory import Event, RunDirectory, read_lines

RunStatus = Literal["planned", "running", "stopped", "failed", "done"]

_JOB_FILE = "job.json"
_LOG_FILE = "job.log"


@dataclass(frozen=True)
class StageProgress:
    """How far one stage has come since the run was last started."""

    stage: str
    done: int = 0
    total: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    """Items by status, as the stage reports them: refused, error, unparsable ..."""
    first_done: int = 0
    first_at: float = 0.0
    last_at: float = 0.0
    finished: bool = False
    note: str = ""
    """What the stage says of the item it is at: a fit's step, loss, rate and time left."""

    @property
    def per_minute(self) -> float | None:
        """Items a minute since the first report; None before there are two reports."""
        seconds, items = self.last_at - self.first_at, self.done - self.first_done
        return items / seconds * 60 if seconds > 0 and items > 0 else None

    @property
    def seconds_left(self) -> float | None:
        """Time to the end of this stage at its own rate; None where no rate is known."""
        rate = self.per_minute
        return (self.total - self.done) / rate * 60 if rate else None


@dataclass(frozen=True)
class RunState:
    """Where a run stands, read from its directory."""

    status: RunStatus
    stages: tuple[StageProgress, ...] = ()
    message: str | None = None
    """What the last error or stop said."""
    notes: tuple[str, ...] = ()
    """What is good to know of how it is done: the device, the method."""
    warnings: tuple[str, ...] = ()

    @property
    def current(self) -> StageProgress | None:
        """The stage that reported last; None before the first report."""
        return self.stages[-1] if self.stages else None

    def count(self, *names: str) -> int:
        """Items of these statuses over all stages."""
        return sum(stage.counts.get(name, 0) for stage in self.stages for name in names)


def start(run: RunDirectory, command: Sequence[str]) -> int:
    """Start a child process in a session of its own and return its process id.

    Args:
        run: The run to work on; its folder exists.
        command: The command line that resumes the run.

    Output goes to job.log in the run directory. A run that is already worked on is left to its
    process, so that two people who approve one plan get one job.
    """
    running = process_id(run)
    if running is not None:
        return running
    with (run.path / _LOG_FILE).open("ab") as log:
        process = subprocess.Popen(  # noqa: S603 (our own command line, no shell)
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    _write_job(run, process.pid)
    # Reaped when it ends; else its number would look alive until we end ourselves.
    threading.Thread(target=process.wait, name=f"job {run.run_id}", daemon=True).start()
    return process.pid


@contextlib.contextmanager
def claimed(run: RunDirectory) -> Iterator[None]:
    """Say in the run directory that this process works on the run, for as long as it does.

    Raises:
        UserError: Another process works on it.
    """
    other = process_id(run)
    if other not in (None, os.getpid()):
        raise UserError(
            f"Run {run.run_id} is being worked on by process {other}; "
            "wait for it to end, or stop it, then try again."
        )
    _write_job(run, os.getpid())
    try:
        yield
    finally:
        (run.path / _JOB_FILE).unlink(missing_ok=True)


def stop(run: RunDirectory) -> bool:
    """Ask the job to stop and to keep what it has; False where nothing works on the run.

    The wish is a file in the run directory, which the workflow obeys between two answers; the
    signal reaches a job that has not come so far yet.
    """
    running = process_id(run)
    if running is None:
        return False
    wish_to_stop(run)
    with contextlib.suppress(ProcessLookupError):
        os.kill(running, signal.SIGTERM)
    return True


def wish_to_stop(run: RunDirectory) -> None:
    """Leave the wish to stop in the run directory, where the workflow sees it."""
    (run.path / "stop").touch()


def process_id(run: RunDirectory) -> int | None:
    """Return the process that works on the run; None if there is none, or it was killed."""
    try:
        job = json.loads((run.path / _JOB_FILE).read_text("utf-8"))
        pid, born = int(job["pid"]), job["born"]
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None
    alive, born_now = _process(pid)
    return pid if alive and born == born_now else None


def last_words(run: RunDirectory, lines: int = 3) -> str:
    """Return the last lines that the job printed: why it failed, if it could not say so itself."""
    try:
        text = (run.path / _LOG_FILE).read_text("utf-8", errors="replace")
    except FileNotFoundError:
        return ""
    return "\n".join(text.strip().splitlines()[-lines:])


def state(run: RunDirectory) -> RunState:
    """Read where a run stands: its events folded, and whether a process works on it."""
    return Follower(run).look()


class Follower:
    """Follows events.jsonl: each look reads only what was added since the last one.

    Args:
        run: The run to follow; nothing is read before the first look.
    """

    def __init__(self, run: RunDirectory) -> None:
        """Start before the first event."""
        self._run = run
        self._offset = 0
        self._folded = RunState("planned")

    def look(self) -> RunState:
        """Return where the run stands now."""
        path = self._run.path / "events.jsonl"
        for line in read_lines(path, self._offset):
            self._offset += len(line.encode())
            self._folded = step(self._folded, Event.model_validate_json(line))
        if process_id(self._run) is not None:
            return replace(self._folded, status="running")
        if self._folded.status == "running":
            # Its process has gone without a word: killed, or the machine went down.
            return replace(self._folded, status="stopped")
        if self._folded.status == "planned" and (words := last_words(self._run, 1)):
            return replace(self._folded, status="failed", message=words)
        return self._folded


def step(before: RunState, event: Event) -> RunState:
    """Return the state after one more event; the status is what the last of them says."""
    if event.kind == "run":
        return RunState("running", notes=before.notes, warnings=before.warnings)
    if event.kind == "stage" and event.stage:
        fresh = StageProgress(event.stage, first_at=event.at, last_at=event.at)
        return replace(before, status="running", stages=(*_finished(before.stages), fresh))
    if event.kind == "progress" and event.stage:
        # Inside a stage a role reports under its own name: it is the stage that advances.
        current = before.stages[-1] if before.stages else StageProgress(event.stage)
        stages = (*before.stages[:-1], _advance(current, event))
        return replace(before, status="running", stages=stages)
    if event.kind == "note" and event.message:
        return replace(before, notes=(*before.notes, event.message))
    if event.kind == "warning" and event.message:
        return replace(before, warnings=(*before.warnings, event.message))
    if event.kind == "error":
        return replace(before, status="failed", message=event.message)
    if event.kind == "stopped":
        return replace(before, status="stopped", message=event.message)
    if event.kind == "done" and event.stage is None:
        stages = _finished(before.stages)
        return replace(before, status="done", message=event.message, stages=stages)
    return before


def _finished(stages: Iterable[StageProgress]) -> tuple[StageProgress, ...]:
    return tuple(replace(stage, finished=True) for stage in stages)


def _advance(before: StageProgress, event: Event) -> StageProgress:
    done, total = event.done or 0, event.total or 0
    if total <= 1 < before.total:
        # The last report of a stage says that it is done, and what it left.
        done = total = before.total
    # What lay there before the first report, or before another role began, is no speed of now.
    fresh = before.total == 0 or done < before.done
    return replace(
        before,
        done=done,
        total=total,
        counts=event.counts or before.counts,
        first_done=done if fresh else before.first_done,
        first_at=event.at if fresh else before.first_at,
        last_at=event.at,
        note=event.message or "",
        finished=event.stage == before.stage and done >= total,
    )


def _write_job(run: RunDirectory, pid: int) -> None:
    _, born = _process(pid)
    run.write_text(_JOB_FILE, json.dumps({"pid": pid, "born": born}) + "\n")


def _process(pid: int) -> tuple[bool, str | None]:
    """Whether a process is alive, and when it was born, so that a reused number is noticed.

    The time is None where the system has no /proc; a reused number then passes for the old one.
    """
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False, None
    except PermissionError:
        pass
    stat = Path(f"/proc/{pid}/stat")
    if not stat.exists():
        return True, None
    try:
        # The name, in brackets, may hold blanks: what follows it is split.
        fields = stat.read_text("utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return False, None
    return fields[0] != "Z", fields[19]
