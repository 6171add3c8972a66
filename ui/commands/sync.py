"""`evenhand sync`: complete a run's graph from its directory."""

import click

from evenhand.agents.plan import Plan
from evenhand.graph_store.errors import UserError
from evenhand.graph_store.sync import sync
from evenhand.ui.console import print_json, print_text
from evenhand.ui.graphs import opened_graph
from evenhand.ui.options import graph_option, json_option, workspace_options
from evenhand.ui.results import find_run
from evenhand.ui.settings import load_settings
from evenhand.ui.words import graph_place


@click.command()
@click.argument("run", default="last")
@graph_option
@workspace_options
@json_option
def command(
    run: str, graph: str | None, config: str | None, runs_dir: str | None, as_json: bool
) -> None:
    """Send what the graph of RUN does not have yet, after an outage or into another store.

    The store is --graph, else the one of the settings, else the one that the run was made with.
    Doing it again changes nothing.
    """
    settings = load_settings(config, runs_dir=runs_dir, graph=graph)
    found = find_run(settings.runs_dir, run)
    planned = Plan.model_validate(found.manifest.plan).graph
    address = settings.graph if settings.names_graph else planned
    place = graph_place(address)
    with opened_graph(address, settings.runs_dir, writes=True) as store:
        report = sync(found, store)
        if report.error is not None:
            raise UserError(
                f"The graph ({place}) is not complete: {report.error}. {report.written:,} records "
                "were written; mend it, then give the same command again."
            )
        stats = store.stats(found.run_id)
    nodes, relationships = sum(stats.nodes.values()), sum(stats.relationships.values())
    if as_json:
        print_json(
            {
                "run": found.run_id,
                "graph": place,
                "written": report.written,
                "skipped": report.skipped,
                "nodes": nodes,
                "relationships": relationships,
            }
        )
        return
    print_text(
        f"{found.run_id}: {report.written:,} records written, {report.skipped:,} were there. "
        f"{place} now has {nodes:,} nodes and {relationships:,} relationships of this run."
    )
