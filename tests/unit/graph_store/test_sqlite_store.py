import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from evenhand.graph_store import sql
from evenhand.graph_store.rows import Batch, RunRow, TripleRow
from evenhand.graph_store.sqlite_store import SqliteStore


def _fact(number: int, subject: str = "hub", object_: str | None = None) -> TripleRow:
    end = object_ or f"leaf {number}"
    source = f"demo-{number}-00000000"
    return TripleRow(
        "r1", source, subject, "causes", end, subject, end, 0, "rules", f"{source}/t0-00000000"
    )


def test_the_file_is_in_wal_mode_with_full_sync_and_foreign_keys(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "g") as store:
        asked = [
            store._connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous", "foreign_keys")
        ]
        assert asked == ["wal", 2, 1]


def test_every_query_is_valid_and_no_lookup_scans_a_table(tmp_path: Path) -> None:
    lookups = [
        sql.ENTITY_OF_KEY.replace("?", ":a"),
        sql.TRIPLES_AT_ENTITY,
        sql.TRIPLE_OF_NUMBER.replace("?", ":a"),
        sql.TRIPLES_OF_SOURCE,
        sql.CHAIN_OF_RECORD,
        sql.JUDGEMENTS_OF_RECORD,
        sql.VARIANTS_CHANGING_ONLY,
        sql.RUN_OF_ID,
    ]
    names = ("a", "entity", "run", "limit", "offset", "source", "record", "sample", "attribute")
    with SqliteStore(tmp_path / "g") as store:
        for query in lookups:
            plan = store._connection.execute(f"EXPLAIN QUERY PLAN {query}", dict.fromkeys(names, 1))
            scanned = {row[3] for row in plan} & {"SCAN node", "SCAN triple", "SCAN link"}
            assert not scanned, query


def test_threads_take_turns(tmp_path: Path) -> None:
    failures: list[Exception] = []

    def work(store: SqliteStore, thread: int) -> None:
        try:
            for number in range(20):
                store.write_batch(Batch(triples=[_fact(100 * thread + number)]))
                store.neighbourhood("hub", hops=2)
        except Exception as error:
            failures.append(error)

    with SqliteStore(tmp_path / "g") as store:
        threads = [threading.Thread(target=work, args=(store, number)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert store.stats().triples == 80


OPENER = """
import sys
from pathlib import Path
from evenhand.graph_store.rows import Batch, RunRow
from evenhand.graph_store.sqlite_store import SqliteStore
sys.stdin.readline()
with SqliteStore(Path(sys.argv[1])) as store:
    store.write_batch(Batch(nodes=[RunRow(run=sys.argv[2], id=sys.argv[2])]))
"""


def test_processes_may_make_the_same_file_at_once(tmp_path: Path) -> None:
    path = tmp_path / "g"
    openers = [
        subprocess.Popen(
            [sys.executable, "-c", OPENER, str(path), f"r{number}"], stdin=subprocess.PIPE
        )
        for number in range(4)
    ]
    time.sleep(0.5)
    for opener in openers:
        opener.communicate(b"go\n", timeout=60)
    assert [opener.returncode for opener in openers] == [0] * 4
    with SqliteStore(path) as store:
        assert [row.id for row in store.runs()] == ["r0", "r1", "r2", "r3"]


def test_a_writer_waits_for_another_one(tmp_path: Path) -> None:
    path = tmp_path / "g"
    with SqliteStore(path) as store:
        other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        other.execute("BEGIN IMMEDIATE")
        threading.Timer(0.3, other.execute, ["COMMIT"]).start()
        began = time.monotonic()
        store.write_batch(Batch(nodes=[RunRow(run="r", id="r")]))
        assert time.monotonic() - began > 0.2
        other.close()


def test_an_interrupted_batch_is_rolled_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with SqliteStore(tmp_path / "g") as store:
        monkeypatch.setattr(sql, "MERGE_LINK", "INSERT INTO no_such_table VALUES (?)")
        with pytest.raises(sqlite3.OperationalError):
            store.write_batch(Batch(triples=[_fact(1)]))
        monkeypatch.undo()
        assert store.stats().nodes == {}
        store.write_batch(Batch(triples=[_fact(1)]))
        assert store.stats().triples == 1


def test_closing_twice_does_nothing(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "g")
    store.close()
    store.close()


def test_a_big_hub_does_not_slow_its_neighbourhood(tmp_path: Path) -> None:
    """A walk reads a page, not the hub: 20,000 triples with Zipf degrees, 3 hops, limit 100."""
    rng = np.random.default_rng(1)
    shares = 1 / np.arange(1, 4_001) ** 0.8
    ends = rng.choice(4_000, (20_000, 2), p=shares / shares.sum())
    facts = [_fact(i, f"e{a}", f"e{b}") for i, (a, b) in enumerate(ends.tolist())]
    with SqliteStore(tmp_path / "g") as store:
        for start in range(0, len(facts), 5_000):
            store.write_batch(Batch(triples=facts[start : start + 5_000]))
        spent = []
        for entity in range(0, 4_000, 40):
            began = time.process_time()
            store.neighbourhood(f"e{entity}", hops=3, limit=100)
            spent.append(time.process_time() - began)
        assert float(np.median(spent)) < 0.02, "about 1 ms where nothing else runs"
