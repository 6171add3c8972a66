"""Flags of `audit` -> Plan: whom a recipe asks where nobody says."""

import click
import pytest

from evenhand.agents.plan import Plan
from evenhand.ui.options import plan_from, plan_options
from evenhand.ui.settings import RoleChoice, Settings


def made(words: list[str], settings: Settings) -> Plan:
    found: list[Plan] = []

    @click.command()
    @plan_options
    def command(**flags: object) -> None:
        found.append(plan_from(settings, flags))

    command.main(words, standalone_mode=False)
    return found[0]


@pytest.mark.parametrize(
    ("words", "target"),
    [
        (["--recipe", "counterfactual"], "mimic"),
        (["--recipe", "counterfactual", "--target", "torch/local"], "torch/local"),
        (["--recipe", "counterfactual", "--gguf", "m.gguf"], "local"),
        (["--recipe", "kg"], "local"),
    ],
)
def test_a_recipe_has_a_target_of_its_own(words: list[str], target: str) -> None:
    assert made(words, Settings()).roles["target"].model == target


def test_a_target_of_the_settings_comes_before_the_recipes() -> None:
    settings = Settings(roles={"target": RoleChoice(model="openai/m")})
    plan = made(["--recipe", "counterfactual"], settings)
    assert plan.roles["target"].model == "openai/m"
