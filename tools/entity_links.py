"""Entities that a person takes to be one: suggested by likeness, accepted, taken back.

The graph keeps its exact keys. What was accepted stands in entities.jsonl in the workspace, a line
a decision, and lies over the graph as a view: taking one back is one more line, and everything is
as it would have been without.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

import numpy as np
from filelock import FileLock
from pydantic import BaseModel, ConfigDict, ValidationError

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.redact import redact
from evenhand.graph_store.rows import EntityName, EntityRow, Neighbourhood, TripleRow
from evenhand.graph_store.run_directory import read_lines
from evenhand.graph_store.schema import clean_text
from evenhand.graph_store.store import GraphStore
from evenhand.tools.near_misses import difference, own_words
from evenhand.tools.vector_index import Vectors, near_pairs

DECISIONS_FILE = "entities.jsonl"
OWN_WORDS_COSINE = 0.73
"""The words in which two names differ must be near too: "fresh water" is .8 near "salt water"."""
_PAIRS_AT_ONCE = 200

EntityTable: TypeAlias = Mapping[str, str]
"""Key of an entity -> the key that it is shown under; keys that stand for themselves are not in."""


class EntityDecision(BaseModel):
    """A line of entities.jsonl: somebody took two entities for one, or took that back."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    who: str
    """As the environment names the person; may be ""."""
    when: str
    """ISO 8601, UTC."""
    from_key: str
    to_key: str
    """The key under which both are shown."""
    action: Literal["accept", "undo"]

    @property
    def pair(self) -> frozenset[str]:
        """Both keys; which of them is shown does not matter to what is taken back."""
        return frozenset((self.from_key, self.to_key))


def accepted(decisions: Iterable[EntityDecision]) -> list[EntityDecision]:
    """Return the acceptances in force, in the order in which they were made.

    An undo ends the acceptance of its pair that is in force, and does nothing if none is; a second
    acceptance of a pair in force does nothing either.
    """
    in_force: dict[frozenset[str], EntityDecision] = {}
    for decision in decisions:
        if decision.action == "undo":
            in_force.pop(decision.pair, None)
        else:
            in_force.setdefault(decision.pair, decision)
    return list(in_force.values())


def fold(decisions: Iterable[EntityDecision]) -> dict[str, str]:
    """Return the table that some decisions come to; chains are collapsed, cycles cannot arise.

    An acceptance puts everything shown under `from_key` under what `to_key` is shown under. The
    table is that of the acceptances in force alone: one that was taken back leaves no trace.

    Example:
        >>> said = EntityDecision(
        ...     who="", when="", from_key="pyrexia", to_key="fever", action="accept"
        ... )
        >>> fold([said]), fold([said, said.model_copy(update={"action": "undo"})])
        ({'pyrexia': 'fever'}, {})
    """
    shown: dict[str, str] = {}
    for decision in accepted(decisions):
        old, new = (resolve(key, shown) for key in (decision.from_key, decision.to_key))
        if old != new:
            shown = {key: new if under == old else under for key, under in shown.items()}
            shown[old] = new
    return shown


def resolve(key: str, table: EntityTable) -> str:
    """Return the key that an entity is shown under; its own if nobody said otherwise."""
    return table.get(key, key)


def members(key: str, table: EntityTable) -> tuple[str, ...]:
    """Return all keys that are shown as one with this one: the shown key, then by name."""
    shown = resolve(key, table)
    return (shown, *sorted(other for other, under in table.items() if under == shown))


def read_decisions(workspace: Path) -> list[EntityDecision]:
    """Read entities.jsonl; [] where there is none, and without a torn last line.

    Raises:
        UserError: A line is no decision.
    """
    path = workspace / DECISIONS_FILE
    decisions = []
    for number, line in enumerate(read_lines(path), start=1):
        try:
            decisions.append(EntityDecision.model_validate_json(line))
        except ValidationError as error:
            raise UserError(
                f"{path}: line {number} is no decision about entities "
                f"({error.errors()[0]['msg']}); restore the file from a copy, or delete the line."
            ) from None
    return decisions


def accept(workspace: Path, from_key: str, to_key: str, *, who: str, when: str) -> EntityDecision:
    """Record that a person takes two entities for one, shown under `to_key`.

    Raises:
        UserError: They are one already, or one of the entities that would become one excludes
            another (hypotension, hypertension).
    """
    decision = EntityDecision(who=who, when=when, from_key=from_key, to_key=to_key, action="accept")
    with _writing(workspace):
        table = fold(read_decisions(workspace))
        if resolve(from_key, table) == resolve(to_key, table):
            raise UserError(
                f"{from_key!r} and {to_key!r} are one entity already, shown as "
                f"{resolve(to_key, table)!r}; expected two that are not."
            )
        for one, other in product(members(from_key, table), members(to_key, table)):
            found = difference(one, other)
            if found is not None and found.opposite:
                raise UserError(
                    f"{from_key!r} and {to_key!r} cannot become one: {one!r} and {other!r} exclude "
                    f"each other ({found.reason}). Expected two names of one thing."
                )
        _append(workspace, decision)
    return decision


def undo(workspace: Path, from_key: str, to_key: str, *, who: str, when: str) -> EntityDecision:
    """Record that an acceptance of this pair is taken back, in whichever order it is named.

    Raises:
        UserError: No acceptance of this pair is in force.
    """
    decision = EntityDecision(who=who, when=when, from_key=from_key, to_key=to_key, action="undo")
    with _writing(workspace):
        in_force = accepted(read_decisions(workspace))
        if decision.pair not in {item.pair for item in in_force}:
            shown = "; ".join(f"{item.from_key!r} {item.to_key!r}" for item in in_force[-10:])
            raise UserError(
                f"Nobody accepted {from_key!r} and {to_key!r} as one; expected a pair that was "
                f"accepted: {shown or '(none)'}."
            )
        _append(workspace, decision)
    return decision


def _writing(workspace: Path) -> FileLock:
    # What was read must still hold when the line is written: two people may decide at once.
    workspace.mkdir(parents=True, exist_ok=True)
    return FileLock(workspace / f".{DECISIONS_FILE}.lock")


def _append(workspace: Path, decision: EntityDecision) -> None:
    with (workspace / DECISIONS_FILE).open("ab+") as file:
        file.seek(0)
        # A line torn by a kill is cut off, or it would spoil the next one.
        file.truncate(file.read().rfind(b"\n") + 1)
        file.write(redact(decision.model_dump_json()).encode() + b"\n")
        file.flush()


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Two entities that may be one; the one with more triples is `to`."""

    from_key: str
    to_key: str
    from_name: str
    to_name: str
    from_degree: int
    to_degree: int
    cosine: float
    """Of the embeddings of both keys, in [-1, 1]."""


class Encoder(Protocol):
    """What makes unit vectors of texts, such as vector_index.SentenceEncoder."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return a unit vector a text, shape (n, d)."""
        ...


def suggest(
    entities: Sequence[EntityName],
    table: EntityTable,
    encoder: Encoder,
    *,
    threshold: float = 0.8,
    limit: int = 100,
) -> list[Suggestion]:
    """Return pairs of entities that may be one, the nearest first, then by their keys.

    A pair is left out if it is one already, if near_misses.difference keeps any of the entities
    that would become one apart, or if the words in which the names differ are not near.

    Args:
        entities: As `entity_names` of a store returns them; up to some 10,000.
        table: What was accepted so far.
        encoder: Embeds the keys: 10,000 in about a minute.
        threshold: Least cosine.
        limit: Of suggestions.
    """
    vectors = encoder.embed([entity.key for entity in entities])
    near = [
        _suggestion(entities[pair.first], entities[pair.second], pair.cosine)
        for pair in near_pairs(vectors, threshold=threshold)
    ]
    near.sort(key=lambda item: (-item.cosine, item.to_key, item.from_key))
    possible = (
        item
        for start in range(0, len(near), _PAIRS_AT_ONCE)
        for item in _possible(near[start : start + _PAIRS_AT_ONCE], table, encoder)
    )
    return list(islice(possible, limit))


def _suggestion(one: EntityName, other: EntityName, cosine: float) -> Suggestion:
    few, many = sorted((one, other), key=lambda entity: (entity.degree, entity.key))
    return Suggestion(few.key, many.key, few.name, many.name, few.degree, many.degree, cosine)


def _possible(near: Sequence[Suggestion], table: EntityTable, encoder: Encoder) -> list[Suggestion]:
    left = [item for item in near if _may_be_one(item.from_key, item.to_key, table)]
    own = [own_words(item.from_key, item.to_key) for item in left]
    # Both sides in one call; a side without words of its own has nothing to be compared.
    vectors = encoder.embed([words for pair in own for words in pair])
    cosines = np.einsum("ij,ij->i", vectors[0::2], vectors[1::2])
    return [
        item
        for item, pair, cosine in zip(left, own, cosines, strict=True)
        if not all(pair) or cosine >= OWN_WORDS_COSINE
    ]


def _may_be_one(one: str, other: str, table: EntityTable) -> bool:
    if resolve(one, table) == resolve(other, table):
        return False
    pairs = product(members(one, table), members(other, table))
    return all(difference(*pair) is None for pair in pairs)


def merged_neighbourhood(
    store: GraphStore,
    entity_key: str,
    table: EntityTable,
    *,
    hops: int = 1,
    limit: int = 100,
    offset: int = 0,
    run: str | None = None,
) -> Neighbourhood:
    """Return an entity's neighbourhood as if accepted entities were one.

    The store's own walk (`GraphStore.neighbourhood`), over what each entity is shown as: its
    members' triples together, by their keys. Entities and triples keep their exact keys; an entity
    is as far away as what it is shown as. One of which the graph has no member has nothing.
    """
    asked_key = clean_text(entity_key)
    asked = resolve(asked_key, table)
    if not any(store.neighbourhood(key, limit=1).entities for key in members(asked, table)):
        return Neighbourhood((), (), more=False)
    distances = {asked: 0}
    found: dict[str, TripleRow] = {}
    waiting = deque([asked])
    while waiting and len(found) <= offset + limit:
        entity = waiting.popleft()
        if distances[entity] == hops:
            break
        for triple in _triples_at(store, members(entity, table), offset + limit + 1, run):
            found[triple.key] = triple
            for end in _ends(triple, table):
                if end not in distances:
                    distances[end] = distances[entity] + 1
                    waiting.append(end)
    page = tuple(islice(found.values(), offset, offset + limit))
    near = {asked_key}.union(*({triple.subject_key, triple.object_key} for triple in page))
    entities = sorted((distances[resolve(key, table)], key) for key in near)
    return Neighbourhood(
        tuple(EntityRow(key, distance) for distance, key in entities),
        page,
        more=len(found) > offset + limit,
    )


def _triples_at(
    store: GraphStore, keys: Sequence[str], wanted: int, run: str | None
) -> list[TripleRow]:
    near = {
        triple.key: triple
        for key in keys
        for triple in store.neighbourhood(key, limit=wanted, run=run).triples
    }
    return [near[key] for key in sorted(near)]


def _ends(triple: TripleRow, table: EntityTable) -> tuple[str, str]:
    return resolve(triple.subject_key, table), resolve(triple.object_key, table)
