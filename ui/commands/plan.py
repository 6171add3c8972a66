"""`evenhand plan`: what a sentence asks for; nothing is run."""

import json
from pathlib import Path

import click

from evenhand.agents.planner import Draft, read
from evenhand.graph_store.errors import UserError
from evenhand.ui.console import print_json
from evenhand.ui.options import json_option
from evenhand.ui.tables import print_reading


@click.command()
@click.argument("text")
@click.option("--given", metavar="FILE", help="A plan as JSON that the sentence revises.")
@json_option
def command(text: str, given: str | None, as_json: bool) -> None:
    """Read TEXT as a plan and show it, with what is still to be said.

    Nothing is invented: what the sentence does not determine stays open.
    """
    reading = read(text, _read_given(given) if given else None)
    if as_json:
        print_json(reading.model_dump(mode="json"))
    else:
        print_reading(reading)


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
