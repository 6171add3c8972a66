"""Names and degrees of entities: each store against plain Python."""

import random
from collections import defaultdict

import pytest

from evenhand.graph_store.rows import Batch, EntityName, TripleRow
from evenhand.graph_store.store import GraphStore

NAMES = ["Fever", "fever", "FEVER", "Sjögren", "用于", "🩺 a", "o'Brien \"}) `x`", "a", "b", ""]


def _triples(seed: int, n: int) -> list[TripleRow]:
    draw = random.Random(seed)  # noqa: S311
    made = []
    for number in range(n):
        subject, object_ = draw.choices(NAMES, k=2)
        source = f"demo-{draw.randrange(4)}-00000000"
        made.append(
            TripleRow(
                run=draw.choice(["r1", "r2"]),
                source_id=source,
                subject=subject,
                predicate=draw.choice(["causes", "is near"]),
                object=object_,
                subject_key=subject.casefold(),
                object_key=object_.casefold(),
                hop=draw.randrange(3),
                origin="rules",
                id=f"{source}/t{number}-00000000",
            )
        )
    return made


def _plain(triples: list[TripleRow], run: str | None) -> list[EntityName]:
    first: dict[str, TripleRow] = {}
    for triple in triples:
        if run in (None, triple.run):
            first.setdefault(triple.key, triple)
    names: dict[str, dict[str, str]] = defaultdict(dict)
    for key, triple in sorted(first.items()):
        names[triple.object_key][key] = triple.object
        names[triple.subject_key][key] = triple.subject
    found = [
        EntityName(entity, next(iter(written.values())), len(written))
        for entity, written in names.items()
    ]
    return sorted(found, key=lambda item: (-item.degree, item.key))


@pytest.mark.parametrize("n", [0, 1, 40])
def test_entities_come_by_degree_with_the_words_of_their_first_triple(
    store: GraphStore, n: int
) -> None:
    triples = _triples(seed=n, n=n)
    store.write_batch(Batch(triples=triples))
    for run in (None, "r1", "r2", "r3"):
        whole = _plain(triples, run)
        assert store.entity_names(run) == whole
        paged = [
            item
            for offset in range(0, len(whole), 3)
            for item in store.entity_names(run, limit=3, offset=offset)
        ]
        assert paged == whole
