"""Pairs behind the numbers: both levels, and both notes word by word, those that moved first."""

import html
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from evenhand.graph_store.records import Sample, Variant
from evenhand.tools.sections import ReportContext, fill, group_by, section
from evenhand.tools.triage import words
from evenhand.tools.triage.metrics import Way
from evenhand.tools.triage.pairs import TriagePairs
from evenhand.tools.triage_view import TriageView
from evenhand.tools.word_diff import Piece, word_diff

MOST_MOVED, MOST_OTHERS = 80, 30
"""Pairs with their texts: those that moved, and of the others of each kind."""
TEXT_BYTES = 1_500_000
LONGEST_NOTE = 6_000
"""Characters of a note that are compared word by word; what follows is not shown."""


KINDS = {"error": "error", "missing": "unparsable"}
"""Colour and sign of a pair without levels; "refused" where it is none of these."""


@dataclass(frozen=True)
class PairLine:
    """One pair as shown."""

    sample: str
    change: str
    outcome: str
    kind: str
    """Colour and sign: changed, ok, refused, error, unparsable."""
    recorded: str
    """The level that people gave; empty where unknown."""
    pieces: tuple[Piece, ...]
    fields: tuple[tuple[str, str, str], ...]
    """Columns that differ: name, before, after."""
    cut: bool


@section(title="Pairs behind the numbers")
def pairs(context: ReportContext) -> str:
    """Show pairs of the main arm: moved ones first, then unscored, then those that stayed."""
    view = context.triage
    lines = list(pair_lines(context, view)) if view else []
    by_kind = group_by(lines, lambda line: "moved" if line.kind == "changed" else line.kind)
    moved, stayed = by_kind.pop("moved", []), by_kind.pop("ok", [])
    lost = [line for some in by_kind.values() for line in some]
    return fill(
        "pairs.html",
        view=view,
        shown=len(lines),
        groups=[("Moved", moved), ("Not scored", lost), ("Stayed", stayed)],
        total=len(view.main) if view else 0,
        arm=words.arm(view.results.main_arm) if view else "",
        files=context.run_id,
    )


def pair_lines(context: ReportContext, view: TriageView) -> Iterator[PairLine]:
    """Yield the pairs to show, as many as fit."""
    rows = view.main
    changed = {
        (one.sample_id, one.changes[0].after): one
        for one in context.variants
        if one.arm == view.results.main_arm and one.changes
    }
    left = TEXT_BYTES
    for place in chosen_places(rows):
        sample_id = str(rows.ids[place]).partition(">")[0]
        target = rows.groups[int(rows.target[place])]
        line = _line(
            view,
            int(place),
            context.samples_by_id.get(sample_id),
            changed.get((sample_id, target)),
        )
        left -= sum(len(html.escape(piece.text).encode()) + 20 for piece in line.pieces) + 600
        if left < 0:
            return
        yield line


def chosen_places(rows: TriagePairs) -> list[int]:
    """Return places of rows: the largest moves first, then unscored, then unmoved ones."""
    steps = np.abs(rows.counterfactual - rows.original)
    unscored = (rows.original < 0) | (rows.counterfactual < 0)
    moved = np.flatnonzero(~unscored & (steps > 0))
    largest: list[int] = moved[np.argsort(-steps[moved], kind="stable")][:MOST_MOVED].tolist()
    lost: list[int] = np.flatnonzero(unscored)[:MOST_OTHERS].tolist()
    stayed: list[int] = np.flatnonzero(~unscored & (steps == 0))[:MOST_OTHERS].tolist()
    return [*largest, *lost, *stayed]


def _line(view: TriageView, place: int, sample: Sample | None, variant: Variant | None) -> PairLine:
    rows = view.main
    own, target = (rows.groups[int(side[place])] for side in (rows.source, rows.target))
    outcome, kind = outcome_of_row(view, place)
    known = rows.recorded is not None and rows.recorded[place] >= 0
    recorded = rows.levels[int(rows.recorded[place])] if known and rows.recorded is not None else ""
    before = sample.text if sample else ""
    after = variant.text if variant else ""
    pieces = word_diff(before[:LONGEST_NOTE], after[:LONGEST_NOTE]) if after else []
    if not after and before:
        pieces = [Piece("same", before[:LONGEST_NOTE])]
    return PairLine(
        sample=sample.id if sample else str(rows.ids[place]),
        change=words.shown((own, target)),
        outcome=outcome,
        kind=kind,
        recorded=recorded,
        pieces=tuple(pieces),
        fields=_fields(variant),
        cut=max(len(before), len(after)) > LONGEST_NOTE,
    )


def _fields(variant: Variant | None) -> tuple[tuple[str, str, str], ...]:
    if variant is None:
        return ()
    return tuple(
        (change.attribute, change.before or "", change.after)
        for change in variant.changes
        if change.attribute in variant.columns
    )


def outcome_of_row(view: TriageView, place: int) -> tuple[str, str]:
    """Return "3 → 4, ↑ less urgent", or why there is no level, and the colour of it."""
    rows = view.main
    first, second = int(rows.original[place]), int(rows.counterfactual[place])
    if first < 0 or second < 0:
        status = str(rows.status[place])
        return words.status(status), KINDS.get(status, "refused")
    if first == second:
        return f"level {rows.levels[first]}, stayed", "ok"
    way: Way = "up" if second > first else "down"
    arrow = "\N{RIGHTWARDS ARROW}"
    said = f"level {rows.levels[first]} {arrow} {rows.levels[second]}"
    return f"{said}, {words.moved(way, view.direction)}", "changed"
