"""The named operations of a graph store, and how one is opened by its address."""

import re
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.neo4j_store import Neo4jStore
from evenhand.graph_store.redact import redact
from evenhand.graph_store.rows import (
    Batch,
    ChangedAnswer,
    ChangedCase,
    EntityName,
    Export,
    GraphStats,
    Lineage,
    Neighbourhood,
    RunRow,
    SideBySide,
    TripleContrast,
    TripleRow,
)
from evenhand.graph_store.sqlite_store import SqliteStore

GRAPH_FILE = "graph.sqlite"
_SERVER = re.compile(r"//(?:\[[0-9A-Fa-f:.]+\]|[^/?#@:\s]+)(?::\d{1,5})?/?(?:\?[^\s@]*)?")
_NEO4J_SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")


class GraphStore(Protocol):
    """What every store can be asked, with the same answers from each.

    Operations with `run` are about one run; None is about all of them. Pages are stable while
    nothing is written: the order of rows is part of the promise. A server that is down or
    busy raises GraphUnavailable, a file its driver's own error; sync.py turns both into a report.
    """

    def write_batch(self, batch: Batch) -> None:
        """Merge a batch, all of it or nothing; writing it twice changes nothing.

        A node takes the properties of its newest row. The same fact of the same source, hop and
        run is one relationship and keeps its first words. Ends that are not there yet are made.

        Raises:
            ValueError: A number that is not finite or does not fit 64 bits.
        """
        ...

    def neighbourhood(
        self,
        entity_key: str,
        *,
        hops: int = 1,
        limit: int = 100,
        offset: int = 0,
        run: str | None = None,
    ) -> Neighbourhood:
        """Return the triples that a walk of `hops` steps from an entity can use, nearest first.

        Direction does not matter. The walk is breadth first, and takes an entity's triples in the
        order of their keys; `limit` and `offset` page through the triples in that order. An
        unknown entity has no entities and no triples.
        """
        ...

    def lineage(self, record_id: str, run: str) -> Lineage | None:
        """Return the chain of a sample, variant, answer, judgement or triple; None if unknown.

        A triple's chain is its source's.
        """
        ...

    def variants_changing_only(
        self,
        sample_id: str,
        attribute: str,
        *,
        run: str | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[ChangedAnswer]:
        """Return the variants of a sample that differ in this attribute alone, and what was said.

        A row an answer, by run, variant, way of asking and repeat; a variant that was not asked
        has one row without an answer.
        """
        ...

    def triples_of(
        self, source_id: str, *, run: str | None = None, limit: int = 1_000, offset: int = 0
    ) -> list[TripleRow]:
        """Return the triples of a sample or an answer, by run and hop, in the order of the text."""
        ...

    def group_difference(
        self,
        attribute: str,
        *,
        run: str,
        hop: int | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[TripleContrast]:
        """Return the triples that only one side of some pair states, and how many pairs do so.

        A pair is the first answer to a variant that changes this attribute alone, and the first
        answer to `base` asked the same way. It counts when both answers are ok, both state some
        triple (an answer without a hop that could be read is no evidence of absence), and the gate
        did not reject the variant. A row a triple and hop, the most different first: by the
        distance of the two counts, by their sum, then by hop, subject, type and object.
        """
        ...

    def changed_cases(
        self, attribute: str, *, run: str | None = None, limit: int = 100, offset: int = 0
    ) -> list[ChangedCase]:
        """Return every case where only this attribute changed, and the clinical answer with it.

        A row a verdict of "paired_change" that is 1 in "any" kind, on an answer to a variant that
        changes this attribute alone and that the gate did not reject; by run, sample, variant, way
        of asking, answer and verdict, in the order of the data set.
        """
        ...

    def side_by_side(
        self, runs: Sequence[str], *, limit: int = 100, offset: int = 0
    ) -> list[SideBySide]:
        """Return what each of some runs has of the same asking: variant, way of asking, repeat.

        Every asking of any of the runs, in the order of the data set: by sample, variant, way of
        asking and repeat. A run that does not have it has an empty side.
        """
        ...

    def entity_names(
        self, run: str | None = None, *, limit: int = 1_000, offset: int = 0
    ) -> list[EntityName]:
        """Return the entities that triples use, with a name and how many triples have them.

        Those with most triples first, then by key. The name is as the entity's first triple (by
        the triples' keys) writes it; as its subject, should it be both ends.
        """
        ...

    def runs(self, *, limit: int = 1_000, offset: int = 0) -> list[RunRow]:
        """Return the runs that the graph knows, oldest first."""
        ...

    def run(self, run: str) -> RunRow | None:
        """Return one run, None if the graph does not know it."""
        ...

    def stats(self, run: str | None = None) -> GraphStats:
        """Return counts by label and type; a run's entities are those that its triples use."""
        ...

    def checksum(self, run: str | None = None) -> str:
        """Return a hash of all content: two stores with equal graphs have equal ones.

        It reads everything (about a second for 100,000 triples).
        """
        ...

    def export(self, run: str) -> Export:
        """Return a run's part of the graph as a plain dict, sorted, for JSON."""
        ...

    def drop_run(self, run: str) -> None:
        """Delete a run and the entities that no other run uses; unknown runs are no error."""
        ...

    def close(self) -> None:
        """Give back files and connections; a second call does nothing."""
        ...

    def __enter__(self) -> Self:
        """Return the store."""
        ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        ...


def open_store(address: str, workspace: Path) -> GraphStore:
    """Open a graph: "sqlite" is graph.sqlite in the workspace, "sqlite:PATH" another file.

    bolt://host:port and neo4j://host:port (+s, +ssc for TLS) are a Neo4j server; user and password
    come from the environment, see neo4j_connection.py.

    Raises:
        UserError: An address of another form, a file that cannot be opened, or a server that
            cannot be used (GraphUnavailable).
    """
    path = check_address(address, workspace)
    if path is None:
        return Neo4jStore(address)
    if address == "sqlite":
        workspace.mkdir(parents=True, exist_ok=True)
    return SqliteStore(path)


def check_address(address: str, workspace: Path) -> Path | None:
    """Return the file that an address means, None for a server; nothing is touched or asked.

    Raises:
        UserError: An address of another form, or of a server whose driver is not installed.
    """
    shown = redact(address)
    scheme, colon, rest = address.partition(":")
    if address == "sqlite":
        return workspace / GRAPH_FILE
    if scheme == "sqlite" and rest and not rest.startswith("//"):
        return Path(rest)
    if colon and scheme in _NEO4J_SCHEMES:
        _check_server(rest, shown)
        return None
    raise UserError(
        f"Graph {shown!r} is unknown; expected 'sqlite' (graph.sqlite in the workspace), "
        "'sqlite:PATH' or a Neo4j server ('bolt://HOST:PORT', 'neo4j://HOST:PORT')."
    )


def _check_server(rest: str, shown: str) -> None:
    if "@" in rest:
        # The address goes into the manifest.
        raise UserError(
            f"Graph {shown!r} has a user in its address; expected it without: put user and "
            "password in NEO4J_USERNAME and NEO4J_PASSWORD."
        )
    if not _SERVER.fullmatch(rest):
        raise UserError(
            f"Graph {shown!r} is no server's address; expected 'bolt://HOST:PORT' or "
            "'neo4j://HOST:PORT' (7687 is the usual port, 'neo4j+s' with TLS)."
        )
    if find_spec("neo4j") is None:
        raise UserError(
            f"Graph {shown!r} is a Neo4j server, and its driver is not installed; expected the "
            "package neo4j: install evenhand with the extra 'neo4j'."
        )
