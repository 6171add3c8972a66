"""`evenhand compare`: two runs on the same samples, paired, or two ways of asking in one."""

from dataclasses import asdict

import click

from evenhand.graph_store.errors import UserError
from evenhand.ui.console import print_json
from evenhand.ui.options import json_option, ways_to_ask, workspace_options
from evenhand.ui.results import find_run
from evenhand.ui.settings import load_settings


@click.command()
@click.argument("first")
@click.argument("second")
@click.option(
    "--asked",
    metavar="A,B",
    help="Way of asking taken from the first run, and from the second: no_hop,multi_hop.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of all draws.")
@workspace_options
@json_option
def command(
    first: str,
    second: str,
    asked: str | None,
    seed: int,
    config: str | None,
    runs_dir: str | None,
    as_json: bool,
) -> None:
    """Set the SECOND run against the FIRST on the samples of both, pair by pair.

    For two targets, or two judges (the second asks the target nothing: its answers come from the
    cache), run both with one data set, n and seed. For two ways of asking name one run twice, and
    --asked. Runs on decisions differ in the decider or the model; one that asked two models is
    named twice. Nothing is asked of a model.
    """
    from evenhand.tools.comparison import compare_runs
    from evenhand.ui.comparison_tables import print_comparison
    from evenhand.ui.triage_tables import find_beside, print_beside

    ways = ways_to_ask(asked)
    if asked and len(ways) != 2:
        raise UserError(
            f"--asked {asked!r} names {len(ways)} ways of asking; expected two, the first run's "
            "and the second's, such as no_hop,multi_hop."
        )
    folder = load_settings(config, runs_dir=runs_dir).runs_dir
    runs = [find_run(folder, name) for name in (first, second)]
    beside = find_beside(*runs)
    if beside is not None:
        if ways:
            raise UserError("Runs on decisions have no ways of asking; leave --asked out.")
        print_beside(*beside, as_json=as_json)
        return
    found = compare_runs(*runs, asked=(ways[0], ways[1]) if ways else None, seed=seed)
    if as_json:
        print_json(asdict(found))
    else:
        print_comparison(found)
