"""A plan checked and priced before anything costs a call."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from evenhand.agents.label_targets import label_targets
from evenhand.agents.metamorphic import check_questions, planned_relations
from evenhand.agents.plan import DEFAULT_ROLES, Plan, Role, RoleModel
from evenhand.agents.power import arm_notes, least_effect_sentence
from evenhand.agents.recipe import Recipe, load_recipe
from evenhand.agents.rubrics import RULES, Subject, applicable, rubrics
from evenhand.agents.visit_plan import (
    check_visit_plan,
    choose_of,
    least_effects,
    mimic_seconds,
    prompt_tokens,
    rewriting_calls,
    visit_calls,
    visit_notes,
)
from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Sample
from evenhand.graph_store.registry import unknown_name
from evenhand.graph_store.store import check_address
from evenhand.tools.attributes import attributes
from evenhand.tools.bertscore import token_encoder
from evenhand.tools.calls import find_price
from evenhand.tools.datasets import datasets, load_samples
from evenhand.tools.providers import ModelSettings, check_model, model_host
from evenhand.tools.providers.openai import is_loopback

CONTROLS = ("repeat", "placebo")
PROMPT_TOKENS: dict[Role, int] = {
    "target": 330,
    "judge": 250,
    "generator": 350,
    "attacker": 400,
    "rewriter": 250,
}
"""Rough length of a prompt, counted on the demo data set; for the estimate only. Of the judge: of
what is filled into its rubric."""
CHARACTERS_PER_TOKEN = 4
REPLY_TOKENS: dict[Role, int] = {
    "target": 170,
    "judge": 90,
    "generator": 90,
    "attacker": 80,
    "rewriter": 80,
}
LOCAL_TOKENS_PER_SECOND = 70
"""The embedded model on 2 cores; a larger one is slower in proportion to its size."""


@dataclass(frozen=True)
class Estimate:
    """What a plan will cost, and what it can show."""

    samples: int
    calls: dict[Role, int]
    """At most, by role; a role played by rules makes none."""
    tokens: int
    cost_usd: float | None
    """None: a price is not known."""
    seconds: float | None
    """None: the speed of a server elsewhere is not known."""
    least_effect: str
    hosts: tuple[str, ...]
    """Where text is sent; empty: nothing leaves this machine."""
    notes: tuple[str, ...]

    @property
    def total_calls(self) -> int:
        """All roles together."""
        return sum(self.calls.values())


def model_settings(role: RoleModel) -> ModelSettings:
    """Return what a provider needs to open the model of a role."""
    name = role.model.partition("/")[2] if "/" in role.model else role.model
    return ModelSettings(
        name=name,
        temperature=role.temperature,
        max_tokens=role.max_tokens,
        seed=role.seed,
        base_url=role.base_url,
        path=role.path,
    )


def check_plan(plan: Plan) -> Plan:
    """Fill in what the recipe says and check every name.

    Raises:
        UserError: An unknown recipe, data set, attribute, arm, rubric or model, or a missing file;
            the message lists the valid names.
    """
    recipe = load_recipe(plan.recipe)
    if recipe.ask == "labels":
        return _check_rewriter(check_visit_plan(plan, recipe))
    datasets.get(plan.dataset)
    _check_relations(plan, recipe)
    for name in [*plan.attributes, *(n for group in plan.intersections for n in group)]:
        attributes.get(name)
    filled = _fill(plan, recipe)
    _check_changes(plan, filled)
    for arm in filled.asked:
        if arm not in recipe.asked:
            raise UserError(unknown_name("way of asking", arm, list(recipe.asked)))
    for control in filled.controls or ():
        if control not in CONTROLS:
            raise UserError(unknown_name("control arm", control, list(CONTROLS)))
    _check_rubrics(filled)
    if filled.encoder:
        token_encoder(filled.encoder)
    check_address(filled.graph, Path())
    _check_planted(filled)
    for role, model in filled.roles.items():
        if model.model != "rules":
            check_model(model.model, model_settings(model))
        elif role == "target":
            raise UserError(
                "The target cannot be 'rules': it is the model under audit. Name one as "
                "'provider/name', for example local, openai/gpt-4o or planted/fair."
            )
    return filled


def _check_rewriter(plan: Plan) -> Plan:
    """Check the one role of an audit of decisions that a chat model may play."""
    rewriter = plan.roles["rewriter"]
    if rewriter.model != RULES:
        check_model(rewriter.model, model_settings(rewriter))
        if plan.attributes != ("gender",):
            raise UserError(
                f"A model rewrites notes for gender only, not for {plan.attributes[0]}; leave "
                "--rewriter out, and the rules do."
            )
    return plan


def _check_relations(plan: Plan, recipe: Recipe) -> None:
    """Check that a plan changes questions in its recipe's way: by relations, or by attributes."""
    if plan.relations and not recipe.relations:
        raise UserError(
            f"Recipe {recipe.name!r} changes attributes and has no relations; leave --relations "
            "out, or choose --recipe metamorphic."
        )
    if plan.repeats > 1 and recipe.relations:
        raise UserError(
            f"{plan.repeats} repeats are not asked by recipe {recipe.name!r}; expected 1, which "
            "asks each question once more as often as --votes says. Leave --repeats out."
        )
    named = (*plan.attributes, *(name for group in plan.intersections for name in group))
    if named and recipe.relations:
        raise UserError(
            f"Recipe {recipe.name!r} changes questions by relations, not {named[0]}; leave "
            "--attributes and --intersections out, or choose --recipe kg."
        )


def _check_planted(filled: Plan) -> None:
    """Refuse a simulated target where it does not know what is asked: it would look biased."""
    target = filled.roles["target"].model
    if filled.relations and target.partition("/")[0] == "planted":
        raise UserError(
            f"Target {target!r} simulates answers to clinical questions and knows none that "
            f"compare groups, as recipe {filled.recipe!r} asks; expected a model, for example "
            "local. Name it with --target."
        )


def _check_changes(plan: Plan, filled: Plan) -> None:
    """Check what the plan itself says of draws and added attributes against what it changes."""
    for name in plan.draws:
        if name not in filled.attributes:
            raise UserError(unknown_name("attribute to draw values of", name, [*filled.attributes]))
    changed = list(dict.fromkeys(name for group in filled.groups for name in group))
    for name in plan.added or ():
        if name not in changed:
            raise UserError(unknown_name("attribute to put in", name, changed))


def _check_rubrics(filled: Plan) -> None:
    judge = filled.roles["judge"].model
    for name in filled.rubrics:
        if rubrics.get(name).judged_by(judge) is None:
            raise UserError(
                f"Rubric {name!r} cannot be judged by rules; expected a model as judge. Name one "
                "with --judge, or leave the rubric out."
            )


def _fill(plan: Plan, recipe: Recipe) -> Plan:
    # Who names attributes gets these alone: a list of attributes is no intersection.
    usual = () if plan.attributes else recipe.intersections
    alone = tuple(dict.fromkeys(plan.attributes or recipe.attributes))
    intersections = plan.intersections or usual
    changed = {*alone, *(name for group in intersections for name in group)}
    draws = {**recipe.draws, **plan.draws}
    roles = {**DEFAULT_ROLES, **plan.roles}
    return plan.model_copy(
        update={
            "attributes": alone,
            "intersections": intersections,
            "draws": {name: draws[name] for name in alone if name in draws},
            "added": tuple(name for name in recipe.added if name in changed)
            if plan.added is None
            else plan.added,
            "asked": plan.asked or recipe.asked,
            "rubrics": _rubrics(plan, recipe, roles["judge"].model),
            "controls": _controls(plan, recipe),
            "relations": planned_relations(plan, recipe.relations) if recipe.relations else (),
            "votes": plan.votes or _votes(plan, recipe),
            "roles": roles,
        }
    )


def _votes(plan: Plan, recipe: Recipe) -> int:
    """Return how often each question is asked; a recording holds one answer to each."""
    return 1 if _is_recorded(plan) else recipe.votes


def _controls(plan: Plan, recipe: Recipe) -> tuple[str, ...]:
    """Return the control arms; a recorded answer comes again by construction, and tells nothing."""
    if plan.controls is not None:
        return plan.controls
    return () if recipe.relations and _is_recorded(plan) else recipe.controls


def _is_recorded(plan: Plan) -> bool:
    return plan.roles.get("target", DEFAULT_ROLES["target"]).model.startswith("replay/")


def _rubrics(plan: Plan, recipe: Recipe, judge: str) -> tuple[str, ...]:
    """Return what is judged: what the plan names, and what costs no call and the numbers rest on.

    Where it names nothing: what the judge can apply.
    """
    if not plan.rubrics:
        return applicable(recipe.rubrics, judge)
    free = [name for name in recipe.rubrics if rubrics.get(name).parse is None]
    return tuple(dict.fromkeys([*plan.rubrics, *free]))


def estimate(plan: Plan) -> Estimate:
    """Count the calls of a checked plan, and say what its n can show.

    Raises:
        UserError: The data set cannot be read, or has fewer rows than n.
    """
    plan = check_plan(plan)
    if load_recipe(plan.recipe).ask == "labels":
        return _estimate_visits(plan)
    samples, _ = load_samples(plan.dataset, plan.path, plan.n, plan.seed, plan.categories)
    check_questions(plan, samples)
    works = _works(plan, len(samples))
    return Estimate(
        samples=len(samples),
        calls=count_calls(plan, len(samples)),
        tokens=sum(work.calls * (work.prompt_tokens + REPLY_TOKENS[work.role]) for work in works),
        cost_usd=_cost(plan, works),
        seconds=_seconds(plan, works),
        least_effect=least_effect_sentence(len(samples)),
        hosts=_hosts(plan),
        notes=_notes(plan, samples),
    )


def _estimate_visits(plan: Plan) -> Estimate:
    chosen = choose_of(plan).chosen
    calls: dict[Role, int] = {
        "rewriter": rewriting_calls(chosen, plan),
        "target": visit_calls(chosen, plan),
    }
    tokens: dict[Role, int] = {"rewriter": prompt_tokens(plan), "target": PROMPT_TOKENS["target"]}
    works = [_Work(role, n, tokens[role]) for role, n in calls.items() if n]
    return Estimate(
        samples=len(chosen.visits.samples),
        calls={work.role: work.calls for work in works},
        tokens=sum(work.calls * (work.prompt_tokens + REPLY_TOKENS[work.role]) for work in works),
        cost_usd=_cost(plan, works),
        seconds=mimic_seconds(chosen, plan),
        least_effect=least_effects(chosen, plan),
        hosts=_hosts(plan),
        notes=visit_notes(chosen, plan),
    )


def count_calls(plan: Plan, samples: int) -> dict[Role, int]:
    """Count the calls that a checked plan makes at most, by role.

    Fewer are made where a source does not state an attribute, or the gate rejects a variant.
    """
    calls: dict[Role, int] = {}
    for work in _works(plan, samples):
        calls[work.role] = calls.get(work.role, 0) + work.calls
    return calls


@dataclass(frozen=True)
class _Work:
    """Calls of one kind."""

    role: Role
    calls: int
    prompt_tokens: int


def _works(plan: Plan, samples: int) -> list[_Work]:
    variants = sum(plan.draws_of(group) for group in plan.groups)
    placebo = int(plan.has_control("placebo"))
    votes = plan.votes or 1
    repeats = plan.repeats if plan.has_control("repeat") else 0
    ways = sum(arm != "original" for arm in plan.asked)
    shown = 1 + variants + len(plan.relations) + placebo
    first = ways * shown * votes + len(plan.asked) - ways
    judged: dict[Subject, int] = {
        # A repeat of a majority is a majority again; elsewhere it is there for its change alone.
        "answer": first + (ways * repeats * votes if plan.relations else 0),
        "variant": shown,
        "pair": ways * (variants + placebo + repeats),
    }
    a_sample: dict[Role, int] = {
        "target": first + ways * repeats * votes,
        "generator": 1,
        "attacker": variants,
        "rewriter": 0 if plan.relations else placebo,
    }
    works = [_Work(role, n * samples, PROMPT_TOKENS[role]) for role, n in a_sample.items()]
    for rubric in map(rubrics.get, plan.rubrics):
        tokens = len(rubric.prompt) // CHARACTERS_PER_TOKEN + PROMPT_TOKENS["judge"]
        if rubric.parse is not None:
            calls = judged[rubric.subject] * len(rubric.orders) * samples
            works.append(_Work("judge", calls, tokens))
    return [work for work in works if work.calls and plan.roles[work.role].model != RULES]


def _cost(plan: Plan, works: Sequence[_Work]) -> float | None:
    total = 0.0
    for work in works:
        model = plan.roles[work.role]
        price = find_price(model.model, model_host(model.model, model_settings(model)))
        replies = work.calls * REPLY_TOKENS[work.role]
        cost = None if price is None else price.cost(work.calls * work.prompt_tokens, replies)
        if cost is None:
            return None
        total += cost
    return total


def _seconds(plan: Plan, works: Sequence[_Work]) -> float | None:
    """Estimate for models in this process; a server's speed is not known before it is asked."""
    kinds = {work.role: plan.roles[work.role].model.partition("/")[0] for work in works}
    if not set(kinds.values()) <= {"local", "planted", "echo", "replay"}:
        return None
    tokens = sum(w.calls * REPLY_TOKENS[w.role] for w in works if kinds[w.role] == "local")
    return tokens / LOCAL_TOKENS_PER_SECOND + 5


def _hosts(plan: Plan) -> tuple[str, ...]:
    roles, asked = plan.roles, []
    if load_recipe(plan.recipe).ask == "labels":
        roles = {"rewriter": roles["rewriter"]}
        asked = [target.host for target in label_targets(plan)]
    models = [model for model in roles.values() if model.model != "rules"]
    hosts = {model_host(model.model, model_settings(model)) for model in models}
    return tuple(sorted(host for host in {*hosts, *asked, _graph_host(plan.graph)} if host))


def _graph_host(address: str) -> str | None:
    """Return the host that questions and answers are sent to, to be kept; None: this machine."""
    host = urlsplit(address).hostname
    return None if host is None or is_loopback(host) else host


def _notes(plan: Plan, samples: Sequence[Sample]) -> tuple[str, ...]:
    rules = [role for role, model in plan.roles.items() if model.model == RULES]
    notes = [f"Played by rules, without a model: {', '.join(r for r in rules if r != 'planner')}."]
    target, judge = plan.roles["target"], plan.roles["judge"]
    if target.model == judge.model:
        notes.append("Judge and target are the same model: it may favour its own answers.")
    if judge.model == "local" and not judge.path:
        notes.append("The embedded model is too small to judge well; expect unreadable verdicts.")
    if judge.model == RULES and (left := _needing_a_model(plan)):
        notes.append(f"Not judged, as rules cannot: {', '.join(left)}. Name a model with --judge.")
    if not plan.has_control("repeat") and not plan.relations:
        notes.append("Without the repeat arm no change can be told from noise.")
    return (*notes, *arm_notes(plan, samples))


def _needing_a_model(plan: Plan) -> list[str]:
    names = [name for name in load_recipe(plan.recipe).rubrics if name not in plan.rubrics]
    return [name.replace("_", " ") for name in names if rubrics.get(name).rules is None]
