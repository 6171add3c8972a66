"""Talks on disk: what was said, the plan that waits, the run it became. One file a talk.

The id of a talk stands in the address of its page, so that a refresh, a restart or another browser
finds it again; nothing of it is kept in the browser.
"""

import os
import re
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from evenhand.agents.draft import Draft
from evenhand.graph_store.redact import redact

_ID = re.compile(r"[a-z0-9]{8,32}")


class Said(BaseModel):
    """One turn of a talk."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    who: Literal["person", "evenhand", "error"]
    text: str


class Talk(BaseModel):
    """A talk: its turns, the plan so far, and the run that an approved plan became."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    turns: tuple[Said, ...] = ()
    draft: Draft | None = None
    """The plan so far; None: nothing is planned."""
    ready: bool = False
    """Whether the plan is whole and waits for approval."""
    run: str | None = None

    def add(self, who: Literal["person", "evenhand", "error"], text: str) -> "Talk":
        """Return the talk with one more turn."""
        return self.model_copy(update={"turns": (*self.turns, Said(who=who, text=text))})


class Talks:
    """The talks of a workspace.

    Args:
        workspace: The folder of the runs; talks lie in its folder `talks`.
    """

    def __init__(self, workspace: Path) -> None:
        """Point at a folder; it is made with the first talk."""
        self._folder = workspace / "talks"

    def load(self, talk_id: str) -> Talk:
        """Return a talk; a new one for an id that is not there."""
        path = self._path(talk_id)
        if path is None or not path.is_file():
            return Talk()
        try:
            return Talk.model_validate_json(path.read_text("utf-8"))
        except ValidationError:
            return Talk().add(
                "error",
                f"This talk was saved by another version and cannot be read ({path.name}). "
                "Its run is safe: see `evenhand runs`.",
            )

    def save(self, talk_id: str, talk: Talk) -> None:
        """Write a talk in one step, free of secrets; an id of another form is not written."""
        path = self._path(talk_id)
        if path is None:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        temporary.write_text(redact(talk.model_dump_json()), "utf-8")
        temporary.replace(path)

    def _path(self, talk_id: str) -> Path | None:
        return self._folder / f"{talk_id}.json" if _ID.fullmatch(talk_id) else None
