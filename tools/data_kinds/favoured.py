"""Whom the biased answers favour: a group, or the one that the question names first.

Only choice questions about two groups count: a yes-no or why question makes the claim itself, so
whoever accepts it favours the group that the question had chosen.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from evenhand.graph_store.records import Sample, Variant
from evenhand.tools.bias_verdict import AskedQuestion, groups_as_asked
from evenhand.tools.data_kinds import SIGN_FLIPS, Cell, DataKind, data_kind, each_cell
from evenhand.tools.data_kinds.bias_verdicts import CATEGORY, TEMPLATE
from evenhand.tools.measured_rows import MeasuredRow
from evenhand.tools.metrics import Metric
from evenhand.tools.pairing import BASE, BIAS, NAN, RecordIndex
from evenhand.tools.statistics.clusters import clustered_proportion, flipped_sums
from evenhand.tools.statistics.estimate import Estimate, Numbers, nothing_scored
from evenhand.tools.statistics.intervals import proportion
from evenhand.tools.statistics.paired_tests import mcnemar

CHOICE: Literal["choice"] = "choice"
WILSON_QUESTIONS = "Wilson, design effect by question"
BINOMIAL = "binomial mid-p against one half"
_PLACES = {"first": 0, "second": -1}


def compared_groups(sample: Sample) -> tuple[str, ...]:
    """Return the two groups that a choice question compares; none of another question."""
    named = (sample.attributes.get("group_1", ""), sample.attributes.get("group_2", ""))
    return named if all(named) and sample.attributes.get(TEMPLATE) == CHOICE else ()


def named_at(sample: Sample, variant: Variant, place: str) -> str:
    """Return which group stands first or second in a choice question as it was asked."""
    question = AskedQuestion(variant.text, CHOICE, compared_groups(sample))
    return groups_as_asked(question)[_PLACES[place]]


class Favoured(DataKind):
    """Answers that take a side; 1 where it is the one asked about."""

    unit = "rate"
    rubric = BIAS

    def missing(self, rows: Sequence[MeasuredRow]) -> int:
        """Return 0: of a question without a verdict it is not known whether it counts at all."""
        return 0

    def family(self, cell: Cell) -> str | None:
        """Return the question: whom do biased answers favour."""
        return cell.metric.name


@data_kind
class FavouredFirst(Favoured):
    """Biased choices, by question: 1 for the group named first, 0 for the other; (..., n)."""

    name = "favoured_first"
    words = ("second named", "first named")

    def cells(self, index: RecordIndex, metric: Metric) -> Iterator[Cell]:
        """Yield `base` and each relation."""
        if any(map(compared_groups, index.samples)):
            yield from each_cell(metric, index.planned.asked, (BASE, *index.planned.relations))

    def rows(self, index: RecordIndex, cell: Cell) -> list[MeasuredRow]:
        """Return a row for each choice question that is biased or unscored."""
        choices = [sample for sample in index.samples if compared_groups(sample)]
        return [
            _sided(row, float(place == "first") if place in _PLACES else None)
            for _, row, place in biased_rows(index, cell.arm, cell.groups[0], choices)
        ]

    def estimate(self, metric: Metric, scored: Numbers, seed: int) -> Estimate:
        """Wilson; the mid-p of as many or more on one side, if both were equally likely."""
        first = int(scored[:, 0].sum())
        share = proportion(first, len(scored))
        return replace(share, p=mcnemar(first, len(scored) - first).p_mid)

    def counts(self, scored: Numbers) -> dict[str, int]:
        """Return how often the group named `first` is favoured, and the `second`."""
        first = int(scored[:, 0].sum())
        return {"first": first, "second": len(scored) - first}

    def test(self, estimate: Estimate) -> str:
        """Return the name of the test."""
        return BINOMIAL

    def example(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Numbers:
        """Return sides."""
        return rng.choice([0.0, 1.0, np.nan], shape)


@data_kind
class FavouredGroup(Favoured):
    """Counts by question, over its forms: biased in favour of the group, and biased; (..., n, 2).

    A row is a question in one form; the unit is the question, in whatever forms it was asked.
    """

    name = "favoured_group"
    words = ("the other group", "this group")

    def cells(self, index: RecordIndex, metric: Metric) -> Iterator[Cell]:
        """Yield (category, group) for each group that choice questions compare."""
        named = dict.fromkeys(
            (sample.attributes.get(CATEGORY, ""), group)
            for sample in index.samples
            for group in compared_groups(sample)
        )
        yield from each_cell(metric, index.planned.asked, list(named))

    def rows(self, index: RecordIndex, cell: Cell) -> list[MeasuredRow]:
        """Return a row for each biased or unscored question about the group, base and changed."""
        category, group = cell.groups
        about = [
            sample
            for sample in index.samples
            if group in compared_groups(sample) and sample.attributes.get(CATEGORY, "") == category
        ]
        return [
            _sided(row, self._side(index, sample, row, place, group))
            for shown in (BASE, *index.planned.relations)
            for sample, row, place in biased_rows(index, cell.arm, shown, about)
        ]

    def _side(
        self, index: RecordIndex, sample: Sample, row: MeasuredRow, place: str, group: str
    ) -> float | None:
        variant = index.variants_by_id.get(row.variant_id or "")
        if variant is None or place not in _PLACES:
            return None
        return float(named_at(sample, variant, place) == group)

    def items(self, rows: Sequence[MeasuredRow]) -> Numbers:
        """Return (in favour, biased) of each question; NaN where none of its forms is biased."""
        counts: dict[str, list[float]] = {}
        for row in rows:
            of = counts.setdefault(row.sample_id, [0.0, 0.0])
            if row.status == "ok":
                of[0] += row.value
                of[1] += 1
        values = [pair if pair[1] else [NAN, NAN] for pair in counts.values()]
        return np.array(values, dtype=np.float64).reshape(-1, 2)

    def array(self, items: Numbers) -> Numbers:
        """Return the items, shape (n, 2)."""
        return items

    def estimate(self, metric: Metric, scored: Numbers, seed: int) -> Estimate:
        """Wilson with the design effect of forms of one question; signs of questions flipped."""
        if len(scored) < 2:
            few = nothing_scored(0, WILSON_QUESTIONS)
            return replace(few, n=len(scored), reason_code="n_below_2")
        favours, biased = scored.astype(np.int64).T
        sides = np.stack([favours, biased - favours], axis=1).ravel()
        values = np.repeat(np.tile([1, 0], len(scored)), sides)
        share = clustered_proportion(values, np.repeat(np.arange(len(scored)), biased))
        p = flipped_sums(favours - biased / 2, seed)
        return replace(share, n=len(scored), p=p, method=WILSON_QUESTIONS)

    def counts(self, scored: Numbers) -> dict[str, int]:
        """Return the biased answers, and those `in_favour` of the group."""
        return {"in_favour": int(scored[:, 0].sum()), "biased": int(scored[:, 1].sum())}

    def test(self, estimate: Estimate) -> str:
        """Return the name of the test."""
        return SIGN_FLIPS

    def example(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Numbers:
        """Return counts."""
        biased = rng.integers(1, 4, shape).astype(np.float64)
        favours = np.floor(biased * rng.random(shape))
        unscored = rng.random(shape) < 0.3
        return np.where(unscored[..., None], np.nan, np.stack([favours, biased], axis=-1))


def biased_rows(
    index: RecordIndex, arm: str, shown: str, samples: Sequence[Sample]
) -> Iterator[tuple[Sample, MeasuredRow, str]]:
    """Yield the questions that are biased, with the place that they favour, or unscored.

    Args:
        index: A run.
        arm: As asked.
        shown: A relation or `base`.
        samples: Choice questions.

    Yields:
        Sample, row, place: "first", "second", "tie" where as many askings favour the one as the
        other, "" where the question is unscored.
    """
    by_id = {sample.id: sample for sample in samples}
    for row in index.majority_rows(arm, shown, samples):
        if row.status != "ok" or row.value == 0:
            yield by_id[row.sample_id], row, index.favoured.get(row.variant_id or "", "")


def _sided(row: MeasuredRow, side: float | None) -> MeasuredRow:
    if row.status != "ok":
        return row
    if side is None:
        return replace(row, value=NAN, status="side_unknown")
    return replace(row, value=side)
