"""`evenhand show`: every number of a run, or where one record came from."""

import click

from evenhand.ui.console import print_json
from evenhand.ui.lineage import lineage, print_lineage
from evenhand.ui.options import json_option, workspace_options
from evenhand.ui.results import find_run, print_state
from evenhand.ui.settings import load_settings
from evenhand.ui.tables import print_all_measurements


@click.command()
@click.argument("run", default="last")
@click.argument("record", required=False)
@workspace_options
@json_option
def command(
    run: str, record: str | None, config: str | None, runs_dir: str | None, as_json: bool
) -> None:
    """Show every measurement of RUN; with RECORD (an id or a prefix of one), its lineage.

    The lineage is what the record came from, and what came of it: the source's text, what was
    changed in it, the prompt, the reply, and each verdict.
    """
    found = find_run(load_settings(config, runs_dir=runs_dir).runs_dir, run)
    if record:
        chain = lineage(found, record)
        if as_json:
            print_json([item.model_dump(mode="json") for item in chain])
        else:
            print_lineage(found, chain)
    elif as_json:
        print_json([m.model_dump(mode="json") for m in found.measurements()])
    else:
        print_state(found)
        print_all_measurements(found.measurements())
