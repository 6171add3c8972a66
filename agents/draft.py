"""What is known of a plan, what must still be said, and the Plan that comes of it."""

from collections.abc import Collection, Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict

from evenhand.agents.plan import Plan, Role, RoleModel
from evenhand.agents.recipe import ASKED_ARMS
from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import ShownArm
from evenhand.tools.counterfactual_visits import PAIR_ARMS
from evenhand.tools.relations import relations
from evenhand.tools.triage.pairs import MAIN_ARM

METAMORPHIC, COUNTERFACTUAL = "metamorphic", "counterfactual"
Intent = Literal[
    "plan_audit",
    "revise_plan",
    "approve",
    "cancel",
    "status",
    "list_runs",
    "compare_runs",
    "show_trace",
    "explain_result",
    "iterate_strategy",
    "mitigate",
    "finetune",
    "export_report",
    "help",
    "out_of_scope",
]


class Draft(BaseModel):
    """What is known of a plan; None and () are what nobody has said."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    recipe: str | None = None
    target: str | None = None
    judge: str | None = None
    rewriter: str | None = None
    against: str | None = None
    """A second model that is asked for levels of the same visits."""
    dataset: str | None = None
    path: str | None = None
    """File or Hugging Face id of a data set that is named beside it."""
    decider: str | None = None
    """Whose decisions, where the data set has several people's."""
    attributes: tuple[str, ...] = ()
    intersections: tuple[tuple[str, ...], ...] = ()
    arms: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    n: int | Literal["all"] | None = None
    repeats: int | None = None
    seed: int | None = None
    language: str | None = None
    max_calls: int | None = None
    budget_usd: float | None = None
    mitigation: str | None = None

    @property
    def compares_groups(self) -> bool:
        """Whether questions that compare groups are asked: it needs neither data nor attributes."""
        return (self.recipe or (METAMORPHIC if self.relations else None)) == METAMORPHIC


class Reading(BaseModel):
    """What a sentence wants, the plan so far, and what must still be said."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    intent: Intent
    plan: Draft = Draft()
    questions: tuple[str, ...] = ()


def open_questions(draft: Draft, contradictions: Mapping[str, str] = {}) -> tuple[str, ...]:
    """Return what must still be said before the plan can be priced.

    Args:
        draft: What is known.
        contradictions: Questions that take the place of the usual ones, by field.
    """
    questions = dict(contradictions)
    if draft.target is None:
        questions.setdefault(
            "target",
            "Which model is to be audited? For example local (the built-in model, nothing leaves "
            "this machine), openai/gpt-4o, http/ and the address of your own server, or mimic for "
            "the people whose decisions the data hold.",
        )
    if draft.dataset is None and not draft.compares_groups:
        questions.setdefault(
            "dataset",
            "On which data? Name a data set, such as demo or trinds, or give the path of a file.",
        )
    if not draft.attributes and not draft.compares_groups:
        questions.setdefault(
            "attributes", "Which attributes are to be changed? For example age, gender, location."
        )
    return tuple(questions.values())


def to_plan(
    draft: Draft, roles: dict[Role, RoleModel], *, graph: str = "sqlite", max_in_flight: int = 16
) -> Plan:
    """Return the Plan of a draft that has no open question; names are not checked yet.

    Args:
        draft: What is known.
        roles: The models of the roles that the draft leaves open.
        graph: Where the knowledge graph is kept.
        max_in_flight: Calls at once, at most.

    Raises:
        UserError: Something is missing, or this version cannot do it.
    """
    missing = open_questions(draft)
    if missing:
        raise UserError(missing[0])
    if draft.mitigation:
        raise UserError(
            f"Mitigation by {draft.mitigation} is no part of an audit; expected an audit first, "
            "then `evenhand mitigate RUN`. Leave it out of the sentence."
        )
    chosen = dict(roles)
    for role, model in (
        ("target", draft.target),
        ("judge", draft.judge),
        ("rewriter", draft.rewriter),
    ):
        if model is not None:
            chosen[role] = _role_model(chosen[role], model)  # type: ignore[index]
    compares_groups = draft.compares_groups
    recipe = METAMORPHIC if compares_groups else draft.recipe or _usual_recipe(draft)
    asks_levels = recipe == COUNTERFACTUAL
    is_file = "." in (draft.dataset or "")
    of_a_file = "table" if asks_levels else "equitymedqa"
    own_data = "bias_questions" if compares_groups else "demo"
    arms = draft.arms
    return Plan(
        recipe=recipe,
        dataset=of_a_file if is_file else draft.dataset or own_data,
        path=draft.dataset if is_file else draft.path,
        decider=draft.decider,
        n=draft.n if isinstance(draft.n, int) else None,
        seed=draft.seed or 0,
        # Relations change the question; an attribute then says which groups are compared.
        categories=draft.attributes if compares_groups else (),
        attributes=() if compares_groups else draft.attributes,
        intersections=() if compares_groups else draft.intersections,
        relations=planned_names(draft.relations),
        votes=draft.repeats if compares_groups else None,
        asked=tuple(arm for arm in ASKED_ARMS if arm in arms),
        arms=_shown_arms(arms) if asks_levels else (),
        controls=tuple(arm for arm in ("repeat", "placebo") if arm in arms) or None,
        repeats=1 if compares_groups else draft.repeats or 1,
        roles=chosen,
        against=None if draft.against is None else RoleModel(model=draft.against),
        max_calls=draft.max_calls,
        budget_usd=draft.budget_usd,
        graph=graph,
        max_in_flight=max_in_flight,
    )


def _usual_recipe(draft: Draft) -> str:
    """Return the recipe that nobody named: of visits, levels are asked."""
    return COUNTERFACTUAL if holds_visits(draft.dataset or "") else "kg"


def holds_visits(dataset: str) -> bool:
    """Return whether a name is that of a data set of visits with people's decisions."""
    from evenhand.tools.datasets import datasets

    return dataset in datasets.names() and datasets.get(dataset).visits is not None


def planned_names(said: Collection[str]) -> tuple[str, ...]:
    """Return the registered names of relations as a sentence names them; "all": all but controls.

    Example:
        >>> planned_names(["MR4+MR5", "MR1"])
        ('mr4+mr5', 'mr1')
    """
    if "all" in said:
        return tuple(n for n in relations.names() if relations.get(n).kind != "control")
    return tuple("+".join(_registered(part) for part in name.split("+")) for name in said)


def _registered(name: str) -> str:
    lower = name.lower()
    return lower if lower in relations.names() else name


def _shown_arms(named: Collection[str]) -> tuple[ShownArm, ...]:
    """Return the arms in which visits are shown; the controls are set against full, so it stays."""
    wished = [arm for arm in PAIR_ARMS if arm in named]
    return tuple(arm for arm in PAIR_ARMS if wished and (arm in wished or arm == MAIN_ARM))


def _role_model(usual: RoleModel, model: str) -> RoleModel:
    if model == usual.model:
        return usual
    # An address or a file belongs to the model that it was set for.
    return usual.model_copy(update={"model": model, "base_url": None, "path": None})
