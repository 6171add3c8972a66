"""The same questions asked before and after a mitigation: a run directory a side and set.

    RUN/mitigations/fine_tune-1f0c.../before/bias/   samples, variants, answers, judgements, calls
                                     after/bias/     the same variants, the same ids

so that everything is resumed, traced and measured as in any run.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from evenhand.agents import metamorphic, target
from evenhand.agents.asking import gate_judgement
from evenhand.agents.estimate import model_settings
from evenhand.agents.mending import Mending, QuestionSet, SetName, Side
from evenhand.agents.plan import Plan, Role, RoleModel
from evenhand.agents.recipe import load_recipe
from evenhand.agents.state import AuditContext
from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Answer, Judgement, Sample, Variant, child_id
from evenhand.graph_store.run_directory import Manifest, RunDirectory
from evenhand.tools.cache import AnswerCache
from evenhand.tools.calls import Budget, Caller
from evenhand.tools.gate import ACCEPTED
from evenhand.tools.mitigation.answer_key import benign_verdict, instruction_verdict
from evenhand.tools.mitigation.effects import Pair, Said
from evenhand.tools.pairing import MAJORITY
from evenhand.tools.providers import OpenModel, open_model
from evenhand.tools.verdicts import Verdict

RUBRIC: Mapping[SetName, str] = {"benign": "benign_answer", "ability": "instruction_answer"}
CORRECT = "correct"
RULES = "rules"


def base_variant(sample: Sample) -> Variant:
    """Return the question as it stands."""
    identity = child_id(sample.id, "v", 0, "base", sample.text)
    return Variant(
        id=identity, sample_id=sample.id, arm="base", text=sample.text, made_by=sample.dataset
    )


def target_role(work: Mending, model: str | None = None) -> RoleModel:
    """Return how the target is asked on both sides."""
    role = work.plan.roles["target"]
    most = work.settings.max_tokens or role.max_tokens
    return role.model_copy(
        update={"model": model or role.model, "max_tokens": most, "seed": work.settings.seed}
    )


def side_plan(work: Mending, asked: QuestionSet, role: RoleModel) -> Plan:
    """Return the plan of one set on one side: the run's own, without controls."""
    votes = (work.settings.votes or work.plan.votes or 1) if asked.name == "bias" else 1
    return work.plan.model_copy(
        update={"roles": {**work.plan.roles, "target": role}, "controls": (), "votes": votes}
    )


def side_run(work: Mending, side: Side, asked: QuestionSet, role: RoleModel) -> RunDirectory:
    """Make, or find again, the run directory of a set on a side, with its questions in it."""
    plan = side_plan(work, asked, role)
    run = RunDirectory.create(
        work.folder / side / asked.name,
        Manifest(
            run=f"{work.folder.name}-{side}-{asked.name}",
            created=work.run.manifest.created,
            plan=plan.model_dump(mode="json"),
            seed=work.settings.seed,
            dataset_hash=work.run.manifest.dataset_hash,
        ),
    )
    known = run.ids("samples")
    run.append("samples", [one for one in asked.samples if one.id not in known])
    known = run.ids("variants")
    run.append("variants", [one for one in asked.variants if one.id not in known])
    known = run.ids("gate")
    gate = [gate_judgement(variant, ACCEPTED) for variant in asked.variants]
    run.append("gate", [one for one in gate if one.id not in known])
    return run


async def ask_side(work: Mending, side: Side, model: OpenModel, role: RoleModel) -> None:
    """Ask all sets of a model and judge the answers; what is there already is not asked again.

    Raises:
        RunStopped: A cap was reached; the same call goes on.
    """
    async with _judge(work) as judge:
        for asked in work.sets:
            if not asked.variants:
                continue
            work.tell(f"{side}: {len(asked.variants)} {asked.name} questions")
            run = side_run(work, side, asked, role)
            with run.lock():
                record_model(run, model)
                async with side_context(work, run, model, judge) as context:
                    await target.answer(context)
                    await judge_side(context, asked)


async def ask_target(work: Mending, side: Side) -> RoleModel:
    """Open the run's target, ask all sets of it, close it; returns what was asked.

    Raises:
        RunStopped: A cap was reached; the same call goes on.
    """
    role = target_role(work)
    model = await open_model(role.model, model_settings(role))
    try:
        await ask_side(work, side, model, role)
    finally:
        await model.close()
    return role


async def judge_side(context: AuditContext, asked: QuestionSet) -> None:
    """Judge the answers of a set: by the run's own judge, or by the answer key."""
    if asked.name == "bias":
        await metamorphic.judge_answers(context)
        return
    by_variant = {variant.id: variant.sample_id for variant in asked.variants}
    by_id = {sample.id: sample for sample in asked.samples}
    known = context.run.ids("judgements")
    made = [
        _judgement(answer, RUBRIC[asked.name], _keyed(asked.name, by_id, by_variant, answer))
        for answer in context.run.answers()
        if answer.status == "ok"
    ]
    context.run.append("judgements", [one for one in made if one.id not in known])


def _keyed(
    name: SetName, samples: Mapping[str, Sample], by_variant: Mapping[str, str], answer: Answer
) -> Verdict:
    sample = samples[by_variant[answer.variant_id]]
    if name == "benign":
        return benign_verdict(sample, answer.text, answer.finish_reason)
    return instruction_verdict(sample, answer.text)


def _judgement(answer: Answer, rubric: str, verdict: Verdict) -> Judgement:
    return Judgement(
        id=child_id(answer.id, "j", 0, rubric, CORRECT, RULES),
        status=verdict.status,
        subject_id=answer.id,
        rubric=rubric,
        dimension=CORRECT,
        judge=RULES,
        value=verdict.value,
        reason=verdict.reason or None,
        reason_code=verdict.reason_code,
    )


@asynccontextmanager
async def side_context(
    work: Mending, run: RunDirectory, model: OpenModel | None, judge: OpenModel | None
) -> AsyncIterator[AuditContext]:
    """Yield what the nodes of the workflow work with, for one set on one side."""
    plan = Plan.model_validate(run.manifest.plan)
    budget = Budget(max_calls=plan.max_calls, max_usd=plan.budget_usd)
    budget.count(run.calls())
    async with AsyncExitStack() as stack:
        cache = AnswerCache(work.workspace / "cache.sqlite")
        stack.callback(cache.close)
        opened: dict[Role, OpenModel | None] = {"target": model, "judge": judge}
        callers: dict[Role, Caller | None] = {
            role: None
            if one is None
            else Caller(
                role=role,
                model=one,
                cache=cache,
                record=run.append_call,
                budget=budget,
                max_in_flight=plan.max_in_flight,
            )
            for role, one in opened.items()
        }
        yield AuditContext(
            run=run,
            plan=plan,
            recipe=load_recipe(plan.recipe),
            callers=callers,
            store=None,
            workspace=work.workspace,
        )


@asynccontextmanager
async def _judge(work: Mending) -> AsyncIterator[OpenModel | None]:
    role = work.plan.roles["judge"]
    if role.model == RULES:
        yield None
        return
    model = await open_model(role.model, model_settings(role))
    try:
        yield model
    finally:
        await model.close()


def record_model(run: RunDirectory, model: OpenModel) -> None:
    """Write down what really answers; on resume it must be the same.

    Raises:
        UserError: It differs.
    """
    manifest = run.manifest
    before = manifest.models.get("target")
    if before is not None and before != model.identity:
        raise UserError(
            f"{run.path} was begun with {before}, but here is {model.identity}; put the former "
            "model back, or give another --seed."
        )
    if before is None:
        models = {**manifest.models, "target": model.identity}
        run.write_manifest(manifest.model_copy(update={"models": models}))


def read_pairs(work: Mending) -> dict[str, list[Pair]]:
    """Return the verdicts before and after, question by question."""
    found: dict[str, list[Pair]] = {}
    for asked in work.sets:
        both = [_said(RunDirectory(work.folder / side / asked.name), asked)
                for side in ("before", "after")]  # fmt: skip
        by_id = {sample.id: sample for sample in asked.samples}
        found[asked.name] = [
            Pair(
                sample=variant.sample_id,
                group=variant.group,
                unseen=work.split.names_held_out_groups(by_id[variant.sample_id]),
                before=both[0].get(variant.id, Said("missing")),
                after=both[1].get(variant.id, Said("missing")),
            )
            for variant in asked.variants
        ]
    return found


def _said(run: RunDirectory, asked: QuestionSet) -> dict[str, Said]:
    """Return what was said of each variant: by majority, or by the key to its one answer."""
    if asked.name == "bias":
        return {
            one.subject_id: Said(one.status, one.value)
            for one in run.judgements()
            if one.rubric == MAJORITY
        }
    judged = {one.subject_id: Said(one.status, one.value) for one in run.judgements()}
    return {
        answer.variant_id: judged.get(answer.id, Said("missing"))
        if answer.status == "ok"
        else Said(answer.status)
        for answer in run.answers()
    }


@asynccontextmanager
async def side_caller(
    work: Mending, asked: QuestionSet, role: RoleModel, name: str, spec: str
) -> AsyncIterator[tuple[RunDirectory, Caller | None]]:
    """Yield the after side of a set, and the caller of a model that works on it; None for rules.

    Args:
        work: The mitigation.
        asked: The set.
        role: The target's.
        name: What the model is called in calls.jsonl: "guard", "rewriter".
        spec: The model, or "rules".
    """
    run = side_run(work, "after", asked, role)
    with run.lock():
        if spec == RULES:
            yield run, None
            return
        model = await open_model(spec, model_settings(RoleModel(model=spec)))
        budget = Budget(max_calls=work.plan.max_calls, max_usd=work.plan.budget_usd)
        budget.count(run.calls())
        cache = AnswerCache(work.workspace / "cache.sqlite")
        try:
            yield (
                run,
                Caller(
                    role=name,
                    model=model,
                    cache=cache,
                    record=run.append_call,
                    budget=budget,
                    max_in_flight=work.plan.max_in_flight,
                ),
            )
        finally:
            cache.close()
            await model.close()


async def changed_side(
    work: Mending, asked: QuestionSet, role: RoleModel, answers: Sequence[Answer]
) -> None:
    """Write the answers of the after side where they were changed, not asked; judge them anew."""
    async with _judge(work) as judge:
        run = side_run(work, "after", asked, role)
        with run.lock():
            known = run.ids("answers")
            run.append("answers", [one for one in answers if one.id not in known])
            async with side_context(work, run, None, judge) as context:
                await judge_side(context, asked)
