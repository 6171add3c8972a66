"""Recorded answers, given again: tests without a model, and audits of answers already paid for.

A recording is a JSONL file. A line is an object with

- `reply`: the text of the answer;
- what it answers, one or more of `messages` (list of [role, text] pairs), `prompt_hash` (as
  `messages_hash` makes it) and `id` (of the record that was asked for);
- optionally `finish_reason`, `prompt_tokens`, `completion_tokens`, `error`.

Other keys are ignored, so the calls.jsonl of a run is a recording as it stands.

A CSV file (also .csv.gz) of recorded answers to bias-inducing questions (tools/recorded_answers.py)
is a recording too: an answer is found by its question.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from evenhand.graph_store.errors import UserError
from evenhand.tools.completions import CallFailed, Completion, Messages, Prompt
from evenhand.tools.providers import ModelSettings, OpenModel, completion_model, provider
from evenhand.tools.recorded_answers import is_table_of_answers, read_recorded_answers


def messages_hash(messages: Messages) -> str:
    """Return the SHA-256 of (role, text) pairs, in hex: the `prompt_hash` of a recording."""
    plain = json.dumps([list(pair) for pair in messages], ensure_ascii=False)
    return hashlib.sha256(plain.encode()).hexdigest()


@provider(form="replay/<file>", check=lambda settings: _check(settings), in_process=True)
async def replay(settings: ModelSettings) -> OpenModel:
    """Answers from a recording; a prompt that is not in it is an error, never a guess.

    The same prompt recorded under several ids (repeats) is told apart by id; for an id that was
    not recorded, the first reply to the same prompt is given.
    """
    recording = open_recording(_path(settings))

    async def complete(prompt: Prompt) -> Completion:
        return recording.find(prompt)

    identity = {"file": recording.path.name, "sha256": recording.sha256}
    return completion_model("replay", settings, complete, identity=identity)


def open_recording(path: Path) -> "Recording | AnswerTable":
    """Open a recording of either form.

    Raises:
        UserError: A line or row has another form; named by its number.
    """
    return AnswerTable(path) if is_table_of_answers(path) else Recording(path)


class AnswerTable:
    """Recorded answers by question; of a question that was asked twice, the first answer."""

    def __init__(self, path: Path) -> None:
        """Read the file."""
        self.path = path
        self.sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        self._answers: dict[str, str] = {}
        for each in read_recorded_answers(path):
            self._answers.setdefault(each.question, each.answer)

    def find(self, prompt: Prompt) -> Completion:
        """Return the recorded answer; why it ended is not known.

        Raises:
            CallFailed: The question is not in the file.
        """
        if prompt.question not in self._answers:
            raise CallFailed(f"{self.path.name} has no recorded answer to this question")
        return Completion(self._answers[prompt.question], finish_reason=None)


class Recording:
    """A recording on disk; in memory lie only the places of its lines.

    Args:
        path: The JSONL file.

    Raises:
        UserError: A line has another form; named by its number.
    """

    def __init__(self, path: Path) -> None:
        """Read the file once and remember where each answer stands."""
        self.path = path
        self._replies: dict[str, int] = {}
        self._failures: dict[str, int] = {}
        digest = hashlib.sha256()
        position = 0
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                digest.update(line)
                # A run that was killed leaves a torn last line.
                if line.strip() and line.endswith(b"\n"):
                    self._remember(self._parse(line, number), position)
                position += len(line)
        self.sha256 = digest.hexdigest()

    def find(self, prompt: Prompt) -> Completion:
        """Return the recorded reply.

        Raises:
            CallFailed: There is none, or the recorded call failed.
        """
        asked = messages_hash(prompt.messages)
        keys = (f"{asked} {prompt.id}", asked, f"id {prompt.id}")
        places = [
            book[key] for book in (self._replies, self._failures) for key in keys if key in book
        ]
        if not places:
            raise CallFailed(f"{self.path.name} has no recorded reply to this prompt")
        with self.path.open("rb") as file:
            file.seek(places[0])
            line: dict[str, Any] = json.loads(file.readline())
        if line.get("error") and not line["reply"]:
            raise CallFailed(f"the recorded call failed: {line['error']}")
        return Completion(
            line["reply"],
            line.get("finish_reason"),
            line.get("prompt_tokens"),
            line.get("completion_tokens"),
        )

    def _parse(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            entry = json.loads(line)
            reply = entry["reply"]
            named = entry.keys() & {"messages", "prompt_hash", "id"}
            pairs = [(str(role), str(text)) for role, text in entry.get("messages", ())]
        except (ValueError, KeyError, TypeError, AttributeError):
            reply, named, pairs, entry = None, set(), [], {}
        if not isinstance(reply, str) or not named:
            raise UserError(
                f"{self.path.name}: line {number} is no recorded answer; expected an object with "
                '"reply" and "messages", "prompt_hash" or "id", such as a line of calls.jsonl.'
            )
        return {**entry, "messages": tuple(pairs)}

    def _remember(self, entry: dict[str, Any], position: int) -> None:
        failed = bool(entry.get("error")) and not entry["reply"]
        asked = entry.get("prompt_hash") or (
            messages_hash(entry["messages"]) if entry["messages"] else None
        )
        keys = [f"{asked} {entry.get('id')}", asked] if asked else [f"id {entry['id']}"]
        # A failed call that was made again gives way to the one that went well.
        book = self._failures if failed else self._replies
        for key in keys:
            book.setdefault(key, position)


def _path(settings: ModelSettings) -> Path:
    return Path(settings.path or settings.name)


def _check(settings: ModelSettings) -> None:
    path = _path(settings)
    if not path.is_file():
        raise UserError(
            f"Recording {str(path)!r} is not a file; expected a JSONL file of answers, such as the "
            "calls.jsonl of a run."
        )
    open_recording(path)
