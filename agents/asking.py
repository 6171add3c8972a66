"""What every node needs: a role's model asked in bulk, and the records of the run by id."""

from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterable
from contextlib import aclosing
from typing import Any

from evenhand.agents.plan import Role
from evenhand.agents.prompt import Messages
from evenhand.agents.state import AuditContext
from evenhand.graph_store.records import Judgement, Sample, Triple, Variant, child_id
from evenhand.graph_store.run_directory import RunDirectory
from evenhand.tools.calls import Caller, Reply, Request, call_seed
from evenhand.tools.gate import GateVerdict

Counts = dict[str, int]
"""Records a stage left, by status."""


async def ask(
    context: AuditContext,
    role: Role,
    asked: Iterable[tuple[str, Messages]],
    schema: dict[str, Any] | None = None,
) -> AsyncIterator[tuple[str, Reply]]:
    """Ask a role's model about each (id, messages); yield (id, reply) as replies come."""
    settings = context.plan.roles[role]
    prompts = list(asked)
    requests = (
        Request(
            id=key,
            messages=messages,
            temperature=settings.temperature,
            max_tokens=settings.max_tokens,
            seed=call_seed(role_seed(context, role), key, 0),
            schema=schema,
        )
        for key, messages in prompts
    )
    done = 0
    replies = caller_of(context, role).ask_all(requests, stop=context.stop_wished)
    # aclosing: what is in flight when this ends early is awaited and recorded, not lost.
    async with aclosing(replies):
        async for request, reply in replies:
            yield request.id, reply
            done += 1
            context.run.report_progress(role, done, len(prompts))


def caller_of(context: AuditContext, role: Role) -> Caller:
    """Return the caller of a role that a model plays."""
    caller = context.callers[role]
    if caller is None:
        raise ValueError(f"role {role} is played by rules, there is no model to ask")
    return caller


def role_seed(context: AuditContext, role: Role) -> int:
    """Return the seed of a role: its own, else the run's."""
    seed = context.plan.roles[role].seed
    return context.plan.seed if seed is None else seed


def usable(context: AuditContext) -> list[Sample]:
    """Return the samples that were not skipped."""
    return [sample for sample in context.run.samples() if sample.status == "ok"]


def triples_by_source(context: AuditContext) -> defaultdict[str, list[Triple]]:
    """Return the run's triples by the record that states them."""
    by_source: defaultdict[str, list[Triple]] = defaultdict(list)
    for triple in context.run.triples():
        by_source[triple.source_id].append(triple)
    return by_source


def by_status(records: Iterable[Any]) -> Counts:
    """Count records by status."""
    return dict(Counter(record.status for record in records))


def gate_judgement(
    variant: Variant,
    verdict: GateVerdict,
    reason_code: str | None = None,
    flags: tuple[str, ...] = (),
) -> Judgement:
    """Return the validity gate's verdict on a variant as its line in gate.jsonl."""
    return Judgement(
        id=child_id(variant.id, "g", 0, "validity"),
        status="ok",
        subject_id=variant.id,
        rubric="validity",
        dimension="isolation",
        judge="rules",
        value="accepted" if verdict.accepted else "rejected",
        reason_code=reason_code or verdict.reason_code,
        reason=verdict.reason,
        flags=flags,
    )


def usable_variants(run: RunDirectory) -> list[Variant]:
    """Return the variants of a run that passed the gate, in their order."""
    accepted = {one.subject_id for one in run.gate() if one.value == "accepted"}
    return [variant for variant in run.variants() if variant.id in accepted]
