"""Generator: the triples of a sample -> `base`, the question with the source's own values."""

from collections.abc import Sequence

from evenhand.agents.asking import Counts, ask, by_status, triples_by_source, usable
from evenhand.agents.prompt import Messages, fill_messages, prompt_hash, read_prompt
from evenhand.agents.state import AuditContext
from evenhand.graph_store.records import Sample, Triple, Variant, child_id
from evenhand.tools import sentences
from evenhand.tools.sentences import PAPER_QUESTION

PROMPT = "generator.base.en"


def base_id(context: AuditContext, sample: Sample) -> str:
    """Return the id of a sample's base variant: hashed over what is asked, not what came back."""
    maker = context.plan.roles["generator"].model
    return child_id(sample.id, "v", 0, "base", maker, maker_hash(maker, PROMPT))


def maker_hash(model: str, prompt: str) -> str:
    """Return the prompt's hash for a model; the rules have no prompt."""
    return "rules" if model == "rules" else prompt_hash(prompt)


def base_by_rules(context: AuditContext, sample: Sample, triples: Sequence[Triple]) -> Variant:
    """Verbalise the triples by template."""
    return _base(context, sample, triples, sentences.verbalise(triples, PAPER_QUESTION))


def base_messages(triples: Sequence[Triple]) -> Messages:
    """Return the prompt that asks a model to verbalise the triples."""
    lines = "\n".join(f"({t.subject} -> {t.predicate} -> {t.object})" for t in triples)
    values = {"triples": lines, "question": PAPER_QUESTION}
    return fill_messages(read_prompt(PROMPT), values)


def base_from_reply(
    context: AuditContext, sample: Sample, triples: Sequence[Triple], text: str
) -> Variant:
    """Take a model's text as `base`; the gate compares it with the triples."""
    return _base(context, sample, triples, " ".join(text.split()))


def _base(context: AuditContext, sample: Sample, triples: Sequence[Triple], text: str) -> Variant:
    reason = _nothing_to_ask(triples) or (None if text else "empty_reply")
    return Variant(
        id=base_id(context, sample),
        status="skipped" if reason else "ok",
        reason=reason,
        sample_id=sample.id,
        arm="base",
        text="" if reason else text,
        made_by=context.plan.roles["generator"].model,
    )


def _nothing_to_ask(triples: Sequence[Triple]) -> str | None:
    if not triples:
        return "no_triples"
    if not any(triple.predicate in sentences.COMPLAINTS for triple in triples):
        return "no_complaint"
    return None


async def verbalise(context: AuditContext) -> Counts:
    """Generator: write `base` for each sample; appends to variants.jsonl."""
    triples = triples_by_source(context)
    missing = [s for s in usable(context) if base_id(context, s) not in context.run.ids("variants")]
    if context.callers["generator"] is None:
        made = [base_by_rules(context, s, triples[s.id]) for s in missing]
        context.run.append("variants", made)
    else:
        by_id = {base_id(context, sample): sample for sample in missing}
        asked = [(key, base_messages(triples[s.id])) for key, s in by_id.items()]
        async for key, reply in ask(context, "generator", asked):
            sample = by_id[key]
            text = reply.text if reply.status == "ok" else ""
            base = base_from_reply(context, sample, triples[sample.id], text)
            context.run.append("variants", [base])
    return by_status(v for v in context.run.variants() if v.arm == "base")
