"""`evenhand graph`: ask, export, draw and drop what the knowledge graph holds."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.redact import redact
from evenhand.graph_store.registry import unknown_name
from evenhand.graph_store.run_directory import RunDirectory
from evenhand.graph_store.store import GraphStore
from evenhand.tools.wording import counted
from evenhand.ui import graphs
from evenhand.ui.commands import graph_entities
from evenhand.ui.console import has_terminal, print_json, print_text
from evenhand.ui.options import graph_option, json_option, workspace_options
from evenhand.ui.settings import Settings, load_settings
from evenhand.ui.words import graph_place

FORMATS = ("graphml", "json")


@click.group()
def command() -> None:
    """Ask the knowledge graph, export it, or drop a run from it."""


command.add_command(graph_entities.entities)
command.add_command(graph_entities.accept)
command.add_command(graph_entities.undo)


@dataclass(frozen=True)
class Asked:
    """What a query is asked with."""

    arguments: tuple[str, ...]
    run: str | None
    hops: int | None
    limit: int
    offset: int
    runs_dir: Path

    def run_of(self, store: GraphStore) -> str | None:
        """Return the named run; None: all runs."""
        return graphs.find_graph_run(store, self.run) if self.run else None


Answered = tuple[Any, Callable[[], None]]
"""What goes out as JSON, and what prints it as text."""


def _neighbourhood(store: GraphStore, asked: Asked) -> Answered:
    from evenhand.tools.entity_links import fold, merged_neighbourhood, read_decisions

    found = merged_neighbourhood(
        store,
        graphs.find_entity(store, asked.arguments[0]),
        fold(read_decisions(asked.runs_dir)),
        hops=1 if asked.hops is None else asked.hops,
        limit=asked.limit,
        offset=asked.offset,
        run=asked.run_of(store),
    )
    return found, partial(graphs.print_neighbourhood, found)


def _lineage(store: GraphStore, asked: Asked) -> Answered:
    (record,) = asked.arguments
    run = graphs.find_graph_run(store, asked.run or "last")
    chain = store.lineage(record, run)
    if chain is not None:
        return chain, partial(graphs.print_chain, chain)
    return _lineage_of_measurement(store, asked, run, record)


def _lineage_of_measurement(store: GraphStore, asked: Asked, run: str, record: str) -> Answered:
    from evenhand.tools.graph_questions import measurement_lineage

    directory = RunDirectory(asked.runs_dir / run)
    known = directory.measurements() if record.startswith(f"{run}/") else []
    number = next((measured for measured in known if measured.id == record), None)
    if number is None:
        raise UserError(
            f"No record {record!r} of run {run}; expected the whole id of a sample, variant, "
            "answer, judgement, triple or measurement. `evenhand show RUN --json` lists the ids of "
            "measurements."
        )
    traced = measurement_lineage(store, directory, number, limit=asked.limit, offset=asked.offset)
    return traced, partial(graphs.print_measurement, traced)


def _only(store: GraphStore, asked: Asked) -> Answered:
    sample, attribute = asked.arguments
    rows = store.variants_changing_only(
        sample, attribute, run=asked.run_of(store), limit=asked.limit, offset=asked.offset
    )
    return rows, partial(graphs.print_variants, rows)


def _difference(store: GraphStore, asked: Asked) -> Answered:
    from evenhand.tools.graph_questions import group_difference

    found = group_difference(
        store,
        asked.arguments[0],
        run=graphs.find_graph_run(store, asked.run or "last"),
        hop=asked.hops,
        limit=asked.limit,
        offset=asked.offset,
    )
    return found, partial(graphs.print_difference, found)


def _changed(store: GraphStore, asked: Asked) -> Answered:
    rows = store.changed_cases(
        asked.arguments[0], run=asked.run_of(store), limit=asked.limit, offset=asked.offset
    )
    return rows, partial(graphs.print_cases, rows)


def _side_by_side(store: GraphStore, asked: Asked) -> Answered:
    runs = [graphs.find_graph_run(store, name) for name in asked.arguments]
    rows = store.side_by_side(runs, limit=asked.limit, offset=asked.offset)
    return rows, partial(graphs.print_side_by_side, rows, runs)


@dataclass(frozen=True)
class Query:
    """A question by name: what it needs, and which options it takes."""

    answer: Callable[[GraphStore, Asked], Answered]
    needs: str
    """Its arguments, in words; "..." is one or more."""
    says: str
    takes_hops: bool = False
    takes_run: bool = True


QUERIES: dict[str, Query] = {
    "neighbourhood": Query(_neighbourhood, "ENTITY", "triples within --hops steps (1)", True),
    "lineage": Query(_lineage, "RECORD", "a record, or a measurement, down to its texts"),
    "only": Query(_only, "SAMPLE ATTRIBUTE", "variants in which this alone was changed"),
    "difference": Query(_difference, "ATTRIBUTE", "triples of one side alone, at --hops", True),
    "changed": Query(_changed, "ATTRIBUTE", "cases whose answer changed with it"),
    "side-by-side": Query(_side_by_side, "RUN RUN ...", "the same askings", takes_run=False),
}


def _names(ctx: click.Context, _parameter: click.Parameter, name: str) -> str:
    if name not in QUERIES:
        raise click.UsageError(unknown_name("query", name, list(QUERIES)), ctx)
    return name


def _check(name: str, asked: Asked) -> None:
    """Check that a query has what it needs, before a store is opened.

    Raises:
        UserError: Too few arguments, too many, or an option that it does not take.
    """
    query = QUERIES[name]
    wanted = query.needs.replace(" ...", "").split()
    enough = len(asked.arguments) == len(wanted) or (
        query.needs.endswith("...") and len(asked.arguments) > len(wanted)
    )
    if not enough:
        raise UserError(
            f"Query {name!r} got {counted(len(asked.arguments), 'argument')}; expected: "
            f"evenhand graph query {name} {query.needs}"
        )
    for option, given, taken in (
        ("--hops", asked.hops, query.takes_hops),
        ("--run", asked.run, query.takes_run),
    ):
        if given is not None and not taken:
            raise UserError(f"Query {name!r} takes no {option}; leave it out.")


@command.command()
@click.option("--run", metavar="RUN", help="This run alone.")
@graph_option
@workspace_options
@json_option
def stats(run: str | None, as_json: bool, **where: str | None) -> None:
    """Count the nodes by label and the relationships by type."""
    settings = _settings(where)
    with graphs.opened_graph(settings.graph, settings.runs_dir) as store:
        name = graphs.find_graph_run(store, run) if run else None
        counts = store.stats(name)
    if as_json:
        print_json(graphs.as_plain(counts) | {"run": name, "graph": graph_place(settings.graph)})
    else:
        graphs.print_stats(counts, settings.graph, name)


@command.command(
    epilog="Names: "
    + "; ".join(f"{name} {query.needs} ({query.says})" for name, query in QUERIES.items())
    + "."
)
@click.argument("name", callback=_names)
@click.argument("arguments", nargs=-1)
@click.option("--run", metavar="RUN", help="This run alone (lineage, difference: the last one).")
@click.option("--hops", type=click.IntRange(0, 10), help="Steps, or the hop of the triples.")
@click.option("--limit", type=click.IntRange(1, 100_000), default=100, show_default=True)
@click.option("--offset", type=click.IntRange(0), default=0, show_default=True)
@graph_option
@workspace_options
@json_option
def query(
    name: str,
    arguments: tuple[str, ...],
    run: str | None,
    hops: int | None,
    limit: int,
    offset: int,
    as_json: bool,
    **where: str | None,
) -> None:
    """Ask a question by NAME."""
    settings = _settings(where)
    asked = Asked(arguments, run, hops, limit, offset, settings.runs_dir)
    _check(name, asked)
    with graphs.opened_graph(settings.graph, settings.runs_dir) as store:
        found, show = QUERIES[name].answer(store, asked)
    if as_json:
        print_json(graphs.as_plain(found))
    elif found == []:
        print_text("Nothing found.")
    else:
        show()


@command.command()
@click.argument("run", default="last")
@click.option("--format", "form", type=click.Choice(FORMATS), help="graphml (the default) or json.")
@click.option("--out", metavar="FILE", help="Where to write it (default: the terminal).")
@graph_option
@workspace_options
@json_option
def export(run: str, form: str | None, out: str | None, as_json: bool, **where: str | None) -> None:
    """Write the part of RUN as GraphML (Gephi, yEd, networkx) or JSON."""
    settings = _settings(where)
    kind = form or ("json" if as_json and out is None else "graphml")
    with graphs.opened_graph(settings.graph, settings.runs_dir) as store:
        content = store.export(graphs.find_graph_run(store, run))
    text = _written_as(kind, content)
    if out is None:
        click.echo(text, nl=False)
        return
    _write(Path(out), text)
    done = {
        "run": content["run"],
        "file": out,
        "format": kind,
        "nodes": len(content["nodes"]),
        "relationships": len(content["relationships"]),
    }
    if as_json:
        print_json(done)
    else:
        print_text(
            f"{out}: {done['nodes']:,} nodes and {done['relationships']:,} relationships of "
            f"{content['run']}, as {kind}"
        )


def _written_as(kind: str, content: Any) -> str:
    from evenhand.tools.graphml import graphml

    if kind == "graphml":
        return redact(graphml(content))
    return redact(json.dumps(content, ensure_ascii=False, indent=2)) + "\n"


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise UserError(
            f"{path} cannot be written ({error.strerror}); expected a file in a folder that "
            "exists: name another one with --out."
        ) from None


@command.command()
@click.argument("run")
@click.option("--yes", is_flag=True, help="Drop it without being asked.")
@graph_option
@workspace_options
@json_option
def drop(run: str, yes: bool, as_json: bool, **where: str | None) -> None:
    """Delete RUN from the graph, and the entities that no other run uses.

    The run's directory stays as it is: `evenhand sync RUN` brings it back.
    """
    settings = _settings(where)
    with graphs.opened_graph(settings.graph, settings.runs_dir) as store:
        name = graphs.find_graph_run(store, run)
        before = store.stats()
        if not yes:
            _ask_to_drop(name, settings)
        store.drop_run(name)
        after = store.stats()
    gone = {
        "run": name,
        "nodes": sum(before.nodes.values()) - sum(after.nodes.values()),
        "relationships": sum(before.relationships.values()) - sum(after.relationships.values()),
    }
    if as_json:
        print_json(gone)
    else:
        print_text(
            f"{name}: {gone['nodes']:,} nodes and {gone['relationships']:,} relationships dropped "
            f"from {graph_place(settings.graph)}"
        )


def _ask_to_drop(run: str, settings: Settings) -> None:
    if not has_terminal():
        raise UserError(
            f"Dropping {run} needs approval and there is no terminal to ask at; expected --yes."
        )
    question = f"Drop {run} from {graph_place(settings.graph)}?"
    if not click.confirm(question, default=False, err=True):
        raise click.Abort("nothing was dropped")


def _settings(where: dict[str, str | None]) -> Settings:
    return load_settings(where["config"], runs_dir=where["runs_dir"], graph=where["graph"])


@command.command()
@click.argument("sample")
@click.option("--run", metavar="RUN", default="last", help="The run (the last one).")
@click.option("--attribute", metavar="NAME", help="What was changed (one that moved the answer).")
@click.option("--asked", default="multi_hop", show_default=True, help="The way of asking.")
@click.option("--out", metavar="FILE", help="An SVG file (default: the terminal).")
@graph_option
@workspace_options
@json_option
def picture(
    sample: str,
    run: str,
    attribute: str | None,
    asked: str,
    out: str | None,
    as_json: bool,
    **where: str | None,
) -> None:
    """Draw SAMPLE as SVG: its facts, one changed, and what both answers infer from them."""
    from evenhand.tools.graph_picture import draw_change

    settings = _settings(where)
    with graphs.opened_graph(settings.graph, settings.runs_dir) as store:
        name = graphs.find_graph_run(store, run)
        identity = graphs.find_sample(store, name, sample)
        drawn = redact(draw_change(store, identity, run=name, attribute=attribute, arm=asked))
    if out is None and not as_json:
        click.echo(drawn)
        return
    if out is not None:
        _write(Path(out), drawn + "\n")
    if as_json:
        print_json({"run": name, "sample": identity, "file": out, "svg": None if out else drawn})
    else:
        print_text(f"{out}: {identity} of {name}")
