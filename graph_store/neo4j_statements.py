"""What is sent to Neo4j to write a batch: the queries of cypher.py with their rows."""

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evenhand.graph_store import cypher
from evenhand.graph_store.rows import (
    BATCH_ROWS,
    Batch,
    Link,
    NodeRow,
    TripleRow,
    link_properties,
    properties,
)
from evenhand.graph_store.schema import Label, LinkType, clean_text

Values = Mapping[str, Any]
_LONGEST_ID = 1_000
"""Bytes of an entity's key that are its `id`: an index of Neo4j holds no more than 8,000."""


def statements(batch: Batch) -> Iterator[tuple[str, Values]]:
    """Return the queries of a batch with their rows: nodes, then relationships, each by key."""
    nodes: dict[Label, dict[Any, Values]] = defaultdict(dict)
    for node in batch.nodes:
        nodes[node.label][node.run, node.id] = _node_values(node)
    for label, rows in nodes.items():
        yield from _cut(cypher.merge_nodes(label), rows)
    bare, entities = _bare_nodes(batch)
    for label, missing in bare.items():
        yield from _cut(cypher.merge_bare_nodes(label), missing)
    yield from _cut(cypher.MERGE_ENTITIES, entities)
    triples: dict[str, dict[Any, Sequence[str | int]]] = defaultdict(dict)
    for triple in batch.triples:
        # Of several that say the same, the first.
        triples[triple.type].setdefault(key := triple.key, _triple_values(triple, key))
    for type_ in sorted(triples):
        yield from _cut(cypher.merge_triples(type_), triples[type_])
    links: dict[tuple[LinkType, Label, Label], dict[Any, Values]] = defaultdict(dict)
    for link in batch.links:
        kind = (link.type, link.start_label, link.end_label)
        links[kind][link.key] = _link_values(link)
    for kind in sorted(links):
        yield from _cut(cypher.merge_links(*kind), links[kind])


def _cut(
    query: str, rows: Mapping[Any, Values | Sequence[str | int | None]]
) -> Iterator[tuple[str, Values]]:
    ordered = [rows[key] for key in sorted(rows)]
    for start in range(0, len(ordered), BATCH_ROWS):
        yield query, {"rows": ordered[start : start + BATCH_ROWS]}


def _bare_nodes(
    batch: Batch,
) -> tuple[dict[Label, dict[Any, Values]], dict[str, Sequence[str | None]]]:
    """Return the ends of relationships: records by label, and entities."""
    records: dict[Label, dict[Any, Values]] = defaultdict(dict)
    keys = {key for triple in batch.triples for key in (triple.subject_key, triple.object_key)}
    for link in batch.links:
        ends: tuple[tuple[Label, str], ...] = (
            (link.start_label, link.start_id),
            (link.end_label, link.end_id),
        )
        for label, id in ends:
            if label == "Entity":
                keys.add(id)
            else:
                records[label][link.run, id] = {"run": link.run, "id": id}
    for node in batch.nodes:
        records[node.label].pop((node.run, node.id), None)
    entities = {(id := entity_id(key)): _entity_values(id, key) for key in map(clean_text, keys)}
    return records, entities


def entity_id(key: str) -> str:
    """Return the `id` of an entity: its key; of a very long one the beginning and a hash.

    Such an id is longer than any key that is its own id, so that the two never meet.
    """
    whole = key.encode()
    if len(whole) <= _LONGEST_ID:
        return key
    return f"{key[:_LONGEST_ID]}... {hashlib.sha256(whole).hexdigest()}"


def _entity_values(id: str, key: str) -> Sequence[str | None]:
    return id, key if id != key else None


def _node_values(row: NodeRow) -> Values:
    kept = {"run": row.run, "id": row.id, **properties(row)}
    return {"run": row.run, "id": row.id, "properties": kept}


def _triple_values(triple: TripleRow, key: str) -> Sequence[str | int]:
    return (
        entity_id(clean_text(triple.subject_key)),
        entity_id(clean_text(triple.object_key)),
        key,
        *triple.said,
    )


def _link_values(link: Link) -> Values:
    changed = (link.attribute, link.before, link.after)
    return {
        "start_run": link.run,
        "start_id": _end_id(link.start_label, link.start_id),
        "end_run": link.run,
        "end_id": _end_id(link.end_label, link.end_id),
        "properties": {
            "key": link.key,
            "run": link.run,
            **link_properties(*(text and clean_text(text) for text in changed)),
        },
    }


def _end_id(label: Label, id: str) -> str:
    return entity_id(clean_text(id)) if label == "Entity" else id
