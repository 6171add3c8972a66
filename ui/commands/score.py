"""`evenhand score`: which of some labels a model says, in bulk, with its probabilities."""

import asyncio
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.graph_store.errors import UserError
from evenhand.ui.console import messages, print_json, print_text
from evenhand.ui.options import json_option

if TYPE_CHECKING:
    from evenhand.tools.bulk_scores import PromptSource, ScoredFolder
    from evenhand.tools.scoring import OpenScorer, ScorerSettings


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--model", required=True, metavar="MODEL", help="torch/local, local, openai/..., vllm/..."
)
@click.option(
    "--labels", metavar="A,B,...", help="Answers to choose from (with --map: its levels)."
)
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder of the scores.")
@click.option("--column", default="prompt", show_default=True, help="Column of the prompts.")
@click.option("--id", "id_column", metavar="COLUMN", help="Column of the rows' ids.")
@click.option(
    "--map", "mapping", type=click.Path(path_type=Path), help="FILE holds visits: their mapping."
)
@click.option(
    "--attribute", metavar="NAME", help="Audited attribute (default: the mapping's first)."
)
@click.option("--arm", default="full", show_default=True, help="What is shown of a visit.")
@click.option("--base-url", metavar="URL", help="Server of the model.")
@click.option("--adapter", metavar="FOLDER", help="LoRA adapter on the model.")
@click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda or cuda:1.")
@click.option(
    "--dtype", default="float32", show_default=True, type=click.Choice(["float32", "bfloat16"])
)
@click.option("--token-budget", default=0, help="Tokens of one pass (0: what suits the device).")
@click.option("--chat/--no-chat", default=None, help="Chat or plain form (default: as the model).")
@click.option("--system", default="", help="Text of the system, before every prompt.")
@json_option
def command(**flags: Any) -> None:
    """Score the prompts of FILE, or its visits with --map; go on where an earlier call stopped.

    OUT gets Parquet parts: row, id, label, status, flags, log_mass, and log_prob_LABEL of each
    label, the natural log of its probability over the whole vocabulary.

        evenhand score prompts.csv --model torch/local --labels 1,2,3,4,5 --out scores
    """
    source = _source(flags)
    found = asyncio.run(_score(flags, source))
    if flags["as_json"]:
        print_json(_as_json(found))
        return
    _print(found, source)


def _source(flags: dict[str, Any]) -> "PromptSource":
    from evenhand.tools.bulk_scores import prompt_column, visit_prompts
    from evenhand.tools.datasets.table import table_source
    from evenhand.training.label_tokens import check_labels

    path: Path = flags["file"]
    if not path.is_file():
        raise UserError(f"{path} is no file; expected a table of prompts or of visits.")
    if flags["mapping"] is not None:
        if flags["labels"]:
            raise UserError("--labels goes without --map: the levels of the mapping are asked.")
        source = table_source(path, flags["mapping"])
        return visit_prompts(path, source, arm=flags["arm"], attribute=flags["attribute"])
    if not flags["labels"]:
        raise UserError("Name the answers to choose from, such as --labels 1,2,3,4,5.")
    labels = check_labels([label.strip() for label in flags["labels"].split(",")])
    return prompt_column(path, labels, column=flags["column"], id_column=flags["id_column"])


def _settings(flags: dict[str, Any], cue: str) -> "ScorerSettings":
    from evenhand.tools.scoring import ScorerSettings

    return ScorerSettings(
        base_url=flags["base_url"],
        adapter=flags["adapter"],
        device=flags["device"],
        dtype=flags["dtype"],
        token_budget=flags["token_budget"],
        chat=flags["chat"],
        system=flags["system"],
        cue=cue,
    )


async def _score(flags: dict[str, Any], source: "PromptSource") -> "ScoredFolder":
    from evenhand.tools.bulk_scores import score_file
    from evenhand.tools.score_labels import ScoreProgress
    from evenhand.tools.scoring import open_scorer

    scorer: OpenScorer = await open_scorer(flags["model"], _settings(flags, source.cue))
    said = messages()
    for sentence in scorer.says:
        said.print(sentence)
    last = [-1.0]

    def tell(where: ScoreProgress) -> None:
        # A line a second is enough to see that it goes on.
        import time

        now = time.monotonic()
        if now - last[0] >= 1 or where.done == where.total:
            last[0] = now
            said.print(progress_text(where.done, where.total, where.rate, where.seconds_left))

    try:
        return await score_file(source, scorer, flags["out"], on_progress=tell)
    finally:
        await scorer.close()


def progress_text(done: int, total: int | None, rate: float, seconds_left: float | None) -> str:
    """Return where scoring stands, in words.

    Example:
        >>> progress_text(120, 480, 14.23, 25.3)
        '120 of 480 rows, 14.2 a second, 26 s left'
    """
    of = "" if total is None else f" of {total}"
    left = "" if seconds_left is None else f", {math.ceil(seconds_left)} s left"
    return f"{done}{of} rows, {rate:.1f} a second{left}"


def _as_json(found: "ScoredFolder") -> dict[str, Any]:
    return {
        "folder": str(found.folder),
        "rows": found.rows,
        "scored_now": found.scored_now,
        "labels": found.levels,
        "statuses": found.statuses,
        "flags": found.flags,
        "prompt_tokens": found.work.prompt_tokens,
        "distinct_tokens": found.work.distinct_tokens,
        "computed_tokens": found.work.computed_tokens,
        "seconds": round(found.seconds, 3),
    }


def _print(found: "ScoredFolder", source: "PromptSource") -> None:
    counts = ", ".join(f"{label}: {n}" for label, n in found.levels.items())
    print_text(f"{found.rows} rows of {source.name} (label: rows) {counts}")
    for status, n in found.statuses.items():
        if status == "too_long":
            print_text(
                f"{n} rows are unscored: their prompts are longer than the model's context; "
                "shorten them, or use a model with a longer one."
            )
        elif status != "ok":
            print_text(f"{n} rows are unscored: {status}.")
    for flag, n in found.flags.items():
        print_text(f"{n} rows are flagged {flag}.")
    work = found.work
    if work.computed_tokens:
        print_text(
            f"{work.computed_tokens} tokens computed for {work.prompt_tokens} tokens of prompts, "
            f"{found.scored_now} rows in {found.seconds:.1f} s"
        )
    print_text(f"Kept in {found.folder}")
