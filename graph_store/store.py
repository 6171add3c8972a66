"""The named operations of a graph store, and how one is opened by its address."""

from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.redact import redact
from evenhand.graph_store.rows import (
    Batch,
    ChangedAnswer,
    Export,
    GraphStats,
    Lineage,
    Neighbourhood,
    RunRow,
    TripleRow,
)
from evenhand.graph_store.sqlite_store import SqliteStore

GRAPH_FILE = "graph.sqlite"
_NEO4J_SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")


class GraphStore(Protocol):
    """What every store can be asked, with the same answers from each.

    Operations with `run` are about one run; None is about all of them. Pages are stable while
    nothing is written: the order of rows is part of the promise. A store that is down or busy
    raises its driver's own error; sync.py turns it into a report.
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

    Raises:
        UserError: An address of another form, or a file that cannot be opened.
    """
    path = check_address(address, workspace)
    if address == "sqlite":
        workspace.mkdir(parents=True, exist_ok=True)
    return SqliteStore(path)


def check_address(address: str, workspace: Path) -> Path:
    """Return the file that an address means, without touching it: for the check of a plan.

    Raises:
        UserError: An address of another form.
    """
    shown = redact(address)
    scheme, colon, rest = address.partition(":")
    if address == "sqlite":
        return workspace / GRAPH_FILE
    if scheme == "sqlite" and rest and not rest.startswith("//"):
        return Path(rest)
    if colon and scheme in _NEO4J_SCHEMES:
        raise UserError(
            f"Graph {shown!r} is a Neo4j server, which comes with the extra neo4j of a later "
            "version; expected 'sqlite' or 'sqlite:PATH' in this one."
        )
    raise UserError(
        f"Graph {shown!r} is unknown; expected 'sqlite' (graph.sqlite in the workspace) or "
        "'sqlite:PATH'."
    )
