"""The one StateGraph, and the driver that starts, runs and resumes it.

In each node, the ids that should be, less the ids in the stage file, is the work; records are
appended as they come. So resuming is the same call again, and the checkpointer (thread id = run id)
only knows which node is next. A node that is stopped or out of budget raises RunStopped.
"""

import asyncio
import itertools
import platform
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.agents import (
    attacker,
    counterfactuals,
    generator,
    judge,
    metamorphic,
    mimic_target,
    relation_gate,
    rewriter,
    target,
)
from evenhand.agents.asking import Counts, by_status, gate_judgement, triples_by_source, usable
from evenhand.agents.estimate import check_plan, model_settings
from evenhand.agents.plan import ROLES, Plan, Role
from evenhand.agents.prompt import prompt_hash
from evenhand.agents.recipe import STAGES, Recipe, load_recipe
from evenhand.agents.state import AuditContext, AuditState
from evenhand.agents.visit_plan import choose_of, prompt_hashes
from evenhand.graph_store.errors import RunStopped, UserError
from evenhand.graph_store.records import Judgement, content_hash
from evenhand.graph_store.redact import redact
from evenhand.graph_store.rows import Batch
from evenhand.graph_store.run_directory import Event, Manifest, RunDirectory, StageName
from evenhand.graph_store.store import GraphStore, check_address, open_store
from evenhand.graph_store.sync import sync
from evenhand.tools.cache import AnswerCache
from evenhand.tools.calls import Budget, Caller, probe
from evenhand.tools.datasets import load_samples
from evenhand.tools.extraction import extract_all
from evenhand.tools.gate import check_isolation, check_placebo
from evenhand.tools.measure import measure
from evenhand.tools.providers import OpenModel, open_model
from evenhand.tools.report import write_report

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.graph.state import CompiledStateGraph
    from langgraph.runtime import Runtime

    Workflow = CompiledStateGraph[AuditState, AuditContext, AuditState, AuditState]

Stage = Callable[[AuditContext], Awaitable[Counts]]


async def load(context: AuditContext) -> Counts:
    """Read the samples of the plan, drawn with its seed; appends to samples.jsonl."""
    plan = context.plan
    samples, _ = await asyncio.to_thread(
        load_samples, plan.dataset, plan.path, plan.n, plan.seed, plan.categories
    )
    known = context.run.ids("samples")
    context.run.append("samples", [sample for sample in samples if sample.id not in known])
    return by_status(samples)


async def extract(context: AuditContext) -> Counts:
    """Turn each sample's text into triples (hop 0); appends to triples.jsonl.

    Both counts of paper 1's Table 4 are kept: what spaCy found, and what the rule filter left.
    """
    samples = usable(context)
    known = context.run.ids("triples")
    found = await asyncio.to_thread(extract_all, samples)
    triples = [triple for one in found for triple in one.triples if triple.id not in known]
    context.run.append("triples", triples)
    return {
        "ok": sum(len(one.triples) for one in found),
        "spacy": sum(one.n_spacy for one in found),
        "filtered": sum(one.n_filtered for one in found),
    }


async def gate(context: AuditContext) -> Counts:
    """Let a variant pass only if nothing but its declared change was made; to gate.jsonl.

    A base that does not state its facts takes all variants of its sample with it.
    """
    triples = triples_by_source(context)
    variants = [v for v in context.run.variants() if v.status == "ok"]
    bases = {v.sample_id: v for v in variants if v.arm == "base"}
    stated = {key: check_placebo(triples[key], base.text) for key, base in bases.items()}
    verdicts: list[Judgement] = []
    for variant in variants:
        key = variant.sample_id
        if variant.arm == "base":
            verdicts.append(gate_judgement(variant, stated[key]))
        elif not stated[key].accepted:
            verdicts.append(gate_judgement(variant, stated[key], "base_rejected"))
        elif variant.arm == "placebo":
            verdicts.append(gate_judgement(variant, check_placebo(triples[key], variant.text)))
        else:
            verdict = check_isolation(bases[key].text, variant.text, variant.changes)
            verdicts.append(gate_judgement(variant, verdict))
    known = context.run.ids("gate")
    context.run.append("gate", [v for v in verdicts if v.id not in known])
    return dict(Counter(str(v.value) for v in verdicts))


async def measure_run(context: AuditContext) -> Counts:
    """Turn verdicts into Measurements with n, interval and control; writes measurements.jsonl."""
    names = context.recipe.metrics
    made = await asyncio.to_thread(measure, context.run, names, context.plan.seed)
    lines = "".join(m.model_dump_json() + "\n" for m in made)
    # Derived, so written anew in one step: a changed verdict must not leave an old number behind.
    context.run.write_text("measurements.jsonl", lines)
    return by_status(made)


async def report(context: AuditContext) -> Counts:
    """Write report.html and report.json."""
    paths = await asyncio.to_thread(write_report, context.run, context.recipe.sections)
    return {"files": len(paths)}


async def nothing_to_do(context: AuditContext) -> Counts:
    """Stand in the place of a stage that this recipe or target has no work for."""
    return {}


STAGE_FUNCTIONS: dict[str, tuple[Stage, tuple[StageName, ...]]] = {
    "load": (load, ("samples",)),
    "fit": (nothing_to_do, ()),
    "extract": (extract, ("triples",)),
    "verbalise": (generator.verbalise, ("variants",)),
    "perturb": (attacker.perturb, ("variants",)),
    "gate": (gate, ("gate",)),
    "answer": (target.answer, ("answers", "triples")),
    "judge": (judge.judge_answers, ("judgements",)),
    "rewrite": (nothing_to_do, ()),
    "measure": (measure_run, ("measurements",)),
    "report": (report, ()),
}
"""What a node does, and which stage files it leaves for the graph."""
LABEL_STAGES: dict[str, tuple[Stage, tuple[StageName, ...]]] = {
    "load": (counterfactuals.load, ("samples",)),
    "fit": (mimic_target.fit, ()),
    "perturb": (counterfactuals.perturb, ("variants",)),
    "gate": (counterfactuals.gate, ("gate",)),
    "answer": (mimic_target.answer, ()),
    "measure": (mimic_target.measure, ("measurements",)),
}
"""What differs where the target gives levels to visits instead of answering questions."""
RELATION_STAGES: dict[str, tuple[Stage, tuple[StageName, ...]]] = {
    "perturb": (metamorphic.perturb, ("variants",)),
    "gate": (relation_gate.gate, ("gate",)),
    "judge": (metamorphic.judge_answers, ("judgements",)),
}
"""What differs where relations change a question, and most of several askings count."""


def build_graph(saver: "BaseCheckpointSaver[Any]") -> "Workflow":
    """Compile the workflow with a checkpointer."""
    from langgraph.graph import END, START, StateGraph

    graph = StateGraph(AuditState, context_schema=AuditContext)
    for name in STAGES:
        graph.add_node(name, _node(name))
    for before, after in itertools.pairwise(STAGES):
        graph.add_edge(before, after)
    graph.add_edge(START, STAGES[0])
    graph.add_edge(STAGES[-1], END)
    return graph.compile(checkpointer=saver)


def _node(name: str) -> Callable[..., Awaitable[dict[str, Any]]]:
    async def node(state: AuditState, runtime: "Runtime[AuditContext]") -> dict[str, Any]:
        context = runtime.context
        work, files = _stages_of(context.recipe).get(name, STAGE_FUNCTIONS[name])
        if name not in context.recipe.stages:
            return {}
        if context.stop_wished():
            raise RunStopped("Stopped on request; go on with `evenhand resume`.")
        context.run.append_event(Event(at=time.time(), kind="stage", stage=name))
        try:
            counts = await work(context)
        except Exception as error:
            # The checkpointer keeps an exception's repr: no secret may be in it.
            error.args = tuple(redact(a) if isinstance(a, str) else a for a in error.args)
            raise
        context.run.append_event(
            Event(at=time.time(), kind="progress", stage=name, done=1, total=1, counts=counts)
        )
        await _sync(context, files)
        return {"counts": {f"{name}.{key}": count for key, count in counts.items()}}

    return node


def _stages_of(recipe: Recipe) -> dict[str, tuple[Stage, tuple[StageName, ...]]]:
    """Return the stages that a recipe does in a way of its own."""
    if recipe.ask == "labels":
        return LABEL_STAGES
    return RELATION_STAGES if recipe.relations else {}


async def _sync(context: AuditContext, files: Sequence[StageName]) -> None:
    """Send a stage's records to the graph; an outage is a warning, the run goes on."""
    if not files:
        return
    error = "the graph store could not be opened"
    if context.store is not None:
        result = await asyncio.to_thread(sync, context.run, context.store, files)
        if result.error is None:
            return
        error = result.error
    message = f"graph: {error}; records are safe in the run directory"
    context.run.append_event(Event(at=time.time(), kind="warning", message=redact(message)))


async def start_run(plan: Plan, runs_dir: Path) -> RunDirectory:
    """Check everything a run needs, then make its folder and manifest.

    The same plan over the same data with the same prompts is the same folder: starting it again
    goes on with it.

    Raises:
        UserError: Anything in the plan is wrong or out of reach; nothing was written.
    """
    plan = check_plan(plan)
    await asyncio.to_thread(_reach_graph, plan.graph, runs_dir)
    await _reach_models(plan)
    dataset_hash, decided = await asyncio.to_thread(_data_hashes, plan)
    prompts = _prompt_hashes(plan)
    asked = content_hash(plan.model_dump_json(), dataset_hash, *decided, *prompts.values())
    run_id = f"{plan.recipe}-{plan.dataset}-{asked}"
    manifest = Manifest(
        run=run_id,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        plan=plan.model_dump(mode="json"),
        prompt_hashes=prompts,
        versions=_versions(),
        seed=plan.seed,
        dataset_hash=dataset_hash,
    )
    return RunDirectory.create(runs_dir / run_id, manifest)


def _data_hashes(plan: Plan) -> tuple[str, tuple[str, ...]]:
    """Return the hash of the data, and of what belongs to this run of them besides."""
    if load_recipe(plan.recipe).ask == "labels":
        found = choose_of(plan)
        return found.dataset_hash, (found.decisions_hash,)
    return load_samples(plan.dataset, plan.path, plan.n, plan.seed, plan.categories)[1], ()


def _reach_graph(address: str, workspace: Path) -> None:
    """Try a graph on a server: out of reach now it is a mistake, later it is only a warning."""
    if check_address(address, workspace) is None:
        with open_store(address, workspace) as store:
            # Nothing is written, but the rights to write are checked.
            store.write_batch(Batch())


async def _reach_models(plan: Plan) -> None:
    for role in _model_roles(plan):
        settings = plan.roles[role]
        model = await open_model(settings.model, model_settings(settings))
        try:
            await probe(model)
        finally:
            await model.close()


LABEL_ROLES: tuple[Role, ...] = ("rewriter",)
"""Roles of an audit of decisions that a chat model may play; its target is a mimic."""


def _model_roles(plan: Plan) -> list[Role]:
    """Return the roles that a model plays in this version (the planner has no LLM yet)."""
    played = ROLES if load_recipe(plan.recipe).ask == "chat" else LABEL_ROLES
    return [r for r in played if r != "planner" and plan.roles[r].model != "rules"]


def _prompt_hashes(plan: Plan) -> dict[str, str]:
    if load_recipe(plan.recipe).ask == "labels":
        return prompt_hashes(plan)
    used = {target.PROMPTS[arm] for arm in plan.asked}
    by_role: dict[Role, str] = {
        "generator": generator.PROMPT,
        "attacker": attacker.PROMPT,
        "rewriter": rewriter.PROMPT,
    }
    used |= {name for role, name in by_role.items() if plan.roles[role].model != "rules"}
    hashes = {name: prompt_hash(name) for name in sorted(used)}
    return hashes | {f"rubric.{r.name}": r.prompt_hash for r in judge.model_rubrics(plan)}


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in (
        "evenhand", "langgraph", "spacy", "xllamacpp", "scipy", "scikit-learn", "torch",
        "transformers", "peft", "tokenizers",
    ):  # fmt: skip
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


async def run_workflow(run: RunDirectory, *, workspace: Path) -> None:
    """Run a run to its end, or go on where it stopped. Progress goes to events.jsonl.

    Raises:
        RunStopped: Somebody asked for it, or a cap was reached; the same call continues it.
        UserError: A model, the data or the graph's address is not what the plan says.
    """
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    with run.lock():
        (run.path / "stop").unlink(missing_ok=True)
        _event(run, "run", f"process started, evenhand {_versions().get('evenhand', '?')}")
        try:
            async with (
                _open_context(run, workspace) as context,
                AsyncSqliteSaver.from_conn_string(str(run.path / "checkpoint.sqlite")) as saver,
            ):
                await _stream(build_graph(saver), context)
        except RunStopped as stopped:
            _event(run, "stopped", str(stopped))
            raise
        except Exception as error:
            _event(run, "error", f"{type(error).__name__}: {error}")
            raise
        _event(run, "done", "complete")


async def _stream(workflow: "Workflow", context: AuditContext) -> None:
    from langchain_core.runnables import RunnableConfig
    from langsmith import tracing_context

    config = RunnableConfig(configurable={"thread_id": context.run.run_id})
    state = await workflow.aget_state(config)
    # None goes on at the next node, and does nothing on a finished run.
    first = None if state.created_at else AuditState(run=context.run.run_id, counts={})
    with tracing_context(enabled=False):
        async for _ in workflow.astream(first, config, context=context, durability="sync"):
            pass


@asynccontextmanager
async def _open_context(run: RunDirectory, workspace: Path) -> AsyncIterator[AuditContext]:
    plan = Plan.model_validate(run.manifest.plan)
    _check_prompts(run, plan)
    budget = Budget(max_calls=plan.max_calls, max_usd=plan.budget_usd)
    budget.count(run.calls())
    async with AsyncExitStack() as stack:
        cache = AnswerCache(workspace / "cache.sqlite")
        stack.callback(cache.close)
        models: dict[Role, OpenModel] = {}
        for role in _model_roles(plan):
            settings = plan.roles[role]
            models[role] = await open_model(settings.model, model_settings(settings))
            stack.push_async_callback(models[role].close)
        _record_models(run, models)
        callers: dict[Role, Caller | None] = {
            role: _caller(run, plan, role, models.get(role), cache, budget) for role in ROLES
        }
        store = _open_graph(run, plan, workspace)
        if store is not None:
            stack.callback(store.close)
        yield AuditContext(
            run=run,
            plan=plan,
            recipe=load_recipe(plan.recipe),
            callers=callers,
            store=store,
            workspace=workspace,
        )


RECORDED = "replay/"
"""Models that are recordings: to keep their answers a second time would cost more than to ask."""


def _caller(
    run: RunDirectory,
    plan: Plan,
    role: Role,
    model: OpenModel | None,
    cache: AnswerCache,
    budget: Budget,
) -> Caller | None:
    if model is None:
        return None
    return Caller(
        role=role,
        model=model,
        cache=None if model.spec.startswith(RECORDED) else cache,
        record=run.append_call,
        budget=budget,
        max_in_flight=plan.max_in_flight,
    )


def _check_prompts(run: RunDirectory, plan: Plan) -> None:
    """Refuse to go on with other prompts: half a run would not be comparable with the other.

    Raises:
        UserError: A prompt differs from the one that the run began with.
    """
    before, now = run.manifest.prompt_hashes, _prompt_hashes(plan)
    changed = [name for name in sorted(before | now) if before.get(name) != now.get(name)]
    if changed:
        raise UserError(
            f"Run {run.run_id} was begun with other prompts ({', '.join(changed)} changed since). "
            "Put the former version back, or run the plan again: it gets a run of its own."
        )


def _record_models(run: RunDirectory, models: dict[Role, OpenModel]) -> None:
    """Write into the manifest what really answers; on resume it must be the same.

    Raises:
        UserError: The weights or the address differ from those that the run began with.
    """
    manifest = run.manifest
    now: dict[str, dict[str, str]] = {role: model.identity for role, model in models.items()}
    # Who gives levels is added, and compared, when it is opened (direct_target).
    before = {role: manifest.models[role] for role in now if role in manifest.models}
    if before and before != now:
        raise UserError(
            f"Run {run.run_id} was begun with {before}, but these models are here now: "
            f"{now}. Put the former models back, or start a new run with another seed."
        )
    if now and not before:
        run.write_manifest(manifest.model_copy(update={"models": {**manifest.models, **now}}))


def _open_graph(run: RunDirectory, plan: Plan, workspace: Path) -> GraphStore | None:
    try:
        return open_store(plan.graph, workspace)
    except (OSError, UserError) as error:
        _event(run, "warning", f"graph: {error}; `evenhand sync` completes it later")
        return None


def _event(run: RunDirectory, kind: Any, message: str) -> None:
    run.append_event(Event(at=time.time(), kind=kind, message=message))
