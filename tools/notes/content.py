"""What a note says that belongs to one sex, or mostly to one, or names a gender identity.

Two lists (content.csv), English and French, each pattern matched at the start of a word:
`specific` content cannot be rewritten, `associated` content is rewritten and flagged. What the
note says of a relative ("his mother had ovarian cancer") is not the patient's. The search of
the counterfactual paper (appendix A: the terms as substrings, so that "uter" finds "computer") is
in as_published.csv.
"""

import csv
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

from evenhand.tools.notes.words import sentence_spans

Kind = Literal["identity", "neutral", "specific", "associated"]

_KIN = (
    r"(?:mother|father|mom|mum|dad|sister|brother|wife|husband|girlfriend|boyfriend|partner|aunt"
    r"|uncle|daughter|son|grandmother|grandfather|cousin|niece|nephew|mère|père|s[oœ]e?ur|frère"
    r"|femme|épouse|mari|époux|compagne|compagnon|conjointe?|tante|oncle|fille|fils|grand-mère"
    r"|grand-père|nièce|neveu)"
)
_OF_RELATIVE = re.compile(
    rf"\b{_KIN}(?:\s\([^)]*\))?,?\s(?:(?:who|qui)\s)?(?:is|was|has|had|with|died|diagnosed|takes"
    r"|est|était|a|avait|avec|décédée?|ayant|porteu(?:r|se)|opérée?|traitée?)\b[^.;:\n]*",
    re.IGNORECASE,
)
_FAMILY = re.compile(
    r"^\W*(?:family (?:hx|history)|fhx?\b|(?:atcd|antécédents?) famil)", re.IGNORECASE
)
_PATIENT = re.compile(r"\b(?:he|she|pt|patiente?|il|elle)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Content:
    """Words of each kind, in the order of the note, without repeats."""

    identity: tuple[str, ...]
    specific: tuple[str, ...]
    associated: tuple[str, ...]


def sex_content(text: str, language: str) -> Content:
    """Return what the note says of the patient that bears on sex, besides its grammar.

    Args:
        text: The note.
        language: "en" or "fr".

    Example:
        >>> sex_content("s/p prostatectomy, works at a computer", "en").specific
        ('prostatectomy',)
    """
    own = _masked(own_text(text), "neutral", language)
    return Content(
        identity=_found(own, "identity", language),
        specific=_found(own, "specific", language),
        associated=_found(own, "associated", language),
    )


def as_published(text: str, language: str) -> tuple[str, ...]:
    """Return the paper's terms that the note contains anywhere, inside other words too."""
    low = text.lower()
    return tuple(term for term in _published(language) if term in low)


@cache
def _patterns(kind: Kind, language: str) -> tuple[re.Pattern[str], ...]:
    text = (files("evenhand.tools.notes") / "content.csv").read_text("utf-8")
    return tuple(
        re.compile(rf"(?<!\w)(?:{row['pattern']})\w*", re.IGNORECASE)
        for row in csv.DictReader(text.splitlines())
        if (row["language"], row["kind"]) == (language, kind)
    )


@cache
def _published(language: str) -> tuple[str, ...]:
    text = (files("evenhand.tools.notes") / "as_published.csv").read_text("utf-8")
    rows = csv.DictReader(text.splitlines())
    return tuple(row["substring"] for row in rows if row["language"] == language)


def _found(text: str, kind: Kind, language: str) -> tuple[str, ...]:
    matches = [match for pattern in _patterns(kind, language) for match in pattern.finditer(text)]
    ordered = sorted(matches, key=lambda match: match.start())
    return tuple(dict.fromkeys(match[0] for match in ordered))


def _masked(text: str, kind: Kind, language: str) -> str:
    for pattern in _patterns(kind, language):
        text = pattern.sub(lambda match: "_" * len(match[0]), text)
    return text


def own_text(text: str) -> str:
    """Mask what is said of relatives, places kept."""
    pieces: list[str] = []
    for start, end in sentence_spans(text):
        sentence = text[start:end]
        if _FAMILY.match(sentence):
            pieces.append("_" * len(sentence))
            continue
        pieces.append(_OF_RELATIVE.sub(_until_patient, sentence))
    return "".join(pieces)


def _until_patient(match: re.Match[str]) -> str:
    patient = _PATIENT.search(match[0])
    kept = match[0][patient.start() :] if patient else ""
    return "_" * (len(match[0]) - len(kept)) + kept
