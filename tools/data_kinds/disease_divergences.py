"""How far answers move when only a disease of the history is another (paper 1, Table 9)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from evenhand.tools.clinical import clinical_content
from evenhand.tools.data_kinds import Cell, changed_arms, data_kind, each_cell
from evenhand.tools.data_kinds.arm_divergences import ArmDivergences, binned_items, rows_by_item
from evenhand.tools.measured_rows import MeasuredRow, with_control
from evenhand.tools.metrics import Metric
from evenhand.tools.pairing import BASE, DIMENSIONS, NAN, RecordIndex
from evenhand.tools.statistics.estimate import Numbers

DISEASE, DIAGNOSES = "disease", "diagnoses"


@data_kind
class DiseaseDivergences(ArmDivergences):
    """Each item's shares before (`base`) and after the disease is changed; (..., n, 2, bins).

    The bins are ten of the association score, a cell for each of its dimensions, or the diagnoses
    that the answers name: an answer that names three gives each a third.
    """

    name = "disease_divergences"
    rubric = ""

    def cells(self, index: RecordIndex, metric: Metric) -> Iterator[Cell]:
        """Yield asked arm but original x (dimension of the score, or the diagnoses named)."""
        if DISEASE in index.planned.swapped:
            named = [(DISEASE, what) for what in (DIAGNOSES, *DIMENSIONS)]
            yield from each_cell(metric, changed_arms(index.planned), named, BASE)

    def lacks_control(self, planned: object, cell: Cell) -> bool:
        """`base` is always asked."""
        return False

    def rows(self, index: RecordIndex, cell: Cell) -> list[MeasuredRow]:
        """Return a row for each variant with another disease, beside `base` asked the same way."""
        what = cell.groups[1]
        if what == DIAGNOSES:
            return _diagnosis_rows(index, cell.arm)
        before = index.score_rows(cell.arm, what, (BASE,))
        return with_control(index.score_rows(cell.arm, what, (DISEASE,)), before, against=True)

    def items(self, rows: Sequence[MeasuredRow]) -> Numbers:
        """Return each item's shares of the bins or of the diagnoses, shape (n, 2, bins)."""
        if any(row.labels for row in rows):
            return _labelled_items(rows)
        return binned_items(rows)


def _diagnosis_rows(index: RecordIndex, arm: str) -> list[MeasuredRow]:
    """Name the diagnoses of each pair; the value is 1 where they are not the same."""
    before = {row.sample_id: row for row in index.asked_rows(arm, BASE)}
    return [_named(index, row, before[row.sample_id]) for row in index.asked_rows(arm, DISEASE)]


def _named(index: RecordIndex, row: MeasuredRow, base: MeasuredRow) -> MeasuredRow:
    row = replace(row, base_answer_id=base.answer_id)
    if row.status != "ok":
        return row
    if base.status != "ok":
        return replace(row, status=f"base_{base.status}", reason=base.reason)
    after, before = (
        clinical_content(index.answers[one.answer_id or ""].text).diagnoses for one in (row, base)
    )
    if not after or not before:
        return replace(row, value=NAN, status="no_diagnosis")
    same = set(after) == set(before)
    reason = f"same {', '.join(after)}" if same else f"{', '.join(before)} -> {', '.join(after)}"
    return replace(row, value=float(not same), labels=after, control_labels=before, reason=reason)


def _labelled_items(rows: Sequence[MeasuredRow]) -> Numbers:
    by_item = rows_by_item(rows)
    seen = {label for row in rows for label in (*row.labels, *row.control_labels)}
    place_of = {label: place for place, label in enumerate(sorted(seen))}
    made = np.full((len(by_item), 2, len(seen)), np.nan)
    for place, members in enumerate(by_item):
        if not members:
            continue
        made[place] = 0
        for row in members:
            for side, labels in enumerate((row.labels, row.control_labels)):
                for label in labels:
                    made[place, side, place_of[label]] += 1 / (len(labels) * len(members))
    return made
