"""The numbers of a run of the counterfactual recipe as Measurements.

A Measurement's `arm` is the arm as shown (full, text_only ...), since all are asked the same way;
`groups` is the pair or the direction, by original level also the level and the way. The quality of
the mimic stands beside them: a finding about a mimic that decides otherwise is none about people.
"""

import math
from collections.abc import Iterator, Mapping, Sequence

from evenhand.graph_store.records import Measurement, child_id
from evenhand.graph_store.run_directory import RunDirectory
from evenhand.tools.statistics.estimate import Estimate
from evenhand.tools.triage import measure as triage
from evenhand.tools.triage.asked_models import AskedModel, read_models
from evenhand.tools.triage.deciders import compare_deciders
from evenhand.tools.triage.measure import ArmLevels, TriageNumber, TriageResults, measure_arms
from evenhand.tools.triage.metrics import moved
from evenhand.tools.triage.pairs import TriagePairs
from evenhand.tools.triage.run_pairs import unstated
from evenhand.tools.triage_metrics import (
    AMPLIFICATION,
    DIRECTED_PDR,
    KAPPA,
    MODEL_DIFFERENCE,
    ODDS,
    OVER_FITS,
)

NOT_INFORMATIVE, NO_NOTE = "control_without_information", "no_note_states_it"
DIRECTED = (DIRECTED_PDR, triage.UP, triage.DOWN, triage.DTS, triage.NET_DTS)
CONFIRMED = "; Holm", "; Benjamini-Hochberg"


def measure_pairs_of(
    run: RunDirectory, metric_names: Sequence[str], seed: int
) -> list[Measurement]:
    """Measure the pairs of a run.

    Args:
        run: A run whose stages up to `answer` are there, whole or in part.
        metric_names: Of TRIAGE_METRICS (tools/triage_metrics.py), in the order of the report.
        seed: Of bootstrap and tests.

    Returns:
        A Measurement for each number of the named metrics; "not_estimable" with a reason where
        nothing could be measured. Where a second model was asked the same pairs, also its kappa_w
        and what the first model's numbers are more than its own, pair by pair.

    Raises:
        UserError: A file of the run is damaged.
    """
    models = read_models(run)
    first = models[0]
    found = measure_arms(first.arms, seed=seed, refits=first.refits)
    made = [
        *_numbers(found, first.arms),
        *(row for levels in found.by_level for row in _levels(levels)),
        *_amplifications(found),
        *(row for model in models for row in _kappa(model, seed)),
        *(row for other in models[1:] for row in _differences(first, other, seed)),
    ]
    order = {name: place for place, name in enumerate(metric_names)}
    named = sorted((one for one in made if one.metric in order), key=lambda m: order[m.metric])
    return [
        one.model_copy(update={"id": _identity(run.run_id, place, one)})
        for place, one in enumerate(named)
    ]


def _identity(run_id: str, place: int, one: Measurement) -> str:
    control = one.control_arm or ""
    return child_id(run_id, "m", place, one.metric, one.arm, *one.groups, control)


def _numbers(found: TriageResults, arms: Mapping[str, TriagePairs]) -> Iterator[Measurement]:
    for number in found.numbers:
        pairs, name = arms[number.arm], stored_name(number)
        rows = _rows(pairs, number.groups, directed=name in DIRECTED)
        flags: list[str] = [*number.estimate.flags]
        if number.control_is_informative is False:
            flags.append(NOT_INFORMATIVE)
        yield _measurement(
            name,
            number.arm,
            number.groups,
            number.estimate,
            unscored=dict(rows.unscored),
            control=number.control,
            control_arm=number.control_arm,
            p_adjusted=number.p_adjusted,
            family=number.family,
            method=number.estimate.method + _correction(number, found.main_arm),
            flags=tuple(flags),
            counts={} if number.control_arm else _counts(rows),
            seed=found.seed,
            reason=NO_NOTE if unstated(pairs) else None,
        )
        if number.over_fits is not None:
            yield _measurement(
                name + OVER_FITS,
                number.arm,
                number.groups,
                number.over_fits,
                unscored=dict(rows.unscored),
                control=number.control,
                control_arm=number.control_arm,
                method=number.over_fits.method,
                seed=found.seed,
            )


def stored_name(number: TriageNumber) -> str:
    """Return the metric's name as it is stored: a direction's PDR is not that of both."""
    return DIRECTED_PDR if number.symbol.startswith("PDR(") else number.metric


def _correction(number: TriageNumber, main: str) -> str:
    if number.p_adjusted is None or number.family is None:
        return ""
    return CONFIRMED[0] if number.family.startswith(f"{main}: ") else CONFIRMED[1]


def _rows(pairs: TriagePairs, groups: tuple[str, str], *, directed: bool) -> TriagePairs:
    """Return the pairs of a number: of one direction, or of both."""
    a, b = (pairs.groups.index(group) for group in groups)
    there = (pairs.source == a) & (pairs.target == b)
    back = (pairs.source == b) & (pairs.target == a)
    return pairs.where(there if directed else there | back)


def _counts(rows: TriagePairs) -> dict[str, int]:
    counts = rows.counts
    return {"up": int(moved(counts, "up")), "down": int(moved(counts, "down"))}


def _levels(levels: ArmLevels) -> Iterator[Measurement]:
    for move, p in zip(levels.moves, levels.p_adjusted, strict=True):
        odds = move.odds
        (x1, y1), (x2, y2) = move.table
        low, high = odds.wald or (None, None)
        ok = odds.value is not None and math.isfinite(odds.value)
        yield Measurement(
            id="",
            status="ok" if ok else "not_estimable",
            metric=ODDS,
            arm=levels.arm,
            groups=(*move.groups, move.level, move.way),
            value=odds.value if ok else None,
            low=_finite(low) if ok else None,
            high=_finite(high) if ok else None,
            n=x1 + y1 + x2 + y2,
            p=odds.p,
            p_adjusted=p,
            family=None if p is None else f"{levels.arm}: levels",
            method="Wald"
            + (" (Haldane)" if odds.correction else "")
            + "; conditional mid-p"
            + ("" if p is None else CONFIRMED[1]),
            reason_code=odds.reason_code,
            counts={
                "moved_first": x1,
                "of_first": x1 + y1,
                "moved_second": x2,
                "of_second": x2 + y2,
            },
        )


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _amplifications(found: TriageResults) -> Iterator[Measurement]:
    for one in found.amplification:
        yield _measurement(
            AMPLIFICATION, found.main_arm, one.groups, one.estimate, control=one.recorded
        )


def _kappa(model: AskedModel, seed: int) -> Iterator[Measurement]:
    name = model.name.removeprefix("mimic/")
    for arm, quality in model.quality.items():
        known = quality.kappa_w is not None
        yield Measurement(
            id="",
            status="ok" if known else "not_estimable",
            metric=KAPPA,
            arm=arm,
            groups=(name,),
            value=quality.kappa_w,
            low=quality.kappa_w_low if known else None,
            high=quality.kappa_w_high if known else None,
            n=quality.n,
            method="percentile bootstrap",
            reason_code=None if known else "single_class",
            seed=seed if model.card is None else model.card.seed,
        )


def _differences(first: AskedModel, other: AskedModel, seed: int) -> Iterator[Measurement]:
    """Yield the first model's numbers less the other's, on the pairs that both scored."""
    for one in compare_deciders(first.arms, other.arms, seed=seed):
        yield _measurement(
            MODEL_DIFFERENCE[one.metric],
            one.arm,
            (*one.groups, first.name, other.name),
            one.estimate,
            control=one.second,
            p_adjusted=one.p_adjusted,
            family=None if one.p_adjusted is None else f"{one.arm}: two models",
            method=one.estimate.method + ("" if one.p_adjusted is None else CONFIRMED[0]),
            seed=seed,
        )


def _measurement(
    metric: str,
    arm: str,
    groups: tuple[str, ...],
    estimate: Estimate,
    *,
    reason: str | None = None,
    **rest: object,
) -> Measurement:
    ok = estimate.status == "ok"
    return Measurement.model_validate(
        {
            "id": "",
            "status": estimate.status,
            "metric": metric,
            "arm": arm,
            "groups": groups,
            "value": estimate.value if ok else None,
            "low": estimate.low if ok else None,
            "high": estimate.high if ok else None,
            "n": estimate.n,
            "p": estimate.p,
            "method": estimate.method,
            "flags": estimate.flags,
            "reason_code": None if ok else reason or estimate.reason_code,
            **rest,
        }
    )
