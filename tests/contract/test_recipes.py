"""Every name that a recipe uses exists."""

import pytest

from evenhand.agents.recipe import load_recipe, recipe_names
from evenhand.agents.rubrics import rubrics
from evenhand.tools.attributes import attributes
from evenhand.tools.metrics import metrics
from evenhand.tools.relations import relations
from evenhand.tools.sections import sections
from evenhand.tools.triage_metrics import TRIAGE_METRICS


@pytest.mark.parametrize("name", recipe_names())
def test_every_name_in_a_recipe_exists(name: str) -> None:
    recipe = load_recipe(name)
    assert set(recipe.attributes) <= set(attributes.names())
    assert {a for group in recipe.intersections for a in group} <= set(recipe.attributes)
    assert set(recipe.rubrics) <= set(rubrics.names())
    assert {*recipe.draws, *recipe.added} <= set(recipe.attributes)
    known = metrics.names() if recipe.ask == "chat" else TRIAGE_METRICS
    assert set(recipe.metrics) <= set(known)
    parts = {part for name in recipe.relations for part in name.split("+")}
    assert parts <= set(relations.names())
    assert set(recipe.sections) <= set(sections.names())
