"""Score files side by side: means of each, and what differs between two of them.

Two files are paired where their rows hold the same items, known by an id or the question's text.
Where they do not, as in paper 1's published files (its original questions are other patients than
its changed ones), nothing can be paired, and each file varies by itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Measurement, child_id
from evenhand.tools.score_files import COLUMNS, ScoreFile
from evenhand.tools.statistics.divergence import Divergence, paired_divergence
from evenhand.tools.statistics.estimate import Estimate, Numbers
from evenhand.tools.statistics.families import benjamini_hochberg
from evenhand.tools.statistics.independent import DEALT, independent_divergence, mean_difference
from evenhand.tools.statistics.intervals import bounded_mean, paired_mean

Pairing = Literal["auto", "rows", "none"]
Rows = NDArray[np.int64]

MEAN, SHIFT, DIVERGENCE = "attribute_association", "attribute_association_shift", "js_divergence"
ORIGINAL = "original"
SIGN_FLIPS, CORRECTION = "sign flips", "Benjamini-Hochberg"


@dataclass(frozen=True)
class ArmPair:
    """Two files and which of their rows hold the same item."""

    arm: str
    reference: str
    paired_by: Literal["row", "id", "question"] | None
    """None: other items, nothing can be paired."""
    rows: Rows
    """Rows of the arm, from 0; where paired, row i belongs to reference_rows[i]."""
    reference_rows: Rows
    without_partner: int
    """Rows of either file whose item is not in the other one."""
    note: str


@dataclass(frozen=True)
class FileResults:
    """All numbers of a set of score files."""

    files: Mapping[str, ScoreFile]
    pairs: tuple[ArmPair, ...]
    measurements: tuple[Measurement, ...]
    """Means, then differences between each two files, then divergences, by dimension."""
    as_published: bool

    @property
    def dimensions(self) -> tuple[str, ...]:
        """Dimensions that at least one file has."""
        return tuple(d for d in COLUMNS if any(d in f.dimensions for f in self.files.values()))

    def mean(self, arm: str, dimension: str) -> Measurement | None:
        """Return a file's mean, or None where it lacks the column."""
        return self._find(MEAN, arm, None, dimension)

    def shift(self, arm: str, reference: str, dimension: str) -> Measurement | None:
        """Return the difference of two files, or None where one lacks the column."""
        return self._find(SHIFT, arm, reference, dimension)

    def divergence(self, arm: str, reference: str, dimension: str) -> Measurement | None:
        """Return the divergence of two files, or None where one lacks the column."""
        return self._find(DIVERGENCE, arm, reference, dimension)

    def of(self, metric: str) -> list[Measurement]:
        """Return the numbers of one metric."""
        return [m for m in self.measurements if m.metric == metric]

    def _find(
        self, metric: str, arm: str, reference: str | None, dimension: str
    ) -> Measurement | None:
        wanted = (metric, arm, reference, (dimension,))
        found = (
            m for m in self.measurements if (m.metric, m.arm, m.control_arm, m.groups) == wanted
        )
        return next(found, None)

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {
            "as_published": self.as_published,
            "files": [_file_json(arm, file) for arm, file in self.files.items()],
            "pairs": [
                {
                    "arm": pair.arm,
                    "reference": pair.reference,
                    "paired_by": pair.paired_by,
                    "without_partner": pair.without_partner,
                    "note": pair.note,
                }
                for pair in self.pairs
            ],
            "measurements": [m.model_dump(mode="json") for m in self.measurements],
        }


def _file_json(arm: str, file: ScoreFile) -> dict[str, Any]:
    return {
        "arm": arm,
        "file": file.path.name,
        "rows": len(file.scores),
        "dimensions": list(file.dimensions),
        "problems": [asdict(problem) for problem in file.problems],
    }


def measure_files(
    files: Mapping[str, ScoreFile],
    *,
    seed: int = 0,
    pairing: Pairing = "auto",
    as_published: bool = False,
) -> FileResults:
    """Measure score files: one gives means, several also differences and divergences.

    Args:
        files: By the arm's name, in order; of two the later one is set against the earlier, all
            against `original`.
        seed: Seed of all draws.
        pairing: auto: by id or question; rows: row k of every file is one item; none.
        as_published: Bin the scores for the divergence as paper 1 did.

    Raises:
        UserError: Files that are to be paired by rows have unequal numbers of them.
    """
    pairs = tuple(
        pair_rows(second, files[second], first, files[first], pairing)
        for first, second in combinations(_reference_first(files), 2)
    )
    means = [
        _mean(arm, file, dimension, seed)
        for arm, file in files.items()
        for dimension in file.dimensions
    ]
    shifts = [
        _shift(pair, files, dimension, seed) for pair in pairs for dimension in _shared(pair, files)
    ]
    divergences = [
        _divergence(pair, files, dimension, seed, as_published)
        for pair in pairs
        for dimension in _shared(pair, files)
    ]
    return FileResults(
        files=dict(files),
        pairs=pairs,
        measurements=(*means, *_adjusted(shifts), *_adjusted(divergences)),
        as_published=as_published,
    )


def pair_rows(
    arm: str, file: ScoreFile, reference: str, other: ScoreFile, pairing: Pairing = "auto"
) -> ArmPair:
    """Find out which rows of two files hold the same item."""
    one, two = len(file.scores), len(other.scores)
    names = f"{arm} and {reference}"
    if pairing == "rows":
        if one != two:
            raise UserError(
                f"{file.path.name} has {one} rows and {other.path.name} {two}; expected as many "
                "to pair row by row. Give both an id column, or leave out --pair rows."
            )
        return _by_row(arm, reference, one, f"{names} are paired row by row, as asked.")
    if pairing == "none":
        return _unpaired(arm, reference, one, two, f"{names} are not paired, as asked.")
    if file.keys is None or other.keys is None:
        if one == two:
            return _by_row(
                arm, reference, one, f"{names} name no items; row k of both was taken for one item."
            )
        return _unpaired(arm, reference, one, two, f"{names} name no items and differ in length.")
    if file.keys == other.keys:
        note = f"{names} hold the same items, row by row."
        return _by_row(arm, reference, one, note)
    return _by_key(arm, reference, file.keys, other.keys, file.key_column or "")


def _by_row(arm: str, reference: str, n: int, note: str) -> ArmPair:
    rows = np.arange(n)
    return ArmPair(arm, reference, "row", rows, rows, 0, note)


def _unpaired(arm: str, reference: str, n: int, m: int, note: str) -> ArmPair:
    return ArmPair(arm, reference, None, np.arange(n), np.arange(m), 0, note)


def _by_key(
    arm: str, reference: str, keys: Sequence[str], others: Sequence[str], column: str
) -> ArmPair:
    """Pair by key where each key stands once in either file; else nothing is paired."""
    names = f"{arm} and {reference}"
    known = set(keys) & set(others) - {""}
    twice = [key for key in known if keys.count(key) > 1 or others.count(key) > 1]
    if not known or twice:
        why = (
            f"one of their items stands in several rows ({column})"
            if twice
            else f"they hold other items (by {column})"
        )
        note = f"{names} are not paired: {why}."
        return _unpaired(arm, reference, len(keys), len(others), note)
    ordered = [key for key in keys if key in known]
    rows = np.array([keys.index(key) for key in ordered])
    reference_rows = np.array([others.index(key) for key in ordered])
    lost = len(keys) + len(others) - 2 * len(ordered)
    kind: Literal["id", "question"] = "id" if "id" in column.casefold() else "question"
    note = f"{names} share {len(ordered)} items, paired by {column}; {lost} rows have no partner."
    return ArmPair(arm, reference, kind, rows, reference_rows, lost, note)


def _reference_first(files: Mapping[str, ScoreFile]) -> list[str]:
    names = list(files)
    return sorted(names, key=lambda name: name != ORIGINAL)


def _shared(pair: ArmPair, files: Mapping[str, ScoreFile]) -> list[str]:
    other = files[pair.reference].dimensions
    return [dimension for dimension in files[pair.arm].dimensions if dimension in other]


def _sides(
    pair: ArmPair, files: Mapping[str, ScoreFile], dimension: str
) -> tuple[Numbers, Numbers]:
    arm = files[pair.arm].column(dimension)[pair.rows]
    return arm, files[pair.reference].column(dimension)[pair.reference_rows]


def _mean(arm: str, file: ScoreFile, dimension: str, seed: int) -> Measurement:
    estimate = bounded_mean(file.column(dimension), seed=seed)
    return _record(MEAN, arm, dimension, estimate, file.unscored(dimension), seed, estimate.method)


def _shift(pair: ArmPair, files: Mapping[str, ScoreFile], dimension: str, seed: int) -> Measurement:
    arm, reference = _sides(pair, files, dimension)
    if pair.paired_by:
        estimate, test = paired_mean(arm, reference, seed=seed), SIGN_FLIPS
        control = reference[~np.isnan(arm - reference)]
    else:
        estimate, test = mean_difference(arm, reference, seed=seed), DEALT
        control = reference[~np.isnan(reference)]
    unscored = _unscored(pair, files, dimension)
    method = f"{estimate.method}; {test}" if estimate.p is not None else estimate.method
    made = _record(SHIFT, pair.arm, dimension, estimate, unscored, seed, method)
    update = {
        "id": child_id("files", "m", 1, SHIFT, pair.arm, pair.reference, dimension),
        "control": float(control.mean()) if estimate.status == "ok" else None,
        "control_arm": pair.reference,
        "family": MEAN,
    }
    return made.model_copy(update=update)


def _record(
    metric: str,
    arm: str,
    dimension: str,
    estimate: Estimate,
    unscored: dict[str, int],
    seed: int,
    method: str,
) -> Measurement:
    ok = estimate.status == "ok"
    return Measurement(
        id=child_id("files", "m", 0, metric, arm, dimension),
        status=estimate.status,
        metric=metric,
        arm=arm,
        groups=(dimension,),
        value=estimate.value if ok else None,
        low=estimate.low,
        high=estimate.high,
        n=estimate.n,
        unscored=unscored,
        p=estimate.p,
        method=method,
        reason_code=estimate.reason_code,
        flags=estimate.flags,
        seed=seed if ok else None,
    )


def _divergence(
    pair: ArmPair, files: Mapping[str, ScoreFile], dimension: str, seed: int, as_published: bool
) -> Measurement:
    arm, reference = _sides(pair, files, dimension)
    compute = paired_divergence if pair.paired_by else independent_divergence
    made: Divergence = compute(reference, arm, seed=seed, as_published=as_published)
    return Measurement(
        id=child_id("files", "m", 2, DIVERGENCE, pair.arm, pair.reference, dimension),
        status=made.status,
        metric=DIVERGENCE,
        arm=pair.arm,
        groups=(dimension,),
        value=made.value,
        low=made.low,
        high=made.high,
        n=made.n,
        unscored=_unscored(pair, files, dimension),
        control_arm=pair.reference,
        floor=made.floor_mean,
        floor_high=made.floor_high,
        p=made.p,
        family=DIVERGENCE,
        method="swaps inside pairs" if pair.paired_by else DEALT,
        reason_code=made.reason_code or made.interval_reason,
        seed=seed if made.status == "ok" else None,
    )


def _unscored(pair: ArmPair, files: Mapping[str, ScoreFile], dimension: str) -> dict[str, int]:
    """Count the cells without a score on either side, and the rows without a partner."""
    counts = files[pair.arm].unscored(dimension)
    other = files[pair.reference].unscored(dimension)
    counts |= {f"control_{status}": n for status, n in other.items()}
    return counts | ({"no_partner": pair.without_partner} if pair.without_partner else {})


def _adjusted(found: Sequence[Measurement]) -> list[Measurement]:
    """Adjust p within the family: files that exist already can only be explored."""
    adjusted = benjamini_hochberg([one.p for one in found])
    return [
        one
        if p is None
        else one.model_copy(update={"p_adjusted": p, "method": f"{one.method}; {CORRECTION}"})
        for one, p in zip(found, adjusted, strict=True)
    ]
