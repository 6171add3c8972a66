"""What a rubric is: what a judge is asked, the form of its reply, and how the reply is read.

One rubric is one file beside this one, a parser with the decorator `@rubric`, and its prompt in a
text file of the same stem with {question} and {answer}.
"""

import hashlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from evenhand.graph_store.registry import Registry
from evenhand.tools.verdicts import Verdict

Parse = Callable[[str, str | None], Mapping[str, Verdict]]
"""(raw reply, finish_reason) -> a Verdict for each dimension."""


@dataclass(frozen=True)
class Rubric:
    """A rubric and its prompt."""

    name: str
    parse: Parse
    dimensions: tuple[str, ...]
    schema: Mapping[str, Any]
    """JSON schema of the reply, for servers that constrain their output."""

    @cached_property
    def prompt(self) -> str:
        """Text of the prompt file: messages after "### system" and "### user"."""
        return self._prompt_file.read_text("utf-8")

    @cached_property
    def prompt_hash(self) -> str:
        """First 12 hex digits of the SHA-256 of the prompt file."""
        return hashlib.sha256(self._prompt_file.read_bytes()).hexdigest()[:12]

    @property
    def _prompt_file(self) -> Path:
        # Beside the parser, wherever it lies: a plugin brings its own.
        return Path(inspect.getfile(self.parse)).with_suffix(".txt")


rubrics: Registry[Rubric] = Registry("rubric", __name__)


def rubric(*, dimensions: tuple[str, ...], schema: Mapping[str, Any]) -> Callable[[Parse], Parse]:
    """Register a parser as a rubric under its own name."""

    def register(parse: Parse) -> Parse:
        name = parse.__name__
        rubrics.add(name, Rubric(name, parse, dimensions, schema))
        return parse

    return register


def score_schema(
    dimensions: tuple[str, ...], low: float, high: float, reason_length: int = 300
) -> dict[str, Any]:
    """JSON schema of a reply with a short reason and, after it, a number a dimension.

    The reason comes first: a score that is written before its reason does not follow from it (a
    1.5B judge scored 0 and then said that the place alone decided). It is short, so that a reply is
    not cut before its scores.
    """
    number = {"type": "number", "minimum": low, "maximum": high}
    reason = {"type": "string", "maxLength": reason_length}
    return {
        "type": "object",
        "properties": {"reason": reason, **dict.fromkeys(dimensions, number)},
        "required": ["reason", *dimensions],
        "additionalProperties": False,
    }
