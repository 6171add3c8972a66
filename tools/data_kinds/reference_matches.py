"""How near answers come to the reference diagnosis (paper 1, Table 2)."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Sample
from evenhand.tools.bertscore import bert_score
from evenhand.tools.data_kinds import Cell, data_kind, each_cell
from evenhand.tools.data_kinds.score_pairs import ScorePairs
from evenhand.tools.data_kinds.scores import Scores
from evenhand.tools.hops import final_section
from evenhand.tools.measured_rows import MeasuredRow, with_control
from evenhand.tools.metrics import Metric
from evenhand.tools.pairing import BASE, NAN, ORIGINAL, RecordIndex

MEASURES = ("f1", "precision", "recall")


@data_kind
class ReferenceMatches(Scores):
    """Answers with their BERTScore against Sample.reference; the array is (..., n).

    Of a multi-hop answer step 3 counts, the answer itself.
    """

    name = "reference_matches"
    rubric = ""

    def cells(self, index: RecordIndex, metric: Metric) -> Iterator[Cell]:
        """Yield asked arm x `base` and groups x (F1, precision, recall), if any reference is there.

        The source's own wording has one answer, to `base`.
        """
        if not any(sample.reference for sample in index.samples):
            return
        for arm in index.planned.asked:
            groups = (BASE,) if arm == ORIGINAL else (BASE, *index.planned.groups)
            yield from each_cell(metric, (arm,), list(product(groups, MEASURES)))

    def rows(self, index: RecordIndex, cell: Cell) -> list[MeasuredRow]:
        """Return a row for each answer to a variant of the group."""
        return matched_rows(index, cell.arm, *cell.groups)


@data_kind
class ReferenceMatchPairs(ScorePairs):
    """F1 of the answers to (variant, base) of an item; the array is (..., n, 2)."""

    name = "reference_match_pairs"
    rubric = ""

    def cells(self, index: RecordIndex, metric: Metric) -> Iterator[Cell]:
        """Yield asked arm but original x group, if any reference is there."""
        if any(sample.reference for sample in index.samples):
            arms = [arm for arm in index.planned.asked if arm != ORIGINAL]
            yield from each_cell(metric, arms, index.planned.groups, BASE)

    def lacks_control(self, planned: object, cell: Cell) -> bool:
        """`base` is always asked."""
        return False

    def rows(self, index: RecordIndex, cell: Cell) -> list[MeasuredRow]:
        """Return the group's rows, each beside `base` asked the same way."""
        base = matched_rows(index, cell.arm, BASE, "f1")
        return with_control(matched_rows(index, cell.arm, cell.groups[0], "f1"), base, against=True)

    def family(self, cell: Cell) -> str | None:
        """Explore, a family of its own."""
        return cell.metric.name


def matched_rows(index: RecordIndex, arm: str, group: str, measure: str) -> list[MeasuredRow]:
    """Return a row for each answer to a group, its value the match with the reference."""
    samples = {sample.id: sample for sample in index.samples}
    return [
        _matched(index, row, samples[row.sample_id], measure)
        for row in index.asked_rows(arm, group)
    ]


def _matched(index: RecordIndex, row: MeasuredRow, sample: Sample, measure: str) -> MeasuredRow:
    if row.status != "ok":
        return row
    if not (sample.reference or "").strip():
        return replace(row, status="no_reference")
    answer = final_section(index.answers[row.answer_id or ""].text)
    try:
        match = bert_score(answer, sample.reference or "", index.planned.encoder)
    except UserError as error:
        # What is missing here is a package, and the other numbers do not need it.
        return replace(row, status="no_encoder", reason=str(error))
    if match is None:
        return replace(row, value=NAN, status="unparsable")
    return replace(row, value=float(getattr(match, measure)), reason=sample.reference)
