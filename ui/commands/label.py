"""`evenhand label`: sheets for people to rate, and what they said."""

from dataclasses import asdict
from pathlib import Path

import click

from evenhand.graph_store.errors import UserError
from evenhand.tools.wording import counted
from evenhand.ui.console import print_json, print_text
from evenhand.ui.options import json_option, names_list, workspace_options
from evenhand.ui.results import find_run
from evenhand.ui.settings import load_settings

SHOWN_PROBLEMS = 20
SHEETS = "pairs, ratings, correctness, rewrites or questions"

_sheet_option = click.option("--sheet", required=True, metavar="SHEET", help=f"{SHEETS}.")


@click.group()
def command() -> None:
    """Write sheets for people to rate, read them back, show what they said.

    pairs: which of two question-answer pairs reveals more bias, and by which attributes. ratings:
    1 to 5 for each dimension, set beside the judge. correctness: 1 to 5, clinical. rewrites:
    whether a rewritten note is correct, incomplete or failed (counterfactual recipe). questions:
    whether a relation kept what a question compares (metamorphic recipe).
    """


@command.command("export")
@click.argument("run", default="last")
@_sheet_option
@click.option("--out", required=True, metavar="FILE", help="Where to write the sheet (CSV).")
@click.option(
    "--n",
    type=click.IntRange(1),
    help="Rows at most (pairs 20, rewrites and questions 100, else 40).",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the draw and the order.")
@click.option("--arms", metavar="A,B", help="Ways of asking (no_hop,multi_hop where asked).")
@click.option("--conclusion", is_flag=True, help="Show only the last step of each answer.")
@workspace_options
def export(
    run: str,
    sheet: str,
    out: str,
    n: int | None,
    seed: int,
    arms: str | None,
    conclusion: bool,
    config: str | None,
    runs_dir: str | None,
) -> None:
    """Write a sheet of RUN to be filled in; it does not say how an answer was asked for.

    A multi-hop answer shows its steps, which a rater may know again: --conclusion leaves them out.
    """
    from evenhand.tools.question_sheets import QuestionSource, draw_questions
    from evenhand.tools.rating_sheets import (
        FILLED,
        Item,
        SheetSource,
        draw_items,
        sheet_name,
        sheet_text,
    )
    from evenhand.tools.rewrite_sheets import RewriteSource, draw_rewrites

    name = sheet_name(sheet)
    target = Path(out)
    if target.exists():
        raise UserError(
            f"{out} is there already and may hold ratings; expected a new file. Name another one."
        )
    found = find_run(load_settings(config, runs_dir=runs_dir).runs_dir, run)
    items: list[Item]
    if name == "rewrites":
        notes = RewriteSource(found)
        items = draw_rewrites(notes, n=n, seed=seed)
        text = sheet_text(notes, name, items)
    elif name == "questions":
        questions = QuestionSource(found)
        items = draw_questions(questions, n=n, seed=seed)
        text = sheet_text(questions, name, items)
    else:
        source = SheetSource(found)
        items = draw_items(
            source, name, n=n, seed=seed, arms=names_list(arms), conclusion=conclusion
        )
        text = sheet_text(source, name, items)
    try:
        # The mark at the start tells Excel that this is UTF-8.
        target.write_text(text, encoding="utf-8-sig", newline="")
    except OSError as error:
        raise UserError(f"{out} cannot be written ({error.strerror}); name another file.") from None
    filled = ", ".join(FILLED[name])
    print_text(
        f"{counted(len(items), 'row')} written to {out}. To be filled in: {filled} (what each may "
        f"hold: docs/people.md). Then: evenhand label import {found.run_id} FILE --sheet {name} "
        "--rater NAME"
    )


@command.command("import")
@click.argument("run")
@click.argument("file", metavar="FILE")
@_sheet_option
@click.option("--rater", default="", help="Who filled it in; a pseudonym is enough.")
@workspace_options
@json_option
def import_(
    run: str,
    file: str,
    sheet: str,
    rater: str,
    config: str | None,
    runs_dir: str | None,
    as_json: bool,
) -> None:
    """Read a filled-in sheet into RUN; what cannot be counted is named by row, the rest is kept.

    Without --rater, a column `rater` says row by row who rated.
    """
    from evenhand.tools.rating_import import import_sheet
    from evenhand.tools.rating_sheets import sheet_name
    from evenhand.tools.spreadsheets import read_spreadsheet

    name = sheet_name(sheet)
    found = find_run(load_settings(config, runs_dir=runs_dir).runs_dir, run)
    read = import_sheet(found, name, read_spreadsheet(Path(file)), rater.strip())
    if as_json:
        print_json(
            {
                "run": found.run_id,
                "sheet": name,
                "rows": read.rows,
                "raters": read.raters,
                "verdicts": read.scored,
                "faults": read.faults,
                "problems": [vars(one) for one in read.problems],
            }
        )
        return
    raters = counted(len(read.raters), "rater")
    print_text(
        f"{counted(read.rows, 'row')} of {raters} read: {counted(read.scored, 'verdict')} added to "
        f"{found.run_id}."
    )
    if read.problems:
        faults = ", ".join(f"{count} {fault}" for fault, count in read.faults.items())
        print_text(f"Left out: {faults.replace('_', ' ')}.")
    for problem in read.problems[:SHOWN_PROBLEMS]:
        print_text(f"  {problem}")
    if len(read.problems) > SHOWN_PROBLEMS:
        print_text(f"  and {len(read.problems) - SHOWN_PROBLEMS:,} more; all with --json")


@command.command("show")
@click.argument("run", default="last")
@workspace_options
@json_option
def show(run: str, config: str | None, runs_dir: str | None, as_json: bool) -> None:
    """Show what people said of RUN: choices, agreement, correctness, each with its interval."""
    from evenhand.tools.filter_audit import audit_filter
    from evenhand.tools.people import People
    from evenhand.tools.people_numbers import measure_people
    from evenhand.tools.question_sheets import QuestionSource
    from evenhand.tools.rewrite_ratings import rate_rewrites
    from evenhand.ui.people import print_filter_audit, print_people
    from evenhand.ui.triage_tables import print_rewrites, rewrites_json

    found = find_run(load_settings(config, runs_dir=runs_dir).runs_dir, run)
    notes = rate_rewrites(found.labels())
    if notes is not None:
        if as_json:
            print_json(rewrites_json(notes))
        else:
            print_rewrites(notes)
        return
    audits = audit_filter(found.labels(), QuestionSource(found).accepted)
    if audits:
        if as_json:
            print_json([asdict(one) for one in audits])
        else:
            print_filter_audit(audits)
        return
    people = People.read(found)
    if not people.raters:
        raise UserError(
            f"Nobody has rated run {found.run_id} yet; expected imported sheets. Write one with "
            f"`evenhand label export {found.run_id} --sheet pairs --out FILE`."
        )
    numbers = measure_people(people, found.manifest.seed)
    if as_json:
        print_json([one.model_dump(mode="json") for one in numbers])
    else:
        print_people(people, numbers)
