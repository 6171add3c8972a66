"""Cues of a sentence ("reports", "lives in", "denies"), and the segment that each governs.

The cues stand in extraction.toml. A cue under a denial, or one that tells of something other than
the patient, opens no segment.
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from evenhand.tools.phrases import compiled, pattern, patterns

Mode = Literal["list", "family", "place", "phrase"]


@dataclass(frozen=True)
class Cue:
    """What opens a segment: a pattern of extraction.toml and how its segment is read."""

    predicate: str
    mode: Mode
    any: bool
    pattern: re.Pattern[str]


@cache
def cues() -> tuple[Cue, ...]:
    """Return the cues of extraction.toml, in its order."""
    return tuple(
        Cue(row["predicate"], row["mode"], row.get("any", False), compiled(row["pattern"]))
        for row in patterns()["cue"]
    )


def weak_cue() -> Cue:
    """Return the last cue of the file, plain "has" and "is"."""
    return cues()[-1]


def segments(sentence: str) -> list[tuple[Cue, re.Match[str], int]]:
    """Return the cues of a sentence with the end of what each governs.

    Where two overlap the earlier one holds; of two at one place the longer, then the first in the
    file. The last cue of the file, plain "has" and "is", gives way to every other.
    """
    marks = [
        (match.start(), -match.end(), order, cue, match)
        for order, cue in enumerate(cues())
        for match in cue.pattern.finditer(sentence)
        if match.end() > match.start()
    ]
    marks.sort(key=lambda mark: mark[:3])
    kept: list[tuple[Cue, re.Match[str]]] = []
    for _, _, _, cue, match in marks:
        if cue.predicate == "has_exposure" and not pattern("clause_start").search(
            sentence[: match.start()]
        ):
            continue
        if kept and cue.predicate == "has_exposure" and _negated_with(kept[-1], match, sentence):
            continue
        if kept and match.start() < kept[-1][1].end():
            if kept[-1][0] is not weak_cue() or cue is weak_cue():
                continue
            kept.pop()
        kept.append((cue, match))
    segments = []
    for i, (cue, match) in enumerate(kept):
        stop = kept[i + 1][1].start() if i + 1 < len(kept) else len(sentence)
        semicolon = sentence.find(";", match.end(), stop)
        segments.append((cue, match, semicolon if semicolon >= 0 else stop))
    return segments


def is_of_a_part(match: re.Match[str], sentence: str) -> bool:
    """Whether "is" tells of something other than a person: "Her respirations are irregular"."""
    if match.group().lower() not in ("is", "are", "was", "were"):
        return False
    return pattern("subject").search(sentence[: match.start()]) is None


def ends_in_or(before: str) -> bool:
    """Whether a denied list goes on: "no chest pain or a history of stroke"."""
    return re.search(r"\b(?:or|nor)(?: an?)?\s*$", before, re.I) is not None


def may_go_on(previous: Cue | None) -> bool:
    """Whether "including" goes on with what the patient has."""
    return previous is not None and previous.predicate in ("has_symptom", "has_history")


def is_denied(cue: Cue, match: re.Match[str], sentence: str) -> bool:
    """Whether a cue stands under a denial: "no family history of", "denies taking"."""
    if cue.predicate in ("denies", "lives_in", "travelled_to", "has_exposure"):
        return False
    said = match.group().lower()
    if cue is weak_cue() or said.startswith("with"):
        return False
    return pattern("denied").search(sentence[: match.start()]) is not None


def goes_on_denied(previous: Cue | None, match: re.Match[str], before: str) -> bool:
    """Whether a denied list goes on: "denies any symptoms, having any surgery", "or signs of"."""
    having = match.group().lower().startswith("having") and before.rstrip().endswith(",")
    return bool(previous and previous.predicate == "denies" and having)


def _negated_with(before: tuple[Cue, re.Match[str]], match: re.Match[str], sentence: str) -> bool:
    """Whether "smoke" belongs to the "does not" before it: "does not drink alcohol or smoke"."""
    negative = re.search(r"\b(?:not|n't|never)\b", before[1].group(), re.I)
    between = sentence[before[1].end() : match.start()]
    return bool(negative and re.search(r"\bor\s*$", between, re.I))
