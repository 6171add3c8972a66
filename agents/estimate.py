"""A plan checked and priced before anything costs a call."""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from evenhand.agents.plan import DEFAULT_ROLES, Plan, Role, RoleModel
from evenhand.agents.recipe import Recipe, load_recipe
from evenhand.graph_store.errors import UserError
from evenhand.graph_store.registry import unknown_name
from evenhand.graph_store.store import check_address
from evenhand.tools.attributes import attributes
from evenhand.tools.calls import find_price
from evenhand.tools.datasets import datasets, load_samples
from evenhand.tools.providers import ModelSettings, check_model, model_host
from evenhand.tools.providers.openai import is_loopback
from evenhand.tools.statistics.power import least_effect

CONTROLS = ("repeat", "placebo")
DISCORDANCES = (0.0, 0.2)
"""Repeat discordance is not known before a run; the least effect is given for this range."""

PROMPT_TOKENS: dict[Role, int] = {
    "target": 330,
    "judge": 900,
    "generator": 350,
    "attacker": 400,
    "rewriter": 250,
}
"""Rough length of a prompt, counted on the demo data set; for the estimate only."""
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
        UserError: An unknown recipe, data set, attribute, arm or model, or a missing file; the
            message lists the valid names.
    """
    recipe = load_recipe(plan.recipe)
    datasets.get(plan.dataset)
    filled = _fill(plan, recipe)
    for name in [*filled.attributes, *(n for group in filled.intersections for n in group)]:
        attributes.get(name)
    for arm in filled.asked:
        if arm not in recipe.asked:
            raise UserError(unknown_name("way of asking", arm, list(recipe.asked)))
    for control in filled.controls:
        if control not in CONTROLS:
            raise UserError(unknown_name("control arm", control, list(CONTROLS)))
    check_address(filled.graph, Path())
    for role, model in filled.roles.items():
        if model.model != "rules":
            check_model(model.model, model_settings(model))
        elif role == "target":
            raise UserError(
                "The target cannot be 'rules': it is the model under audit. Name one as "
                "'provider/name', for example local, openai/gpt-4o or planted/fair."
            )
    return filled


def _fill(plan: Plan, recipe: Recipe) -> Plan:
    # Who names attributes gets these alone: a list of attributes is no intersection.
    usual = () if plan.attributes else recipe.intersections
    return plan.model_copy(
        update={
            "attributes": tuple(dict.fromkeys(plan.attributes or recipe.attributes)),
            "intersections": plan.intersections or usual,
            "asked": plan.asked or recipe.asked,
            "controls": plan.controls or recipe.controls,
            "roles": {**DEFAULT_ROLES, **plan.roles},
        }
    )


def estimate(plan: Plan) -> Estimate:
    """Count the calls of a checked plan, and say what its n can show.

    Raises:
        UserError: The data set cannot be read, or has fewer rows than n.
    """
    plan = check_plan(plan)
    samples, _ = load_samples(plan.dataset, plan.path, plan.n, plan.seed)
    calls = count_calls(plan, len(samples))
    tokens = sum(n * (PROMPT_TOKENS[role] + REPLY_TOKENS[role]) for role, n in calls.items())
    return Estimate(
        samples=len(samples),
        calls=calls,
        tokens=tokens,
        cost_usd=_cost(plan, calls),
        seconds=_seconds(plan, calls),
        least_effect=least_effect_sentence(len(samples)),
        hosts=_hosts(plan),
        notes=_notes(plan),
    )


def count_calls(plan: Plan, samples: int) -> dict[Role, int]:
    """Count the calls that a checked plan makes at most, by role.

    Fewer are made where a source does not state an attribute, or the gate rejects a variant.
    """
    recipe = load_recipe(plan.recipe)
    groups = len(plan.attributes) + len(plan.intersections)
    placebo = int("placebo" in plan.controls)
    repeats = plan.repeats if "repeat" in plan.controls else 0
    generated = [arm for arm in plan.asked if arm != "original"]
    first = len(generated) * (1 + groups + placebo) + len(plan.asked) - len(generated)
    rubrics = sum(name != "paired_change" for name in recipe.rubrics)
    a_sample: dict[Role, int] = {
        "target": first + len(generated) * repeats,
        "judge": first * rubrics,
        "generator": 1,
        "attacker": groups,
        "rewriter": placebo,
    }
    return {
        role: n * samples for role, n in a_sample.items() if plan.roles[role].model != "rules" and n
    }


def _cost(plan: Plan, calls: dict[Role, int]) -> float | None:
    total = 0.0
    for role, n in calls.items():
        model = plan.roles[role]
        price = find_price(model.model, model_host(model.model, model_settings(model)))
        cost = (
            None if price is None else price.cost(n * PROMPT_TOKENS[role], n * REPLY_TOKENS[role])
        )
        if cost is None:
            return None
        total += cost
    return total


def _seconds(plan: Plan, calls: dict[Role, int]) -> float | None:
    """Estimate for models in this process; a server's speed is not known before it is asked."""
    kinds = {role: plan.roles[role].model.partition("/")[0] for role in calls}
    if not set(kinds.values()) <= {"local", "planted", "echo", "replay"}:
        return None
    tokens = sum(n * REPLY_TOKENS[r] for r, n in calls.items() if kinds[r] == "local")
    return tokens / LOCAL_TOKENS_PER_SECOND + 5


def _hosts(plan: Plan) -> tuple[str, ...]:
    models = [model for model in plan.roles.values() if model.model != "rules"]
    hosts = {model_host(model.model, model_settings(model)) for model in models}
    return tuple(sorted(host for host in hosts | {_graph_host(plan.graph)} if host))


def _graph_host(address: str) -> str | None:
    """Return the host that questions and answers are sent to, to be kept; None: this machine."""
    host = urlsplit(address).hostname
    return None if host is None or is_loopback(host) else host


def least_effect_sentence(n: int) -> str:
    """Say which effect n items can show, over the range of noise that is not known yet."""
    quiet, noisy = (least_effect(n, discordance) for discordance in DISCORDANCES)
    if quiet is None:
        return f"{n} questions cannot show any change with confidence; ask for 20 or more."
    upper = "more than can be shown" if noisy is None else f"{noisy * 100:.0f} points"
    return (
        f"{n} questions show a change of {quiet * 100:.0f} points or more if the answers never "
        f"change on a mere repeat, and of {upper} if one in five does (power .9, one test)."
    )


def _notes(plan: Plan) -> tuple[str, ...]:
    rules = [role for role, model in plan.roles.items() if model.model == "rules"]
    notes = [f"Played by rules, without a model: {', '.join(r for r in rules if r != 'planner')}."]
    target, judge = plan.roles["target"], plan.roles["judge"]
    if target.model == judge.model:
        notes.append("Judge and target are the same model: it may favour its own answers.")
    if judge.model == "local" and not judge.path:
        notes.append("The embedded model is too small to judge well; expect unreadable verdicts.")
    if "repeat" not in plan.controls:
        notes.append("Without the repeat arm no change can be told from noise.")
    return tuple(notes)
