"""The plan of an audit of decisions: checked against the mapping, and what it will show."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from evenhand.agents.label_targets import checked_target, label_targets, mimic_kind
from evenhand.agents.plan import DEFAULT_ROLES, Plan, RoleModel
from evenhand.agents.recipe import Recipe
from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import content_hash
from evenhand.graph_store.registry import unknown_name
from evenhand.graph_store.store import check_address
from evenhand.tools.chosen_visits import ChosenVisits, choose_visits, open_source
from evenhand.tools.finetune import checked_settings
from evenhand.tools.notes.few_shot import few_shot_messages
from evenhand.tools.notes.rewriting import ATTRIBUTES
from evenhand.tools.run_visits import RunVisits, few_shot_name
from evenhand.tools.triage.pairs import CONTROL_ARMS, MAIN_ARM, urgency
from evenhand.tools.triage.what_if import least_skew
from evenhand.tools.visit_mapping import VisitMapping
from evenhand.tools.visit_prompts import visit_template
from evenhand.tools.visit_rows import FlowStep
from evenhand.training.mimics import mimics

NOISES = (0.0, 0.2)
"""How many pairs a control arm moves is not known before a run; two cases are shown."""


def check_visit_plan(plan: Plan, recipe: Recipe) -> Plan:
    """Fill in what recipe and mapping say and check every name; opens the data set's header only.

    Raises:
        UserError: What cannot be done, and what to write instead.
    """
    _check_foreign(plan, recipe)
    roles = {**DEFAULT_ROLES, **plan.roles}
    roles["target"] = checked_target(roles["target"])
    against = None if plan.against is None else checked_target(plan.against)
    if against is not None and against == roles["target"]:
        raise UserError(
            f"{against.model!r} is named as --target and as --against; name two different models."
        )
    mapping = open_source(plan.dataset, plan.path, plan.mapping).mapping
    check_address(plan.graph, Path())
    return plan.model_copy(
        update={
            "attributes": (_attribute(plan, recipe, mapping),),
            "asked": recipe.asked,
            "arms": _arms(plan, recipe),
            "controls": _controls(plan, recipe),
            "decider": _decider(plan, mapping),
            "language": mapping.language,
            "direction": mapping.direction,
            "added": (),
            "refits": plan.refits or _usual_refits(roles["target"], against),
            "roles": roles,
            "against": against,
            "fit_settings": _fit_settings(plan, [roles["target"], against]),
        }
    )


def _usual_refits(*asked: RoleModel | None) -> int | None:
    """Return the refits that all fitted models can afford; None where none is fitted."""
    kinds = [kind for model in asked if model and (kind := mimic_kind(model.model))]
    return min((mimics.get(kind).refits for kind in kinds), default=None)


def _fit_settings(plan: Plan, asked: Sequence[RoleModel | None]) -> dict[str, dict[str, Any]]:
    """Return the settings of the mimics' fits as their kinds read them.

    Raises:
        UserError: Of a mimic that is not asked, an unknown setting, or a value that cannot be.
    """
    kinds = [kind for model in asked if model and (kind := mimic_kind(model.model))]
    found = {}
    for name, changes in plan.fit_settings.items():
        if name not in kinds:
            raise UserError(
                f"Settings of {name!r} are named, which is not asked; mimics of this plan: "
                f"{', '.join(kinds) or 'none'}."
            )
        read = checked_settings(mimics.get(name), changes).model_dump(mode="json")
        found[name] = {setting: read[setting] for setting in changes}
    return found


def _check_foreign(plan: Plan, recipe: Recipe) -> None:
    """Refuse what only other recipes know, rather than leave it out silently."""
    foreign = {
        "--intersections": plan.intersections,
        "--draws": plan.draws,
        "--added": plan.added,
        "--rubrics": plan.rubrics,
    }
    for flag, value in foreign.items():
        if value:
            raise UserError(f"Recipe {recipe.name!r} has no {flag}; leave it out.")
    if set(plan.asked) - set(recipe.asked):
        raise UserError(unknown_name("way of asking", plan.asked[0], list(recipe.asked)))
    said = [plan.volume is not None, bool(plan.period), bool(plan.volume_source)]
    if any(said) and not all(said):
        raise UserError(
            "A what-if needs all of --volume, --period and --volume-source: a number of visits "
            "without its period and source is not shown."
        )


def _attribute(plan: Plan, recipe: Recipe, mapping: VisitMapping) -> str:
    known = list(mapping.attributes)
    usual = next((name for name in recipe.attributes if name in known), known[0])
    if len(plan.attributes) > 1:
        raise UserError(
            f"{len(plan.attributes)} attributes; this recipe changes one in a run: "
            f"{', '.join(plan.attributes)}. Name one with --attributes, then run the next."
        )
    name = plan.attributes[0] if plan.attributes else usual
    if name not in known:
        raise UserError(unknown_name("attribute of the visits", name, known))
    if mapping.text and name not in ATTRIBUTES:
        raise UserError(
            f"Notes cannot be rewritten for {name!r}; expected one of: {', '.join(ATTRIBUTES)}. "
            "Give a mapping without text columns to change the column alone."
        )
    return name


def _arms(plan: Plan, recipe: Recipe) -> tuple[str, ...]:
    for arm in plan.arms:
        if arm not in recipe.arms:
            raise UserError(unknown_name("arm", arm, list(recipe.arms)))
    if plan.arms and MAIN_ARM not in plan.arms:
        raise UserError(f"Arm {MAIN_ARM!r} is missing: the controls are set against it; add it.")
    return tuple(arm for arm in recipe.arms if not plan.arms or arm in plan.arms)


def _controls(plan: Plan, recipe: Recipe) -> tuple[str, ...]:
    wished = recipe.controls if plan.controls is None else plan.controls
    for name in wished:
        if name not in CONTROL_ARMS:
            raise UserError(unknown_name("control arm", name, list(CONTROL_ARMS)))
    return tuple(name for name in CONTROL_ARMS if name in wished)


def _decider(plan: Plan, mapping: VisitMapping) -> str | None:
    """Return the decider's name; who is named by the label's own column is named so."""
    if plan.decider is not None:
        mapping.label_column(plan.decider)
        return plan.decider
    return next((name for name, col in mapping.deciders.items() if col == mapping.label), None)


def choose_of(plan: Plan) -> ChosenVisits:
    """Return the visits of a checked plan.

    Raises:
        UserError: As choose_visits.
    """
    return choose_visits(
        plan.dataset,
        plan.path,
        plan.mapping,
        n=plan.n,
        seed=plan.seed,
        attribute=plan.attributes[0],
        decider=plan.decider,
        compared=plan.compared,
        published_list=plan.published_list,
    )


def rewriting_calls(chosen: RunVisits, plan: Plan) -> int:
    """Count the calls of a model that rewrites notes: there, and back for the placebo."""
    if plan.roles["rewriter"].model == "rules":
        return 0
    others = len(chosen.groups) - 1
    return len(chosen.audit) * (others + ("placebo" in (plan.controls or ())))


def prompt_tokens(plan: Plan) -> int:
    """Return about how long the rewriter's prompt is, exemplars included."""
    messages = few_shot_messages("", before="male", after="female", language=plan.language or "en")
    return sum(len(text) for _, text in messages) // 4 + 100


def few_shot_hash(plan: Plan) -> dict[str, str]:
    """Return the hash of the rewriter's exemplars by name; empty where rules rewrite."""
    if plan.roles["rewriter"].model == "rules":
        return {}
    language = plan.language or "en"
    messages = few_shot_messages("", before="male", after="female", language=language)
    return {few_shot_name(language): content_hash(*(text for _, text in messages))}


def prompt_hashes(plan: Plan) -> dict[str, str]:
    """Return the hash of each prompt of a checked plan by name: exemplars, and visits' template."""
    hashes = few_shot_hash(plan)
    read = [t for t in label_targets(plan) if t.kind is None or "renderer" in _needs(t.kind)]
    if read:
        mapping = open_source(plan.dataset, plan.path, plan.mapping).mapping
        template = visit_template(mapping, plan.attributes)
        hashes[f"visit.{mapping.language}"] = content_hash(template.text())
    return hashes


def _needs(kind: str) -> tuple[str, ...]:
    return mimics.get(kind).needs


def visit_calls(chosen: RunVisits, plan: Plan) -> int:
    """Count at most how many prompts go to models that are asked as they are on a server."""
    others = len(chosen.groups) - 1
    asked = len(chosen.audit) * (len(plan.arms) * (1 + others) + plan.has_control("placebo"))
    return asked * sum(target.host is not None for target in label_targets(plan))


def mimic_seconds(chosen: RunVisits, plan: Plan) -> float | None:
    """Estimate how long a checked plan takes on two cores of a CPU; None: not known.

    It is known of mimics alone: how fast a model is that is asked as it is, nobody knows before.
    """
    refits = (plan.refits or 0) * plan.has_control("repeat")
    train, groups = len(chosen.visits.samples) - len(chosen.audit), len(chosen.groups)
    asked = (len(plan.arms) * groups + plan.has_control("placebo"), *[groups] * refits)
    total = 0.0
    for target in label_targets(plan):
        if target.kind is None:
            return None
        settings = checked_settings(mimics.get(target.kind), plan.fit_settings.get(target.kind, {}))
        for rows in asked:
            seconds = settings.cpu_seconds(train, len(chosen.audit) * rows)
            if seconds is None:
                return None
            total += seconds
    return total


def directions(chosen: RunVisits) -> dict[tuple[str, str], int]:
    """Count the visits of the audit half that each group is shown as another of."""
    own = Counter(chosen.group_of(sample) for sample in chosen.audit)
    return {(a, b): own[a] for a in chosen.groups for b in chosen.groups if a != b}


def least_effects(chosen: RunVisits, plan: Plan) -> str:
    """Say which skew the audit half can show, in each direction, at two levels of noise."""
    parts = []
    for (a, b), n in directions(chosen).items():
        shown = [least_skew(n, noise, (a, b)).value for noise in NOISES]
        quiet, noisy = ("none" if v is None else f"{100 * v:.1f} points" for v in shown)
        parts.append(f"{a} shown as {b}, {n:,} visits: {quiet}, or {noisy}")
    said = (
        f"A skew (DTS) of so much or more: {'; '.join(parts)} (if the controls move no pair, or "
        "one in five; power .9, one test)."
    )
    if not _is_fitted(plan):
        return said
    return (
        f"{said} The chance of the fit comes on top: of few visits another half gives another "
        "model."
    )


def _is_fitted(plan: Plan) -> bool:
    """Whether any model of a plan is a mimic."""
    return any(target.kind is not None for target in label_targets(plan))


def visit_notes(chosen: RunVisits, plan: Plan) -> tuple[str, ...]:
    """Say whose decisions are mimicked, which end is urgent, and who was left out."""
    levels = ", ".join(chosen.levels)
    train = len(chosen.visits.samples) - len(chosen.audit)
    notes = [
        f"Decider: {chosen.decider}. Levels {levels}; a higher number is "
        f"{urgency('up', chosen.direction)}.",
        f"{train:,} visits to fit to, {len(chosen.audit):,} to audit, by patient."
        if _is_fitted(plan)
        else f"{len(chosen.audit):,} visits to audit; the {train:,} that a mimic would be fitted "
        "to are left, so that both can be set side by side.",
        _left_out(chosen.flow),
        *_target_notes(plan),
    ]
    if plan.roles["rewriter"].model == "rules":
        notes.append("Notes are rewritten by rules; what they cannot rewrite for certain is left.")
    if "placebo" in (plan.controls or ()) and chosen.mapping.placebo is None:
        notes.append(
            "The mapping names no placebo column: the placebo only rewrites notes there and back."
        )
    if "repeat" not in (plan.controls or ()):
        notes.append("Without the repeat arm no shift can be told from chance of the fit.")
    return tuple(note for note in notes if note)


def _target_notes(plan: Plan) -> Iterator[str]:
    """Say of each model what a reader of the plan may not know."""
    for target in label_targets(plan):
        if target.kind is None:
            yield (
                f"{target.name} is asked as it is and fitted to nothing: what is found is about "
                "it, not about who decided; its repeat arm holds no information."
            )
        elif "torch" in mimics.get(target.kind).packages:
            yield (
                f"{target.name} is fitted with torch, on the GPU where there is one; the time is "
                "for two cores of a CPU."
            )


def _left_out(flow: tuple[FlowStep, ...]) -> str:
    parts = [f"{step.words} {step.left_out:,}" for step in flow if step.left_out]
    return f"Left out: {'; '.join(parts)}." if parts else ""
