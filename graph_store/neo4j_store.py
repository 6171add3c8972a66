"""The store for those who run Neo4j, from version 5 on, through the official driver."""

import threading
import uuid
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from evenhand.graph_store import cypher
from evenhand.graph_store.neo4j_connection import GraphUnavailable, Neo4jConnection
from evenhand.graph_store.neo4j_statements import Values, entity_id, statements
from evenhand.graph_store.rows import (
    AnswerRow,
    Batch,
    ChangedAnswer,
    ChangedCase,
    EntityName,
    EntityRow,
    Export,
    ExportedNode,
    ExportedRelationship,
    GraphStats,
    JudgementRow,
    Lineage,
    Neighbourhood,
    RunRow,
    RunSide,
    SampleRow,
    SideBySide,
    TripleContrast,
    TripleRow,
    VariantRow,
    checksum,
    from_properties,
    link_properties,
    triple_properties,
)
from evenhand.graph_store.schema import (
    GATE_RUBRIC,
    LINK_TYPES,
    SCHEMA_VERSION,
    clean_text,
    source_of,
)

if TYPE_CHECKING:
    from neo4j import ManagedTransaction, Result

_NO_LIMIT = 2**62
_WALK_ENTITIES = 32
"""Entities whose triples one query of a walk brings, after the first entity's."""
_MADE_MEANWHILE = (
    "Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists",
    "Neo.ClientError.Schema.ConstraintAlreadyExists",
    "Neo.ClientError.Schema.IndexAlreadyExists",
)
_DROP_ROWS = 10_000


class Neo4jStore:
    """A GraphStore on a server; what its operations promise is said in store.py.

    One object may be used from several threads. A batch is one transaction. Opening reads only;
    the first write of a store checks the rights, and makes the constraints and indexes where they
    are not there. Reads see what is committed, row by row: beside a writer, a count may fall
    inside a batch.
    """

    def __init__(self, address: str) -> None:
        """Connect and check the versions of server and schema.

        Raises:
            UserError: See Neo4jConnection; or the graph was made by a newer version.
        """
        self._server = Neo4jConnection(address)
        self._ready = False
        self._turn = threading.Lock()
        try:
            version = self._server.read(lambda tx: _one(tx, cypher.READ_VERSION, "version"))
            self._check_schema(version)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        """Return the store itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Close all connections; a second call does nothing."""
        self._server.close()

    def write_batch(self, batch: Batch) -> None:
        """Merge a batch in one transaction, which the driver repeats after a transient error."""
        queries = list(statements(batch))
        self._get_ready()
        if queries:
            self._server.write(lambda tx: _write(tx, queries))

    def neighbourhood(
        self,
        entity_key: str,
        *,
        hops: int = 1,
        limit: int = 100,
        offset: int = 0,
        run: str | None = None,
    ) -> Neighbourhood:
        """Walk breadth first, each entity's triples by key, and stop when the page is full."""
        asked = clean_text(entity_key)

        def read(tx: "ManagedTransaction") -> Neighbourhood:
            start = _one(tx, cypher.ENTITY_OF_KEY, "entity", id=entity_id(asked))
            if start is None:
                return Neighbourhood((), (), more=False)
            distances, found = _walk(tx, start, hops, offset + limit + 1, run)
            page = list(found.items())[offset : offset + limit]
            rows = _read(tx, cypher.TRIPLES_OF_ELEMENTS, elements=[element for element, _ in page])
            by_element = {row["element"]: _triple(row) for row in rows}
            triples = tuple(by_element[element] for element, _ in page)
            near = {asked: 0}
            for triple, (_, (subject, object_)) in zip(triples, page, strict=True):
                near[triple.subject_key] = distances[subject]
                near[triple.object_key] = distances[object_]
            entities = sorted((distance, key) for key, distance in near.items())
            return Neighbourhood(
                tuple(EntityRow(key, distance) for distance, key in entities),
                triples,
                more=len(found) > offset + limit,
            )

        return self._server.read(read)

    def lineage(self, record_id: str, run: str) -> Lineage | None:
        """Follow JUDGES, ANSWERS and VARIANT_OF from the record down to its sample."""

        def read(tx: "ManagedTransaction") -> Lineage | None:
            rows = _read(tx, cypher.CHAIN_OF_RECORD, record=source_of(record_id), run=run)
            steps = {row["label"]: (run, row["id"], row["properties"]) for row in rows}
            if not steps:
                return None
            sample, variant, answer, judgement = map(
                steps.get, ("Sample", "Variant", "Answer", "Judgement")
            )
            if judgement:
                judgements = [from_properties(JudgementRow, *judgement)]
            else:
                asked = [step[:2] for step in (answer, variant) if step]
                said = _judgements(tx, asked)
                judgements = [row for record in asked for row in said[record]]
            sources = [step[1] for step in (sample, answer) if step]
            triples = [triple for source in sources for triple in _triples_of(tx, source, run)]
            return Lineage(
                sample=from_properties(SampleRow, *sample) if sample else None,
                variant=from_properties(VariantRow, *variant) if variant else None,
                answer=from_properties(AnswerRow, *answer) if answer else None,
                judgements=tuple(judgements),
                triples=tuple(triples),
            )

        return self._server.read(read)

    def variants_changing_only(
        self,
        sample_id: str,
        attribute: str,
        *,
        run: str | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[ChangedAnswer]:
        """Find variants of the sample with this one change, and each answer to them."""

        def read(tx: "ManagedTransaction") -> list[ChangedAnswer]:
            rows = _read(
                tx,
                cypher.VARIANTS_CHANGING_ONLY,
                sample=sample_id,
                attribute=attribute,
                run=run,
                limit=limit,
                offset=offset,
            )
            records = {
                (row["run"], row[name])
                for row in rows
                for name in ("variant", "answer")
                if row[name] is not None
            }
            verdicts = _judgements(tx, sorted(records))
            return [_changed_answer(row, verdicts) for row in rows]

        return self._server.read(read)

    def triples_of(
        self, source_id: str, *, run: str | None = None, limit: int = 1_000, offset: int = 0
    ) -> list[TripleRow]:
        """Read a text's triples by hop, then in the order of the text."""
        return self._server.read(lambda tx: _triples_of(tx, source_id, run, limit, offset))

    def group_difference(
        self,
        attribute: str,
        *,
        run: str,
        hop: int | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[TripleContrast]:
        """Pair the answers, and count for each triple the pairs that differ in it."""

        def read(tx: "ManagedTransaction") -> list[TripleContrast]:
            stating = {row["source"] for row in _read(tx, cypher.SOURCES_OF_TRIPLES, run=run)}
            found = _read(tx, cypher.PAIRS_OF_ANSWERS, attribute=attribute, run=run)
            pairs = [row for row in found if {row["answer"], row["base"]} <= stating]
            sides = defaultdict(list)
            for row in pairs:
                sides[row["answer"]].append((row["answer"], "variant"))
                sides[row["base"]].append((row["answer"], "base"))
            counts = _read(
                tx,
                cypher.GROUP_DIFFERENCE,
                run=run,
                hop=hop,
                sides=dict(sides),
                limit=limit,
                offset=offset,
            )
            return [TripleContrast(**row, pairs=len(pairs)) for row in counts]

        return self._server.read(read)

    def changed_cases(
        self, attribute: str, *, run: str | None = None, limit: int = 100, offset: int = 0
    ) -> list[ChangedCase]:
        """Find the verdicts of a change on variants with this one change."""
        asked = {"attribute": attribute, "run": run, "limit": limit, "offset": offset}
        return [ChangedCase(**row) for row in self._rows(cypher.CHANGED_CASES, **asked)]

    def side_by_side(
        self, runs: Sequence[str], *, limit: int = 100, offset: int = 0
    ) -> list[SideBySide]:
        """Page through the askings of all the runs, then read each run's side of them."""

        def read(tx: "ManagedTransaction") -> list[SideBySide]:
            page = _read(tx, cypher.ASKINGS_OF_RUNS, runs=list(runs), limit=limit, offset=offset)
            variants = sorted({row["variant_id"] for row in page})
            answers: dict[tuple[Any, ...], AnswerRow] = {}
            for row in _read(tx, cypher.ANSWERS_TO_VARIANTS, runs=list(runs), variants=variants):
                answer = from_properties(AnswerRow, row["run"], row["id"], row["properties"])
                answers[row["run"], row["variant"], answer.arm, answer.repeat] = answer
            verdicts = _judgements(tx, [(answer.run, answer.id) for answer in answers.values()])
            return [
                SideBySide(
                    **asking,
                    sides=tuple(
                        _side(run, answers.get((run, *_asking_key(asking))), verdicts)
                        for run in runs
                    ),
                )
                for asking in page
            ]

        return self._server.read(read)

    def entity_names(
        self, run: str | None = None, *, limit: int = 1_000, offset: int = 0
    ) -> list[EntityName]:
        """Read the entities that triples use, those with most triples first."""
        rows = self._rows(cypher.ENTITY_NAMES, run=run, limit=limit, offset=offset)
        return [EntityName(**row) for row in rows]

    def runs(self, *, limit: int = 1_000, offset: int = 0) -> list[RunRow]:
        """Read the runs, oldest first."""
        rows = self._rows(cypher.RUNS, limit=limit, offset=offset)
        return [from_properties(RunRow, row["id"], row["id"], row["properties"]) for row in rows]

    def run(self, run: str) -> RunRow | None:
        """Read one run."""
        rows = self._rows(cypher.RUN_OF_ID, run=run)
        return from_properties(RunRow, run, run, rows[0]["properties"]) if rows else None

    def stats(self, run: str | None = None) -> GraphStats:
        """Count nodes and relationships."""
        count_nodes = cypher.COUNT_ALL_NODES if run is None else cypher.COUNT_NODES_OF_RUN

        def read(tx: "ManagedTransaction") -> GraphStats:
            nodes = {row["label"]: row["count"] for row in _read(tx, count_nodes, run=run)}
            found = _read(tx, cypher.COUNT_RELATIONSHIPS, run=run)
            counts = {row["type"]: row["count"] for row in found}
            triples = sum(n for type_, n in counts.items() if type_ not in LINK_TYPES)
            return GraphStats({label: n for label, n in nodes.items() if n}, counts, triples)

        return self._server.read(read)

    def checksum(self, run: str | None = None) -> str:
        """Hash all content, one item at a time."""
        return self._server.read(lambda tx: checksum(chain(_nodes(tx, run), _edges(tx, run))))

    def export(self, run: str) -> Export:
        """Read the run's part as a dict."""
        return self._server.read(
            lambda tx: Export(
                schema_version=SCHEMA_VERSION,
                run=run,
                nodes=sorted(_nodes(tx, run), key=lambda node: (node["label"], node["id"])),
                relationships=sorted(_edges(tx, run), key=lambda item: (item["type"], item["key"])),
            )
        )

    def drop_run(self, run: str) -> None:
        """Delete what is the run's, then the entities that nothing uses.

        A large run takes several transactions. Cut off in between, it leaves a Run that is marked,
        which the next sync drops whole.
        """
        self._get_ready()
        while self._server.write(lambda tx: _drop_some(tx, run)):
            continue

    def _rows(self, query: str, **values: Any) -> list[dict[str, Any]]:
        return self._server.read(lambda tx: _read(tx, query, **values))

    def _get_ready(self) -> None:
        """Before the first write: check the rights, and make what the graph needs, once."""
        with self._turn:
            if self._ready:
                return
            self._server.write(_try_to_write)
            version = self._server.read(lambda tx: _one(tx, cypher.READ_VERSION, "version"))
            if version is None:
                version = self._create_schema()
            self._check_schema(version)
            self._ready = True

    def _create_schema(self) -> int:
        foreign = self._server.read(lambda tx: _one(tx, cypher.ANY_OF_OUR_LABELS, "labels"))
        if foreign is not None:
            raise GraphUnavailable(
                "foreign_data",
                f"Graph {self._server.shown!r} holds {foreign[0]} nodes of another program; "
                "expected a database made by evenhand or an empty one: name one in NEO4J_DATABASE.",
            )
        for statement in cypher.CREATE_SCHEMA:
            self._create_rule(statement)
        self._server.read(lambda tx: _consume(tx, cypher.AWAIT_INDEXES))
        marked = self._server.write(
            lambda tx: _one(tx, cypher.MARK_VERSION, "version", version=SCHEMA_VERSION)
        )
        return int(marked)

    def _create_rule(self, statement: str) -> None:
        from neo4j.exceptions import ClientError

        try:
            self._server.write(lambda tx: _consume(tx, statement))
        except ClientError as error:
            # IF NOT EXISTS looks before it locks: another writer may have made it in between.
            if error.code not in _MADE_MEANWHILE:
                raise

    def _check_schema(self, version: int | None) -> None:
        if version not in (None, SCHEMA_VERSION):
            raise GraphUnavailable(
                "foreign_data",
                f"Graph {self._server.shown!r} is of schema {version}; expected {SCHEMA_VERSION}: "
                "use the version of evenhand that made it, or name another database in "
                "NEO4J_DATABASE and fill it with `evenhand sync RUN`.",
            )


def _run(tx: "ManagedTransaction", query: str, values: Values) -> "Result":
    # The driver wants literals; all of ours are of cypher.py.
    return tx.run(query, dict(values))  # pyright: ignore[reportArgumentType]


def _read(tx: "ManagedTransaction", query: str, **values: Any) -> list[dict[str, Any]]:
    return [record.data() for record in _run(tx, query, values)]


def _one(tx: "ManagedTransaction", query: str, name: str, **values: Any) -> Any:
    rows = _read(tx, query, **values)
    return rows[0][name] if rows else None


def _consume(tx: "ManagedTransaction", query: str, **values: Any) -> None:
    _run(tx, query, values).consume()


def _try_to_write(tx: "ManagedTransaction") -> None:
    _consume(tx, cypher.TRY_TO_WRITE, id=str(uuid.uuid4()))


def _write(tx: "ManagedTransaction", statements: Iterable[tuple[str, Values]]) -> None:
    _consume(tx, cypher.TAKE_TURN)
    for query, values in statements:
        _consume(tx, query, **values)


def _drop_some(tx: "ManagedTransaction", run: str) -> bool:
    """Delete up to _DROP_ROWS of a kind; True if there is more to do."""
    _consume(tx, cypher.TAKE_TURN)
    _consume(tx, cypher.MARK_AS_DROPPED, run=run)
    for query in cypher.DROP_RUN:
        if _one(tx, query, "deleted", run=run, limit=_DROP_ROWS) == _DROP_ROWS:
            return True
    return False


def _walk(
    tx: "ManagedTransaction", start: str, hops: int, wanted: int, run: str | None
) -> tuple[dict[str, int], dict[str, tuple[str, str]]]:
    """Return the steps to each entity met, and the first triples with their ends, by element id.

    Entities are taken in the order in which they were met; several share a query.
    """
    distances = {start: 0}
    found: dict[str, tuple[str, str]] = {}
    waiting = deque([start])
    while waiting and len(found) < wanted and distances[waiting[0]] < hops:
        size = _WALK_ENTITIES if distances[waiting[0]] else 1
        entities = [waiting.popleft() for _ in range(min(size, len(waiting)))]
        rows = _read(tx, cypher.TRIPLES_AT_ENTITIES, entities=entities, run=run, wanted=wanted)
        triples = {row["entity"]: row["triples"] for row in rows}
        for entity in entities:
            if len(found) >= wanted or distances[entity] == hops:
                return distances, found
            for triple, *ends in triples.get(entity, ()):
                found[triple] = (ends[0], ends[1])
                for end in ends:
                    if end not in distances:
                        distances[end] = distances[entity] + 1
                        waiting.append(end)
    return distances, found


def _triple(row: Values) -> TripleRow:
    return TripleRow(**{name: value for name, value in row.items() if name in _TRIPLE_FIELDS})


_TRIPLE_FIELDS = frozenset(TripleRow.__dataclass_fields__)


def _triples_of(
    tx: "ManagedTransaction",
    source_id: str,
    run: str | None,
    limit: int = _NO_LIMIT,
    offset: int = 0,
) -> list[TripleRow]:
    rows = _read(
        tx, cypher.TRIPLES_OF_SOURCE, source=source_id, run=run, limit=limit, offset=offset
    )
    return [_triple(row) for row in rows]


Verdicts = Mapping[tuple[str, str], Sequence[JudgementRow]]
"""The judgements of records, by run and id."""


def _judgements(tx: "ManagedTransaction", records: Sequence[tuple[str, str]]) -> Verdicts:
    found: dict[tuple[str, str], list[JudgementRow]] = defaultdict(list)
    asked = [list(record) for record in records]
    for row in _read(tx, cypher.JUDGEMENTS_OF_RECORDS, records=asked):
        verdict = from_properties(JudgementRow, row["run"], row["id"], row["properties"])
        found[row["run"], row["record"]].append(verdict)
    return found


def _changed_answer(row: Values, verdicts: Verdicts) -> ChangedAnswer:
    run, answer = row["run"], row["answer"]
    said = from_properties(AnswerRow, run, answer or "", row["properties"] or {})
    checks = verdicts.get((run, row["variant"]), ())
    gate = [verdict for verdict in checks if verdict.rubric == GATE_RUBRIC]
    return ChangedAnswer(
        run=run,
        variant_id=row["variant"],
        before=row["before"],
        after=row["after"],
        gate=str(gate[-1].value) if gate and gate[-1].status == "ok" else None,
        answer_id=answer,
        arm=said.arm,
        repeat=said.repeat,
        status=said.status,
        text=said.text,
        verdicts=tuple(verdicts.get((run, answer), ())) if answer else (),
    )


def _asking_key(asking: Values) -> tuple[Any, ...]:
    return asking["variant_id"], asking["arm"], asking["repeat"]


def _side(run: str, answer: AnswerRow | None, verdicts: Verdicts) -> RunSide:
    if answer is None:
        return RunSide(run, None, None, None, None, ())
    said = tuple(verdicts.get((run, answer.id), ()))
    return RunSide(run, answer.id, answer.model, answer.status, answer.text, said)


_OWN = frozenset({"run", "id", "full_id", "synced"})
"""Properties of a node that stand beside its others in an export, or are no content."""


def _nodes(tx: "ManagedTransaction", run: str | None) -> Iterator[ExportedNode]:
    for row in _run(tx, cypher.ALL_NODES, {"run": run}):
        kept = {name: value for name, value in row["properties"].items() if name not in _OWN}
        yield ExportedNode(label=row["label"], id=row["id"], run=row["run"], properties=kept)


def _edges(tx: "ManagedTransaction", run: str | None) -> Iterator[ExportedRelationship]:
    for row in _run(tx, cypher.ALL_TRIPLES, {"run": run}):
        triple = _triple(row.data())
        yield ExportedRelationship(
            type=row["type"],
            key=row["key"],
            run=triple.run,
            start_label="Entity",
            start_id=triple.subject_key,
            end_label="Entity",
            end_id=triple.object_key,
            properties=triple_properties(triple),
        )
    for row in _run(tx, cypher.ALL_LINKS, {"run": run}):
        yield ExportedRelationship(
            type=row["type"],
            key=row["key"],
            run=row["run"],
            start_label=row["start_label"],
            start_id=row["start_id"],
            end_label=row["end_label"],
            end_id=row["end_id"],
            properties=link_properties(row["attribute"], row["before"], row["after"]),
        )
