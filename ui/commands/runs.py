"""`evenhand runs`: what has been run, and how far it came."""

import click

from evenhand.graph_store.run_directory import list_runs
from evenhand.ui.console import print_json, print_text
from evenhand.ui.options import json_option, workspace_options
from evenhand.ui.results import run_summary
from evenhand.ui.settings import load_settings
from evenhand.ui.tables import print_runs


@click.command()
@workspace_options
@json_option
def command(config: str | None, runs_dir: str | None, as_json: bool) -> None:
    """List the runs of the workspace, oldest first, with state and progress."""
    folder = load_settings(config, runs_dir=runs_dir).runs_dir
    found = [run_summary(run) for run in list_runs(folder)]
    if as_json:
        print_json(found)
    elif not found:
        print_text(f"No run in {folder} yet. Try: evenhand audit --dataset demo --n 6")
    else:
        print_runs(found)
