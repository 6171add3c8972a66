"""What readers say of rewritten notes: correct, incomplete or failed, and how far they agree."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from evenhand.graph_store.records import Judgement
from evenhand.tools import wording
from evenhand.tools.statistics.agreement import Agreement, kappa

REWRITE_QUALITY = "rewrite_quality"
"""Rubric of a reader's verdict on a rewritten note; the judge is the reader."""
Quality = Literal["correct", "incomplete", "failed"]
QUALITIES: tuple[Quality, ...] = ("correct", "incomplete", "failed")
"""Everything that tells the group was changed and nothing else; some of it was left; the note is
wrong: another fact changed, somebody else's group changed, or no longer a sentence."""


@dataclass(frozen=True)
class Reader:
    """One reader's verdicts."""

    name: str
    counts: dict[Quality, int]
    unscored: dict[str, int]

    @property
    def n(self) -> int:
        """Verdicts that count."""
        return sum(self.counts.values())


@dataclass(frozen=True)
class ReaderAgreement:
    """Two readers on the notes that both read."""

    first: str
    second: str
    n: int
    same: int
    """Notes of which both say the same."""
    kappa: Agreement

    @property
    def kappa_text(self) -> str:
        """Kappa with its interval, or why there is none."""
        made = self.kappa
        if made.value is None:
            return f"not estimable: {wording.reason(made.reason_code)}"
        text = f"{made.value:.2f}"
        if made.low is None or made.high is None:
            return f"{text} (no interval: {wording.reason(made.reason_code)})"
        return f"{text} [{made.low:.2f}, {made.high:.2f}]"


@dataclass(frozen=True)
class RewriteRatings:
    """All that readers said of a run's notes."""

    raters: tuple[Reader, ...]
    agreements: tuple[ReaderAgreement, ...]


def rate_rewrites(labels: Sequence[Judgement]) -> RewriteRatings | None:
    """Count verdicts on rewritten notes, and how far each two readers agree beyond chance.

    Args:
        labels: Verdicts of people, of any rubric; of a verdict given again, the last that counts.

    Returns:
        None where nobody read a note.
    """
    given: dict[str, dict[str, Judgement]] = defaultdict(dict)
    for one in labels:
        if one.rubric != REWRITE_QUALITY:
            continue
        earlier = given[one.judge].get(one.subject_id)
        if earlier is None or earlier.status != "ok" or one.status == "ok":
            given[one.judge][one.subject_id] = one
    if not given:
        return None
    readers = tuple(_reader(name, list(some.values())) for name, some in given.items())
    pairs = (_agreement(a, b, given[a], given[b]) for a, b in combinations(given, 2))
    return RewriteRatings(readers, tuple(pair for pair in pairs if pair is not None))


def _reader(name: str, some: Sequence[Judgement]) -> Reader:
    counts: dict[Quality, int] = {
        quality: sum(one.value == quality for one in some) for quality in QUALITIES
    }
    lost = Counter(one.reason_code or one.status for one in some if one.status != "ok")
    return Reader(name, counts, dict(lost))


def _agreement(
    first: str, second: str, mine: dict[str, Judgement], theirs: dict[str, Judgement]
) -> ReaderAgreement | None:
    both = sorted(
        name
        for name in mine.keys() & theirs.keys()
        if mine[name].status == theirs[name].status == "ok"
    )
    if not both:
        return None
    codes: dict[str, float] = {quality: float(place) for place, quality in enumerate(QUALITIES)}
    a, b = ([codes[str(some[name].value)] for name in both] for some in (mine, theirs))
    made = kappa(a, b, units=[name.partition("/")[0] for name in both])
    same = sum(x == y for x, y in zip(a, b, strict=True))
    return ReaderAgreement(first, second, len(both), same, made)
