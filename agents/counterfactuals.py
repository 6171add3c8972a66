"""An audit of decisions: its visits, shown as they are and as another group, and the gate.

The nodes load, perturb and gate of recipes that ask for labels. Notes are rewritten by the rules,
or by the Rewriter's model with few-shot exemplars; both pass the same gate.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence

from evenhand.agents.asking import Counts, ask, by_status, gate_judgement
from evenhand.agents.state import AuditContext
from evenhand.agents.visit_plan import choose_of
from evenhand.graph_store.errors import RunStopped, UserError
from evenhand.graph_store.records import Change, Judgement, Sample, Scalar, Variant
from evenhand.tools.calls import Reply
from evenhand.tools.counterfactual_visits import (
    CALL_FAILED,
    NOT_STATED,
    Showing,
    check_variant,
    counterfactual_id,
    counterfactuals,
    irrelevant_change,
    known_values,
    original_id,
    originals,
    placebo,
    placebo_id,
    rewrite_by_rules,
    round_trip,
)
from evenhand.tools.notes import RewrittenNote, rewrite_note
from evenhand.tools.notes.few_shot import few_shot_messages, read_reply
from evenhand.tools.run_visits import RunVisits, read_run_visits, read_showing, write_visits
from evenhand.tools.triage.run_pairs import PLACEBO

_AT_ONCE = 200
"""Visits whose variants are written together, between two looks at the wish to stop."""


async def load(context: AuditContext) -> Counts:
    """Read, filter and split the visits; to samples.jsonl, flow.json and visits.json.

    Raises:
        UserError: The visits are not those that the run was begun with.
    """
    found = await asyncio.to_thread(choose_of, context.plan)
    if found.dataset_hash != context.run.manifest.dataset_hash:
        raise UserError(
            f"The visits of run {context.run.run_id} have changed since it was begun; put the "
            "former file back, or run the plan again: it gets a run of its own."
        )
    samples = found.chosen.visits.samples
    write_visits(context.run, found.chosen)
    known = context.run.ids("samples")
    context.run.append("samples", [sample for sample in samples if sample.id not in known])
    return {**by_status(samples), **Counter(str(sample.split) for sample in samples)}


async def perturb(context: AuditContext) -> Counts:
    """Show each visit of the audit half as it is, as each other group, and as a placebo.

    Reads samples.jsonl; appends to variants.jsonl. Role: rewriter, rules or a model. Resume: a
    visit whose variants are all there is not shown again. Failure: a note that cannot be rewritten
    is a Variant with status skipped, unchanged or error and the reason.
    """
    chosen = read_run_visits(context.run)
    showing = read_showing(context.run, chosen)
    if context.plan.roles["rewriter"].model == "rules":
        await _by_rules(context, chosen, showing)
    else:
        await _by_model(context, chosen, showing)
    return by_status(context.run.variants())


async def _by_rules(context: AuditContext, chosen: RunVisits, showing: Showing) -> None:
    known = context.run.ids("variants")
    values = known_values(chosen.audit, chosen.mapping.placebo)

    def rewrite(text: str, before: str, after: str) -> RewrittenNote:
        return note_by_rules(showing, text, before, after)

    def made(sample: Sample) -> list[Variant]:
        variants = rewrite_by_rules(sample, showing, rewrite)
        if PLACEBO in (context.plan.controls or ()):
            change = _irrelevant(context, chosen, sample, values)
            variants.append(round_trip(sample, showing, rewrite, change))
        return [variant for variant in variants if variant.id not in known]

    def made_of(samples: Sequence[Sample]) -> list[Variant]:
        return [variant for sample in samples for variant in made(sample)]

    for start in range(0, len(chosen.audit), _AT_ONCE):
        part = chosen.audit[start : start + _AT_ONCE]
        variants = await asyncio.to_thread(made_of, part)
        _append(context, variants, start + len(part), len(chosen.audit))


def note_by_rules(showing: Showing, text: str, before: str, after: str) -> RewrittenNote:
    """Rewrite a note by the rule engine; no note states nothing."""
    if not text.strip():
        return RewrittenNote("unchanged", text, reason=NOT_STATED)
    return rewrite_note(
        text,
        attribute=showing.attribute,
        before=before,
        after=after,
        language=showing.language,
        spouse=showing.spouse,
    )


def _irrelevant(
    context: AuditContext, chosen: RunVisits, sample: Sample, values: Sequence[Scalar]
) -> Change | None:
    return irrelevant_change(sample, chosen.mapping.placebo, values, context.plan.seed)


def _append(context: AuditContext, variants: list[Variant], done: int, total: int) -> None:
    context.run.append("variants", variants)
    context.run.report_progress("perturb", done, total)
    if context.stop_wished():
        raise RunStopped("Stopped on request; go on with `evenhand resume`.")


async def _by_model(context: AuditContext, chosen: RunVisits, showing: Showing) -> None:
    """Ask for every note there, then for those that were rewritten back again."""
    known = context.run.ids("variants")
    missing = [s for s in chosen.audit if original_id(s, "full") not in known]
    context.run.append("variants", [v for s in missing for v in originals(s, showing)])
    there = await _there(context, chosen, showing, known)
    if PLACEBO in (context.plan.controls or ()):
        await _back(context, chosen, showing, there)


async def _there(
    context: AuditContext, chosen: RunVisits, showing: Showing, known: set[str]
) -> dict[str, RewrittenNote]:
    """Return the note of each visit as its first other group."""
    jobs = {
        counterfactual_id(sample, showing, "full", target): (sample, target)
        for sample in chosen.audit
        for target in showing.targets(sample)
    }
    asked = [(key, s.text, chosen.group_of(s), target) for key, (s, target) in jobs.items()]
    found: dict[str, RewrittenNote] = {}
    async for key, note in _rewritten(context, showing, asked):
        sample, target = jobs[key]
        if key not in known:
            context.run.append("variants", counterfactuals(sample, showing, target, note))
        if target == showing.targets(sample)[0]:
            found[sample.id] = note
    return found


async def _back(
    context: AuditContext, chosen: RunVisits, showing: Showing, there: dict[str, RewrittenNote]
) -> None:
    known = context.run.ids("variants")
    values = known_values(chosen.audit, chosen.mapping.placebo)
    jobs = {placebo_id(s, showing): s for s in chosen.audit}
    jobs = {key: sample for key, sample in jobs.items() if key not in known}

    def add(sample: Sample, back: RewrittenNote | None) -> None:
        change = _irrelevant(context, chosen, sample, values)
        made = placebo(sample, showing, there[sample.id], back, change)
        context.run.append("variants", [made])

    for sample in jobs.values():
        if not there[sample.id].is_pair:
            add(sample, None)
    asked = [
        (key, there[s.id].text, showing.targets(s)[0], chosen.group_of(s))
        for key, s in jobs.items()
        if there[s.id].is_pair
    ]
    async for key, note in _rewritten(context, showing, asked):
        add(jobs[key], note)


async def _rewritten(
    context: AuditContext, showing: Showing, asked: Iterable[tuple[str, str, str, str]]
) -> AsyncIterator[tuple[str, RewrittenNote]]:
    """Yield (id, note) for each (id, text, before, after), as replies come.

    An answer that was paid for before comes out of the cache, so asking again costs nothing.
    """
    jobs = {key: (text, before, after) for key, text, before, after in asked}
    prompts = []
    for key, (text, before, after) in jobs.items():
        if not text.strip():
            yield key, RewrittenNote("unchanged", text, reason=NOT_STATED)
            continue
        messages = few_shot_messages(text, before=before, after=after, language=showing.language)
        prompts.append((key, messages))
    async for key, reply in ask(context, "rewriter", prompts):
        text, before, after = jobs[key]
        yield key, _note_of(reply, text, before, after, showing.language)


def _note_of(reply: Reply, text: str, before: str, after: str, language: str) -> RewrittenNote:
    if reply.status == "error":
        return RewrittenNote("refused", text, reason=CALL_FAILED)
    if reply.status != "ok":
        return RewrittenNote("refused", text, reason=f"reply_{reply.status}")
    return read_reply(text, reply.text, before=before, after=after, language=language)


async def gate(context: AuditContext) -> Counts:
    """Let a changed visit pass only if nothing but its declared change was made; to gate.jsonl."""
    chosen = read_run_visits(context.run)
    showing = read_showing(context.run, chosen)
    known = context.run.ids("gate")
    variants = [variant for variant in context.run.variants() if variant.status == "ok"]
    verdicts = await asyncio.to_thread(gate_verdicts, variants, showing)
    context.run.append("gate", [verdict for verdict in verdicts if verdict.id not in known])
    return dict(Counter(str(verdict.value) for verdict in verdicts))


def gate_verdicts(variants: Iterable[Variant], showing: Showing) -> list[Judgement]:
    """Return the verdict on each variant that is not a visit as it is, as records.

    Args:
        variants: With status ok, the originals among them.
        showing: How they are shown.
    """
    made = list(variants)
    whole = {(v.sample_id, v.arm): v for v in made if v.made_by == "source"}
    verdicts = []
    for variant in made:
        arm = "full" if variant.arm == PLACEBO else variant.arm
        original = whole[variant.sample_id, arm]
        if variant.id == original.id:
            continue
        verdict, flags = check_variant(original, variant, showing)
        verdicts.append(gate_judgement(variant, verdict, flags=flags))
    return verdicts
