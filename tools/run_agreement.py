"""Two judges on the same answers: how often they say the same, and how far beyond chance.

Answers are the same where two runs put the same question in the same way and got the same words
back, as they do when only the judge differs: the answers then come from the cache.
"""

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evenhand.graph_store.records import Judgement
from evenhand.graph_store.run_directory import RunDirectory
from evenhand.tools.statistics.agreement import kappa, krippendorff
from evenhand.tools.statistics.estimate import SAME, Numbers
from evenhand.tools.statistics.intervals import mean_change, proportion

NEAR = 0.1
"""Scores this near are called near."""

Subject = tuple[str, ...]
"""What was judged, in words that two runs share: sample, question, way of asking, answer."""
VerdictKey = tuple[str, str, Subject, Subject]
"""Rubric, dimension, what was judged, what it was compared with."""


@dataclass(frozen=True)
class JudgeAgreement:
    """How two judges agree under one rubric, in one dimension."""

    rubric: str
    dimension: str
    first_judge: str
    second_judge: str
    n: int
    """Verdicts that both gave."""
    unscored: Mapping[str, int]
    """Verdicts that only one or neither gave: "first", "second", "both" lack it."""
    first: float | None
    """Mean of the first judge's values."""
    second: float | None
    difference: tuple[float, float, float] | None
    """Mean of second - first by sample, and its interval."""
    same: float | None
    same_low: float | None
    same_high: float | None
    """Share of equal verdicts, with Wilson's interval."""
    near: float | None
    """Share that differ by .1 at most."""
    beyond_chance: Literal["kappa", "alpha"]
    """Cohen's kappa of yes and no; Krippendorff's alpha (interval scale) of scores."""
    beyond: float | None
    beyond_low: float | None
    beyond_high: float | None
    beyond_reason: str | None
    """Why it cannot be estimated, or has no interval."""


def judge_agreements(
    first: RunDirectory, second: RunDirectory
) -> tuple[int, tuple[JudgeAgreement, ...]]:
    """Compare the judges of two runs on what both of them read.

    Returns:
        How many answers the runs share, and a row for each rubric and dimension in which another
        judge spoke.
    """
    subjects = [_subjects(run) for run in (first, second)]
    answers = [{s for s in some.values() if len(s) > 3} for some in subjects]
    verdicts = [_verdicts(run, some) for run, some in zip((first, second), subjects, strict=True)]
    judges = [_judges(run) for run in (first, second)]
    shared = verdicts[0].keys() & verdicts[1].keys()
    by_rubric: dict[tuple[str, str], list[VerdictKey]] = defaultdict(list)
    for key in sorted(shared):
        if judges[0][key[0]] != judges[1][key[0]]:
            by_rubric[key[0], key[1]].append(key)
    rows = tuple(
        _agreement(rubric, dimension, judges[0][rubric], judges[1][rubric], keys, *verdicts)
        for (rubric, dimension), keys in by_rubric.items()
    )
    return len(answers[0] & answers[1]), rows


def _subjects(run: RunDirectory) -> dict[str, Subject]:
    """Return what each variant and each scorable answer is, by its id."""
    variants = {one.id: one for one in run.variants()}
    subjects: dict[str, Subject] = {
        one.id: (one.sample_id, one.group, one.text) for one in variants.values()
    }
    for answer in run.answers():
        variant = variants[answer.variant_id]
        if answer.status == "ok":
            said = (answer.arm, str(answer.repeat), answer.text)
            subjects[answer.id] = (variant.sample_id, variant.group, variant.text, *said)
    return subjects


def _judges(run: RunDirectory) -> dict[str, str]:
    by_rubric: dict[str, set[str]] = defaultdict(set)
    for judgement in run.judgements():
        by_rubric[judgement.rubric].add(judgement.judge)
    return {rubric: ", ".join(sorted(names)) for rubric, names in by_rubric.items()}


def _verdicts(run: RunDirectory, subjects: Mapping[str, Subject]) -> dict[VerdictKey, float]:
    """Return the value of each verdict, NaN where it has none or depends on the order shown."""
    said: dict[VerdictKey, list[Judgement]] = defaultdict(list)
    for one in run.judgements():
        against = subjects.get(one.against_id) if one.against_id else ()
        if one.subject_id in subjects and against is not None:
            said[one.rubric, one.dimension, subjects[one.subject_id], against].append(one)
    return {key: _value(some) for key, some in said.items()}


def _value(judgements: list[Judgement]) -> float:
    by_judge: dict[str, set[float]] = defaultdict(set)
    for one in judgements:
        by_judge[one.judge].add(one.number)
    # Two orders that disagree are a tie; NaN equals nothing, so it stays apart as well.
    numbers = [values.pop() if len(values) == 1 else math.nan for values in by_judge.values()]
    return float(np.mean(numbers))


def _agreement(
    rubric: str,
    dimension: str,
    first_judge: str,
    second_judge: str,
    keys: list[VerdictKey],
    first: Mapping[VerdictKey, float],
    second: Mapping[VerdictKey, float],
) -> JudgeAgreement:
    a, b = (np.array([verdicts[key] for key in keys]) for verdicts in (first, second))
    lacks, lacks_too = np.isnan(a), np.isnan(b)
    known = ~lacks & ~lacks_too
    units = [key[2][0] for key, is_known in zip(keys, known, strict=True) if is_known]
    a, b = a[known], b[known]
    step = np.abs(a - b)
    binary = bool(np.isin([a, b], (0, 1)).all())
    same = proportion(int((step < SAME).sum()), len(a))
    beyond = (
        kappa(a, b, units=units)
        if binary
        # Hundredths, so that the table of coincidences stays small whatever a rule computes.
        else krippendorff(np.stack([a, b]).round(2), scale="interval", units=units)
    )
    return JudgeAgreement(
        rubric=rubric,
        dimension=dimension,
        first_judge=first_judge,
        second_judge=second_judge,
        n=len(a),
        unscored={
            "first": int((lacks & ~lacks_too).sum()),
            "second": int((lacks_too & ~lacks).sum()),
            "both": int((lacks & lacks_too).sum()),
        },
        first=float(a.mean()) if len(a) else None,
        second=float(b.mean()) if len(b) else None,
        difference=_by_sample(b - a, units),
        same=same.value,
        same_low=same.low,
        same_high=same.high,
        near=float((step <= NEAR + SAME).mean()) if len(a) else None,
        beyond_chance="kappa" if binary else "alpha",
        beyond=beyond.value,
        beyond_low=beyond.low,
        beyond_high=beyond.high,
        beyond_reason=beyond.reason_code,
    )


def _by_sample(differences: Numbers, units: list[str]) -> tuple[float, float, float] | None:
    """Return the mean difference with its interval: verdicts on one sample are no news."""
    by_unit: dict[str, list[float]] = defaultdict(list)
    for unit, difference in zip(units, differences, strict=True):
        by_unit[unit].append(float(difference))
    span = max(1.0, float(np.abs(differences).max(initial=0)))
    made = mean_change([float(np.mean(some)) for some in by_unit.values()], low=-span, high=span)
    if made.value is None or made.low is None or made.high is None:
        return None
    return made.value, made.low, made.high
