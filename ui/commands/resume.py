"""`evenhand resume`: go on at the first missing id of any stage."""

import click

from evenhand.ui.options import json_option, workspace_options
from evenhand.ui.results import find_run, print_results
from evenhand.ui.running import work_on
from evenhand.ui.settings import load_settings


@click.command()
@click.argument("run", default="last")
@workspace_options
@json_option
def command(run: str, config: str | None, runs_dir: str | None, as_json: bool) -> None:
    """Go on with RUN: its id, a prefix of it that only one run has, or 'last'.

    What was answered before is not asked again; a finished run only prints its numbers.
    """
    settings = load_settings(config, runs_dir=runs_dir)
    found = find_run(settings.runs_dir, run)
    work_on(found, settings.runs_dir, show=not as_json)
    print_results(found, as_json=as_json)
