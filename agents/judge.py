"""Judge: verdicts under a rubric, by a model or by rules. It never sees which arm it scores."""

from collections.abc import Mapping, Sequence

from evenhand.agents.asking import Counts, ask, by_status, triples_by_source
from evenhand.agents.prompt import Messages, fill_messages, parse_messages
from evenhand.agents.rubrics import Rubric, rubrics
from evenhand.agents.state import AuditContext
from evenhand.agents.target import all_questions
from evenhand.graph_store.records import Answer, Judgement, Triple, child_id
from evenhand.tools.association import association_scores
from evenhand.tools.attributes import attributes
from evenhand.tools.calls import Reply
from evenhand.tools.clinical import compare_clinical
from evenhand.tools.verdicts import Verdict

PAIRED_CHANGE = "paired_change"


def verdict_id(context: AuditContext, answer_id: str, rubric: Rubric, dimension: str) -> str:
    """Return the id of a judgement under a rubric."""
    judge = context.plan.roles["judge"].model
    position = rubric.dimensions.index(dimension)
    asked = (rubric.name, dimension, judge, "" if judge == "rules" else rubric.prompt_hash)
    return child_id(answer_id, "j", position, *asked)


def rubric_messages(rubric: Rubric, question: str, answer: str) -> Messages:
    """Return the rubric's prompt for one question and its answer."""
    return fill_messages(parse_messages(rubric.prompt), {"question": question, "answer": answer})


def judgements_from_reply(
    context: AuditContext, answer: Answer, rubric: Rubric, reply: Reply
) -> list[Judgement]:
    """Read a judge's reply: a value or a status for each dimension, never a default."""
    if reply.status == "error":
        failed = Verdict(status="error", value=None, reason=reply.error, reason_code="call_failed")
        verdicts: Mapping[str, Verdict] = dict.fromkeys(rubric.dimensions, failed)
    else:
        verdicts = rubric.parse(reply.text, reply.finish_reason)
    return [_judgement(context, answer, rubric, name, v) for name, v in verdicts.items()]


def judgements_by_rules(
    context: AuditContext,
    answer: Answer,
    rubric: Rubric,
    values: Mapping[str, str | None],
    triples: Sequence[Triple],
) -> list[Judgement]:
    """Score an answer by the deterministic counterpart of the rubric."""
    scores = association_scores(answer.text, dict(values), triples)
    unscored = Verdict(status="unparsable", value=None, reason_code="no_clinical_statement")
    return [
        _judgement(
            context,
            answer,
            rubric,
            name,
            unscored if score is None else Verdict(status="ok", value=score),
        )
        for name, score in scores.items()
    ]


def _judgement(
    context: AuditContext, answer: Answer, rubric: Rubric, dimension: str, verdict: Verdict
) -> Judgement:
    return Judgement(
        id=verdict_id(context, answer.id, rubric, dimension),
        status=verdict.status,
        subject_id=answer.id,
        rubric=rubric.name,
        dimension=dimension,
        judge=context.plan.roles["judge"].model,
        value=verdict.value,
        reason=verdict.reason,
        reason_code=verdict.reason_code,
        flags=verdict.flags,
    )


def paired_change_id(answer: Answer, base: Answer) -> str:
    """Return the id of the verdict that compares an answer with the base answer."""
    return child_id(answer.id, "j", 9, PAIRED_CHANGE, base.id, "rules")


def paired_change(answer: Answer, base: Answer) -> Judgement:
    """Say whether the clinical content changed: paper 1's definition of bias, by entities.

    Compared are the first diagnosis, the first test, the urgency and the first treatment
    (tools/clinical.py). Always by rules in this version, whoever judges the association.
    """
    change = compare_clinical(base.text, answer.text)
    return Judgement(
        id=paired_change_id(answer, base),
        status=change.status,
        subject_id=answer.id,
        against_id=base.id,
        rubric=PAIRED_CHANGE,
        dimension="any",
        judge="rules",
        value=float(change.changed) if change.status == "ok" else None,
        reason=change.reason or None,
        reason_code=None if change.status == "ok" else "no_clinical_entity",
    )


async def judge_answers(context: AuditContext) -> Counts:
    """Judge every scorable answer under the rubrics of the recipe; appends to judgements.jsonl.

    An answer that is not ok (refused, truncated, empty, error) gets no verdict: it is counted as
    unscored. The paired change compares each answer with `base` asked the same way.
    """
    answers = [a for a in context.run.answers() if a.status == "ok"]
    known = context.run.ids("judgements")
    for name in context.recipe.rubrics:
        if name == PAIRED_CHANGE:
            _judge_changes(context, answers, known)
        else:
            await _judge_rubric(context, answers, rubrics.get(name), known)
    return by_status(context.run.judgements())


def _judge_changes(context: AuditContext, answers: list[Answer], known: set[str]) -> None:
    base_variant = {v.sample_id: v.id for v in context.run.variants() if v.arm == "base"}
    sample_of = {v.id: v.sample_id for v in context.run.variants()}
    bases = {
        (sample_of[a.variant_id], a.arm): a
        for a in answers
        if a.repeat == 0 and a.variant_id == base_variant[sample_of[a.variant_id]]
    }
    pairs = [(a, bases.get((sample_of[a.variant_id], a.arm))) for a in answers]
    todo = [
        (answer_, base)
        for answer_, base in pairs
        if base is not None and base is not answer_ and answer_.arm != "original"
    ]
    missing = [(a, b) for a, b in todo if paired_change_id(a, b) not in known]
    context.run.append("judgements", [paired_change(a, b) for a, b in missing])


async def _judge_rubric(
    context: AuditContext, answers: list[Answer], rubric: Rubric, known: set[str]
) -> None:
    first = rubric.dimensions[0]
    missing = {
        verdict_id(context, a.id, rubric, first): a
        for a in answers
        if a.repeat == 0
        and any(verdict_id(context, a.id, rubric, d) not in known for d in rubric.dimensions)
    }
    texts = {q.id: q.text for q in all_questions(context)}
    if context.callers["judge"] is None:
        values = {
            key: {name: attributes.get(name).value(texts[a.id]) for name in attributes.names()}
            for key, a in missing.items()
        }
        hops = triples_by_source(context)
        made = [
            verdict
            for key, a in missing.items()
            for verdict in judgements_by_rules(context, a, rubric, values[key], hops[a.id])
        ]
        context.run.append("judgements", [j for j in made if j.id not in known])
        return
    asked = [(key, rubric_messages(rubric, texts[a.id], a.text)) for key, a in missing.items()]
    async for key, reply in ask(context, "judge", asked, dict(rubric.schema)):
        made = judgements_from_reply(context, missing[key], rubric, reply)
        context.run.append("judgements", [j for j in made if j.id not in known])
