"""What only a server can do: refuse a login, be too old, go away, come back."""

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Protocol

import pytest
from neo4j import Driver, GraphDatabase
from neo4j.exceptions import Neo4jError

from evenhand.agents.plan import DEFAULT_ROLES, Plan, Role, RoleModel
from evenhand.agents.workflow import run_workflow, start_run
from evenhand.graph_store import sync as sync_module
from evenhand.graph_store.errors import UserError
from evenhand.graph_store.neo4j_connection import GraphUnavailable
from evenhand.graph_store.neo4j_store import Neo4jStore
from evenhand.graph_store.rows import Batch, RunRow, TripleRow
from evenhand.graph_store.run_directory import RunDirectory
from evenhand.graph_store.sqlite_store import SqliteStore
from evenhand.graph_store.sync import sync

PASSWORD = "pw-of-the-test-9"  # noqa: S105


class Server(Protocol):
    address: str

    def start(self) -> None: ...
    def stop(self) -> None: ...
    def kill(self) -> None: ...


@pytest.fixture(scope="module")
def guarded(start_neo4j: Callable[..., Server]) -> Server:
    """A server that asks for a password."""
    return start_neo4j(PASSWORD)


@pytest.fixture
def login(monkeypatch: pytest.MonkeyPatch) -> Callable[[str | None], None]:
    def set_login(password: str | None) -> None:
        monkeypatch.delenv("NEO4J_USERNAME", raising=False)
        monkeypatch.delenv("NEO4J_PASSWORD", raising=False)
        if password is not None:
            monkeypatch.setenv("NEO4J_PASSWORD", password)

    return set_login


def fact(number: int, subject: str = "patient", run: str = "r1") -> TripleRow:
    return TripleRow(
        run=run,
        source_id="demo-0-00000000",
        subject=subject,
        predicate=("has symptom", "suggests", "is treated with")[number % 3],
        object=f"o{number}",
        subject_key=subject,
        object_key=f"o{number}",
        hop=0,
        origin="rules",
        id=f"demo-0-00000000/t{number}-00000000",
        position=number,
    )


def unavailable(address: str) -> GraphUnavailable:
    with pytest.raises(GraphUnavailable) as refused, Neo4jStore(address) as store:
        store.write_batch(Batch())
    message = str(refused.value)
    assert address in message
    assert "\n" not in message
    assert PASSWORD not in message
    return refused.value


def test_only_the_right_password_opens_it(
    guarded: Server, login: Callable[[str | None], None]
) -> None:
    for password in (None, "wrong-" + PASSWORD[::-1]):
        login(password)
        assert unavailable(guarded.address).reason == "auth"
    login(PASSWORD)
    with Neo4jStore(guarded.address) as store:
        assert store.stats().nodes == {}


def test_nothing_is_mixed_with_what_another_program_stored(
    guarded: Server, login: Callable[[str | None], None]
) -> None:
    login(PASSWORD)
    with GraphDatabase.driver(guarded.address, auth=("neo4j", PASSWORD)) as driver:
        driver.execute_query("CREATE (:Sample {id: 'theirs'})")
        refused = unavailable(guarded.address)
        assert refused.reason == "foreign_data"
        assert "NEO4J_DATABASE" in str(refused)
        constraints = driver.execute_query("SHOW CONSTRAINTS YIELD name RETURN name").records
        assert constraints == [], "refused before the first write"
        driver.execute_query("MATCH (n) DELETE n")
        with Neo4jStore(guarded.address) as store:
            store.write_batch(Batch(triples=[fact(1)]))
        driver.execute_query("MATCH (s:EvenhandSchema) SET s.version = 99")
        with pytest.raises(UserError, match="is of schema 99; expected 1"):
            Neo4jStore(guarded.address)


@pytest.mark.parametrize("agent", ["Neo4j/4.4.30", "Memgraph/3.0", ""])
def test_too_old_a_server_is_refused_at_once(
    neo4j_server: str, monkeypatch: pytest.MonkeyPatch, agent: str
) -> None:
    monkeypatch.setattr(Driver, "get_server_info", lambda _: SimpleNamespace(agent=agent))
    refused = unavailable(neo4j_server)
    assert refused.reason == "unsupported_server_version"
    assert "expected Neo4j 5 or newer" in str(refused)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("Neo.ClientError.Security.Forbidden", "forbidden"),
        ("Neo.ClientError.Security.TokenExpired", "auth"),
        ("Neo.ClientError.Database.DatabaseNotFound", "service_unavailable"),
    ],
)
def test_missing_rights_are_found_before_the_first_write(
    neo4j_address: str, monkeypatch: pytest.MonkeyPatch, code: str, reason: str
) -> None:
    # The community edition has no roles, so the refusal itself is scripted.
    def refuse(_: object) -> None:
        raise Neo4jError._hydrate_neo4j(code=code, message="not for\nthis user")

    with Neo4jStore(neo4j_address) as store:
        monkeypatch.setattr("evenhand.graph_store.neo4j_store._try_to_write", refuse)
        with pytest.raises(GraphUnavailable, match="this user") as refused:
            store.write_batch(Batch(triples=[fact(1)]))
        assert refused.value.reason == reason
        assert "\n" not in str(refused.value)
        assert store.stats().nodes == {}


@pytest.mark.parametrize(
    ("address", "cause"),
    [
        ("neo4j://127.0.0.1:9", "Connection refused"),
        ("bolt://127.0.0.1:9", "Connection refused"),
        ("neo4j+s://example.invalid", "resol|Name or service|not known"),
    ],
)
def test_nobody_there_is_said_soon_and_in_one_sentence(
    address: str, cause: str, login: Callable[[str | None], None]
) -> None:
    login(PASSWORD)
    began = time.monotonic()
    refused = unavailable(address)
    assert time.monotonic() - began < 15
    assert refused.reason == "service_unavailable"
    assert any(word in str(refused) for word in cause.split("|"))


def test_an_audit_does_not_begin_without_its_graph(tmp_path: Path) -> None:
    with pytest.raises(GraphUnavailable, match="cannot be reached"):
        asyncio.run(start_run(plan_for("bolt://127.0.0.1:9"), tmp_path / "runs"))
    assert not (tmp_path / "runs").exists()


def test_writers_at_the_same_time_lose_and_double_nothing(
    neo4j_address: str, tmp_path: Path
) -> None:
    batches = [
        [fact(number, f"s{(number * step) % 7}") for number in range(120)] for step in (1, 2, 3, 5)
    ]
    errors: list[BaseException] = []

    def write(facts: list[TripleRow]) -> None:
        try:
            with Neo4jStore(neo4j_address) as store:
                for start in range(0, 120, 30):
                    store.write_batch(Batch(triples=facts[start : start + 30][::-1]))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(facts,)) for facts in batches]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not [(type(error), str(error)) for error in errors]
    with Neo4jStore(neo4j_address) as store, SqliteStore(tmp_path / "graph.sqlite") as sqlite:
        for facts in batches:
            sqlite.write_batch(Batch(triples=facts))
        assert store.checksum() == sqlite.checksum()


def test_a_drop_that_was_cut_off_is_made_whole_by_the_next_sync(
    neo4j_address: str,
    make_run: Callable[..., RunDirectory],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = make_run("one", samples=8)
    monkeypatch.setattr("evenhand.graph_store.neo4j_store._DROP_ROWS", 10)
    with Neo4jStore(neo4j_address) as store:
        assert sync(run, store).error is None
        whole = store.checksum()
        drop = store._server.write
        left = iter(range(6))
        with monkeypatch.context() as patch:

            def cut_off(work: Any) -> Any:
                if next(left) == 5:
                    raise KeyboardInterrupt
                return drop(work)

            patch.setattr(store._server, "write", cut_off)
            with pytest.raises(KeyboardInterrupt):
                store.drop_run("one")
        assert store.checksum() != whole
        assert sync(run, store).error is None
        assert store.checksum() == whole
        store.drop_run("one")
        assert store.stats().nodes == {}


def plan_for(address: str) -> Plan:
    roles: dict[Role, RoleModel] = {**DEFAULT_ROLES, "target": RoleModel(model="planted/location")}
    return Plan(dataset="demo", n=5, roles=roles, graph=address)


@pytest.fixture(scope="module")
def own(start_neo4j: Callable[..., Server]) -> Server:
    """A server that may be ended."""
    return start_neo4j()


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_an_audit_ends_well_when_its_graph_goes_away(
    own: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    with Neo4jStore(own.address) as store:
        for row in store.runs():
            store.drop_run(row.id)
    monkeypatch.setattr(sync_module, "_RECORDS_A_BATCH", 20)
    write, batches = Neo4jStore.write_batch, iter(range(1_000_000))

    def write_and_end(store: Neo4jStore, batch: Batch) -> None:
        if next(batches) == 12:
            threading.Thread(target=getattr(own, end)).start()
        write(store, batch)

    monkeypatch.setattr(Neo4jStore, "write_batch", write_and_end)

    async def work() -> RunDirectory:
        run = await start_run(plan_for(own.address), tmp_path)
        await run_workflow(run, workspace=tmp_path)
        return run

    run = asyncio.run(work())
    assert run.measurements()
    warnings = [event.message for event in run.events() if event.kind == "warning"]
    assert any("records are safe in the run directory" in (text or "") for text in warnings)
    assert list(run.events())[-1].kind == "done"
    monkeypatch.undo()

    own.start()
    with Neo4jStore(own.address) as store, SqliteStore(tmp_path / "straight.sqlite") as straight:
        known = store.run(run.run_id)
        assert known is not None, "it was ended in the middle, not at the start"
        assert sync(run, straight).error is None
        assert store.stats() != straight.stats()
        assert sync(run, store).error is None
        assert store.stats() == straight.stats()
        assert store.checksum() == straight.checksum()


def test_an_outage_is_waited_for_once(
    own: Server, make_run: Callable[..., RunDirectory], caplog: pytest.LogCaptureFixture
) -> None:
    run = make_run("one")
    with Neo4jStore(own.address) as store:
        store.write_batch(Batch(nodes=[RunRow(run="other", id="other")]))
        own.kill()
        with caplog.at_level(logging.WARNING):
            assert "cannot be reached" in (sync(run, store).error or "")
        began = time.monotonic()
        assert sync(run, store).error is not None
        assert time.monotonic() - began < 2
        own.start()
        assert sync(run, store).error is None, "the same store goes on"
    assert "run one: its graph is not complete yet" in caplog.text
