"""`evenhand data`: look at a table of visits, draft its mapping, freeze it for audits."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.graph_store.errors import UserError
from evenhand.ui.console import print_json, print_text, results
from evenhand.ui.options import json_option

if TYPE_CHECKING:
    from evenhand.tools.column_kinds import ColumnSummary, TableSummary
    from evenhand.tools.visit_rows import FlowStep, VisitSource

FLAG_WORDS = {
    "byte_order_mark": "byte order mark at the start",
    "encoding_guessed": "the encoding is a guess: look at the accents, or name it in the mapping",
    "decimal_comma": "decimal comma",
    "ambiguous_comma": "1,234 may be a thousand or a decimal: say which in the mapping",
    "maybe_after_decision": "may be known only after the decision: list it under leaks",
}


@click.group()
def command() -> None:
    """Look at a table of visits, draft its mapping, freeze it for audits."""


@command.command()
@click.argument("file", type=click.Path(path_type=Path))
@json_option
def inspect(file: Path, as_json: bool) -> None:
    """Show encoding, delimiter, types and missing values of FILE; nothing is written."""
    from evenhand.tools.column_kinds import summarise_table

    summary = summarise_table(file)
    if as_json:
        print_json(asdict(summary))
    else:
        _print_summary(summary)


@command.command("map")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="Default: FILE with ending .toml.")
@click.option("--language", type=click.Choice(["en", "fr"]), default="en", help="Of the notes.")
def map_(file: Path, out: Path | None, language: str) -> None:
    """Write a draft of FILE's mapping, to be completed by hand.

    The direction of the scale is left open: without it there is no verdict.
    """
    from evenhand.tools.column_kinds import summarise_table
    from evenhand.tools.mapping_draft import draft_mapping

    target = out or file.with_suffix(".toml")
    draft = draft_mapping(summarise_table(file), language)
    if target.exists():
        raise UserError(f"{target} exists; give another place with --out.")
    target.write_text(draft, "utf-8")
    print_text(f"Draft in {target}. Complete it (direction first), then: evenhand data freeze")


@command.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--map", "mapping", type=click.Path(path_type=Path), help="The mapping of FILE.")
@click.option("--dataset", metavar="NAME", help="A known data set, in place of a mapping.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="A new folder.")
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Of the split into halves.")
@click.option("--attribute", metavar="NAME", help="Compared attribute (default: the first).")
@click.option("--as-published", is_flag=True, help="Filter by the paper's substring search.")
@json_option
def freeze(
    file: Path | None,
    mapping: Path | None,
    dataset: str | None,
    out: Path,
    seed: int,
    attribute: str | None,
    as_published: bool,
    as_json: bool,
) -> None:
    """Filter and split FILE by its mapping and write a frozen data set with a hash.

    Audit it with --dataset table --path OUT.
    """
    from evenhand.tools.frozen_visits import freeze_visits

    source = _source(file, mapping, dataset)
    frozen = freeze_visits(source, out, seed=seed, attribute=attribute, published_list=as_published)
    if as_json:
        steps = [asdict(step) for step in frozen.flow]
        print_json(
            {
                "folder": str(frozen.folder),
                "content_sha256": frozen.content_sha256,
                "sides": frozen.sides,
                "flow": steps,
            }
        )
        return
    _print_flow(frozen.flow)
    sides = ", ".join(f"{side} {count}" for side, count in sorted(frozen.sides.items()))
    print_text(f"Frozen in {frozen.folder} ({sides}); sha256 {frozen.content_sha256}")


def _source(file: Path | None, mapping: Path | None, dataset: str | None) -> "VisitSource":
    from evenhand.tools.datasets import visit_source
    from evenhand.tools.datasets.table import table_source

    if dataset and mapping:
        raise UserError("Give --map or --dataset, not both: a known data set has its mapping.")
    if dataset:
        return visit_source(dataset, str(file) if file else None)
    if file is None:
        raise UserError("Name the file of visits, or a known data set with --dataset.")
    return table_source(file, mapping or file.with_suffix(".toml"))


def _print_summary(summary: "TableSummary") -> None:
    from rich.table import Table

    form = summary.format
    how = form.kind if form.kind != "csv" else f"csv, delimiter {form.delimiter!r}"
    print_text(f"{summary.file}: {summary.rows} rows; {how}; {form.encoding}")
    for flag in form.flags:
        print_text(f"Note: {FLAG_WORDS[flag]}")
    shown = Table(box=None, pad_edge=False)
    for title in ("column", "looks like", "cells", "empty", "maybe missing", "values", "notes"):
        shown.add_column(title, overflow="fold")
    for column in summary.columns:
        shown.add_row(*_column_cells(column))
    results().print(shown)


def _column_cells(column: "ColumnSummary") -> tuple[str, ...]:
    suspects = ", ".join(f"{value} ({count})" for value, count in column.suspects.items())
    notes = [FLAG_WORDS[flag] for flag in column.flags]
    if column.multi_line:
        notes.append(f"{column.multi_line} cells of several lines")
    return (
        column.name,
        column.kind,
        str(column.cells),
        str(column.empty),
        suspects,
        _values(column),
        "; ".join(notes),
    )


def _values(column: "ColumnSummary") -> str:
    if column.kind == "number":
        return f"{column.low:g} to {column.high:g}"
    if column.kind == "text":
        return f"up to {column.longest} characters"
    return ", ".join(list(column.values)[:6])


def _print_flow(flow: tuple["FlowStep", ...]) -> None:
    from rich.table import Table

    shown = Table(box=None, pad_edge=False)
    shown.add_column("visits")
    shown.add_column("left out", justify="right")
    shown.add_column("remaining", justify="right")
    shown.add_column("of which")
    for step in flow:
        shown.add_row(step.words, str(step.left_out), str(step.remaining), _details(step.details))
    results().print(shown)


def _details(details: Any) -> str:
    return ", ".join(f"{name}: {count}" for name, count in details.items())
