"""`evenhand graph entities`, `accept`, `undo`: which names a person takes to be one thing."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

import click

from evenhand.ui import graphs
from evenhand.ui.console import messages, print_json, print_text
from evenhand.ui.options import graph_option, json_option, workspace_options
from evenhand.ui.settings import Settings, load_settings

if TYPE_CHECKING:
    from evenhand.graph_store.rows import EntityName
    from evenhand.graph_store.store import GraphStore

Command = TypeVar("Command", bound=Callable[..., Any])


@click.command()
@click.option("--run", metavar="RUN", help="Entities of this run alone.")
@click.option(
    "--threshold",
    type=click.FloatRange(0.5, 1),
    default=0.8,
    show_default=True,
    help="Least cosine of the two names' embeddings.",
)
@click.option(
    "--most",
    type=click.IntRange(2, 50_000),
    default=5_000,
    show_default=True,
    help="Entities to look at, those with most triples first.",
)
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True)
@graph_option
@workspace_options
@json_option
def entities(
    run: str | None,
    threshold: float,
    most: int,
    limit: int,
    as_json: bool,
    **where: str | None,
) -> None:
    """List pairs of entities that may be one thing, for a person to accept.

    Pairs come by the likeness of their names, the nearest first. Opposites and near misses
    (hypotension, hypertension; left, right; IL-2, IL-12) are never among them. What was accepted
    so far is listed too.
    """
    from evenhand.tools.entity_links import accepted, fold, read_decisions, suggest
    from evenhand.tools.vector_index import open_encoder

    settings = _settings(where)
    decisions = read_decisions(settings.runs_dir)
    encoder = open_encoder()
    with graphs.opened_graph(settings.graph, settings.runs_dir) as store:
        name = graphs.find_graph_run(store, run) if run else None
        known, more = _most_used(store, name, most)
    found = suggest(known, fold(decisions), encoder, threshold=threshold, limit=limit)
    so_far = accepted(decisions)
    if more:
        messages().print(f"Looked at the {most:,} with most triples; more of them with --most.")
    if as_json:
        print_json(
            {
                "run": name,
                "entities": len(known),
                "suggestions": [asdict(item) for item in found],
                "accepted": [item.model_dump() for item in so_far],
            }
        )
        return
    graphs.print_suggestions(found, len(known))
    graphs.print_accepted(so_far)


def _most_used(
    store: "GraphStore", run: str | None, most: int
) -> tuple[Sequence["EntityName"], bool]:
    names = store.entity_names(run, limit=most + 1)
    return list(islice(names, most)), len(names) > most


def _deciding(command: Command) -> Command:
    """Add what both decisions take."""
    for option in (
        json_option,
        workspace_options,
        graph_option,
        click.option(
            "--who",
            envvar=["EVENHAND_USER", "USER", "LOGNAME", "USERNAME"],
            default="",
            metavar="NAME",
            help="Who decides (default: the user of this session).",
        ),
        click.argument("to_key", metavar="TO"),
        click.argument("from_key", metavar="FROM"),
    ):
        command = option(command)
    return command


@click.command()
@_deciding
def accept(from_key: str, to_key: str, who: str, as_json: bool, **where: str | None) -> None:
    """Take FROM and TO for one entity, shown as TO.

    The graph keeps its exact keys; `evenhand graph undo FROM TO` takes it back.
    """
    from evenhand.tools.entity_links import accept, fold, members, read_decisions

    settings = _settings(where)
    with graphs.opened_graph(settings.graph, settings.runs_dir) as store:
        one, other = (graphs.find_entity(store, key) for key in (from_key, to_key))
    done = accept(settings.runs_dir, one, other, who=who, when=_now())
    table = fold(read_decisions(settings.runs_dir))
    if as_json:
        print_json(done.model_dump() | {"one_entity": members(other, table)})
    else:
        print_text(f"One entity now: {', '.join(members(other, table))}")


@click.command()
@_deciding
def undo(from_key: str, to_key: str, who: str, as_json: bool, **where: str | None) -> None:
    """Take back that FROM and TO are one entity."""
    from evenhand.tools.entities import canonical_key
    from evenhand.tools.entity_links import accepted, read_decisions, undo

    settings = _settings(where)
    # Not looked up in the graph: a run that was dropped must not keep a decision in force.
    in_force = {key for item in accepted(read_decisions(settings.runs_dir)) for key in item.pair}
    one, other = (key if key in in_force else canonical_key(key) for key in (from_key, to_key))
    done = undo(settings.runs_dir, one, other, who=who, when=_now())
    if as_json:
        print_json(done.model_dump())
    else:
        print_text(f"Taken back: {one} and {other} are two entities by this pair")


def _settings(where: dict[str, str | None]) -> Settings:
    return load_settings(where["config"], runs_dir=where["runs_dir"], graph=where["graph"])


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
