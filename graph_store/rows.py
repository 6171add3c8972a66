"""The shapes that go into a graph store and come out of it: scalars only, frozen.

A node is its row: the fields of the dataclass, `run` and `id` first, are the properties of the
node, in every store, and `name` is what a person reads on it. A field that is None is not stored.
"""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypedDict, TypeVar

from evenhand.graph_store.schema import Label, LinkType, clean_text, predicate_key, relation_type

Scalar = str | int | float | bool


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run and what it was about."""

    label: ClassVar[Label] = "Run"
    run: str
    id: str
    """The same as `run`."""
    created: str | None = None
    recipe: str | None = None
    dataset: str | None = None
    target: str | None = None
    judge: str | None = None
    seed: int | None = None
    synced: str | None = None
    """How far sync.py came, in its own words; no part of the checksum."""

    @property
    def name(self) -> str:
        """What a person sees on the node."""
        return self.id


@dataclass(frozen=True, slots=True)
class SampleRow:
    """A sample as the data set has it."""

    label: ClassVar[Label] = "Sample"
    run: str
    id: str
    status: str | None = None
    dataset: str | None = None
    position: int | None = None
    text: str | None = None
    question: str | None = None
    reference: str | None = None
    split: str | None = None
    reason: str | None = None

    @property
    def name(self) -> str:
        """What a person sees on the node: "demo 4"."""
        return f"{self.dataset or ''} {_text(self.position)}".strip() or self.id


@dataclass(frozen=True, slots=True)
class VariantRow:
    """A text as shown to the target."""

    label: ClassVar[Label] = "Variant"
    run: str
    id: str
    status: str | None = None
    sample_id: str | None = None
    position: int | None = None
    arm: str | None = None
    """The arm as shown: base, isolated, placebo ..."""
    group: str | None = None
    """The changed attributes: "age", "age+gender"; the arm where nothing was changed."""
    text: str | None = None
    made_by: str | None = None
    reason: str | None = None

    @property
    def name(self) -> str:
        """What a person sees on the node: "age", "base"."""
        return self.group or self.arm or self.id


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """What the target said."""

    label: ClassVar[Label] = "Answer"
    run: str
    id: str
    status: str | None = None
    variant_id: str | None = None
    arm: str | None = None
    """The arm as asked: original, no_hop, multi_hop, labels."""
    model: str | None = None
    repeat: int | None = None
    text: str | None = None
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float | None = None
    cost_usd: float | None = None
    prompt_hash: str | None = None
    error: str | None = None

    @property
    def name(self) -> str:
        """What a person sees on the node: "multi_hop", "no_hop, repeat 1"."""
        return (self.arm or self.id) + (f", repeat {self.repeat}" if self.repeat else "")


@dataclass(frozen=True, slots=True)
class JudgementRow:
    """A verdict; `value` is there exactly when `status` is "ok"."""

    label: ClassVar[Label] = "Judgement"
    run: str
    id: str
    status: str | None = None
    subject_id: str | None = None
    against_id: str | None = None
    rubric: str | None = None
    dimension: str | None = None
    judge: str | None = None
    order: int | None = None
    value: float | str | None = None
    reason: str | None = None
    reason_code: str | None = None
    flags: str | None = None
    """Joined by ", "."""

    @property
    def name(self) -> str:
        """What a person sees on the node: "age 0.25", "paired_change 1", "isolation accepted"."""
        about = self.rubric if self.dimension in (None, "any") else self.dimension
        said = self.status if self.value is None else self.value
        return f"{about or ''} {_text(said)}".strip() or self.id


NodeRow = RunRow | SampleRow | VariantRow | AnswerRow | JudgementRow
Row = TypeVar("Row", RunRow, SampleRow, VariantRow, AnswerRow, JudgementRow)


@dataclass(frozen=True, slots=True)
class TripleRow:
    """A fact as a relationship between two entities, in the words of its source."""

    run: str
    source_id: str
    """The Sample or Answer that states it."""
    subject: str
    predicate: str
    object: str
    subject_key: str
    object_key: str
    hop: int
    origin: str
    id: str
    """The Triple record; of several that say the same, the first."""
    position: int = 0

    @property
    def said(self) -> tuple[str | int, ...]:
        """What both stores keep beside key, type and ends, in this order, its texts cleaned."""
        texts = (clean_text(text) for text in (self.subject, self.predicate, self.object))
        return (self.run, self.source_id, *texts, self.hop, self.origin, self.id, self.position)

    @property
    def type(self) -> str:
        """Its relationship type; `predicate` has the words themselves."""
        return relation_type(self.predicate)

    @property
    def key(self) -> str:
        """What it is merged by: the same fact, of the same source at the same hop, is one edge."""
        return _key(
            "triple",
            self.run,
            self.source_id,
            str(self.hop),
            clean_text(self.subject_key),
            predicate_key(self.predicate),
            clean_text(self.object_key),
        )


@dataclass(frozen=True, slots=True)
class Link:
    """A provenance relationship. Ends that the store does not have yet are made, empty."""

    type: LinkType
    run: str
    start_label: Label
    start_id: str
    end_label: Label
    end_id: str
    attribute: str | None = None
    """PERTURBS only: what was changed, from what (None: it was added), to what."""
    before: str | None = None
    after: str | None = None

    @property
    def key(self) -> str:
        """What it is merged by."""
        return _key(
            self.type,
            self.run,
            self.start_label,
            self.start_id,
            self.end_label,
            clean_text(self.end_id),
            self.attribute or "",
        )


@dataclass(frozen=True, slots=True)
class Batch:
    """What is written in one transaction, best at most BATCH_ROWS rows: other writers wait."""

    nodes: Sequence[NodeRow] = ()
    triples: Sequence[TripleRow] = ()
    """Their entities are made with them."""
    links: Sequence[Link] = ()


BATCH_ROWS = 5_000


@dataclass(frozen=True, slots=True)
class EntityRow:
    """An entity near another one."""

    key: str
    distance: int
    """Steps from the entity that was asked about."""


@dataclass(frozen=True, slots=True)
class EntityName:
    """An entity as its texts write it."""

    key: str
    name: str
    """The words of its first triple, by the triples' keys."""
    degree: int
    """Triples that have it; one that has it twice counts once."""


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """Entities within some steps of one, and the triples that lead there, nearest first."""

    entities: tuple[EntityRow, ...]
    """The asked entity, then the ends of `triples`."""
    triples: tuple[TripleRow, ...]
    more: bool
    """There are triples beyond this page."""


@dataclass(frozen=True, slots=True)
class Lineage:
    """Where a record comes from: each step of its chain, None below where the chain begins."""

    sample: SampleRow | None
    variant: VariantRow | None
    answer: AnswerRow | None
    judgements: tuple[JudgementRow, ...]
    """Verdicts on the answer and on its variant (the gate's); only itself, for a Judgement's id."""
    triples: tuple[TripleRow, ...]
    """Those of the sample (hop 0), then those of the answer (hops 1 to 3)."""


@dataclass(frozen=True, slots=True)
class ChangedAnswer:
    """A variant in which one attribute alone was changed, and one answer to it."""

    run: str
    variant_id: str
    before: str | None
    """None: the source did not state the attribute; it was added."""
    after: str
    gate: str | None
    """accepted or rejected; None: not checked yet."""
    answer_id: str | None
    """None, like all that follows: the target was not asked (yet)."""
    arm: str | None
    repeat: int | None
    status: str | None
    text: str | None
    verdicts: tuple[JudgementRow, ...]


@dataclass(frozen=True, slots=True)
class TripleContrast:
    """How often a triple is stated when one attribute alone is changed, and when it is not.

    A pair is an answer to the changed variant and the answer to `base` asked the same way. Those
    of `pairs` that none of the three counts holds state it on neither side.
    """

    subject_key: str
    type: str
    """The relationship type of its predicate."""
    object_key: str
    hop: int
    only_variant: int
    """Pairs whose changed side alone states it."""
    only_base: int
    """Pairs whose unchanged side alone states it."""
    both: int
    pairs: int
    """All pairs, the same in each row."""


@dataclass(frozen=True, slots=True)
class ChangedCase:
    """A pair in which one attribute alone was changed, and a verdict that the answer changed."""

    run: str
    sample_id: str
    variant_id: str
    before: str | None
    """None: the source did not state the attribute; it was added."""
    after: str
    arm: str | None
    """The arm as asked, of both answers."""
    base_answer_id: str
    base_text: str | None
    answer_id: str
    text: str | None
    judgement_id: str
    judge: str | None
    reason: str | None
    """What changed: "first diagnosis: malaria -> influenza"."""


@dataclass(frozen=True, slots=True)
class RunSide:
    """What one run has of an asking."""

    run: str
    answer_id: str | None
    """None, like all that follows: this run did not ask it (yet)."""
    model: str | None
    status: str | None
    text: str | None
    verdicts: tuple[JudgementRow, ...]


@dataclass(frozen=True, slots=True)
class SideBySide:
    """One asking, the same text in the same way, and what each of some runs has of it."""

    sample_id: str
    variant_id: str
    group: str | None
    """The changed attributes, as in VariantRow."""
    arm: str | None
    repeat: int | None
    sides: tuple[RunSide, ...]
    """A side a run, in the order of the question."""


@dataclass(frozen=True, slots=True)
class GraphStats:
    """What a graph, or one run's part of it, holds."""

    nodes: Mapping[str, int]
    """By label."""
    relationships: Mapping[str, int]
    """By type, the triples' own types included."""
    triples: int


class ExportedNode(TypedDict):
    """A node of an export."""

    label: str
    id: str
    run: str | None
    properties: dict[str, Scalar]


class ExportedRelationship(TypedDict):
    """A relationship of an export, triples included."""

    type: str
    key: str
    run: str
    start_label: str
    start_id: str
    end_label: str
    end_id: str
    properties: dict[str, Scalar]


class Export(TypedDict):
    """A run's part of the graph."""

    schema_version: int
    run: str
    nodes: list[ExportedNode]
    relationships: list[ExportedRelationship]


def properties(row: NodeRow) -> dict[str, Scalar]:
    """Return the properties that a store keeps besides run and id: no None, text in NFC.

    `name` is among them, derived: Neo4j Browser shows it on the node without being told.

    Raises:
        ValueError: A number that is not finite or does not fit 64 bits.
    """
    found: dict[str, Scalar] = {"name": clean_text(row.name)}
    for name in _property_names(type(row)):
        value: Scalar | None = getattr(row, name)
        if value is not None:
            found[name] = _checked(name, value)
    return found


def from_properties(kind: type[Row], run: str, id: str, found: Mapping[str, Any]) -> Row:
    """Return the row of a node; what is derived, or of a newer version, is left out."""
    known = {name: found.get(name) for name in _property_names(kind)}
    return kind(run=run, id=id, **known)


def triple_properties(triple: TripleRow) -> dict[str, Scalar]:
    """Return what a triple's relationship carries, as an export shows it."""
    return {
        "predicate": triple.predicate,
        "subject": triple.subject,
        "object": triple.object,
        "source_id": triple.source_id,
        "hop": triple.hop,
        "origin": triple.origin,
        "id": triple.id,
        "position": triple.position,
    }


def link_properties(
    attribute: str | None, before: str | None, after: str | None
) -> dict[str, Scalar]:
    """Return what a link carries, as an export shows it: {attribute, from, to} or nothing."""
    named = {"attribute": attribute, "from": before, "to": after}
    return {name: value for name, value in named.items() if value is not None}


def checksum(items: Iterable[ExportedNode | ExportedRelationship]) -> str:
    """Return a hash of a graph's content that does not depend on the order of its items.

    The sum of their SHA-256 modulo 2^256, so that stores that sort strings differently agree.
    """
    total = 0
    for item in items:
        text = json.dumps(item, sort_keys=True, ensure_ascii=False)
        total += int.from_bytes(hashlib.sha256(text.encode()).digest(), "big")
    return f"{total % 2**256:064x}"


def _key(*parts: str) -> str:
    # 128 bits: at a billion relationships a collision is still out of reach, unlike with 32.
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:32]


def _text(value: Scalar | None) -> str:
    """Return a value as a person writes it: 0.25, 1 (not 1.0)."""
    if value is None:
        return ""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _property_names(kind: type[NodeRow]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind) if field.name not in ("run", "id"))


def _checked(name: str, value: Scalar) -> Scalar:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{name} must be finite, got {value}")
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ValueError(f"{name} must fit 64 bits, got {value}")
    return value
