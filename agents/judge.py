"""Judge: verdicts under a rubric, by a model or by rules. It never sees which arm it scores."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from evenhand.agents.asking import Counts, ask, by_status, triples_by_source
from evenhand.agents.plan import Plan
from evenhand.agents.prompt import Messages, fill_messages, parse_messages
from evenhand.agents.recipe import load_recipe
from evenhand.agents.rubrics import RULES, Case, Rubric, Subject, applicable, rubrics
from evenhand.agents.state import AuditContext
from evenhand.agents.target import Question, all_questions
from evenhand.graph_store.records import Answer, Judgement, Scalar, Triple, Variant, child_id
from evenhand.tools.calls import Reply
from evenhand.tools.hops import final_section
from evenhand.tools.verdicts import ONE_ORDER, Verdict, both_orders


def rubric_names(plan: Plan) -> tuple[str, ...]:
    """Return the rubrics that a plan judges by: its own, else those its judge can apply."""
    judge = plan.roles["judge"].model
    return plan.rubrics or applicable(load_recipe(plan.recipe).rubrics, judge)


def model_rubrics(plan: Plan) -> list[Rubric]:
    """Return the rubrics of a plan that a model is asked about."""
    chosen = [rubrics.get(name) for name in rubric_names(plan)]
    return [one for one in chosen if one.judged_by(plan.roles["judge"].model) not in (RULES, None)]


async def judge_answers(context: AuditContext, names: Sequence[str] | None = None) -> Counts:
    """Judge what the rubrics of the plan (or those named) judge; appends to judgements.jsonl.

    An answer that is not ok (refused, truncated, empty, error) gets no verdict: it is counted as
    unscored. A pair is an answer beside the one to `base` asked the same way. Resume: only what
    has no verdict in the file is asked.
    """
    material = Material.read(context)
    for name in rubric_names(context.plan) if names is None else names:
        rubric = rubrics.get(name)
        cases = list(CASES[rubric.subject](material))
        if rubric.judged_by(context.plan.roles["judge"].model) == RULES:
            _judge_by_rules(context, rubric, cases)
        else:
            await judge_by_model(context, rubric, cases)
    return by_status(context.run.judgements())


@dataclass(frozen=True)
class Material:
    """What there is to be judged in a run."""

    answers: Sequence[Answer]
    """Those that can be scored."""
    variants: Mapping[str, Variant]
    questions: Mapping[str, Question]
    """What was asked, by the answer's id."""
    sources: Mapping[str, str]
    """The source's own wording, by sample."""
    parts: Mapping[str, Mapping[str, Scalar]]
    """What the data set states of a question in columns, by sample."""
    triples: Mapping[str, Sequence[Triple]]
    judged: int = 1
    """Askings of each question that are judged; further ones are there for their change."""

    @classmethod
    def read(cls, context: AuditContext) -> "Material":
        """Read the stage files of a run."""
        return cls(
            answers=[a for a in context.run.answers() if a.status == "ok"],
            variants={v.id: v for v in context.run.variants()},
            questions={q.id: q for q in all_questions(context)},
            sources={s.id: s.text for s in context.run.samples()},
            parts={s.id: {**s.columns, **s.attributes} for s in context.run.samples()},
            triples=triples_by_source(context),
            judged=context.plan.judged_askings,
        )


def answer_cases(material: Material) -> Iterator[Case]:
    """Yield each answer with its question; a repeat is there for its change, not for a score."""
    for answer in material.answers:
        if answer.repeat < material.judged:
            texts = {"question": material.questions[answer.id].text, "answer": answer.text}
            variant = material.variants[answer.variant_id]
            parts = {**material.parts[variant.sample_id], **variant.columns}
            yield Case(answer.id, None, texts, material.triples.get(answer.id, ()), parts)


def variant_cases(material: Material) -> Iterator[Case]:
    """Yield each question that passed the gate with its source."""
    asked = {question.variant.id: question.variant for question in material.questions.values()}
    for variant in asked.values():
        texts = {"source": material.sources[variant.sample_id], "question": variant.text}
        yield Case(variant.id, None, texts)


def pair_cases(material: Material) -> Iterator[Case]:
    """Yield each answer beside the answer to `base` asked the same way; the repeats too.

    Of a multi-hop answer only the last step is compared: the first restates the question, and with
    it what was changed.
    """
    bases: dict[tuple[str, str], Answer] = {}
    for answer in material.answers:
        variant = material.variants[answer.variant_id]
        if variant.arm == "base" and answer.repeat == 0:
            bases[variant.sample_id, answer.arm] = answer
    for answer in material.answers:
        base = bases.get((material.variants[answer.variant_id].sample_id, answer.arm))
        if base is not None and base is not answer and answer.arm != "original":
            yield Case(answer.id, base.id, {"answer_a": _said(base), "answer_b": _said(answer)})


def _said(answer: Answer) -> str:
    return final_section(answer.text).strip()


CASES: dict[Subject, Callable[[Material], Iterator[Case]]] = {
    "answer": answer_cases,
    "variant": variant_cases,
    "pair": pair_cases,
}


def _judge_by_rules(context: AuditContext, rubric: Rubric, cases: Sequence[Case]) -> None:
    if rubric.rules is None:
        raise ValueError(f"rubric {rubric.name} has no rules")
    known = context.run.ids("judgements")
    first = rubric.dimensions[0]
    missing = [case for case in cases if verdict_id(rubric, case, first, RULES) not in known]
    made = [one for case in missing for one in judgements(rubric, case, RULES, rubric.rules(case))]
    context.run.append("judgements", [one for one in made if one.id not in known])


async def judge_by_model(
    context: AuditContext,
    rubric: Rubric,
    cases: Sequence[Case],
    stage: Literal["judgements", "gate"] = "judgements",
) -> None:
    """Ask the judge's model about each case that has no verdict yet; appends to the stage's file.

    A pair, which is asked in both orders, belongs into judgements.jsonl.
    """
    judge = context.plan.roles["judge"].model
    known = context.run.ids(stage)
    todo = {
        verdict_id(rubric, case, rubric.dimensions[0], judge, order): (case, order)
        for case in cases
        for order in _orders(rubric)
        if any(verdict_id(rubric, case, d, judge, order) not in known for d in rubric.dimensions)
    }
    asked = [
        (key, rubric_messages(rubric, case.shown(order or 0)))
        for key, (case, order) in todo.items()
    ]
    async for key, reply in ask(context, "judge", asked, dict(rubric.schema)):
        case, order = todo[key]
        made = judgements(rubric, case, judge, read_reply(rubric, reply), order)
        context.run.append(stage, [one for one in made if one.id not in known])
    if len(rubric.orders) > 1:
        _combine_orders(context, rubric, cases)


def _orders(rubric: Rubric) -> tuple[int | None, ...]:
    """Return the orders that get verdicts of their own; None where there is but one."""
    return rubric.orders if len(rubric.orders) > 1 else (None,)


def rubric_messages(rubric: Rubric, texts: Mapping[str, str]) -> Messages:
    """Return the rubric's prompt, filled. Nothing is cut: too long a text is a failed call."""
    return fill_messages(parse_messages(rubric.prompt), texts)


def read_reply(rubric: Rubric, reply: Reply) -> Mapping[str, Verdict]:
    """Read a judge's reply: a value or a status for each dimension, never a default."""
    if rubric.parse is None:
        raise ValueError(f"rubric {rubric.name} reads no replies")
    if reply.status == "error":
        failed = Verdict("error", reason=reply.error, reason_code="call_failed")
        return dict.fromkeys(rubric.dimensions, failed)
    return rubric.parse(reply.text, reply.finish_reason)


def verdict_id(
    rubric: Rubric, case: Case, dimension: str, judge: str, order: int | None = None
) -> str:
    """Return the id of a judgement: of a case, or of one order of a pair."""
    position = rubric.dimensions.index(dimension)
    asked = [rubric.name, dimension, judge, "" if judge == RULES else rubric.prompt_hash]
    asked += [case.against_id] if case.against_id else []
    asked += [] if order is None else [f"order {order}"]
    return child_id(case.subject_id, "j", position, *asked)


def judgements(
    rubric: Rubric,
    case: Case,
    judge: str,
    verdicts: Mapping[str, Verdict],
    order: int | None = None,
) -> list[Judgement]:
    """Return the records of a case's verdicts, a record a dimension."""
    return [
        Judgement(
            id=verdict_id(rubric, case, dimension, judge, order),
            status=verdict.status,
            subject_id=case.subject_id,
            against_id=case.against_id,
            rubric=rubric.name if order is None else rubric.name + ONE_ORDER,
            dimension=dimension,
            judge=judge,
            order=order or 0,
            value=verdict.value,
            reason=verdict.reason or None,
            reason_code=verdict.reason_code,
            flags=verdict.flags,
        )
        for dimension, verdict in verdicts.items()
    ]


def _combine_orders(context: AuditContext, rubric: Rubric, cases: Sequence[Case]) -> None:
    """Append, of each pair that was asked in both orders, what both agree on."""
    judge = context.plan.roles["judge"].model
    known = context.run.ids("judgements")
    by_pair: defaultdict[tuple[str, str | None, str], dict[int, Verdict]] = defaultdict(dict)
    for one in context.run.judgements():
        if one.rubric == rubric.name + ONE_ORDER and one.judge == judge:
            by_pair[one.subject_id, one.against_id, one.dimension][one.order] = _verdict(one)
    made: list[Judgement] = []
    for case in cases:
        orders = {d: by_pair[case.subject_id, case.against_id, d] for d in rubric.dimensions}
        verdicts = {d: both_orders(o[0], o[1]) for d, o in orders.items() if len(o) > 1}
        made += judgements(rubric, case, judge, verdicts)
    context.run.append("judgements", [one for one in made if one.id not in known])


def _verdict(one: Judgement) -> Verdict:
    return Verdict(
        one.status, one.value, reason=one.reason, reason_code=one.reason_code, flags=one.flags
    )
