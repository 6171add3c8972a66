"""`evenhand plan`: what a sentence asks for; nothing is run."""

import json
from pathlib import Path

import click

from evenhand.agents.draft import Draft, to_plan
from evenhand.agents.estimate import check_plan, estimate
from evenhand.agents.planner import read
from evenhand.graph_store.errors import UserError
from evenhand.ui.console import print_json
from evenhand.ui.options import json_option
from evenhand.ui.settings import load_settings
from evenhand.ui.tables import print_plan, print_reading


@click.command()
@click.argument("text")
@click.option("--given", metavar="FILE", help="A plan as JSON that the sentence revises.")
@json_option
def command(text: str, given: str | None, as_json: bool) -> None:
    """Read TEXT as a plan and show it, with its calls, cost and power, or what is still to be said.

    Nothing is invented: what the sentence does not determine stays open.
    """
    reading = read(text, _read_given(given) if given else None)
    if as_json:
        print_json(reading.model_dump(mode="json"))
        return
    print_reading(reading)
    if reading.intent in ("plan_audit", "revise_plan") and not reading.questions:
        settings = load_settings()
        plan = to_plan(
            reading.plan,
            settings.role_models(),
            graph=settings.graph,
            max_in_flight=settings.max_in_flight,
        )
        print_plan(check_plan(plan), estimate(plan))


def _read_given(path: str) -> Draft:
    from pydantic import ValidationError

    if not Path(path).is_file():
        raise UserError(f"No file {path!r}; expected a plan as JSON for --given.")
    try:
        content = json.loads(Path(path).read_text("utf-8"))
        # What `evenhand plan --json` prints holds the plan beside the intent.
        return Draft.model_validate(content.get("plan", content))
    except (ValueError, AttributeError, ValidationError) as error:
        detail = error.errors()[0]["msg"] if isinstance(error, ValidationError) else error
        raise UserError(
            f"{path} holds no plan: {detail}; expected what `evenhand plan TEXT --json` prints."
        ) from None
