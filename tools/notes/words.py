"""A note as words with their places, sentence by sentence, every byte kept."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_WORD = re.compile(r"[^\W\d_]+")
_ABBREVIATIONS = frozenset(
    [
        "mr",
        "mrs",
        "ms",
        "dr",
        "st",
        "vs",
        "pt",
        "pts",
        "hx",
        "approx",
        "no",
        "prof",
        "m",
        "mme",
        "mlle",
        "mlles",
        "cf",
        "env",
        "ex",
        "av",
        "tel",
        "sr",
        "jr",
    ]
)
_BEFORE_INITIAL = re.compile(
    r"(?:^|\b(?:M|Mr|Mrs|Ms|Miss|Mme|Mlle|Dr|Pr|Prof|by|par|name|nom|[A-LN-Z])\W{1,2})$",
    re.IGNORECASE,
)
_END = re.compile(r"[.!?]+[)\"\u201d\u00bb]?(?=\s|$)|\n|;")


@dataclass(frozen=True)
class Word:
    """One word: its place in the note, and the number of its sentence."""

    start: int
    end: int
    text: str
    sentence: int

    @property
    def low(self) -> str:
        """The word in small letters."""
        return self.text.lower()


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return (start, end) of each sentence; a line break or ";" ends one, "Dr." does not."""
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _END.finditer(text):
        if match[0] == "." and _is_abbreviation(text, match.start()):
            continue
        spans.append((start, match.end()))
        start = match.end()
    if start < len(text):
        spans.append((start, len(text)))
    return spans


def _is_abbreviation(text: str, dot: int) -> bool:
    before = re.search(r"[^\W\d_]+$", text[max(0, dot - 12) : dot])
    if not before:
        return False
    word = before[0]
    if word == "m" and re.search(r"\d\s?$", text[: dot - 1]):
        return False  # "3 m. Casqué"
    ends_note = not text[dot + 1 :].strip()
    # "J. Smith" is an initial; "flanc D. Elle" and "vomits, D+V. He" end a sentence.
    named = _BEFORE_INITIAL.search(text[: dot - len(word)])
    initial = len(word) == 1 and word.isupper() and not ends_note and bool(named)
    return word.lower() in _ABBREVIATIONS or initial


def words_of(text: str) -> list[Word]:
    """Return the words of a note, letters only: "he's" gives "he" and "s"."""
    return [
        Word(match.start(), match.end(), match[0], number)
        for number, (start, end) in enumerate(sentence_spans(text))
        for match in _WORD.finditer(text, start, end)
    ]


def cased_as(word: str, new: str) -> str:
    """Return `new` in the capitals of `word`: HE -> SHE, He -> She, he -> she.

    Example:
        >>> cased_as("HIS", "her"), cased_as("He", "she")
        ('HER', 'She')
    """
    if len(word) > 1 and word.isupper():
        return new.upper()
    return new[:1].upper() + new[1:] if word[:1].isupper() else new


def is_shouted(text: str, start: int, end: int) -> bool:
    """Tell whether the words around text[start:end] are in capitals too.

    An abbreviation such as HE (a stain) or HER2 stands among small letters; a shouted pronoun
    does not.
    """
    near = [*_near(text, start, end)]
    return bool(near) and sum(word.isupper() for word in near) * 2 > len(near)


def _near(text: str, start: int, end: int) -> Iterator[str]:
    before = [match[0] for match in _WORD.finditer(text[max(0, start - 60) : start])]
    after = [match[0] for match in _WORD.finditer(text[end : end + 60])]
    yield from (word for word in before[-2:] + after[:3] if len(word) > 1)


_QUOTE = re.compile(r"\"[^\"\n]*\"|\u201c[^\u201d\n]*\u201d|\u00ab[^\u00bb\n]*\u00bb")
_FIRST_PERSON = re.compile(
    r"\b(?:I|me|my|mine|we|us|our|je|moi|mon|ma|mes|nous|notre|nos)\b|\b[jm]['\u2019]",
    re.IGNORECASE,
)


def first_person_quotes(text: str) -> list[tuple[int, int]]:
    """Return the spans of quoted speech in the first person: who "he" is there, is not known."""
    return [match.span() for match in _QUOTE.finditer(text) if _FIRST_PERSON.search(match[0])]
