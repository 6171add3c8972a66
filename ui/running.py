"""Works on a run in this process, shows its progress, and leaves it whole when it is stopped."""

import asyncio
import contextlib
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from evenhand.agents.jobs import Follower, RunState, StageProgress, claimed, wish_to_stop
from evenhand.graph_store.errors import RunStopped
from evenhand.graph_store.run_directory import RunDirectory
from evenhand.ui.console import messages
from evenhand.ui.words import STAGE_WORDS, attempts

_LOOK_EVERY_SECONDS = 0.25


def work_on(run: RunDirectory, workspace: Path, *, show: bool = True) -> None:
    """Run or resume a run to its end, in this process.

    Raises:
        RunStopped: A cap was reached, or somebody asked for it; the message says how to go on.
        KeyboardInterrupt: Ctrl-C; the message says how to go on.
        UserError: What the plan names is not there, or another process works on the run.
    """
    again = resume_command(run, workspace)
    stopping = threading.Event()
    with claimed(run), _stop_on_sigterm(stopping), _followed(run, stopping, show):
        try:
            from evenhand.agents.workflow import run_workflow

            asyncio.run(run_workflow(run, workspace=workspace))
        except RunStopped as stopped:
            reason = str(stopped).split(";")[0].rstrip(".")
            raise RunStopped(f"{reason}. Go on with `{again}`.") from None
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"stopped; {again}") from None


def resume_command(run: RunDirectory, workspace: Path) -> str:
    """Return the command that goes on with a run, as a person would type it."""
    place = "" if workspace == Path("evenhand-runs") else f" --runs-dir {workspace}"
    return f"evenhand resume {run.run_id}{place}"


def job_command(run: RunDirectory, workspace: Path) -> list[str]:
    """Return the command line of a background job that works on a run."""
    here = str(workspace.resolve())
    return [sys.executable, "-m", "evenhand.ui.cli", "resume", run.run_id, "--runs-dir", here]


@contextlib.contextmanager
def _stop_on_sigterm(stopping: threading.Event) -> Iterator[None]:
    """Turn SIGTERM into the wish to stop; elsewhere than in the main thread it stays as it is."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def _followed(run: RunDirectory, stopping: threading.Event, show: bool) -> Iterator[None]:
    """Show the events of a run from a thread: a stage that computes must not hold it still."""
    ended = threading.Event()
    display = _display(show)

    def follow() -> None:
        follower = Follower(run)
        while not ended.wait(_LOOK_EVERY_SECONDS):
            display.update(follower.look())
            if stopping.is_set():
                # Again and again: the workflow clears an old wish when it starts.
                wish_to_stop(run)
        display.update(follower.look())

    thread = threading.Thread(target=follow, name="follow", daemon=True)
    with display:
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()


class _Display(Protocol):
    def __enter__(self) -> object: ...
    def __exit__(self, *error: object) -> None: ...
    def update(self, state: RunState) -> None: ...


def _display(show: bool) -> _Display:
    if not show:
        return _Silence()
    return _Bars() if messages().is_terminal else _Lines()


class _Silence:
    def __enter__(self) -> object:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def update(self, state: RunState) -> None:
        """Show nothing."""


class _Lines(_Silence):
    """A line a finished stage, for logs and pipes."""

    def __init__(self) -> None:
        self._said: set[str] = set()
        self._console = messages()
        self._began = time.time()

    def update(self, state: RunState) -> None:
        """Print the stages that have finished since the last look."""
        for note in state.notes:
            self._say(note, note)
        for warning in state.warnings:
            self._say(warning, f"warning: {warning}")
        for stage in state.stages:
            if stage.finished and stage.first_at >= self._began:
                self._say(
                    stage.stage, f"{STAGE_WORDS.get(stage.stage, stage.stage)}: {attempts(stage)}"
                )

    def _say(self, key: str, line: str) -> None:
        if key not in self._said:
            self._said.add(key)
            self._console.print(line, soft_wrap=True)


class _Bars:
    """A bar a stage, with its count, rate and what was refused or failed."""

    def __init__(self) -> None:
        self._console = messages()
        self._progress = Progress(
            TextColumn("{task.description:<22}"),
            BarColumn(bar_width=28),
            TextColumn("{task.fields[words]}"),
            TimeElapsedColumn(),
            console=self._console,
        )
        self._tasks: dict[str, TaskID] = {}
        self._told: set[str] = set()

    def __enter__(self) -> object:
        return self._progress.__enter__()

    def __exit__(self, *error: object) -> None:
        self._progress.stop()

    def update(self, state: RunState) -> None:
        """Bring the bars up to date."""
        told = (*state.notes, *(f"warning: {warning}" for warning in state.warnings))
        for line in told:
            if line not in self._told:
                self._console.print(line)
                self._told.add(line)
        for stage in state.stages:
            self._show(stage)

    def _show(self, stage: StageProgress) -> None:
        if stage.stage not in self._tasks:
            name = STAGE_WORDS.get(stage.stage, stage.stage)
            self._tasks[stage.stage] = self._progress.add_task(name, words="", total=None)
        total = stage.total or (1 if stage.finished else None)
        self._progress.update(
            self._tasks[stage.stage],
            total=total,
            completed=total if stage.finished else stage.done,
            words=attempts(stage),
        )
