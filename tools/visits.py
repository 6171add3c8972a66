"""The visits of a data set that take part: filtered, drawn, in halves, and fit to be audited."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Sample
from evenhand.tools.visit_mapping import VisitMapping
from evenhand.tools.visit_rows import FlowStep, VisitReader, VisitSource
from evenhand.training.splits import split_by_patient


@dataclass(frozen=True)
class Visits:
    """The visits of a data set that take part, and how they were chosen.

    Attributes:
        samples: In the order of the file; split is "train" or "audit".
        flow: The flow table, from the rows read to the visits that take part.
        mapping: What the columns mean, the direction of the scale among it.
        attribute: The attribute that the filters and the split went by.
    """

    samples: tuple[Sample, ...]
    flow: tuple[FlowStep, ...]
    mapping: VisitMapping
    attribute: str


def read_visits(
    source: VisitSource,
    *,
    seed: int,
    attribute: str | None = None,
    decider: str | None = None,
    published_list: bool = False,
) -> Visits:
    """Read a source, filter it, and split it into halves.

    Args:
        source: Rows and mapping.
        seed: Of the split, >= 0; frozen data keep their own halves.
        attribute: Which attribute must be known; None for the mapping's first.
        decider: Whose label; None for the mapping's own. The visits and their halves are the same
            for every decider.
        published_list: Filter by the paper's substring search instead of by the own list.

    Raises:
        UserError: As VisitReader and check_visits.
    """
    reader = VisitReader(source, attribute, decider, published_list=published_list)
    samples = list(reader.samples())
    check_visits(samples, reader)
    if not source.sides:
        samples = with_sides(samples, reader.attribute, seed)
    return Visits(tuple(samples), reader.flow(), source.mapping, reader.attribute)


def drawn_visits(visits: Visits, n: int, seed: int) -> Visits:
    """Draw n visits, in the order of the file; each keeps its half.

    The draw is a line of the flow table. A larger n with the same seed holds the smaller draw.

    Raises:
        UserError: n is not between 1 and the number of visits, or the draw is of one group or
            level only.
    """
    samples = visits.samples
    if not 1 <= n <= len(samples):
        raise UserError(
            f"{n} visits were asked, but {len(samples)} are left after the filters; "
            f"give a number from 1 to {len(samples)} with --n."
        )
    picked = sorted(np.random.default_rng(seed).permutation(len(samples))[:n])
    drawn = tuple(samples[index] for index in picked)
    for kind, values in (
        (visits.attribute, {sample.attributes[visits.attribute] for sample in drawn}),
        ("level", {sample.label for sample in drawn}),
    ):
        if len(values) < 2:
            raise UserError(f"A draw of {n} has one {kind} only; ask for more visits with --n.")
    step = FlowStep("drawn", "not drawn", len(samples) - n, n)
    return replace(visits, samples=drawn, flow=(*visits.flow, step))


def with_sides(samples: Sequence[Sample], attribute: str, seed: int) -> list[Sample]:
    """Return the samples with their half, by patient, strata (level, group)."""
    sides = split_by_patient(
        [sample.patient or sample.id for sample in samples],
        [(_own_label(sample), sample.attributes[attribute]) for sample in samples],
        seed=seed,
    )
    return [
        sample.model_copy(update={"split": side})
        for sample, side in zip(samples, sides, strict=True)
    ]


def _own_label(sample: Sample) -> str | None:
    """The data set's own label: with another decider it is kept as the reference."""
    return sample.reference or sample.label


def check_visits(samples: Sequence[Sample], reader: VisitReader) -> None:
    """Raise a UserError where the visits cannot be audited at all.

    Raises:
        UserError: Nobody left, one group absent, fewer than two levels, no note although a text
            column is named, or a direction that the outcomes contradict.
    """
    name, mapping = reader.source.name, reader.mapping
    if not reader.rows_read:
        raise UserError(f"{name} has a header but no rows; expected a row for each visit.")
    left_out = {step.code: step.left_out for step in reader.flow() if step.left_out}
    if not samples and left_out.get("no_text") == max(left_out.values()):
        raise UserError(
            f"{name}: the text columns {', '.join(mapping.text)} are empty in all "
            f"{left_out['no_text']} visits that passed the filters before; name the columns of the "
            "note, or none to audit without notes."
        )
    steps = "; ".join(f"{s.words}: {s.left_out}" for s in reader.flow() if s.left_out)
    if not samples:
        raise UserError(
            f"{name}: none of {reader.rows_read} visits is left ({steps}); check the mapping."
        )
    groups = {sample.attributes[reader.attribute] for sample in samples}
    if len(groups) < 2:
        raise UserError(
            f"{name}: all {len(samples)} visits are {reader.attribute} {groups.pop()}; a "
            f"comparison needs two groups. Left out: {steps or 'none'}."
        )
    levels = {sample.label for sample in samples}
    if len(levels) < 2:
        raise UserError(
            f"{name}: all {len(samples)} visits have level {levels.pop()}; a decision needs at "
            f"least two of the levels {', '.join(mapping.levels)}."
        )


def check_direction(source: VisitSource) -> None:
    """Raise a UserError where the outcomes say that the declared direction is the wrong way.

    The mean level of visits with the bad outcome (admitted, died) lies on the urgent side; a
    difference the other way of five standard errors is a scale that was declared in reverse.
    """
    outcome = source.mapping.outcome
    if outcome is None:
        return
    ranks: dict[bool, list[int]] = {True: [], False: []}
    levels = {level: rank for rank, level in enumerate(source.mapping.levels)}
    for row in source.rows():
        level = (row[source.mapping.label] or "").strip()
        cell = (row[outcome.column] or "").strip()
        if level in levels and cell:
            ranks[cell in outcome.codes].append(levels[level])
    if min(map(len, ranks.values())) < 2:
        return
    bad, good = np.array(ranks[True], float), np.array(ranks[False], float)
    error = float(np.sqrt(bad.var(ddof=1) / bad.size + good.var(ddof=1) / good.size))
    sign = 1 if source.mapping.direction == "higher_is_less_urgent" else -1
    if sign * float(bad.mean() - good.mean()) > 5 * error:
        raise UserError(
            f"{source.name}: direction is {source.mapping.direction!r}, but visits with "
            f"{outcome.column} {', '.join(outcome.codes)} have the mean level {bad.mean() + 1:.2f} "
            f"(place in levels) and the others {good.mean() + 1:.2f}; check the direction."
        )
