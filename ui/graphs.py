"""Graphs opened for a command, runs found in them, and their answers as tables."""

import contextlib
import difflib
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.redact import redact
from evenhand.graph_store.rows import (
    ChangedAnswer,
    ChangedCase,
    GraphStats,
    JudgementRow,
    Lineage,
    Neighbourhood,
    SideBySide,
    TripleRow,
)
from evenhand.graph_store.store import GraphStore, check_address, open_store
from evenhand.tools.graph_questions import GroupDifference, MeasurementLineage
from evenhand.tools.plots.svg import shorten
from evenhand.tools.wording import counted, p_value, short_arm
from evenhand.ui.console import print_text, results
from evenhand.ui.words import graph_place

if TYPE_CHECKING:
    from evenhand.tools.entity_links import EntityDecision, Suggestion

_ROUND_TEXT = 90
"""Characters of an answer that a table shows; JSON has the whole."""


@contextlib.contextmanager
def opened_graph(address: str, folder: Path, *, writes: bool = False) -> Iterator[GraphStore]:
    """Open the graph at an address for a `with`.

    Args:
        address: As in `--graph`.
        folder: The workspace.
        writes: Make the file where there is none; else that is a mistake.

    Raises:
        UserError: It is not there, cannot be reached, or went away meanwhile.
    """
    path = check_address(address, folder)
    if path is not None and not path.is_file() and not writes:
        raise UserError(
            f"No graph {path}; expected one that an audit or `evenhand sync RUN` wrote. Name "
            "another with --graph ADDRESS, or its folder with --runs-dir."
        )
    with open_store(address, folder) as store:
        yield store


def find_graph_run(store: GraphStore, name: str) -> str:
    """Return the run of that id, of which `name` is the only prefix, or the 'last' one begun.

    Raises:
        UserError: The graph knows no such run, or several; the message names them.
    """
    there = [row.id for row in store.runs()]
    if name == "last" and there:
        return there[-1]
    matching = [name] if name in there else [run for run in there if run.startswith(name)]
    if len(matching) == 1:
        return matching[0]
    if matching:
        several = ", ".join(matching)
        raise UserError(f"Several runs begin with {name!r}: {several}. Give more of the id.")
    known = ", ".join(there[-10:]) or "(none)"
    raise UserError(
        f"No run {name!r} in this graph; runs in it: {known}. "
        "Bring one into it with `evenhand sync RUN`."
    )


def find_entity(store: GraphStore, name: str) -> str:
    """Return the key of an entity: as given, else as the graph would write it.

    Raises:
        UserError: The graph has neither; the message names the nearest.
    """
    from evenhand.tools.entities import canonical_key

    for key in (name, canonical_key(name)):
        if store.neighbourhood(key, limit=1).entities:
            return key
    known = [entity.key for entity in store.entity_names(limit=10_000)]
    near = difflib.get_close_matches(canonical_key(name), known, n=5) or known[:5]
    raise UserError(
        f"No entity {name!r} in this graph; expected one such as: {', '.join(near) or '(none)'}."
    )


def find_sample(store: GraphStore, run: str, name: str) -> str:
    """Return the sample of that id, or of which `name` is the only prefix (up to a "-").

    Raises:
        UserError: The run has no such sample, or several; the message names some.
    """
    if store.lineage(name, run) is not None:
        return name
    there = [node["id"] for node in store.export(run)["nodes"] if node["label"] == "Sample"]
    matching = [sample for sample in there if sample.startswith(f"{name.rstrip('-')}-")]
    if len(matching) == 1:
        return matching[0]
    raise UserError(
        f"No sample {name!r} in run {run}; expected one of: "
        f"{', '.join((matching or there)[:8]) or '(none)'}."
    )


def print_stats(stats: GraphStats, address: str, run: str | None) -> None:
    """Print how many nodes of each label and relationships of each type there are."""
    about = f"run {run}" if run else "all runs"
    print_text(f"{graph_place(address)}, {about}: {stats.triples:,} triples")
    table = _table("", "node", "count")
    for label, count in sorted(stats.nodes.items()):
        table.add_row(label, f"{count:,}")
    results().print(table)
    table = _table("", "relationship", "count")
    for type_, count in sorted(stats.relationships.items(), key=lambda item: (-item[1], item[0])):
        table.add_row(type_, f"{count:,}")
    results().print(table)


def print_neighbourhood(found: Neighbourhood) -> None:
    """Print the triples around an entity, nearest first."""
    distance = {entity.key: entity.distance for entity in found.entities}
    table = _table("", "steps", "subject", "predicate", "object", "hop", "stated by", "run")
    for triple in found.triples:
        near = min(distance[triple.subject_key], distance[triple.object_key])
        table.add_row(f"{near}", *_fact(triple), f"{triple.hop}", triple.source_id, triple.run)
    results().print(table)
    if found.more:
        print_text("There is more: --offset, --limit.")


def print_chain(chain: Lineage) -> None:
    """Print where a record comes from, step by step."""
    if chain.sample:
        _print_step(f"Sample {chain.sample.id}", chain.sample.text)
    if chain.variant:
        _print_step(f"Variant {chain.variant.id}, {chain.variant.group}", chain.variant.text)
    if chain.answer:
        arm = short_arm(chain.answer.arm or "")
        title = f"Answer {chain.answer.id}, {arm}, {chain.answer.model}, {chain.answer.status}"
        _print_step(title, chain.answer.text)
    for verdict in chain.judgements:
        print_text(f"Verdict {verdict_words(verdict)}")
    for triple in chain.triples:
        print_text(f"Hop {triple.hop}  ({' | '.join(_fact(triple))})")


def _print_step(title: str, text: str | None) -> None:
    print_text(title)
    print_text(f"  {text or ''}\n")


def print_measurement(found: MeasurementLineage) -> None:
    """Print the answers behind a number, a row each."""
    number = found.measurement
    print_text(
        f"{number.metric}, {short_arm(number.arm)}, {'+'.join(number.groups)}: "
        f"{found.total:,} rows behind it, {len(found.rows):,} shown"
    )
    table = _table("", "sample", "answer", "set against", "value", "verdicts", "triples")
    for traced in found.rows:
        row, chain = traced.row, traced.lineage
        value = f"{row.value:g}" if row.status == "ok" else row.status
        verdicts = [verdict_words(verdict) for verdict in chain.judgements] if chain else []
        triples = f"{len(chain.triples):,}" if chain else "not in the graph"
        table.add_row(
            row.sample_id,
            row.answer_id or "",
            row.base_answer_id or "",
            value,
            Text(redact("; ".join(verdicts))),
            triples,
        )
    results().print(table)


def print_variants(rows: Sequence[ChangedAnswer]) -> None:
    """Print the variants in which one attribute alone was changed, with their answers."""
    table = _table(
        "", "run", "from", "to", "gate", "asked", "repeat", "status", "answer", "verdicts"
    )
    for row in rows:
        table.add_row(
            row.run,
            Text(redact(row.before or "(not stated)")),
            Text(redact(row.after)),
            row.gate or "",
            row.arm or "not asked",
            "" if row.repeat is None else f"{row.repeat}",
            row.status or "",
            _short(row.text),
            Text(redact("; ".join(map(verdict_words, row.verdicts)))),
        )
    results().print(table)


def print_difference(found: GroupDifference) -> None:
    """Print the triples that one side alone states, with counts and tests."""
    if not found.rows:
        print_text("No triple differs between the two sides of any pair that can be compared.")
        return
    print_text(
        f"{found.pairs:,} pairs of answers in which {found.attribute} alone differs; "
        f"{found.tested:,} triples differ in some pair, {len(found.rows):,} shown"
    )
    table = _table(
        "",
        "subject",
        "predicate",
        "object",
        "hop",
        "changed only",
        "base only",
        "both",
        "p exact",
        "p BH",
        "p Holm",
    )
    for row in found.rows:
        counts = row.contrast
        table.add_row(
            Text(redact(counts.subject_key)),
            counts.type,
            Text(redact(counts.object_key)),
            f"{counts.hop}",
            f"{counts.only_variant:,}",
            f"{counts.only_base:,}",
            f"{counts.both:,}",
            *(p_value(p).removeprefix("p ") for p in (row.p, row.p_bh, row.p_holm)),
        )
    results().print(table)


def print_cases(rows: Sequence[ChangedCase]) -> None:
    """Print every case in which the answer changed with one attribute."""
    table = _table("", "run", "sample", "from", "to", "asked", "what changed", "judge", "answer")
    for row in rows:
        table.add_row(
            row.run,
            row.sample_id,
            Text(redact(row.before or "(not stated)")),
            Text(redact(row.after)),
            row.arm or "",
            Text(redact(row.reason or "")),
            row.judge or "",
            row.answer_id,
        )
    results().print(table)


def print_side_by_side(rows: Sequence[SideBySide], runs: Sequence[str]) -> None:
    """Print what each run has of the same asking, a column a run."""
    table = _table("", "variant", "group", "asked", "repeat", *runs)
    for row in rows:
        table.add_row(
            row.variant_id,
            row.group or "",
            row.arm or "",
            "" if row.repeat is None else f"{row.repeat}",
            *(
                Text(
                    redact(
                        "; ".join([side.status or "not there", *map(verdict_words, side.verdicts)])
                    )
                )
                for side in row.sides
            ),
        )
    results().print(table)


def verdict_words(verdict: JudgementRow) -> str:
    """Return a verdict in a few words: "age 0.25", "paired_change 1 (first test: ...)"."""
    reason = f" ({verdict.reason})" if verdict.reason and verdict.dimension == "any" else ""
    return f"{verdict.name}{reason}"


def _fact(triple: TripleRow) -> tuple[str, str, str]:
    return redact(triple.subject), redact(triple.predicate), redact(triple.object)


def _short(text: str | None) -> Text:
    return Text(shorten(redact(" ".join((text or "").split())), _ROUND_TEXT))


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title or None, box=None, pad_edge=False, header_style="dim")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def as_plain(value: Any) -> Any:
    """Return frozen rows as dicts and lists, for JSON; NaN is null."""
    from dataclasses import fields, is_dataclass

    from pydantic import BaseModel

    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if is_dataclass(value):
        return {item.name: as_plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, dict):
        return {name: as_plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_plain(item) for item in value]
    return None if value != value else value


def print_suggestions(found: Sequence["Suggestion"], looked_at: int) -> None:
    """Print the pairs of entities that may be one, and how to accept one."""
    print_text(
        f"{looked_at:,} entities looked at; {counted(len(found), 'pair')} that may be one thing"
    )
    if not found:
        return
    table = _table("", "cosine", "from", "triples", "to", "triples")
    for item in found:
        sides = ((item.from_key, item.from_degree), (item.to_key, item.to_degree))
        cells = [cell for key, degree in sides for cell in (Text(redact(key)), f"{degree:,}")]
        table.add_row(f"{item.cosine:.2f}", *cells)
    results().print(table)
    best = found[0]
    print_text(
        f"Accept one: evenhand graph accept {shlex.quote(best.from_key)} {shlex.quote(best.to_key)}"
    )


def print_accepted(decisions: Sequence["EntityDecision"]) -> None:
    """Print what people took to be one thing, oldest first."""
    if not decisions:
        return
    table = _table("accepted", "from", "shown as", "who", "when")
    for item in decisions:
        table.add_row(
            *(Text(redact(cell)) for cell in (item.from_key, item.to_key, item.who)), item.when
        )
    results().print(table)
