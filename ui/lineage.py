"""Where a record came from and what came of it, as text: ids are prefixes of one another."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.rule import Rule
from rich.text import Text

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import (
    Answer,
    Judgement,
    Record,
    Sample,
    ShownArm,
    Triple,
    Variant,
)
from evenhand.graph_store.redact import redact
from evenhand.graph_store.run_directory import RunDirectory, StageName
from evenhand.tools.run_visits import run_levels
from evenhand.tools.wording import change_text, short_arm
from evenhand.ui.console import results

if TYPE_CHECKING:
    from evenhand.graph_store.scores import Scores

_STAGES: tuple[StageName, ...] = (
    "samples",
    "variants",
    "gate",
    "answers",
    "judgements",
    "labels",
)


def lineage(run: RunDirectory, prefix: str) -> list[Record]:
    """Return a record's ancestors, the record, and everything below it, in that order.

    Args:
        run: The run.
        prefix: The record's id, or the beginning of exactly one id without its descendants.

    Raises:
        UserError: No record, or several, begin with it.
    """
    records = {record.id: record for stage in _STAGES for record in run.records(stage)}
    start = _find(records, prefix, run.run_id)
    about = {start} | _ancestors(start) | _compared_with(records, start)
    chain = [r for r in records.values() if r.id in about or r.id.startswith(f"{start}/")]
    return sorted(chain, key=lambda record: (record.id.count("/"), record.id))


def _find(records: dict[str, Record], prefix: str, run_id: str) -> str:
    if prefix in records:
        return prefix
    found = [key for key in records if key.startswith(prefix)]
    highest = [key for key in found if key.count("/") == min(k.count("/") for k in found)]
    if len(highest) == 1:
        return highest[0]
    if not found:
        raise UserError(
            f"No record {prefix!r} in run {run_id}; expected the id of a sample, variant, answer "
            "or judgement, or its beginning. Ids stand in the report and in the stage files."
        )
    some = ", ".join(highest[:5]) + (" ..." if len(highest) > 5 else "")
    raise UserError(f"{len(highest)} records begin with {prefix!r}: {some}. Give more of the id.")


def _ancestors(key: str) -> set[str]:
    parts = key.split("/")
    return {"/".join(parts[:length]) for length in range(1, len(parts))}


def _compared_with(records: dict[str, Record], start: str) -> set[str]:
    """Return the answers that the verdicts below a record compare it with."""
    return {
        record.against_id
        for record in records.values()
        if isinstance(record, Judgement)
        and record.against_id
        and (record.subject_id == start or record.subject_id.startswith(f"{start}/"))
    }


def print_lineage(run: RunDirectory, chain: Sequence[Record]) -> None:
    """Print a lineage: texts, changes marked, prompts, replies and verdicts."""
    bases: dict[tuple[str, ShownArm], Variant] = {
        (v.sample_id, v.arm): v for v in run.variants() if not v.changes
    }
    given, levels = _given_levels(run), run_levels(run)
    calls = {call.id: call for call in run.calls()}
    console = results()
    for record in chain:
        console.print(Rule(Text(f"{type(record).__name__}  {record.id}"), align="left"))
        if isinstance(record, Sample):
            console.print(Text(record.text))
        elif isinstance(record, Variant):
            console.print(Text(f"{record.arm}: {change_text(record)} ({record.status})"))
            base = _base_of(bases, record)
            console.print(_marked(base.text if base else record.text, record.text))
            for who, scores in given.items():
                for words in _levels_of(record, who, scores, levels):
                    console.print(Text(words))
        elif isinstance(record, Answer):
            if record.id in calls:
                for role, text in calls[record.id].messages:
                    console.print(Text(f"{role}: {redact(text)}", style="dim"))
            console.print(Text(f"{short_arm(record.arm)}, {record.model}, {record.status}"))
            console.print(Text(redact(record.text)))
        elif isinstance(record, Judgement):
            console.print(Text(_verdict(record)))
        elif isinstance(record, Triple):
            console.print(Text(f"({record.subject}, {record.predicate}, {record.object})"))


def _base_of(bases: Mapping[tuple[str, ShownArm], Variant], variant: Variant) -> Variant | None:
    """Return what a variant was made from: the same arm as it is, else the base or whole visit."""
    arms: tuple[ShownArm, ...] = (variant.arm, "base")
    if variant.arm == "placebo":
        arms = ("base", "full")
    found = (bases.get((variant.sample_id, arm)) for arm in arms)
    return next((base for base in found if base is not None), None)


def _given_levels(run: RunDirectory) -> dict[str, "Scores"]:
    """Return what each model that is asked in bulk said, by who it is to a reader."""
    from evenhand.graph_store.scores import read_scores
    from evenhand.tools.triage.run_pairs import AGAINST, asked_model, is_mimic

    plan = run.manifest.plan
    first = asked_model(plan)
    given = {"decider's mimic" if is_mimic(first) else first: run.scores()}
    if plan.get(AGAINST):
        given[asked_model(plan, AGAINST)] = read_scores(run.path / AGAINST)
    return given


def _levels_of(
    variant: Variant, model: str, scores: "Scores", levels: Sequence[str]
) -> Iterator[str]:
    """Yield what a model that is asked in bulk said of a variant, its refits included."""
    for repeat in sorted({number for name, number in scores.keys if name == variant.id}):
        who = f"refit {repeat}" if repeat else model
        place = scores.places[variant.id, repeat]
        if scores.statuses[place] != "ok":
            yield f"{who}: {scores.statuses[place]}"
            continue
        shares = ", ".join(
            f"{level}: {share:.2f}"
            for level, share in zip(levels, scores.probabilities[place], strict=True)
        )
        yield f"{who}: level {levels[scores.levels[place]]} (probabilities {shares})"


def _verdict(record: Judgement) -> str:
    value = record.value if record.status == "ok" else record.status
    reason = f": {redact(record.reason)}" if record.reason else ""
    return f"{record.rubric}, {record.dimension}, by {record.judge}: {value}{reason}"


def _marked(before: str, after: str) -> Text:
    """Return the text after with what was taken out struck and what was put in underlined."""
    from evenhand.tools.word_diff import word_diff

    text = Text()
    for kind, words in word_diff(before, after):
        style = {"removed": "strike red", "added": "underline green"}.get(kind, "")
        text.append(words, style=style)
    return text
