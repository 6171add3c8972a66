"""Recipes are data."""

import pytest

from evenhand.agents.plan import Plan
from evenhand.agents.recipe import STAGES, load_recipe, recipe_names
from evenhand.graph_store.errors import UserError


@pytest.mark.parametrize("name", recipe_names())
def test_the_stages_of_a_recipe_are_known_and_in_order(name: str) -> None:
    stages = load_recipe(name).stages
    assert list(stages) == [stage for stage in STAGES if stage in stages]


def test_an_unknown_recipe_names_the_valid_ones() -> None:
    with pytest.raises(UserError, match="kg"):
        load_recipe("knowledge")


def test_a_plan_survives_its_json() -> None:
    plan = Plan(n=4, attributes=("age",), intersections=(("age", "gender"),))
    assert Plan.model_validate(plan.model_dump(mode="json")) == plan
    assert Plan.model_validate_json(plan.model_dump_json()) == plan
