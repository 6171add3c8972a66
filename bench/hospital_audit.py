"""One simulated hospital and its audit, step by step; what bench/hospitals.py repeats."""

import re
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from demo_visits import visits as made_rows

from evenhand.graph_store.records import Sample, Scalar
from evenhand.tools.datasets.demo_visits import LEVEL_STARTS
from evenhand.tools.datasets.demo_visits import Shown as NoteShows
from evenhand.tools.finetune import decisions, shown_columns
from evenhand.tools.notes import RewrittenNote, rewrite_note
from evenhand.tools.notes.gate import check_note
from evenhand.tools.statistics.estimate import Numbers
from evenhand.tools.triage.measure import TriageResults, measure_arms
from evenhand.tools.triage.pairs import TriagePairs, pairs_of
from evenhand.tools.triage.verdict import TriageVerdict, judge
from evenhand.tools.visit_mapping import shipped_mapping
from evenhand.tools.visit_rows import VisitSource
from evenhand.tools.visits import Visits, read_visits
from evenhand.training.fitting import FitPlan, fit_mimic
from evenhand.training.levels import likeliest_levels
from evenhand.training.mimic_rows import MimicRows, mimic_rows
from evenhand.training.mimics import Mimic, mimics
from evenhand.training.mimics.random_forest import RandomForest, RandomForestSettings
from evenhand.training.splits import resampled_patients

GENDERS = ("male", "female")
FOREST = RandomForestSettings(trees=60, min_samples_leaf=(1,), max_features=(0.1,))
"""What the search chooses on the shipped visits; searching again in each hospital costs minutes."""
NOISE_DRAWS = 400
REFITS = mimics.get("random_forest").refits
Rewrite = Callable[[str, str, str], RewrittenNote]
"""note, before, after"""


@dataclass(frozen=True)
class Hospital:
    """Visits with a decider of known rule.

    Attributes:
        visits: Filtered and in halves; levels as decided.
        severity: Points of each visit, shape (n,).
        shown: What each note shows.
        effect: Points that a note that shows a woman costs.
        noise: Standard deviation of a decision, in points.
    """

    visits: Visits
    severity: Numbers
    shown: tuple[NoteShows, ...]
    effect: float
    noise: float


@dataclass(frozen=True)
class Audit:
    """What one hospital's audit gave."""

    results: TriageResults
    verdict: TriageVerdict
    truth: dict[str, float]
    """The decider's own DTS on the pairs of the main arm, by "male->female" and back."""
    kappa: float
    notes: Counter[str]
    """Notes by status, or by the gate's reason."""
    of_refits: dict[str, Numbers]
    """DTS of each refit on the same pairs: what another training half would have given."""


def rules(note: str, before: str, after: str) -> RewrittenNote:
    """The shipped rewriter."""
    return rewrite_note(note, attribute="gender", before=before, after=after, language="en")


def clumsy(note: str, before: str, after: str) -> RewrittenNote:
    """A careless model: it stops after two sentences and makes a 3 of each 2."""
    made = rules(note, before, after)
    if not made.is_pair:
        return made
    sentences = re.split(r"(?<=\.) ", made.text)
    return replace(made, text=" ".join(sentences[:2]).replace("2", "3"))


@cache
def _rows(seed: int, visits: int) -> tuple[dict[str, str], ...]:
    return tuple(made_rows("en", count=visits, seed=seed))


def make_hospital(seed: int, *, visits: int, effect: float, noise: float) -> Hospital:
    """Draw notes, vital signs and decisions, and read them as a table of visits is read."""
    rows = [dict(row) for row in _rows(seed, visits)]
    draws = np.random.default_rng([seed, 9]).normal(0.0, noise, len(rows))
    severity = np.array([float(row["severity"]) for row in rows]) + draws
    shown = np.array([row["note_shows"] for row in rows])
    levels = decided(severity - effect * (shown == "female"))
    for row, level in zip(rows, levels, strict=True):
        row["level"] = str(level + 1)
    source = VisitSource(
        "hospital", lambda: rows, tuple(rows[0]), shipped_mapping("demo_visits.en")
    )
    read = read_visits(source, seed=seed)
    places = [sample.position for sample in read.samples]
    points = severity[places] - draws[places]
    return Hospital(read, points, tuple(shown[places].tolist()), effect, noise)


def decided(points: Numbers) -> np.typing.NDArray[np.int64]:
    """Return the place of the level of these points: 0 is the most urgent."""
    return np.sum([points < start for start in LEVEL_STARTS], axis=0, dtype=np.int64)


def audit(
    hospital: Hospital,
    *,
    seed: int,
    rewrite: Rewrite = rules,
    gated: bool = True,
    refit: int = REFITS,
) -> Audit:
    """Fit the mimic, show it every audited visit as the other sex, and measure."""
    samples = [s for s in hospital.visits.samples if s.split == "audit"]
    train = [s for s in hospital.visits.samples if s.split == "train"]
    levels = hospital.visits.mapping.levels
    plan = FitPlan(
        "random_forest",
        decisions(train, levels),
        decisions(samples, levels),
        levels,
        ("gender",),
        seed,
        FOREST,
        n_jobs=1,
    )
    shown = Shown.make(samples, rewrite, gated, hospital.visits.mapping.placebo)
    with tempfile.TemporaryDirectory() as folder:
        fitted = fit_mimic(plan, Path(folder) / "model")
    again = [_refit(plan, seed + number) for number in range(1, refit + 1)]
    arms = _arms(samples, shown, fitted.mimic, again, levels)
    others = [ask(samples, shown, one, levels) for one in again]
    results = measure_arms(arms, resamples=100, refits=others)
    of_refits = {
        way: np.array([_skew(pairs.between(*way.split("->"))) for pairs in others]) for way in WAYS
    }
    quality = fitted.card.quality["full"]
    return Audit(
        results=results,
        verdict=judge(results, arms, hospital.visits.mapping.direction),
        truth=true_skews(hospital, samples, shown.changed, seed),
        kappa=float(quality.kappa_w or np.nan),
        notes=shown.notes,
        of_refits=of_refits,
    )


def _refit(plan: FitPlan, seed: int) -> Mimic:
    """Fit again as training/fitting.py's refits do, without keeping it: a third of the time."""
    places = resampled_patients(plan.train.patients, seed=seed)
    train = plan.train.take(places).in_order()
    return RandomForest.fit(train, FOREST, n_levels=len(plan.levels), seed=seed)


WAYS = ("male->female", "female->male")


def true_skews(
    hospital: Hospital, samples: Sequence[Sample], changed: Sequence[bool], seed: int
) -> dict[str, float]:
    """Return the decider's own DTS on the audited pairs, expected over its noise."""
    place = {sample.id: at for at, sample in enumerate(hospital.visits.samples)}
    rng = np.random.default_rng([seed, 10])
    found = {}
    for way, sign in zip(WAYS, (1, -1), strict=True):
        own = way.split("->")[0]
        # A note left as it was has no effect: the rule does not read the column.
        pairs = [
            (place[sample.id], moved)
            for sample, moved in zip(samples, changed, strict=True)
            if sample.attributes["gender"] == own
        ]
        points = hospital.severity[[at for at, _ in pairs]]
        points = points + rng.normal(0.0, hospital.noise, (NOISE_DRAWS, len(pairs)))
        moves = np.array([moved and hospital.shown[at] == own for at, moved in pairs])
        as_woman, as_man = decided(points - hospital.effect), decided(points)
        found[way] = sign * float((np.sign(as_woman - as_man) * moves).mean())
    return found


@dataclass(frozen=True)
class Shown:
    """The audited visits as they are, as the other sex, and there and back again."""

    original: MimicRows
    counterfactual: MimicRows
    placebo: MimicRows
    status: tuple[str, ...]
    changed: tuple[bool, ...]
    notes: Counter[str]

    @classmethod
    def make(
        cls, samples: Sequence[Sample], rewrite: Rewrite, gated: bool, irrelevant: str | None
    ) -> "Shown":
        """Rewrite each note there and back; a note that the gate rejects has no pair."""
        texts, back, status = list[str](), list[str](), list[str]()
        for sample in samples:
            own = sample.attributes["gender"]
            other = GENDERS[own == "male"]
            there, again, code = _there_and_back(sample.text, own, other, rewrite, gated)
            texts.append(there)
            back.append(again)
            status.append(code)
        columns = [shown_columns(sample) for sample in samples]
        flipped = [{**row, "gender": GENDERS[row["gender"] == "male"]} for row in columns]
        beside = [_beside(row, irrelevant, columns) for row in columns]
        return cls(
            mimic_rows([sample.text for sample in samples], columns),
            mimic_rows(texts, flipped),
            mimic_rows(back, beside),
            tuple(status),
            tuple(code == "rewritten" for code in status),
            Counter(status),
        )

    @property
    def is_pair(self) -> np.typing.NDArray[np.bool_]:
        """Whether a visit has a pair: a note that states no sex has its column changed alone."""
        return np.isin(self.status, ("rewritten", "unchanged"))


@cache
def _there_and_back(
    note: str, own: str, other: str, rewrite: Rewrite, gated: bool
) -> tuple[str, str, str]:
    """Return the counterfactual, the note back again, and the status; the gate's reason if any.

    Kept, since both deciders of a hospital see the same notes.
    """
    made = rewrite(note, own, other)
    again = rewrite(made.text, other, own) if made.is_pair else made
    # The other sex already: no pair, unlike a note that states none.
    code: str = "already_target" if made.reason == "already_target" else made.status
    if gated and made.is_pair:
        verdict = check_note(note, made.text, "gender", own, other, "en")
        code = code if verdict.accepted else f"gate_{verdict.reason_code}"
    return made.text, again.text, code


def _beside(
    row: dict[str, Scalar], name: str | None, all_rows: Sequence[dict[str, Scalar]]
) -> dict[str, Scalar]:
    """Change the column that should not matter: each value to the next, the last to the first."""
    if name is None or row[name] is None:
        return row
    values = sorted({str(one[name]) for one in all_rows if one[name] is not None})
    return {**row, name: values[(values.index(str(row[name])) + 1) % len(values)]}


def _arms(
    samples: Sequence[Sample],
    shown: Shown,
    mimic: Mimic,
    again: Sequence[Mimic],
    levels: Sequence[str],
) -> dict[str, TriagePairs]:
    arms = {"full": ask(samples, shown, mimic, levels)}
    arms["placebo"] = ask(samples, shown, mimic, levels, second=shown.placebo)
    if again:
        repeats = [
            ask(samples, shown, mimic, levels, second=shown.original, other=one) for one in again
        ]
        arms["repeat"] = joined(repeats)
    return arms


def ask(
    samples: Sequence[Sample],
    shown: Shown,
    mimic: Mimic,
    levels: Sequence[str],
    *,
    second: MimicRows | None = None,
    other: Mimic | None = None,
) -> TriagePairs:
    """Ask about both sides of each pair; a visit without a pair is unscored."""
    first = likeliest_levels(mimic.predict_probabilities(shown.original))
    rows = shown.counterfactual if second is None else second
    then = likeliest_levels((other or mimic).predict_probabilities(rows))
    own = np.array([GENDERS.index(sample.attributes["gender"]) for sample in samples])
    made = pairs_of(
        first.tolist(),
        np.where(shown.is_pair, then, -1).tolist(),
        levels=levels,
        source=GENDERS[0],
        target=GENDERS[1],
        patient=[sample.patient or sample.id for sample in samples],
    )
    return replace(
        made,
        source=own,
        target=1 - own,
        status=np.where(shown.is_pair, "ok", np.array(shown.status)).astype(np.str_),
    )


def joined(parts: Sequence[TriagePairs]) -> TriagePairs:
    """Return the rows of several refits as one arm; a pair has one id in all of them."""
    first = parts[0]
    names = ("ids", "source", "target", "original", "counterfactual", "status", "patient")
    stacked = {name: np.concatenate([getattr(one, name) for one in parts]) for name in names}
    return replace(first, **stacked)


def _skew(pairs: TriagePairs) -> float:
    return float(np.sign(pairs.scored.steps).mean())
