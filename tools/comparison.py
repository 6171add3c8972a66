"""Two runs on the same samples, side by side: two targets, two judges, or two ways of asking.

The unit is the sample: its value in the second run less its value in the first, so that what a
sample is like cancels out. Only questions that both runs put are compared; where the runs were
attacked in other words and share none, a sample's mean is compared all the same, and flagged.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Answer, Measurement
from evenhand.graph_store.run_directory import RunDirectory
from evenhand.tools.contrasts import (
    NOT_SHARED,
    Contrast,
    Value,
    adjusted_contrasts,
    pair_values,
)
from evenhand.tools.data_kinds import DataKind, data_kinds
from evenhand.tools.measure import MeasuredRow, RecordIndex, cell_rows
from evenhand.tools.metrics import metrics
from evenhand.tools.pairing import NAN, ORIGINAL
from evenhand.tools.plan_differences import PlanDifference, plan_differences
from evenhand.tools.run_agreement import JudgeAgreement, judge_agreements
from evenhand.tools.statistics.intervals import HALF_PSEUDO, STUDENT, TANGO, WIDER, WILSON

MEANS = (WILSON, TANGO, HALF_PSEUDO, STUDENT, WIDER)
"""Methods of numbers that are means over samples, which alone can be paired sample by sample."""
REFUSED = "answer_refused"
ANY_QUESTION = "any question"
OTHER_TEXTS = "other_texts"


@dataclass(frozen=True)
class Comparison:
    """All that two runs say side by side."""

    first: str
    second: str
    differences: tuple[PlanDifference, ...]
    shared_samples: int
    only_first: int
    only_second: int
    shared_answers: int
    """Answers that are the same, word for word, to the same question."""
    contrasts: tuple[Contrast, ...]
    agreements: tuple[JudgeAgreement, ...]
    """Where another judge read the same answers."""


@dataclass(frozen=True)
class Compared:
    """One of the two runs, read once."""

    run: RunDirectory
    index: RecordIndex
    measurements: Sequence[Measurement]

    @classmethod
    def read(cls, run: RunDirectory) -> "Compared":
        """Read a measured run.

        Raises:
            UserError: It has no measurements yet.
        """
        if not (found := run.measurements()):
            raise UserError(
                f"Run {run.run_id} has no measurements yet; expected two finished runs. "
                f"Go on with `evenhand resume {run.run_id}`."
            )
        return cls(run, RecordIndex.read(run), found)

    @cached_property
    def texts(self) -> dict[str, str]:
        """Question of each variant, by its id."""
        return {one.id: one.text for many in self.index.variants.values() for one in many}

    @cached_property
    def sample_of(self) -> dict[str, str]:
        """Sample of each variant."""
        return {one.id: one.sample_id for many in self.index.variants.values() for one in many}

    @property
    def samples(self) -> set[str]:
        """Ids of the samples."""
        return {sample.id for sample in self.index.samples}


def compare_runs(
    first: RunDirectory,
    second: RunDirectory,
    *,
    asked: tuple[str, str] | None = None,
    seed: int = 0,
) -> Comparison:
    """Set two runs side by side, paired by sample.

    Args:
        first: A finished run.
        second: Another one on the same samples; the same one, if two ways of asking are named.
        asked: Which way of asking is taken from the first and which from the second run; None:
            each way that both have.
        seed: Seed of the draws.

    Raises:
        UserError: A run is not finished; it is one run, without `asked`; the runs share no sample,
            or no number.
    """
    if asked is None and first.path.resolve() == second.path.resolve():
        raise UserError(
            f"Run {first.run_id} is named twice; expected two runs, or two ways of asking within "
            "one. Name those with --asked no_hop,multi_hop."
        )
    one, other = Compared.read(first), Compared.read(second)
    shared = _shared_samples(one, other)
    cells = _cells(one, other, asked)
    contrasts = [_contrast(one, other, a, b, shared, seed) for a, b in cells]
    arms = sorted({(a.arm, b.arm) for a, b in cells if a.arm and b.arm})
    refusals = [_refusals(one, other, pair, shared, seed) for pair in arms]
    same, agreements = judge_agreements(first, second) if asked is None else (0, ())
    return Comparison(
        first=first.run_id,
        second=second.run_id,
        differences=tuple(plan_differences(first.manifest, second.manifest)),
        shared_samples=len(shared),
        only_first=len(one.samples - shared),
        only_second=len(other.samples - shared),
        shared_answers=same,
        contrasts=tuple(adjusted_contrasts([*contrasts, *refusals])),
        agreements=agreements,
    )


def _shared_samples(one: Compared, other: Compared) -> set[str]:
    shared = one.samples & other.samples
    if not shared:
        said = [
            f"{side.run.run_id} has {len(side.samples)} of {side.run.manifest.plan.get('dataset')}"
            for side in (one, other)
        ]
        raise UserError(
            f"The runs share no sample: {' and '.join(said)}; expected the same samples in both. "
            "Run both with one data set, file, n and seed."
        )
    return shared


def _cells(
    one: Compared, other: Compared, asked: tuple[str, str] | None
) -> list[tuple[Measurement, Measurement]]:
    """Return the numbers that both runs have, of metrics that are means over samples."""
    comparable = _mean_metrics([*one.measurements, *other.measurements])
    theirs = {_key(m, m.arm): m for m in other.measurements}
    arms = {asked[0]: asked[1]} if asked else {m.arm: m.arm for m in one.measurements}
    cells = [
        (m, theirs[key])
        for m in one.measurements
        if m.metric in comparable and m.arm in arms and (key := _key(m, arms[m.arm])) in theirs
    ]
    if not cells:
        ways = [
            ", ".join(sorted({m.arm for m in side.measurements if m.arm})) for side in (one, other)
        ]
        raise UserError(
            f"The runs have no number in common: {one.run.run_id} was asked {ways[0]}, "
            f"{other.run.run_id} {ways[1]}; expected a shared way of asking. "
            "Name one of each with --asked, such as --asked no_hop,multi_hop."
        )
    return cells


def _key(m: Measurement, arm: str) -> tuple[str, str, tuple[str, ...]]:
    return m.metric, arm, m.groups


def _mean_metrics(measurements: Iterable[Measurement]) -> set[str]:
    # A shift against the original holds the original's own change; its parts are compared.
    return {
        m.metric
        for m in measurements
        if m.method.split("; ")[0] in MEANS
        and m.control_arm != ORIGINAL
        and m.metric in metrics.names()
    }


def _contrast(
    one: Compared,
    other: Compared,
    first: Measurement,
    second: Measurement,
    shared: set[str],
    seed: int,
) -> Contrast:
    metric = metrics.get(first.metric)
    kind = data_kinds.get(metric.data)
    rows = [
        [row for row in cell_rows(side.index, m) if row.sample_id in shared]
        for side, m in ((one, first), (other, second))
    ]
    texts = _questions_of_both(one, other, first, *rows)
    values = [
        _values(kind, [row for row in some if _is_of(row, side, texts)])
        for side, some in ((one, rows[0]), (other, rows[1]))
    ]
    span = metric.bounds[1] - metric.bounds[0]
    made = pair_values(values[0], values[1], span, seed)
    differs = texts is None and first.arm != ORIGINAL
    flags = (OTHER_TEXTS,) if differs and made.estimate.n else ()
    return made.contrast(
        first.metric,
        (first.arm, second.arm),
        first.groups,
        family=first.metric,
        confirmatory=kind.confirmatory,
        flags=flags,
    )


def _questions_of_both(
    one: Compared,
    other: Compared,
    measurement: Measurement,
    rows: Sequence[MeasuredRow],
    others: Sequence[MeasuredRow],
) -> set[tuple[str, str]] | None:
    """Return (sample, question) of what both runs asked; None where they share none of it."""
    if measurement.arm == ORIGINAL:
        return None
    asked = [
        {(row.sample_id, side.texts[row.variant_id]) for row in some if row.variant_id}
        for side, some in ((one, rows), (other, others))
    ]
    return (asked[0] & asked[1]) or None


def _is_of(row: MeasuredRow, side: Compared, texts: set[tuple[str, str]] | None) -> bool:
    if texts is None or row.variant_id is None:
        return True
    return (row.sample_id, side.texts[row.variant_id]) in texts


def _values(kind: DataKind, rows: Sequence[MeasuredRow]) -> dict[str, Value]:
    """Return each sample's value, or what left it out."""
    by_sample: dict[str, list[MeasuredRow]] = defaultdict(list)
    for row in rows:
        by_sample[row.sample_id].append(row)
    return {sample: _value(kind, some) for sample, some in by_sample.items()}


def _value(kind: DataKind, rows: Sequence[MeasuredRow]) -> Value:
    scored = kind.scored(kind.items(rows))
    if len(scored):
        return float(kind.differences(scored)[0]), "ok"
    return NAN, next((row.status for row in rows if row.status != "ok"), NOT_SHARED)


def _refusals(
    one: Compared, other: Compared, arms: tuple[str, str], shared: set[str], seed: int
) -> Contrast:
    """Return the share of refused answers: what is left out of a number is an outcome itself."""
    values = [
        _refused_share(side, arm, shared) for side, arm in zip((one, other), arms, strict=True)
    ]
    made = pair_values(values[0], values[1], 1.0, seed)
    return made.contrast(REFUSED, arms, (ANY_QUESTION,), family=REFUSED, confirmatory=False)


def _refused_share(side: Compared, arm: str, shared: set[str]) -> dict[str, Value]:
    by_sample: dict[str, list[Answer]] = defaultdict(list)
    for answer in side.index.answers.values():
        sample = side.sample_of.get(answer.variant_id)
        if answer.arm == arm and sample in shared:
            by_sample[sample].append(answer)
    return {
        sample: (sum(a.status == "refused" for a in some) / len(some), "ok")
        for sample, some in by_sample.items()
    }
