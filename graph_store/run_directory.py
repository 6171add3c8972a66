"""The run directory: a JSONL file a stage, a manifest, an event log and a lock.

Lines are appended whole and flushed; nothing is edited. A process that is killed in the middle of
a line leaves a torn last line: it is cut off before the next append and skipped by readers. What is
to be done is always "ids that should be, less ids in the file".
"""

import json
import logging
import os
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import PydanticSerializationError

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import (
    Answer,
    Judgement,
    Measurement,
    Record,
    Sample,
    Triple,
    Variant,
)
from evenhand.graph_store.redact import redact
from evenhand.graph_store.schema import GATE_RUBRIC

if TYPE_CHECKING:
    from evenhand.graph_store.scores import Scores

log = logging.getLogger(__name__)

R = TypeVar("R", bound=Record)
_APPENDING = threading.Lock()

StageName = Literal[
    "samples", "triples", "variants", "gate", "answers", "judgements", "labels", "measurements"
]
STAGE_RECORDS: dict[StageName, type[Record]] = {
    "samples": Sample,
    "triples": Triple,
    "variants": Variant,
    "gate": Judgement,
    "answers": Answer,
    "judgements": Judgement,
    "labels": Judgement,
    "measurements": Measurement,
}


class Manifest(BaseModel):
    """What a run is: enough to repeat it, and to see whether anything differs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    run: str
    created: str
    """ISO 8601, UTC."""
    plan: dict[str, Any]
    """The Plan, as JSON; agents/plan.py reads it back."""
    prompt_hashes: dict[str, str] = Field(default_factory=dict)
    versions: dict[str, str] = Field(default_factory=dict)
    models: dict[str, dict[str, str]] = Field(default_factory=dict)
    """By role: what really answered (file, SHA-256, address without secrets)."""
    seed: int
    dataset_hash: str | None = None


class Event(BaseModel):
    """A line of events.jsonl: what a stage has done so far."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    at: float
    """Seconds since the epoch."""
    kind: Literal["run", "stage", "progress", "note", "warning", "error", "done", "stopped"]
    stage: str | None = None
    done: int | None = None
    total: int | None = None
    message: str | None = None
    counts: dict[str, int] = Field(default_factory=dict)


class Call(BaseModel):
    """A line of calls.jsonl: one call of a model, whole, also when it failed or was unreadable."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    """The record that the call was made for."""
    role: str
    model: str
    messages: tuple[tuple[str, str], ...]
    """(role, text) pairs as sent."""
    reply: str
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float | None = None
    cost_usd: float | None = None
    cached: bool = False
    error: str | None = None


class RunDirectory:
    """One run on disk. Readers need nothing; a writer holds `lock()`.

    Args:
        path: The run's folder; its name is the run id.
    """

    def __init__(self, path: Path) -> None:
        """Point at a folder; nothing is read or made yet."""
        self.path = path

    @property
    def run_id(self) -> str:
        """Name of the folder."""
        return self.path.name

    @classmethod
    def create(cls, path: Path, manifest: Manifest) -> Self:
        """Make the folder with its manifest, whole or not at all.

        A folder that is there already with the same plan is taken as it is (its run goes on).
        """
        path.mkdir(parents=True, exist_ok=True)
        run = cls(path)
        if not (path / "manifest.json").exists():
            run.write_manifest(manifest)
        return run

    @classmethod
    def open(cls, path: Path) -> Self:
        """Point at a run that exists.

        Raises:
            UserError: No manifest there; the message names the runs beside it.
        """
        if not (path / "manifest.json").is_file():
            there = ", ".join(run.run_id for run in list_runs(path.parent)) or "(none)"
            raise UserError(
                f"No run {path.name!r} in {path.parent}; runs there: {there}. "
                "List them with `evenhand runs`, or name another folder with --runs-dir."
            )
        return cls(path)

    @property
    def manifest(self) -> Manifest:
        """The manifest, read anew.

        Raises:
            UserError: It is damaged.
        """
        path = self.path / "manifest.json"
        try:
            return Manifest.model_validate_json(path.read_bytes())
        except ValidationError as error:
            raise UserError(
                f"{path} is damaged ({error.errors()[0]['msg']}). Restore it from a copy, or "
                "delete the folder and run its plan again."
            ) from None

    def write_manifest(self, manifest: Manifest) -> None:
        """Replace the manifest in one step."""
        self.write_text("manifest.json", manifest.model_dump_json(indent=2) + "\n")

    def write_text(self, name: str, text: str) -> Path:
        """Write a file of the run in one step (temporary name, fsync, rename), redacted."""
        target = self.path / name
        temporary = target.with_name(f".{target.name}.{os.getpid()}")
        with temporary.open("w", encoding="utf-8", newline="\n") as file:
            file.write(redact(text))
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
        return target

    def lock(self) -> "RunLock":
        """Return the writer's lock, to be used in a `with`."""
        return RunLock(self)

    def stage_path(self, stage: StageName) -> Path:
        """Return the path of a stage file."""
        return self.path / f"{stage}.jsonl"

    def append(self, stage: StageName, records: Iterable[Record]) -> int:
        """Append records as whole lines and flush; return how many."""
        lines = [_line(record) for record in records]
        self._append_lines(self.stage_path(stage), lines)
        return len(lines)

    def append_call(self, call: Call) -> None:
        """Append to calls.jsonl."""
        self._append_lines(self.path / "calls.jsonl", [_line(call)])

    def append_event(self, event: Event) -> None:
        """Append to events.jsonl."""
        self._append_lines(self.path / "events.jsonl", [_line(event, exclude_none=True)])

    def report_progress(self, stage: str, done: int, total: int, **counts: int) -> None:
        """Append a progress event."""
        self.append_event(
            Event(
                at=time.time(), kind="progress", stage=stage, done=done, total=total, counts=counts
            )
        )

    def _append_lines(self, path: Path, lines: list[str]) -> None:
        if not lines:
            return
        text = redact("".join(line + "\n" for line in lines))
        # Threads take turns: half of one's lines would look torn to another, and be cut off.
        with _APPENDING, path.open("ab+") as file:
            _cut_torn_line(file.fileno())
            file.write(text.encode())
            file.flush()

    def samples(self) -> list[Sample]:
        """Read samples.jsonl."""
        return list(self._read("samples", Sample))

    def triples(self) -> list[Triple]:
        """Read triples.jsonl."""
        return list(self._read("triples", Triple))

    def variants(self) -> list[Variant]:
        """Read variants.jsonl."""
        return list(self._read("variants", Variant))

    def gate(self) -> list[Judgement]:
        """Read the gate's decisions from gate.jsonl, one a variant."""
        return [one for one in self._read("gate", Judgement) if one.rubric == GATE_RUBRIC]

    def gate_evidence(self) -> list[Judgement]:
        """Read from gate.jsonl what decisions rest on: similarities, verdicts of a judge."""
        return [one for one in self._read("gate", Judgement) if one.rubric != GATE_RUBRIC]

    def answers(self) -> list[Answer]:
        """Read answers.jsonl."""
        return list(self._read("answers", Answer))

    def judgements(self) -> list[Judgement]:
        """Read judgements.jsonl."""
        return list(self._read("judgements", Judgement))

    def labels(self) -> list[Judgement]:
        """Read labels.jsonl: the verdicts of people; `judge` is the rater."""
        return list(self._read("labels", Judgement))

    def measurements(self) -> list[Measurement]:
        """Read measurements.jsonl."""
        return list(self._read("measurements", Measurement))

    def scores(self) -> "Scores":
        """Read scores/part-*.parquet: what a target that is asked in bulk said."""
        from evenhand.graph_store.scores import read_scores

        return read_scores(self.path)

    def calls(self) -> list[Call]:
        """Read calls.jsonl."""
        return [Call.model_validate_json(line) for line in read_lines(self.path / "calls.jsonl")]

    def events(self, skip_bytes: int = 0) -> Iterator[Event]:
        """Read events.jsonl from a byte offset on."""
        for line in read_lines(self.path / "events.jsonl", skip_bytes):
            yield Event.model_validate_json(line)

    def ids(self, stage: StageName) -> set[str]:
        """Return the ids that a stage file holds; cheaper than reading the records."""
        path = self.stage_path(stage)
        found = set()
        for number, line in enumerate(read_lines(path), start=1):
            try:
                found.add(json.loads(line)["id"])
            except (ValueError, KeyError, TypeError) as error:
                raise UserError(_damaged(path, number, f"no record with an id ({error})")) from None
        return found

    def records(self, stage: StageName) -> list[Record]:
        """Read any stage file."""
        return list(self._read(stage, STAGE_RECORDS[stage]))

    def _read(self, stage: StageName, kind: type[R]) -> Iterator[R]:
        path = self.stage_path(stage)
        seen: set[str] = set()
        for number, line in enumerate(read_lines(path), start=1):
            try:
                record = kind.model_validate_json(line)
            except ValidationError as error:
                first = error.errors()[0]
                raise UserError(
                    _damaged(
                        path,
                        number,
                        f"no {kind.__name__}: {first['msg']} at "
                        f"{'.'.join(map(str, first['loc'])) or 'the line'}",
                    )
                ) from None
            if record.id not in seen:
                seen.add(record.id)
                yield record


class RunLock:
    """Only one process writes a run at a time; the lock ends with its process."""

    def __init__(self, run: RunDirectory) -> None:
        """Prepare the lock; `with` takes it."""
        self._run = run
        self._lock = FileLock(run.path / ".lock")

    def __enter__(self) -> RunDirectory:
        """Take the lock.

        Raises:
            UserError: Another process holds it.
        """
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise UserError(
                f"Run {self._run.run_id} is being written by another process; "
                "wait for it to end, or stop it, then try again."
            ) from None
        return self._run

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give the lock back."""
        self._lock.release()


def read_lines(path: Path, skip_bytes: int = 0) -> Iterator[str]:
    """Yield the whole lines of a file that may not exist; a torn last line is left out."""
    if not path.exists():
        return
    with path.open("rb") as file:
        file.seek(skip_bytes)
        for number, line in enumerate(file, start=1):
            if line.endswith(b"\n") and line.strip():
                try:
                    yield line.decode("utf-8")
                except UnicodeDecodeError as error:
                    raise UserError(_damaged(path, number, f"no text ({error})")) from None


def list_runs(folder: Path) -> list[RunDirectory]:
    """Return the runs in a folder, oldest first; one with a damaged manifest is a warning."""
    created: list[tuple[str, RunDirectory]] = []
    for path in sorted(folder.glob("*/manifest.json")):
        run = RunDirectory(path.parent)
        try:
            created.append((run.manifest.created, run))
        except UserError as error:
            log.warning("%s", error)
    return [run for _, run in sorted(created, key=lambda pair: pair[0])]


def _damaged(path: Path, number: int, what: str) -> str:
    return (
        f"{path}: line {number} is {what}. Restore the file from a copy, or delete the line to "
        "have its work done again with `evenhand resume`."
    )


def _line(model: BaseModel, *, exclude_none: bool = False) -> str:
    try:
        return model.model_dump_json(exclude_none=exclude_none)
    except PydanticSerializationError:
        # Half a surrogate pair, as in a reply cut inside an emoji: UTF-8 has no such thing.
        text = json.dumps(model.model_dump(exclude_none=exclude_none), ensure_ascii=False)
        return text.encode("utf-8", "replace").decode("utf-8")


def _cut_torn_line(descriptor: int) -> None:
    """Cut a file back to its last line end; the next append then starts a line of its own."""
    end = os.lseek(descriptor, 0, os.SEEK_END)
    if end == 0 or os.pread(descriptor, 1, end - 1) == b"\n":
        return
    block = 1 << 16
    position = end
    while position > 0:
        start = max(0, position - block)
        found = os.pread(descriptor, position - start, start).rfind(b"\n")
        if found >= 0:
            os.ftruncate(descriptor, start + found + 1)
            return
        position = start
    os.ftruncate(descriptor, 0)
