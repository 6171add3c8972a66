"""Writing and walking the graph: our two stores against a bare driver script, as ratios.

`python bench/graph_store.py bolt://HOST:PORT [--triples 100000] [--rounds 3]` on an empty Neo4j:
what it writes there is deleted again. User and password: NEO4J_USERNAME, NEO4J_PASSWORD.

The triples are drawn by seed: entities by Zipf's law, 12 predicates. Each round writes them once by
the bare script (one UNWIND MERGE a type and batch, rows made beforehand), once by Neo4jStore and
once by SqliteStore (a transaction a batch, synchronous = FULL), in batches of 5,000, on the same
constraints. A second process reads neighbourhoods during one more round of each store, not timed.
Exit code 1 unless Neo4jStore has at least 0.9 of the bare script's throughput, SqliteStore at
least 3 times Neo4jStore's, and SqliteStore's neighbourhoods are the faster ones.
"""

import argparse
import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from neo4j import Driver, GraphDatabase

from evenhand.graph_store.rows import BATCH_ROWS, Batch, TripleRow
from evenhand.graph_store.store import GraphStore, open_store

ENTITIES_SHARE = 0.2
PREDICATES = (
    "has symptom", "has finding", "has history", "takes medication", "suggests", "causes",
    "is treated with", "indicates", "lives in", "travelled to", "has exposure", "denies",
)  # fmt: skip
RUN = "bench-graph"
WALKS = 200
Batches = Sequence[Sequence[TripleRow]]

READER = """
import sys
from pathlib import Path
from evenhand.graph_store.store import open_store
with open_store(sys.argv[1], Path()) as store:
    print("ready", flush=True)
    reads = rows = seen = 0
    while seen < int(sys.argv[2]):
        rows += len(store.neighbourhood("e1", hops=2).triples)
        seen = store.stats().triples
        reads += 1
print(reads, rows)
"""


def draw_triples(count: int, seed: int) -> list[TripleRow]:
    """Draw distinct triples whose entities have Zipf degrees."""
    chance = np.random.default_rng(seed)
    entities = int(count * ENTITIES_SHARE)
    weights = 1 / np.arange(1, entities + 1)
    ends = chance.choice(entities, size=(count, 2), p=weights / weights.sum())
    # Each entity is there: the first ones are the subjects of one triple each.
    ends[:entities, 0] = chance.permutation(entities)
    predicates = chance.integers(len(PREDICATES), size=count)
    order = chance.permutation(count)
    return [
        TripleRow(
            run=RUN,
            source_id=f"bench-{number}-00000000",
            subject=f"E{ends[number, 0]}",
            predicate=PREDICATES[predicates[number]],
            object=f"E{ends[number, 1]}",
            subject_key=f"e{ends[number, 0]}",
            object_key=f"e{ends[number, 1]}",
            hop=int(number % 4),
            origin="bench",
            id=f"bench-{number}-00000000/t0-00000000",
            position=0,
        )
        for number in order
    ]


def write(store: GraphStore, batches: Batches) -> float:
    """Write all batches; return the seconds."""
    began = time.perf_counter()
    for batch in batches:
        store.write_batch(Batch(triples=batch))
    return time.perf_counter() - began


def bare_rows(batches: Batches) -> list[dict[str, list[dict[str, Any]]]]:
    """Return each batch as the parameters of the bare script, by relationship type."""
    made = []
    for batch in batches:
        by_type: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for t in batch:
            kept = {
                "key": t.key, "run": t.run, "source_id": t.source_id, "subject": t.subject,
                "predicate": t.predicate, "object": t.object, "hop": t.hop, "origin": t.origin,
                "id": t.id, "position": t.position,
            }  # fmt: skip
            row = {"subject_key": t.subject_key, "object_key": t.object_key, "properties": kept}
            by_type[t.type].append(row)
        made.append(by_type)
    return made


def write_bare(driver: Driver, batches: list[dict[str, list[dict[str, Any]]]]) -> float:
    """Write the same rows as a script would; return the seconds."""

    def work(tx: Any, batch: dict[str, list[dict[str, Any]]]) -> None:
        for type_, rows in batch.items():
            tx.run(
                "UNWIND $rows AS row "
                "MERGE (s:Entity {id: row.subject_key}) MERGE (o:Entity {id: row.object_key}) "
                f"MERGE (s)-[r:{type_} {{key: row.properties.key}}]->(o) "
                "ON CREATE SET r = row.properties",
                rows=rows,
            ).consume()

    began = time.perf_counter()
    with driver.session() as session:
        for batch in batches:
            session.execute_write(work, batch)
    return time.perf_counter() - began


def walk(store: GraphStore, entities: Sequence[str]) -> tuple[list[float], list[Any]]:
    """Return the milliseconds and the triples of each entity's three-hop neighbourhood."""
    seconds, found = [], []
    for entity in entities:
        began = time.perf_counter()
        near = store.neighbourhood(entity, hops=3, limit=100)
        seconds.append(1_000 * (time.perf_counter() - began))
        found.append(near)
    return seconds, found


@contextlib.contextmanager
def a_reader(address: str, wanted: int, name: str) -> Iterator[None]:
    """Let a second process read until it sees all triples; print what it read."""
    words = [sys.executable, "-c", READER, address, str(wanted)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as reader:  # noqa: S603
        print(f"{name}: a second process is {reader.stdout.readline().strip()}")  # type: ignore[union-attr]
        yield
        reads, rows = map(int, reader.communicate(timeout=300)[0].split())
    print(f"{name}: it read {reads} times while the other wrote, {rows:,} triples, no error")
    if reader.returncode or reads < 3:
        raise SystemExit(f"{name}: the reader failed")


def in_turn(
    rounds: int, count: int, ways: dict[str, Callable[[], float]], clear: Callable[[], None]
) -> dict[str, float]:
    """Time each way once a round; return the median triples a second."""
    seconds: dict[str, list[float]] = defaultdict(list)
    for turn in range(rounds):
        # Who goes first changes: a warm page cache must not favour one.
        names = list(ways)[turn % len(ways) :] + list(ways)[: turn % len(ways)]
        for name in names:
            clear()
            seconds[name].append(ways[name]())
            print(f"round {turn + 1}: {name:12s} {seconds[name][-1]:6.2f} s", flush=True)
    return {name: count / statistics.median(found) for name, found in seconds.items()}


def bench(address: str, count: int, rounds: int, seed: int) -> bool:
    """Run everything; return whether all ratios are as promised."""
    triples = draw_triples(count, seed)
    batches = [triples[start : start + BATCH_ROWS] for start in range(0, count, BATCH_ROWS)]
    chance = np.random.default_rng(seed + 1)
    entities = sorted({key for t in triples for key in (t.subject_key, t.object_key)})
    print(f"{count:,} triples over {len(entities):,} entities, {len(batches)} batches, seed {seed}")
    password = os.environ.get("NEO4J_PASSWORD")
    auth = (os.environ.get("NEO4J_USERNAME") or "neo4j", password) if password else None
    with (
        tempfile.TemporaryDirectory() as folder,
        GraphDatabase.driver(address, auth=auth) as driver,
        open_store(address, Path(folder)) as neo4j,
    ):
        if neo4j.stats().nodes:
            raise SystemExit(f"{address} is not empty; expected an empty Neo4j")
        files = iter(range(1_000))

        def write_sqlite() -> float:
            with open_store(f"sqlite:{folder}/{next(files)}.sqlite", Path(folder)) as sqlite:
                return write(sqlite, batches)

        rows = bare_rows(batches)
        ways = {
            "bare script": lambda: write_bare(driver, rows),
            "Neo4jStore": lambda: write(neo4j, batches),
            "SqliteStore": write_sqlite,
        }
        neo4j.write_batch(Batch())
        print("warming up")
        write_bare(driver, rows[:4])
        neo4j.drop_run(RUN)
        write(neo4j, batches[:4])
        speed = in_turn(rounds, count, ways, lambda: neo4j.drop_run(RUN))

        neo4j.drop_run(RUN)
        with a_reader(address, count, "Neo4jStore"):
            write(neo4j, batches)
        file = f"sqlite:{folder}/last.sqlite"
        with open_store(file, Path(folder)) as sqlite:
            with a_reader(file, count, "SqliteStore"):
                write(sqlite, batches)
            if neo4j.checksum() != sqlite.checksum():
                raise SystemExit("the two stores hold different graphs")
            print("checksums of both stores are equal")
            asked = [entities[i] for i in chance.choice(len(entities), WALKS, replace=False)]
            walk(neo4j, asked[:50])
            ms_neo4j, found_neo4j = walk(neo4j, asked)
            ms_sqlite, found_sqlite = walk(sqlite, asked)
        if found_neo4j != found_sqlite:
            raise SystemExit("the two stores answer differently")
        neo4j.drop_run(RUN)
    for name, found in speed.items():
        print(f"{name:12s} {found:8,.0f} triples a second (median of {rounds})")
    ratios = {
        "Neo4jStore / bare script, throughput (>= 0.9)": speed["Neo4jStore"] / speed["bare script"],
        "SqliteStore / Neo4jStore, throughput (>= 3)": speed["SqliteStore"] / speed["Neo4jStore"],
        "SqliteStore / bare script, throughput": speed["SqliteStore"] / speed["bare script"],
    }
    for name, share in (("median", 0.5), ("95th percentile", 0.95)):
        ours, theirs = np.quantile(ms_sqlite, share), np.quantile(ms_neo4j, share)
        print(f"3 hops, limit 100, {name}: SqliteStore {ours:.2f} ms, Neo4jStore {theirs:.2f} ms")
        ratios[f"SqliteStore / Neo4jStore, 3 hops {name} (< 1)"] = float(ours / theirs)
    for name, ratio in ratios.items():
        print(f"{name:55s} {ratio:.2f}")
    to_script, to_neo4j, _, *walks = ratios.values()
    return to_script >= 0.9 and to_neo4j >= 3 and max(walks) < 1


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("--triples", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    wished = parser.parse_args()
    return int(not bench(wished.address, wished.triples, wished.rounds, wished.seed))


if __name__ == "__main__":
    raise SystemExit(main())
