"""A recipe is data: which stages run, what is perturbed, asked, judged, measured and shown."""

import tomllib
from importlib.resources import files
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import AskedArm, ShownArm
from evenhand.graph_store.registry import unknown_name

STAGES = (
    "load",
    "fit",
    "extract",
    "verbalise",
    "perturb",
    "gate",
    "answer",
    "judge",
    "rewrite",
    "measure",
    "report",
)
"""All stages in their one order; a recipe leaves some out."""


class Recipe(BaseModel):
    """One line of research as data (agents/recipes/*.toml)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    title: str
    stages: tuple[str, ...]
    attributes: tuple[str, ...]
    """Attributes that are perturbed alone unless the plan names others."""
    intersections: tuple[tuple[str, ...], ...] = ()
    draws: dict[str, int] = {}
    """New values drawn a sample, by attribute."""
    added: tuple[str, ...] = ()
    """Attributes that are put in where the source lacks them."""
    asked: tuple[AskedArm, ...]
    """Ways to ask the target."""
    ask: Literal["chat", "labels"] = "chat"
    """Whether the target answers in words, or gives each level a probability."""
    target: str = "local"
    """The model under audit where nobody names one."""
    arms: tuple[ShownArm, ...] = ()
    """Where labels are asked: the arms in which a visit is shown, controls left out."""
    relations: tuple[str, ...] = ()
    """Where a question is changed by relations, not by attributes: which, "mr1+mr6" a pair."""
    votes: int = 1
    """Times that each question is asked; the majority counts."""
    controls: tuple[str, ...] = ()
    """Control arms: repeat, placebo."""
    rubrics: tuple[str, ...] = ()
    metrics: tuple[str, ...]
    sections: tuple[str, ...]


def recipe_names() -> list[str]:
    """Return the names of the recipes that ship with the package."""
    folder = files("evenhand.agents") / "recipes"
    return sorted(item.name[:-5] for item in folder.iterdir() if item.name.endswith(".toml"))


def load_recipe(name: str) -> Recipe:
    """Read a recipe by name.

    Raises:
        UserError: No such recipe; the message lists the valid ones.
    """
    if name not in recipe_names():
        raise UserError(unknown_name("recipe", name, recipe_names()))
    text = (files("evenhand.agents") / "recipes" / f"{name}.toml").read_text("utf-8")
    recipe = Recipe(name=name, **tomllib.loads(text))
    unknown = [stage for stage in recipe.stages if stage not in STAGES]
    if unknown:
        raise UserError(unknown_name("stage", unknown[0], list(STAGES)))
    return recipe


ASKED_ARMS: tuple[AskedArm, ...] = get_args(AskedArm)
