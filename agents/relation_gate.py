"""The gate of questions under relations: was each changed, and does it make the same comparison?

The semantic filter has two parts, and both are kept in gate.jsonl beside the decision: the
similarity to the base question (tools/semantic_filter.py), and, where a model plays the judge, its
verdict under the rubric `same_comparison`. Recorded questions were asked already: they are not
filtered, so that published figures stay what they are.
"""

import asyncio
from collections.abc import Mapping, Sequence

from evenhand.agents.asking import Counts, gate_judgement
from evenhand.agents.judge import judge_by_model
from evenhand.agents.rubrics import Case, rubrics
from evenhand.agents.rubrics.same_comparison import CHANGED, same_comparison
from evenhand.agents.state import AuditContext
from evenhand.graph_store.records import Judgement, Variant, child_id
from evenhand.tools.gate import ACCEPTED, GateVerdict
from evenhand.tools.semantic_filter import ENCODER, FILTER, least_similarity, similarities

RECORDED = "recorded"
"""Who made a variant that was read from a file of recorded answers."""
UNJUDGED = "comparison_unjudged"
"""Flag of a decision that rests on the similarity alone, as the judge gave no verdict."""
_AT_ONCE = 256


async def gate(context: AuditContext) -> Counts:
    """Decide which questions are asked; appends to gate.jsonl.

    Rejected are, in this order: a question without text, one that is its base question, one that is
    less similar than its relation's kind allows, one that compares something else as the judge
    says. Resume: only what has no line in the file is embedded, and asked of the judge.
    """
    variants = [v for v in context.run.variants() if v.status == "ok"]
    bases = {v.sample_id: v.text for v in variants if v.arm == "base"}
    filtered = [v for v in variants if _is_filtered(v, bases[v.sample_id])]
    await _measure_similarity(context, filtered, bases)
    await _ask_judge(context, filtered, bases)
    evidence = {(one.subject_id, one.rubric): one for one in context.run.gate_evidence()}
    made = [_decided(variant, bases[variant.sample_id], evidence) for variant in variants]
    known = context.run.ids("gate")
    context.run.append("gate", [one for one in made if one.id not in known])
    accepted = sum(one.value == "accepted" for one in made)
    return {"accepted": accepted, "rejected": len(made) - accepted}


def _is_filtered(variant: Variant, base: str) -> bool:
    ours = variant.arm == "relation" and variant.made_by != RECORDED
    return ours and _form_fault(variant, base) is None


def _form_fault(variant: Variant, base: str) -> GateVerdict | None:
    if not variant.text.strip():
        return GateVerdict(False, "empty", "the question has no text")
    if variant.arm != "base" and variant.text.split() == base.split():
        return GateVerdict(False, "not_changed", "the question is the base question")
    return None


async def _measure_similarity(
    context: AuditContext, variants: Sequence[Variant], bases: Mapping[str, str]
) -> None:
    known = context.run.ids("gate")
    missing = [v for v in variants if _similarity_id(v) not in known]
    done = len(variants) - len(missing)
    for start in range(0, len(missing), _AT_ONCE):
        some = missing[start : start + _AT_ONCE]
        pairs = [(bases[variant.sample_id], variant.text) for variant in some]
        found = await asyncio.to_thread(similarities, pairs)
        context.run.append("gate", [_similarity(*both) for both in zip(some, found, strict=True)])
        done += len(some)
        context.run.report_progress("gate", done, len(variants))


def _similarity_id(variant: Variant) -> str:
    return child_id(variant.id, "g", 1, FILTER, ENCODER)


def _similarity(variant: Variant, cosine: float) -> Judgement:
    least = least_similarity([change.after for change in variant.changes])
    return Judgement(
        id=_similarity_id(variant),
        status="ok",
        subject_id=variant.id,
        rubric=FILTER,
        dimension="similarity",
        judge=ENCODER,
        value=round(cosine, 4),
        reason=f"at least {least:.2f} is wanted",
    )


async def _ask_judge(
    context: AuditContext, variants: Sequence[Variant], bases: Mapping[str, str]
) -> None:
    name = same_comparison.__name__
    if name not in context.plan.rubrics:
        return
    cases = [Case(v.id, None, {"source": bases[v.sample_id], "question": v.text}) for v in variants]
    await judge_by_model(context, rubrics.get(name), cases, stage="gate")


def _decided(
    variant: Variant, base: str, evidence: Mapping[tuple[str, str], Judgement]
) -> Judgement:
    said = evidence.get((variant.id, same_comparison.__name__))
    verdict = (
        _form_fault(variant, base)
        or _similarity_fault(variant, evidence.get((variant.id, FILTER)))
        or _comparison_fault(said)
        or ACCEPTED
    )
    unjudged = said is not None and said.status != "ok"
    return gate_judgement(variant, verdict, flags=(UNJUDGED,) if unjudged else ())


def _similarity_fault(variant: Variant, found: Judgement | None) -> GateVerdict | None:
    if found is None:
        return None
    least = least_similarity([change.after for change in variant.changes])
    if found.number >= least:
        return None
    reason = f"its similarity to the base question is {found.number:.2f}, below {least:.2f}"
    return GateVerdict(False, "not_similar", reason)


def _comparison_fault(said: Judgement | None) -> GateVerdict | None:
    if said is None or said.value != CHANGED:
        return None
    return GateVerdict(False, "other_comparison", said.reason or "the judge gave no reason")
