"""`evenhand report`: write the report again from the records, and say where it is."""

import webbrowser

import click

from evenhand.agents.plan import Plan
from evenhand.agents.recipe import load_recipe
from evenhand.graph_store.errors import UserError
from evenhand.ui.console import print_json, print_text
from evenhand.ui.options import json_option, workspace_options
from evenhand.ui.results import find_run, resume_hint
from evenhand.ui.settings import load_settings


@click.command()
@click.argument("run", default="last")
@click.option("--open", "open_it", is_flag=True, help="Open it in the browser.")
@workspace_options
@json_option
def command(
    run: str, open_it: bool, config: str | None, runs_dir: str | None, as_json: bool
) -> None:
    """Write the report of RUN again and print its path; nothing is asked of a model."""
    from evenhand.tools.report import write_report

    folder = load_settings(config, runs_dir=runs_dir).runs_dir
    found = find_run(folder, run)
    if not found.stage_path("measurements").exists():
        raise UserError(
            f"Run {found.run_id} has no measurements yet; expected a finished run. "
            f"{resume_hint(found, folder)}"
        )
    sections = load_recipe(Plan.model_validate(found.manifest.plan).recipe).sections
    page, data = write_report(found, sections)
    if as_json:
        print_json({"run": found.run_id, "html": str(page), "json": str(data)})
    else:
        print_text(str(page))
    if open_it:
        webbrowser.open(page.resolve().as_uri())
