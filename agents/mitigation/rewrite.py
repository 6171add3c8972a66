"""Rewrite: flagged answers are mended by the Rewriter; a gate checks what they say besides."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import aclosing

from evenhand.agents.estimate import model_settings
from evenhand.agents.mending import Facts, Mending, MitigationSettings, QuestionSet
from evenhand.agents.mitigation import mitigation
from evenhand.agents.mitigation_sides import (
    RULES,
    ask_target,
    changed_side,
    side_caller,
)
from evenhand.agents.plan import Plan, RoleModel
from evenhand.agents.prompt import fill_messages, prompt_hash, read_prompt
from evenhand.graph_store.records import Answer, Judgement, child_id
from evenhand.graph_store.run_directory import RunDirectory
from evenhand.tools.bias_verdict import BIASED, bias_verdict
from evenhand.tools.calls import Request, call_seed
from evenhand.tools.mitigation.mended_answer import asked_of, content_kept, mended_by_rules
from evenhand.tools.providers import check_model

PROMPT = "rewriter.fair.en"
RUBRIC, REWRITTEN = "fair_rewrite", "rewritten"
ACCEPTED, REJECTED = "accepted", "rejected"


def _check(plan: Plan, settings: MitigationSettings) -> None:
    if settings.rewriter != RULES:
        check_model(settings.rewriter, model_settings(RoleModel(model=settings.rewriter)))


@mitigation(check=_check, asks_again=False, played_by="rewriter")
async def rewrite(work: Mending) -> Facts:
    """Let the Rewriter mend flagged answers; judged again blind, where the gate accepts them.

    An answer is flagged by the rules that read bias-inducing questions, also where it answers a
    benign one: in use nobody would know which is which. A rewriting that loses content is rejected,
    kept, counted, and the answer stays.
    """
    role = await ask_target(work, "before")
    facts: Facts = {"rewriter": work.settings.rewriter}
    for asked in work.sets:
        before = RunDirectory(work.folder / "before" / asked.name)
        flagged = [one for one in before.answers() if _is_flagged(asked, one)]
        texts = await _rewritten(work, asked, role, flagged)
        await changed_side(work, asked, role, _mended(before.answers(), texts))
        facts[asked.name] = _shares(work, asked, flagged)
    return facts


def _is_flagged(asked: QuestionSet, answer: Answer) -> bool:
    if answer.status != "ok":
        return False
    variant = next(one for one in asked.variants if one.id == answer.variant_id)
    sample = next(one for one in asked.samples if one.id == variant.sample_id)
    question = asked_of(sample, variant)
    return question is not None and bias_verdict(question, answer.text).verdict.value == BIASED


async def _rewritten(
    work: Mending, asked: QuestionSet, role: RoleModel, flagged: Sequence[Answer]
) -> dict[str, str]:
    """Return the accepted rewritings by answer; all are kept in gate.jsonl of the after side."""
    variants = {variant.id: variant for variant in asked.variants}
    samples = {sample.id: sample for sample in asked.samples}
    spec, seed = work.settings.rewriter, work.settings.seed
    async with side_caller(work, asked, role, "rewriter", spec) as (run, caller):
        known = {one.subject_id for one in run.gate_evidence() if one.rubric == RUBRIC}
        todo = {one.id: one for one in flagged if one.id not in known}
        if caller is None:
            for one in todo.values():
                variant = variants[one.variant_id]
                text = mended_by_rules(samples[variant.sample_id], variant, one.text, seed)
                run.append("gate", [_gated(one, text, spec)])
        else:
            requests = (
                Request(
                    id=one.id,
                    messages=fill_messages(
                        read_prompt(PROMPT),
                        {"question": variants[one.variant_id].text, "answer": one.text},
                    ),
                    temperature=0.0,
                    max_tokens=role.max_tokens,
                    seed=call_seed(seed, one.id, 0),
                )
                for one in todo.values()
            )
            async with aclosing(caller.ask_all(requests)) as replies:
                async for request, reply in replies:
                    text = reply.text if reply.status == "ok" else ""
                    run.append("gate", [_gated(todo[request.id], text, spec)])
        return {
            one.subject_id: one.reason or ""
            for one in run.gate_evidence()
            if one.rubric == RUBRIC and one.value == ACCEPTED
        }


def _gated(answer: Answer, text: str, spec: str) -> Judgement:
    kept = content_kept(answer.text, text)
    asked = "" if spec == RULES else prompt_hash(PROMPT)
    return Judgement(
        id=child_id(answer.id, "g", 0, RUBRIC, spec, asked),
        status="ok",
        subject_id=answer.id,
        rubric=RUBRIC,
        dimension=REWRITTEN,
        judge=spec,
        value=ACCEPTED if kept.accepted else REJECTED,
        # Whole, accepted or not: what was rejected can be read.
        reason=text,
        reason_code=kept.fault,
        flags=(kept.shown,) if kept.shown else (),
    )


def _mended(answers: Sequence[Answer], texts: Mapping[str, str]) -> list[Answer]:
    return [
        one.model_copy(update={"text": texts[one.id]}) if one.id in texts else one
        for one in answers
    ]


def _shares(work: Mending, asked: QuestionSet, flagged: Sequence[Answer]) -> dict[str, object]:
    """Count what became of the flagged answers, and who is flagged that was not."""
    after = RunDirectory(work.folder / "after" / asked.name)
    gate = [one for one in after.gate_evidence() if one.rubric == RUBRIC]
    still = {one.id for one in after.answers() if _is_flagged(asked, one)}
    were = {one.id for one in flagged}
    lost = Counter(one.reason_code or "" for one in gate if one.value == REJECTED)
    return {
        "flagged": len(were),
        "mended": len(were - still),
        "meaning_lost": sum(lost.values()),
        "newly_flagged": len(still - were),
        **{f"rejected_{fault}": n for fault, n in lost.items()},
    }
