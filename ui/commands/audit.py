"""`evenhand audit`: a plan from flags, shown, approved, run, measured."""

import asyncio
from typing import Any

import click

from evenhand.agents.estimate import Estimate, check_plan, estimate
from evenhand.agents.plan import Plan
from evenhand.graph_store.errors import UserError
from evenhand.ui.console import has_terminal
from evenhand.ui.options import json_option, plan_from, plan_options, workspace_options
from evenhand.ui.results import print_results
from evenhand.ui.running import work_on
from evenhand.ui.settings import load_settings
from evenhand.ui.tables import print_plan


@click.command()
@plan_options
@workspace_options
@click.option("--yes", is_flag=True, help="Approve the plan without being asked.")
@json_option
def command(
    config: str | None, runs_dir: str | None, yes: bool, as_json: bool, **flags: Any
) -> None:
    """Show a plan, ask for approval, run it, print the numbers and the report's path.

    Nothing is asked of a model before the plan is approved. Stopping it (Ctrl-C) loses no answer:
    `evenhand resume` goes on. The same plan over the same data is the same run.
    """
    settings = load_settings(
        config,
        runs_dir=runs_dir,
        graph=flags["graph"],
        max_calls=flags["max_calls"],
        budget_usd=flags["budget_usd"],
        max_in_flight=flags["max_in_flight"],
    )
    plan = check_plan(plan_from(settings, flags))
    expected = estimate(plan)
    if not as_json:
        print_plan(plan, expected)
    if not yes:
        _ask_for_approval(plan, expected)
    from evenhand.agents.workflow import start_run

    run = asyncio.run(start_run(plan, settings.runs_dir))
    work_on(run, settings.runs_dir, show=not as_json)
    print_results(run, as_json=as_json)


def _ask_for_approval(plan: Plan, expected: Estimate) -> None:
    if not has_terminal():
        raise UserError(
            "The plan needs approval and there is no terminal to ask at; expected --yes. Read the "
            "plan, then add --yes to the same command."
        )
    question = f"Ask {plan.roles['target'].model} and run {expected.total_calls:,} calls?"
    if not click.confirm(question, default=False, err=True):
        raise click.Abort("not approved, nothing was run")
