"""Run directory -> graph: the same call after each stage, after an outage, and once more.

The store remembers how many lines of each stage file it has, and a hash of them. If the file's
beginning is still the same, only what follows is written; if it is not (a line was deleted, the
folder was made anew), the run is dropped and written from its start. A store that forgot is no
harm: everything is merged.
"""

import hashlib
import json
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from evenhand.graph_store.records import Answer, Judgement, Record, Sample, Triple, Variant
from evenhand.graph_store.redact import redact
from evenhand.graph_store.rows import (
    BATCH_ROWS,
    AnswerRow,
    Batch,
    JudgementRow,
    Link,
    NodeRow,
    RunRow,
    SampleRow,
    TripleRow,
    VariantRow,
)
from evenhand.graph_store.run_directory import RunDirectory, StageName
from evenhand.graph_store.schema import label_of, position_of
from evenhand.graph_store.store import GraphStore

log = logging.getLogger(__name__)

GRAPH_STAGES: tuple[StageName, ...] = (
    "samples",
    "triples",
    "variants",
    "gate",
    "answers",
    "judgements",
)
"""The stages that the graph holds; measurements are numbers about it, and stay in their file."""
_RECORDS_A_BATCH = BATCH_ROWS // 5
"""A record becomes about five rows at most: itself and its relationships."""


@dataclass(frozen=True)
class SyncReport:
    """What a sync did."""

    written: int
    """Records sent to the graph."""
    skipped: int
    """Records that it had already."""
    error: str | None = None
    """Why it ended early; the records are safe in the run directory, and a later sync goes on."""


def sync(
    run: RunDirectory, store: GraphStore, stages: Sequence[StageName] | None = None
) -> SyncReport:
    """Bring the graph up to the run's stage files (all of them, or those named).

    Never raises: a graph that cannot be written is a warning, and must not end an audit.
    """
    work = _Sync(run, store)
    try:
        work.bring_up(GRAPH_STAGES if stages is None else stages)
    except Exception as error:
        # Whatever a driver raises: the records are on disk, only the graph is late.
        message = redact(f"{type(error).__name__}: {error}")
        log.warning("run %s: its graph is not complete yet: %s", run.run_id, message)
        return SyncReport(work.written, work.skipped, message)
    return SyncReport(work.written, work.skipped)


class _Sync:
    """One call of sync: how far the graph is, and what was sent."""

    def __init__(self, run: RunDirectory, store: GraphStore) -> None:
        self.run = run
        self.store = store
        self.written = 0
        self.skipped = 0
        self.memory: dict[str, _Mark] = {}

    def bring_up(self, stages: Sequence[StageName]) -> None:
        self.row = _run_row(self.run)
        known = self.store.run(self.row.id)
        self.memory = _marks(known)
        records = self._records(stages)
        anew = known is not None and known.created not in (None, self.row.created)
        if anew or not all(self._continues(name, found) for name, found in records.items()):
            log.info("run %s: its files are others than the graph's; made anew", self.row.id)
            self.store.drop_run(self.row.id)
            self.memory = {}
            known, records = None, self._records(GRAPH_STAGES)
        if known is None:
            self.store.write_batch(Batch(nodes=(self.row,)))
        for name, found in records.items():
            self._write(name, found)

    def _records(self, stages: Sequence[StageName]) -> dict[StageName, list[Record]]:
        return {name: self.run.records(name) for name in GRAPH_STAGES if name in stages}

    def _continues(self, stage: StageName, records: Sequence[Record]) -> bool:
        mark = self.memory.get(stage, _START)
        return mark == _START.after(records[: mark.lines])

    def _write(self, stage: StageName, records: Sequence[Record]) -> None:
        mark = self.memory.get(stage, _START)
        self.skipped += mark.lines
        for start in range(mark.lines, len(records), _RECORDS_A_BATCH):
            part = records[start : start + _RECORDS_A_BATCH]
            mark = mark.after(part)
            self.memory[stage] = mark
            row = replace(self.row, synced=json.dumps(self.memory))
            batch = batch_of(self.row.id, part)
            # In one transaction: the mark never says more than the graph has.
            self.store.write_batch(replace(batch, nodes=(row, *batch.nodes)))
            self.written += len(part)


class _Mark(NamedTuple):
    """How many lines of a stage file the graph has, and the hash chain over them."""

    lines: int
    digest: str

    def after(self, records: Sequence[Record]) -> "_Mark":
        digest = self.digest
        for record in records:
            digest = hashlib.sha256((digest + record.model_dump_json()).encode()).hexdigest()
        return _Mark(self.lines + len(records), digest)


_START = _Mark(0, "")


def _marks(known: RunRow | None) -> dict[str, _Mark]:
    if known is None or known.synced is None:
        return {}
    return {stage: _Mark(*mark) for stage, mark in json.loads(known.synced).items()}


def _run_row(run: RunDirectory) -> RunRow:
    manifest = run.manifest
    plan = manifest.plan
    roles = plan.get("roles", {})
    return RunRow(
        run=run.run_id,
        id=run.run_id,
        created=manifest.created,
        recipe=plan.get("recipe"),
        dataset=plan.get("dataset"),
        target=roles.get("target", {}).get("model"),
        judge=roles.get("judge", {}).get("model"),
        seed=manifest.seed,
    )


def batch_of(run: str, records: Iterable[Record]) -> Batch:
    """Return the nodes, triples and links of some records of a run.

    Measurements have none. A relationship that several records imply is there once.
    """
    nodes: list[NodeRow] = []
    triples: list[TripleRow] = []
    links: dict[Link, None] = {}
    for record in records:
        match record:
            case Sample():
                nodes.append(_sample_row(run, record))
                made = [Link("INCLUDES", run, "Run", run, "Sample", record.id)]
            case Triple():
                triples.append(_triple_row(run, record))
                made = _mentions(run, record)
            case Variant():
                nodes.append(_variant_row(run, record))
                made = _changes(run, record)
            case Answer():
                nodes.append(_answer_row(run, record))
                made = [Link("ANSWERS", run, "Answer", record.id, "Variant", record.variant_id)]
            case Judgement():
                nodes.append(_judgement_row(run, record))
                made = _judged(run, record)
            case _:
                made = []
        links.update(dict.fromkeys(made))
    return Batch(nodes, triples, list(links))


def _mentions(run: str, triple: Triple) -> list[Link]:
    source = label_of(triple.source_id)
    return [
        Link("MENTIONS", run, source, triple.source_id, "Entity", key)
        for key in (triple.subject_key, triple.object_key)
    ]


def _changes(run: str, variant: Variant) -> list[Link]:
    made_from = Link("VARIANT_OF", run, "Variant", variant.id, "Sample", variant.sample_id)
    return [
        made_from,
        *(
            replace(
                made_from,
                type="PERTURBS",
                attribute=change.attribute,
                before=change.before,
                after=change.after,
            )
            for change in variant.changes
        ),
    ]


def _judged(run: str, verdict: Judgement) -> list[Link]:
    subject = Link(
        "JUDGES", run, "Judgement", verdict.id, label_of(verdict.subject_id), verdict.subject_id
    )
    if verdict.against_id is None:
        return [subject]
    return [
        subject,
        Link(
            "COMPARES_WITH",
            run,
            "Judgement",
            verdict.id,
            label_of(verdict.against_id),
            verdict.against_id,
        ),
    ]


def _sample_row(run: str, sample: Sample) -> SampleRow:
    return SampleRow(
        run=run,
        id=sample.id,
        status=sample.status,
        dataset=sample.dataset,
        position=sample.position,
        text=sample.text,
        question=sample.question,
        reference=sample.reference,
        split=sample.split,
        reason=sample.reason,
    )


def _triple_row(run: str, triple: Triple) -> TripleRow:
    return TripleRow(
        run=run,
        source_id=triple.source_id,
        subject=triple.subject,
        predicate=triple.predicate,
        object=triple.object,
        subject_key=triple.subject_key,
        object_key=triple.object_key,
        hop=triple.hop,
        origin=triple.origin,
        id=triple.id,
        position=position_of(triple.id),
    )


def _variant_row(run: str, variant: Variant) -> VariantRow:
    return VariantRow(
        run=run,
        id=variant.id,
        status=variant.status,
        sample_id=variant.sample_id,
        position=position_of(variant.id),
        arm=variant.arm,
        group=variant.group,
        text=variant.text,
        made_by=variant.made_by,
        reason=variant.reason,
    )


def _answer_row(run: str, answer: Answer) -> AnswerRow:
    return AnswerRow(
        run=run,
        id=answer.id,
        status=answer.status,
        variant_id=answer.variant_id,
        arm=answer.arm,
        model=answer.model,
        repeat=answer.repeat,
        text=answer.text,
        finish_reason=answer.finish_reason,
        prompt_tokens=answer.tokens.prompt,
        completion_tokens=answer.tokens.completion,
        seconds=answer.seconds,
        cost_usd=answer.cost_usd,
        prompt_hash=answer.prompt_hash,
        error=answer.error,
    )


def _judgement_row(run: str, verdict: Judgement) -> JudgementRow:
    return JudgementRow(
        run=run,
        id=verdict.id,
        status=verdict.status,
        subject_id=verdict.subject_id,
        against_id=verdict.against_id,
        rubric=verdict.rubric,
        dimension=verdict.dimension,
        judge=verdict.judge,
        order=verdict.order,
        value=verdict.value,
        reason=verdict.reason,
        reason_code=verdict.reason_code,
        flags=", ".join(verdict.flags) or None,
    )
