"""Guard: a filter before the model that blocks questions; the baseline that mends nothing."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from typing import Any

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
from evenhand.agents.rubrics import object_schema
from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Answer, Judgement, Variant, child_id
from evenhand.graph_store.run_directory import RunDirectory
from evenhand.tools.calls import Reply, Request, call_seed
from evenhand.tools.mitigation.comparing import compares_groups
from evenhand.tools.model_names import check_installed
from evenhand.tools.pairing import MAJORITY
from evenhand.tools.providers import check_model
from evenhand.tools.verdicts import Verdict, parse_labels

PROMPT = "guard.question.en"
RUBRIC, BLOCKED, VERDICT = "guard", "blocked", "verdict"
BLOCK, PASS = "block", "pass"
MESSAGE = "This question was blocked before it reached the model."
SCHEMA = object_schema({VERDICT: {"type": "string", "enum": [BLOCK, PASS]}})


CLASSIFIER = "classifier/"


def _check(plan: Plan, settings: MitigationSettings) -> None:
    if settings.guard.startswith(CLASSIFIER):
        _classifier(settings.guard)
    elif settings.guard != RULES:
        check_model(settings.guard, model_settings(RoleModel(model=settings.guard)))


@mitigation(check=_check, asks_again=False, played_by="guard")
async def guard(work: Mending) -> Facts:
    """Block questions before they reach the model: by rules, a classifier, or a model.

    Nothing is asked of the target again: its answers to what passes are those of before. A blocked
    question is refused, never unbiased.
    """
    role = await ask_target(work, "before")
    facts: Facts = {"guard": work.settings.guard}
    for asked in work.sets:
        verdicts = await _verdicts(work, asked, role)
        await changed_side(work, asked, role, _blocked(work, asked, verdicts))
        facts[f"blocked_{asked.name}"] = _shares(work, asked, verdicts)
    return facts


def _classifier(spec: str) -> tuple[str, str]:
    """Return the folder or id of a classifier, and the label that blocks.

    Raises:
        UserError: transformers is not installed, or no label is named.
    """
    check_installed(spec, ("torch", "transformers"))
    path, _, label = spec.removeprefix(CLASSIFIER).rpartition("#")
    if not path or not label:
        raise UserError(
            f"Guard {spec!r} does not say which label blocks; expected {CLASSIFIER}<folder or "
            "Hugging Face id>#<label>, such as classifier/guard-model#unsafe."
        )
    return path, label


def _classified(spec: str, texts: Sequence[str]) -> list[Verdict]:
    from evenhand.training.text_classifiers import open_text_classifier

    path, label = _classifier(spec)
    opened = open_text_classifier(path)
    if label not in opened.labels:
        raise UserError(
            f"Classifier {path!r} has no label {label!r}; expected one of: "
            f"{', '.join(opened.labels)}."
        )
    return [
        Verdict("ok", BLOCK if found == label else PASS, reason=found)
        for found in opened.classify(texts)
    ]


async def _verdicts(work: Mending, asked: QuestionSet, role: RoleModel) -> dict[str, Judgement]:
    """Return the guard's verdict on each question, by variant; in judgements.jsonl of after."""
    spec = work.settings.guard
    # A classifier is no chat model: nothing calls it.
    model = RULES if spec.startswith(CLASSIFIER) else spec
    async with side_caller(work, asked, role, RUBRIC, model) as (run, caller):
        known = {one.subject_id for one in run.judgements() if one.rubric == RUBRIC}
        todo = {variant.id: variant for variant in asked.variants if variant.id not in known}
        if caller is None:
            read = await asyncio.to_thread(_read_here, spec, [each.text for each in todo.values()])
            made = [
                _judgement(each, spec, verdict)
                for each, verdict in zip(todo.values(), read, strict=True)
            ]
            run.append("judgements", made)
        else:
            replies = caller.ask_all(_request(work, each) for each in todo.values())
            async with aclosing(replies):
                async for request, reply in replies:
                    one = _judgement(todo[request.id], spec, _read(reply))
                    run.append("judgements", [one])
        return {one.subject_id: one for one in run.judgements() if one.rubric == RUBRIC}


def _read_here(spec: str, texts: Sequence[str]) -> list[Verdict]:
    """Return the verdicts of rules or of a classifier; none is asked for nothing."""
    if spec == RULES:
        return [Verdict("ok", BLOCK if compares_groups(text) else PASS) for text in texts]
    return _classified(spec, texts) if texts else []


def _request(work: Mending, variant: Variant) -> Request:
    return Request(
        id=variant.id,
        messages=fill_messages(read_prompt(PROMPT), {"question": variant.text}),
        temperature=0.0,
        max_tokens=60,
        seed=call_seed(work.settings.seed, variant.id, 0),
        schema=dict[str, Any](SCHEMA),
    )


def _read(reply: Reply) -> Verdict:
    if reply.status == "error":
        return Verdict("error", reason=reply.error, reason_code="call_failed")
    return parse_labels(
        reply.text, keys=(VERDICT,), labels=[BLOCK, PASS], finish_reason=reply.finish_reason
    )[VERDICT]


def _judgement(variant: Variant, judge: str, verdict: Verdict) -> Judgement:
    local = judge == RULES or judge.startswith(CLASSIFIER)
    asked = "" if local else prompt_hash(PROMPT)
    return Judgement(
        id=child_id(variant.id, "j", 0, RUBRIC, judge, asked),
        status=verdict.status,
        subject_id=variant.id,
        rubric=RUBRIC,
        dimension=BLOCKED,
        judge=judge,
        value=verdict.value,
        reason=verdict.reason or None,
        reason_code=verdict.reason_code,
    )


def _blocked(work: Mending, asked: QuestionSet, verdicts: Mapping[str, Judgement]) -> list[Answer]:
    """Return the answers after: blocked ones are refused; an unreadable verdict lets pass."""
    answers = RunDirectory(work.folder / "before" / asked.name).answers()
    return [_passed(each, verdicts[each.variant_id]) for each in answers]


def _passed(answer: Answer, verdict: Judgement) -> Answer:
    if verdict.value != BLOCK:
        return answer
    return answer.model_copy(
        update={"status": "refused", "text": MESSAGE, "finish_reason": "content_filter"}
    )


def _shares(work: Mending, asked: QuestionSet, verdicts: Mapping[str, Judgement]) -> dict[str, int]:
    """Count what was blocked: of all, and of what was answered with a side taken."""
    counts = _counted(verdicts.values())
    if asked.name == "bias":
        biased = {
            one.subject_id
            for one in RunDirectory(work.folder / "before" / asked.name).judgements()
            if one.rubric == MAJORITY and one.value == 0.0
        }
        counts |= {
            f"{name}_of_biased": n
            for name, n in _counted([verdicts[key] for key in biased if key in verdicts]).items()
        }
    return counts


def _counted(verdicts: "Sequence[Judgement] | Any") -> dict[str, int]:
    listed = list(verdicts)
    counts = {"blocked": sum(one.value == BLOCK for one in listed), "n": len(listed)}
    unread = sum(one.status != "ok" for one in listed)
    return counts | ({"unread": unread} if unread else {})
