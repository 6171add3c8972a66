"""The embedded store: one SQLite file, no server, readable by other processes while one writes."""

import contextlib
import json
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from evenhand.graph_store import sql
from evenhand.graph_store.errors import UserError
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
    Link,
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
    properties,
    triple_properties,
)
from evenhand.graph_store.schema import GATE_RUBRIC, SCHEMA_VERSION, Label, clean_text, source_of

BUSY_SECONDS = 30
"""How long a writer waits for another one."""
_NO_RUN = ""
_NO_LIMIT = -1


class SqliteStore:
    """A GraphStore in one file, in WAL mode; what its operations promise is said in store.py.

    One object may be used from several threads; they take turns. A batch is one transaction: after
    `kill -9` it is there whole or not at all.
    """

    def __init__(self, path: Path) -> None:
        """Open the file, or make it.

        Raises:
            UserError: It cannot be opened, is no graph of ours, or was made by a newer version.
        """
        self.path = path
        self._turn = threading.RLock()
        try:
            self._connection = sqlite3.connect(
                path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
        except sqlite3.OperationalError as error:
            raise UserError(_cannot_open(path, error)) from None
        try:
            self._prepare()
        except sqlite3.DatabaseError as error:
            self._connection.close()
            raise UserError(_cannot_open(path, error)) from None
        except UserError:
            self._connection.close()
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
        """Give the file back; a second call does nothing."""
        with self._turn:
            self._connection.close()

    def write_batch(self, batch: Batch) -> None:
        """Merge a batch in one transaction."""
        nodes = [
            (row.label, row.run, row.id, json.dumps(properties(row), ensure_ascii=False))
            for row in batch.nodes
        ]
        triples = [_triple_values(triple) for triple in batch.triples]
        links = [_link_values(link) for link in batch.links]
        bare = sorted(set(_bare_nodes(batch)))
        with self._transaction(sql.BEGIN_WRITE) as writing:
            writing.executemany(sql.MERGE_NODE, nodes)
            writing.executemany(sql.MERGE_BARE_NODE, bare)
            writing.executemany(sql.MERGE_TRIPLE, triples)
            writing.executemany(sql.MERGE_LINK, links)

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
        with self._transaction(sql.BEGIN_READ) as reading:
            start = reading.execute(sql.ENTITY_OF_KEY, (asked,)).fetchone()
            if start is None:
                return Neighbourhood((), (), more=False)
            distances, found = self._walk(start[0], hops, offset + limit + 1, run)
            page = [
                reading.execute(sql.TRIPLE_OF_NUMBER, (number,)).fetchone()
                for number in found[offset : offset + limit]
            ]
        triples = tuple(TripleRow(*row[:-2]) for row in page)
        near = {asked: 0}
        for triple, (*_, subject, object_) in zip(triples, page, strict=True):
            near[triple.subject_key] = distances[subject]
            near[triple.object_key] = distances[object_]
        entities = sorted((distance, key) for key, distance in near.items())
        return Neighbourhood(
            tuple(EntityRow(key, distance) for distance, key in entities),
            triples,
            more=len(found) > offset + limit,
        )

    def _walk(
        self, start: int, hops: int, wanted: int, run: str | None
    ) -> tuple[dict[int, int], list[int]]:
        """Return the steps to each entity met, and the first `wanted` triples, by row number."""
        distances = {start: 0}
        found: dict[int, None] = {}
        waiting = deque([start])
        while waiting and len(found) < wanted:
            entity = waiting.popleft()
            if distances[entity] == hops:
                break
            at_entity = {"entity": entity, "run": run, "limit": wanted}
            for number, *ends in self._connection.execute(sql.TRIPLES_AT_ENTITY, at_entity):
                found[number] = None
                for end in ends:
                    if end not in distances:
                        distances[end] = distances[entity] + 1
                        waiting.append(end)
        return distances, list(found)

    def lineage(self, record_id: str, run: str) -> Lineage | None:
        """Follow JUDGES, ANSWERS and VARIANT_OF from the record down to its sample."""
        with self._transaction(sql.BEGIN_READ):
            rows = self._read(sql.CHAIN_OF_RECORD, {"record": source_of(record_id), "run": run})
            steps = {label: (run, id, json.loads(found)) for label, id, found in rows}
            if not steps:
                return None
            sample, variant, answer, judgement = map(
                steps.get, ("Sample", "Variant", "Answer", "Judgement")
            )
            if judgement:
                judgements = [from_properties(JudgementRow, *judgement)]
            else:
                judgements = [
                    row
                    for step in (answer, variant)
                    if step
                    for row in self._judgements(step[1], run)
                ]
            triples = [
                triple
                for step in (sample, answer)
                if step
                for triple in self.triples_of(step[1], run=run, limit=_NO_LIMIT)
            ]
        return Lineage(
            sample=from_properties(SampleRow, *sample) if sample else None,
            variant=from_properties(VariantRow, *variant) if variant else None,
            answer=from_properties(AnswerRow, *answer) if answer else None,
            judgements=tuple(judgements),
            triples=tuple(triples),
        )

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
        asked = {
            "sample": sample_id,
            "attribute": attribute,
            "run": run,
            "limit": limit,
            "offset": offset,
        }
        return [self._changed_answer(*row) for row in self._read(sql.VARIANTS_CHANGING_ONLY, asked)]

    def _changed_answer(
        self,
        run: str,
        variant: str,
        before: str | None,
        after: str,
        answer: str | None,
        found: str | None,
    ) -> ChangedAnswer:
        said = from_properties(AnswerRow, run, answer or "", json.loads(found or "{}"))
        gate = [row for row in self._judgements(variant, run) if row.rubric == GATE_RUBRIC]
        return ChangedAnswer(
            run=run,
            variant_id=variant,
            before=before,
            after=after,
            gate=str(gate[-1].value) if gate and gate[-1].status == "ok" else None,
            answer_id=answer,
            arm=said.arm,
            repeat=said.repeat,
            status=said.status,
            text=said.text,
            verdicts=tuple(self._judgements(answer, run)) if answer else (),
        )

    def _judgements(self, record_id: str, run: str) -> list[JudgementRow]:
        rows = self._read(sql.JUDGEMENTS_OF_RECORD, {"record": record_id, "run": run})
        return [from_properties(JudgementRow, run, id, json.loads(found)) for id, found in rows]

    def triples_of(
        self, source_id: str, *, run: str | None = None, limit: int = 1_000, offset: int = 0
    ) -> list[TripleRow]:
        """Read a text's triples by hop, then in the order of the text."""
        asked = {"source": source_id, "run": run, "limit": limit, "offset": offset}
        return [TripleRow(*row) for row in self._read(sql.TRIPLES_OF_SOURCE, asked)]

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
        asked = {
            "attribute": attribute,
            "run": run,
            "hop": hop,
            "limit": limit,
            "offset": offset,
        }
        return [TripleContrast(*row) for row in self._read(sql.GROUP_DIFFERENCE, asked)]

    def changed_cases(
        self, attribute: str, *, run: str | None = None, limit: int = 100, offset: int = 0
    ) -> list[ChangedCase]:
        """Find the verdicts of a change on variants with this one change."""
        asked = {"attribute": attribute, "run": run, "limit": limit, "offset": offset}
        return [ChangedCase(*row) for row in self._read(sql.CHANGED_CASES, asked)]

    def side_by_side(
        self, runs: Sequence[str], *, limit: int = 100, offset: int = 0
    ) -> list[SideBySide]:
        """Page through the askings of all the runs, then read each run's side of them."""
        of_runs = {"runs": json.dumps(list(runs))}
        with self._transaction(sql.BEGIN_READ):
            page = self._read(sql.ASKINGS_OF_RUNS, {**of_runs, "limit": limit, "offset": offset})
            return [self._asking(*row, runs=runs) for row in page]

    def _asking(
        self,
        sample: str,
        variant: str,
        group: str | None,
        arm: str | None,
        repeat: int | None,
        *,
        runs: Sequence[str],
    ) -> SideBySide:
        asked = {"runs": json.dumps(list(runs)), "variant": variant, "arm": arm, "repeat": repeat}
        rows = self._read(sql.ANSWERS_TO_VARIANT, asked)
        answers = {run: from_properties(AnswerRow, run, id, json.loads(f)) for run, id, f in rows}
        sides = tuple(self._side(run, answers.get(run)) for run in runs)
        return SideBySide(sample, variant, group, arm, repeat, sides)

    def _side(self, run: str, answer: AnswerRow | None) -> RunSide:
        if answer is None:
            return RunSide(run, None, None, None, None, ())
        verdicts = tuple(self._judgements(answer.id, run))
        return RunSide(run, answer.id, answer.model, answer.status, answer.text, verdicts)

    def entity_names(
        self, run: str | None = None, *, limit: int = 1_000, offset: int = 0
    ) -> list[EntityName]:
        """Read the entities that triples use, those with most triples first."""
        asked = {"run": run, "limit": limit, "offset": offset}
        return [EntityName(*row) for row in self._read(sql.ENTITY_NAMES, asked)]

    def runs(self, *, limit: int = 1_000, offset: int = 0) -> list[RunRow]:
        """Read the runs, oldest first."""
        rows = self._read(sql.RUNS, {"limit": limit, "offset": offset})
        return [from_properties(RunRow, id, id, json.loads(found)) for id, found in rows]

    def run(self, run: str) -> RunRow | None:
        """Read one run."""
        rows = self._read(sql.RUN_OF_ID, {"run": run})
        return from_properties(RunRow, run, run, json.loads(rows[0][0])) if rows else None

    def stats(self, run: str | None = None) -> GraphStats:
        """Count nodes and relationships."""
        of_run = {"run": run}
        with self._transaction(sql.BEGIN_READ) as reading:
            nodes = dict(reading.execute(sql.COUNT_NODES, of_run).fetchall())
            triples = dict(reading.execute(sql.COUNT_TRIPLES, of_run).fetchall())
            links = dict(reading.execute(sql.COUNT_LINKS, of_run).fetchall())
        return GraphStats(nodes, triples | links, sum(triples.values()))

    def checksum(self, run: str | None = None) -> str:
        """Hash all content, one item at a time."""
        with self._transaction(sql.BEGIN_READ):
            return checksum(chain(self._nodes(run), self._relationships(run)))

    def export(self, run: str) -> Export:
        """Read the run's part as a dict."""
        with self._transaction(sql.BEGIN_READ):
            return Export(
                schema_version=SCHEMA_VERSION,
                run=run,
                nodes=sorted(self._nodes(run), key=lambda node: (node["label"], node["id"])),
                relationships=sorted(
                    self._relationships(run), key=lambda item: (item["type"], item["key"])
                ),
            )

    def drop_run(self, run: str) -> None:
        """Delete in one transaction what is the run's, then the entities that nothing uses."""
        with self._transaction(sql.BEGIN_WRITE) as writing:
            for statement in sql.DROP_RUN:
                writing.execute(statement, {"run": run})
            writing.execute(sql.DROP_ENTITIES_LEFT_ALONE)

    def _nodes(self, run: str | None) -> Iterator[ExportedNode]:
        for label, owner, id, found in self._connection.execute(sql.ALL_NODES, {"run": run}):
            kept = json.loads(found)
            kept.pop("synced", None)
            yield ExportedNode(label=label, id=id, run=owner or None, properties=kept)

    def _relationships(self, run: str | None) -> Iterator[ExportedRelationship]:
        of_run = {"run": run}
        for type_, key, *columns in self._connection.execute(sql.ALL_TRIPLES, of_run):
            triple = TripleRow(*columns)
            yield ExportedRelationship(
                type=type_,
                key=key,
                run=triple.run,
                start_label="Entity",
                start_id=triple.subject_key,
                end_label="Entity",
                end_id=triple.object_key,
                properties=triple_properties(triple),
            )
        for type_, key, owner, *ends, attribute, before, after in self._connection.execute(
            sql.ALL_LINKS, of_run
        ):
            yield ExportedRelationship(
                type=type_,
                key=key,
                run=owner,
                start_label=ends[0],
                start_id=ends[1],
                end_label=ends[2],
                end_id=ends[3],
                properties=link_properties(attribute, before, after),
            )

    def _read(self, query: str, values: dict[str, str | int | None]) -> list[tuple[Any, ...]]:
        with self._turn:
            return self._connection.execute(query, values).fetchall()

    @contextlib.contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with self._turn:
            self._connection.execute(begin)
            try:
                yield self._connection
                self._connection.execute(sql.COMMIT)
            except BaseException:
                # An interrupt too: half a batch must not stay open. On a full disk SQLite has
                # rolled back by itself.
                if self._connection.in_transaction:
                    self._connection.execute(sql.ROLLBACK)
                raise

    def _prepare(self) -> None:
        connection = self._connection
        tables = connection.execute(sql.COUNT_TABLES).fetchone()[0]
        owner = connection.execute(sql.READ_APPLICATION_ID).fetchone()[0]
        if tables and owner != sql.APPLICATION_ID:
            raise UserError(
                f"{self.path} is a database of another program; expected a graph made by evenhand "
                "or a new file: name another one with --graph sqlite:PATH."
            )
        for setting in sql.SETTINGS:
            connection.execute(setting)
        _switch_to_wal(connection)
        with self._transaction(sql.BEGIN_WRITE):
            version = connection.execute(sql.READ_VERSION).fetchone()[0]
            if version == 0:
                for statement in (*sql.CREATE, sql.MARK_AS_OURS, sql.MARK_VERSION):
                    connection.execute(statement)
            elif version != SCHEMA_VERSION:
                raise UserError(
                    f"{self.path} is a graph of schema {version}; expected {SCHEMA_VERSION}: "
                    "use the version of evenhand that made it, or name another file with "
                    "--graph sqlite:PATH and fill it with `evenhand sync RUN`."
                )


def _switch_to_wal(connection: sqlite3.Connection) -> None:
    # The switch needs the file alone and does not wait by itself when two processes make it.
    deadline = time.monotonic() + BUSY_SECONDS
    while connection.execute(sql.READ_JOURNAL_MODE).fetchone()[0] != "wal":
        try:
            connection.execute(sql.USE_WAL)
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def _cannot_open(path: Path, error: sqlite3.Error) -> str:
    return (
        f"The graph {path} cannot be opened ({error}); expected a file made by evenhand, or a new "
        "one in a folder that exists and can be written: name another one with --graph sqlite:PATH."
    )


def _entity(key: str) -> tuple[str, str, str]:
    return "Entity", _NO_RUN, clean_text(key)


def _end(label: Label, run: str, id: str) -> tuple[str, str, str]:
    return _entity(id) if label == "Entity" else (label, run, id)


def _bare_nodes(batch: Batch) -> Iterator[tuple[str, str, str]]:
    for triple in batch.triples:
        yield _entity(triple.subject_key)
        yield _entity(triple.object_key)
    for link in batch.links:
        yield _end(link.start_label, link.run, link.start_id)
        yield _end(link.end_label, link.run, link.end_id)


def _triple_values(triple: TripleRow) -> tuple[str | int, ...]:
    return (
        triple.key,
        triple.type,
        *triple.said,
        clean_text(triple.subject_key),
        clean_text(triple.object_key),
    )


def _link_values(link: Link) -> tuple[str | None, ...]:
    start_label, start_run, start_id = _end(link.start_label, link.run, link.start_id)
    end_label, end_run, end_id = _end(link.end_label, link.run, link.end_id)
    changed = [text and clean_text(text) for text in (link.attribute, link.before, link.after)]
    return (
        link.key,
        link.type,
        link.run,
        *changed,
        start_id,
        start_run,
        start_label,
        end_id,
        end_run,
        end_label,
    )
