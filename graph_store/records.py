"""The six records of a run, and the ids that tie them together.

A record is a frozen line of a stage file. An id is its parent's id, a position, and a hash of what
is asked (never of what came back), so lineage is a prefix and a missing id is a call still to be
made.
"""

import hashlib
import math
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

Scalar = str | int | float | bool | None


def _finite(number: float) -> float:
    if not math.isfinite(number):
        raise ValueError("must be finite: what is unknown is a status, not NaN")
    return number


Finite = Annotated[float, AfterValidator(_finite)]


def content_hash(*parts: str) -> str:
    """Return the first 8 hex digits of the SHA-256 of the parts, joined by a unit separator."""
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:8]


def child_id(parent: str, letter: str, position: int, *asked: str) -> str:
    """Return the id of a record below `parent`, such as demo-12-9f3ac2e1/v3-a2fe2da7."""
    return f"{parent}/{letter}{position}-{content_hash(*asked)}"


def sample_id(dataset: str, position: int, *content: str) -> str:
    """Return the id of a sample, such as demo-12-9f3ac2e1."""
    return f"{dataset}-{position}-{content_hash(*content)}"


class Record(BaseModel):
    """A frozen line of a stage file; unknown fields are an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str


class Sample(Record):
    """One item of a data set, as it was loaded."""

    status: Literal["ok", "skipped"] = "ok"
    dataset: str
    position: int
    text: str
    """The source's own wording, whole, the question included."""
    question: str | None = None
    """The part of `text` that asks, or None where the source asks nothing."""
    reference: str | None = None
    label: str | None = None
    patient: str | None = None
    attributes: dict[str, str] = Field(default_factory=dict)
    """Attribute values that the data set states in columns of its own."""
    columns: dict[str, Scalar] = Field(default_factory=dict)
    split: str | None = None
    reason: str | None = None
    """Why the sample was skipped."""


class Triple(Record):
    """A fact (subject, predicate, object), from a source text (hop 0) or an answer (hop 1 to 3)."""

    status: Literal["ok"] = "ok"
    source_id: str
    """The Sample or Answer that states it."""
    subject: str
    predicate: str
    object: str
    subject_key: str
    object_key: str
    hop: int = Field(ge=0, le=3)
    origin: str
    """What read it: "spacy", "rules", or the role whose text it was parsed from."""


class Change(BaseModel):
    """One attribute (or relation) that differs from `base`; before is None where it was added."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    attribute: str
    before: str | None
    after: str


ShownArm = Literal[
    "base", "isolated", "added", "relation", "full", "text_only", "tabular_only", "placebo"
]
ADDED = "added:"
"""Prefix of the group of variants that put in what the source lacks; never pooled with swaps."""
AskedArm = Literal["original", "no_hop", "multi_hop", "labels", "direct"]


class Variant(Record):
    """A text as it will be shown to the target, and what was changed in it."""

    status: Literal["ok", "unchanged", "skipped", "error"] = "ok"
    sample_id: str
    arm: ShownArm
    changes: tuple[Change, ...] = ()
    text: str = ""
    columns: dict[str, Scalar] = Field(default_factory=dict)
    made_by: str
    reason: str | None = None
    """Why there is no text to ask."""

    @property
    def attributes(self) -> tuple[str, ...]:
        """Names of the changed attributes, in their declared order."""
        return tuple(change.attribute for change in self.changes)

    @property
    def group(self) -> str:
        """How the arm is named in a measurement: "age+gender", "added:location", "mr1+mr6"."""
        if self.arm == "relation":
            return "+".join(change.after for change in self.changes)
        names = "+".join(self.attributes)
        return f"{ADDED}{names}" if self.arm == "added" else names or self.arm


class Tokens(BaseModel):
    """Tokens of one call; None where the server does not say."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    prompt: int | None = None
    completion: int | None = None


class Answer(Record):
    """One reply of the target, stored whole."""

    status: Literal["ok", "refused", "empty", "truncated", "error"]
    variant_id: str
    arm: AskedArm
    model: str
    repeat: int = 0
    prompt_hash: str
    text: str = ""
    finish_reason: str | None = None
    tokens: Tokens = Tokens()
    seconds: Finite | None = None
    cost_usd: Finite | None = None
    error: str | None = None


class Judgement(Record):
    """A verdict on an Answer or a Variant: a value exactly when the status is "ok"."""

    status: Literal["ok", "refused", "unparsable", "out_of_range", "truncated", "tie", "error"]
    subject_id: str
    against_id: str | None = None
    """The answer that the subject was compared with, for paired verdicts."""
    rubric: str
    dimension: str
    judge: str
    order: int = 0
    value: Finite | str | None = None
    reason: str | None = None
    reason_code: str | None = None
    flags: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _value_exactly_when_ok(self) -> Self:
        if (self.value is not None) != (self.status == "ok"):
            raise ValueError("value is given exactly when status is ok")
        return self

    @property
    def number(self) -> float:
        """The value as a number for arrays; NaN unless status is ok and the value is a number."""
        return self.value if isinstance(self.value, float) else math.nan


class Measurement(Record):
    """A number with its n, interval and what was left out of it."""

    status: Literal["ok", "not_estimable"]
    metric: str
    arm: str
    """The arm as asked: original, no_hop, multi_hop, labels, direct."""
    groups: tuple[str, ...]
    """What is compared or scored: ("location",), ("age+gender",), ("placebo",)."""
    value: Finite | None = None
    low: Finite | None = None
    high: Finite | None = None
    n: int = 0
    """Scored items (pairs, for a paired metric)."""
    unscored: dict[str, int] = Field(default_factory=dict)
    """Items left out, counted by status."""
    control: Finite | None = None
    """The same number in the control arm, on the same items; value is net of it."""
    control_arm: str | None = None
    floor: Finite | None = None
    """What the number is on average where nothing differs, if that is not 0 (a divergence)."""
    floor_high: Finite | None = None
    """Its 95 % point where nothing differs."""
    worst_low: Finite | None = None
    """Where the number lies at least, whatever the asked but unscored items hide."""
    worst_high: Finite | None = None
    p: Finite | None = None
    """Raw p-value, before correction within the family."""
    p_adjusted: Finite | None = None
    family: str | None = None
    method: str = ""
    reason_code: str | None = None
    flags: tuple[str, ...] = ()
    counts: dict[str, int] = Field(default_factory=dict)
    """The counts behind the number, by name (changed, only_variant, only_control ...)."""
    seed: int | None = None

    @model_validator(mode="after")
    def _value_exactly_when_ok(self) -> Self:
        if (self.value is not None) != (self.status == "ok"):
            raise ValueError("value is given exactly when status is ok")
        return self
