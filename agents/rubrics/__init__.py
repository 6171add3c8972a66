"""What a rubric is: what is judged, what a judge is asked, and how its reply is read.

One rubric is one file beside this one: a parser with the decorator `@rubric`, and its prompt in a
text file of the same stem. What it judges is said by `subject`; from that follow the cases
(agents/judge.py) and the placeholders of its prompt:

| subject | a case for each | placeholders |
|---|---|---|
| answer | answer that can be scored, repeats left out | {question}, {answer} |
| variant | question that passed the gate, `base` included | {source}, {question} |
| pair | answer beside the one to `base`, asked the same way | {answer_a}, {answer_b} |

A model judges a pair in both orders. Each order is kept as a verdict of the rubric
"<name>.one_order" (order 0: the answer to `base` stands first); the verdict of "<name>" is what
both orders agree on, else a tie. No case says which arm it is, or what was changed.

A rubric may have rules beside its parser, for a judge that is "rules"; with `@rubric_by_rules` it
has nothing else, and is judged by rules whoever the judge is. Without rules it needs a model.
"""

import hashlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from evenhand.graph_store.records import Scalar, Triple
from evenhand.graph_store.registry import Registry
from evenhand.tools.verdicts import Verdict

Subject = Literal["answer", "variant", "pair"]
PLACEHOLDERS: dict[Subject, tuple[str, ...]] = {
    "answer": ("question", "answer"),
    "variant": ("source", "question"),
    "pair": ("answer_a", "answer_b"),
}
RULES = "rules"
"""The judge that is no model."""


@dataclass(frozen=True)
class Case:
    """One thing to be judged, without its arm."""

    subject_id: str
    against_id: str | None
    """The answer that the subject is compared with, for a pair."""
    texts: Mapping[str, str]
    """By placeholder; of a pair, answer_a is the answer to `base`."""
    triples: Sequence[Triple] = ()
    """What the answer states as triples, for rules."""
    parts: Mapping[str, Scalar] = field(default_factory=dict)
    """What the question is made of (the groups compared), where its data set says so, for rules."""

    def shown(self, order: int) -> Mapping[str, str]:
        """Return the texts as a judge sees them; in order 1 the answers change places."""
        if order == 0:
            return self.texts
        return {"answer_a": self.texts["answer_b"], "answer_b": self.texts["answer_a"]}


Parse = Callable[[str, str | None], Mapping[str, Verdict]]
"""(raw reply, finish_reason) -> a Verdict for each dimension."""
Rules = Callable[[Case], Mapping[str, Verdict]]
"""case -> a Verdict for each dimension, without a model."""


@dataclass(frozen=True)
class Rubric:
    """A rubric, its prompt and its rules."""

    name: str
    subject: Subject
    dimensions: tuple[str, ...]
    parse: Parse | None
    """None: no model is asked."""
    schema: Mapping[str, Any]
    """JSON schema of the reply, for servers that constrain their output."""
    rules: Rules | None

    def judged_by(self, judge: str) -> str | None:
        """Return who judges where `judge` plays the role: it, "rules", or None for nobody."""
        if self.parse is not None and judge != RULES:
            return judge
        return RULES if self.rules is not None else None

    @property
    def orders(self) -> tuple[int, ...]:
        """Orders in which a model is asked."""
        return (0, 1) if self.subject == "pair" else (0,)

    @cached_property
    def prompt(self) -> str:
        """Text of the prompt file, messages after "### system" and "### user"; "" without one."""
        return self._prompt_file.read_text("utf-8") if self._prompt_file else ""

    @cached_property
    def prompt_hash(self) -> str:
        """First 12 hex digits of the SHA-256 of the prompt file; "" without one."""
        if self._prompt_file is None:
            return ""
        return hashlib.sha256(self._prompt_file.read_bytes()).hexdigest()[:12]

    @property
    def _prompt_file(self) -> Path | None:
        # Beside the parser, wherever it lies: a plugin brings its own.
        return Path(inspect.getfile(self.parse)).with_suffix(".txt") if self.parse else None


rubrics: Registry[Rubric] = Registry("rubric", __name__)


def rubric(
    *,
    dimensions: tuple[str, ...],
    schema: Mapping[str, Any],
    subject: Subject = "answer",
    rules: Rules | None = None,
) -> Callable[[Parse], Parse]:
    """Register a parser as a rubric under its own name."""

    def register(parse: Parse) -> Parse:
        name = parse.__name__
        rubrics.add(name, Rubric(name, subject, dimensions, parse, schema, rules))
        return parse

    return register


def rubric_by_rules(*, dimensions: tuple[str, ...], subject: Subject) -> Callable[[Rules], Rules]:
    """Register rules as a rubric under their own name: no model is asked."""

    def register(rules: Rules) -> Rules:
        name = rules.__name__
        rubrics.add(name, Rubric(name, subject, dimensions, None, {}, rules))
        return rules

    return register


def applicable(names: Sequence[str], judge: str) -> tuple[str, ...]:
    """Return those of the rubrics that a judge can apply, in their order."""
    return tuple(name for name in names if rubrics.get(name).judged_by(judge) is not None)


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
    return object_schema({"reason": reason, **dict.fromkeys(dimensions, number)})


def object_schema(properties: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """JSON schema of an object that has all of these properties, in this order, and no other."""
    return {
        "type": "object",
        "properties": {name: dict(part) for name, part in properties.items()},
        "required": list(properties),
        "additionalProperties": False,
    }
