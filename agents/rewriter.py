"""Rewriter: renders `base` again in other words with equal values, the placebo arm."""

from collections.abc import Sequence

from evenhand.agents.generator import maker_hash
from evenhand.agents.prompt import Messages, fill_messages, read_prompt
from evenhand.agents.state import AuditContext
from evenhand.graph_store.records import Triple, Variant, child_id
from evenhand.tools.rewriters import rewriters
from evenhand.tools.sentences import PAPER_QUESTION

PROMPT = "rewriter.placebo.en"


def placebo_id(context: AuditContext, base: Variant, position: int) -> str:
    """Return the id of a sample's placebo variant."""
    maker = context.plan.roles["rewriter"].model
    return child_id(
        base.sample_id, "v", position, base.id, "placebo", maker, maker_hash(maker, PROMPT)
    )


def placebo_by_rules(
    context: AuditContext, base: Variant, position: int, triples: Sequence[Triple]
) -> Variant:
    """Render the same triples by other templates."""
    text = rewriters.get("rules")(triples, PAPER_QUESTION)
    return placebo_from_reply(context, base, position, text)


def placebo_messages(base: Variant) -> Messages:
    """Return the prompt that asks a model for the same facts in other words."""
    return fill_messages(read_prompt(PROMPT), {"text": base.text})


def placebo_from_reply(context: AuditContext, base: Variant, position: int, text: str) -> Variant:
    """Take a text as the placebo; the gate decides whether every fact is still stated."""
    text = " ".join(text.split())
    return Variant(
        id=placebo_id(context, base, position),
        status="error" if not text else "unchanged" if text == base.text else "ok",
        reason=None if text else "empty_reply",
        sample_id=base.sample_id,
        arm="placebo",
        text=text,
        made_by=context.plan.roles["rewriter"].model,
    )
