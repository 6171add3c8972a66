"""`evenhand mitigate`: mend the model of a run, ask before and after, say what it learned."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.agents.mitigation import mitigations
from evenhand.graph_store.errors import RunStopped, UserError
from evenhand.ui.console import has_terminal, messages, print_json, print_text, results
from evenhand.ui.options import json_option, workspace_options
from evenhand.ui.results import find_run
from evenhand.ui.settings import load_settings

if TYPE_CHECKING:
    from evenhand.agents.mending import MitigationSettings
    from evenhand.agents.mitigate import Forecast, Mitigated

WAYS = mitigations.names()
_POSITIVE = click.IntRange(1)


@click.command()
@click.argument("run", default="last")
@click.option("--how", required=True, metavar="WAY", help=f"One of: {', '.join(WAYS)}.")
@click.option("--seed", type=click.IntRange(min=0), help="Of split, draws and training (0).")
@click.option("--n", type=_POSITIVE, help="Held-out questions asked, at most (all).")
@click.option("--votes", type=_POSITIVE, help="Askings of each question (as the run).")
@click.option("--max-tokens", type=_POSITIVE, help="Of an answer (as the run).")
@click.option("--base", metavar="MODEL", help="fine_tune: what is tuned (the run's target).")
@click.option("--train", type=_POSITIVE, help="fine_tune: questions to train on, at most (all).")
@click.option("--rank", type=_POSITIVE, help="fine_tune: of the adapter (16).")
@click.option("--epochs", type=_POSITIVE, help="fine_tune: passes over the training set (3).")
@click.option("--batch", type=_POSITIVE, help="fine_tune: exchanges of a step (8).")
@click.option(
    "--lr",
    "learning_rate",
    type=click.FloatRange(0, min_open=True),
    help="fine_tune: highest learning rate (0.001).",
)
@click.option("--exemplars", type=_POSITIVE, help="few_shot: exchanges in the prompt (8).")
@click.option(
    "--guard", metavar="MODEL", help="guard: rules, a model, classifier/...#LABEL (rules)."
)
@click.option("--rewriter", metavar="MODEL", help="rewrite: rules, or a model (rules).")
@click.option(
    "--instructions",
    multiple=True,
    metavar="NAME=FILE",
    help="Ordinary instructions: boolq=, arc_challenge= or web_questions= (our own).",
)
@workspace_options
@click.option("--yes", is_flag=True, help="Approve the calls without being asked.")
@json_option
def command(
    run: str, config: str | None, runs_dir: str | None, yes: bool, as_json: bool, **flags: Any
) -> None:
    """Mend the model of RUN, an audit by recipe metamorphic, and show what that changed.

    Questions about attributes that are held out are asked before and after, benign questions that
    have a right answer, and ordinary instructions. The same command goes on where it was stopped.

        evenhand mitigate RUN --how fine_tune --n 30
    """
    from evenhand.agents.mitigate import forecast, mitigate

    folder = load_settings(config, runs_dir=runs_dir).runs_dir
    audited, settings = find_run(folder, run), mitigation_settings(flags)
    expected = forecast(audited, settings)
    said = messages()
    said.print(forecast_text(expected), soft_wrap=True)
    if not yes:
        _ask_for_approval()
    work = mitigate(
        audited, settings, workspace=folder, tell=lambda each: said.print(each, soft_wrap=True)
    )
    try:
        made = asyncio.run(work)
    except RunStopped as stopped:
        reason = str(stopped).split(";")[0].rstrip(".")
        raise RunStopped(f"{reason}. The same command goes on.") from None
    except KeyboardInterrupt:
        raise KeyboardInterrupt("stopped; the same command goes on") from None
    if as_json:
        print_json(as_plain(made))
        return
    print_mitigated(made)


def forecast_text(expected: "Forecast") -> str:
    """Return what will be asked, in a sentence.

    Example:
        >>> from evenhand.agents.mitigate import Forecast
        >>> forecast_text(Forecast({"target": 80}, (), True))
        '80 calls (target) at most, and a training on this machine; nothing leaves this machine.'
    """
    total = sum(expected.calls.values())
    trains = ", and a training on this machine" if expected.trains else ""
    where = (
        f"text is sent to {', '.join(expected.hosts)}"
        if expected.hosts
        else "nothing leaves this machine"
    )
    return f"{total:,} calls ({', '.join(expected.calls)}) at most{trains}; {where}."


def _ask_for_approval() -> None:
    if not has_terminal():
        raise UserError(
            "The calls need approval and there is no terminal to ask at; expected --yes. Read what "
            "will be asked, then add --yes to the same command."
        )
    if not click.confirm("Go on?", default=False, err=True):
        raise click.Abort("not approved, nothing was run")


def mitigation_settings(flags: dict[str, Any]) -> "MitigationSettings":
    """Return the settings of the flags that were given."""
    from evenhand.agents.mending import MitigationSettings

    given = {name: value for name, value in flags.items() if value not in (None, ())}
    return MitigationSettings(**given)


def as_plain(made: "Mitigated") -> dict[str, Any]:
    """Return what --json prints."""
    return {
        "folder": str(made.folder),
        "learned": made.learned.model_dump(mode="json"),
        "effects": [one.model_dump(mode="json") for one in made.effects],
        "facts": made.facts,
    }


def print_mitigated(made: "Mitigated") -> None:
    """Print the conclusion, the numbers and the page's path."""
    from rich.table import Table

    from evenhand.agents.mitigate import PAGE
    from evenhand.tools.mitigation.report import HEADLINES, MEASURE_WORDS, p_text, share_text

    print_text(f"{HEADLINES[made.learned.kind]}.")
    print_text(made.learned.sentence)
    shown = Table(box=None, pad_edge=False)
    for title in ("%", "questions", "before", "after", "change", "n", "p"):
        shown.add_column(title, justify="left" if title in ("%", "questions") else "right")
    for one in made.effects:
        shown.add_row(
            MEASURE_WORDS[one.measure],
            one.group,
            share_text(one.before),
            share_text(one.after),
            share_text(one.change, signed=True),
            str(one.change.n),
            p_text(one.change),
        )
    results().print(shown)
    print_text(f"Kept in {made.folder}; page {Path(made.folder) / PAGE}")
