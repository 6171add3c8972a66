"""How a base text takes in one more fact of the patient: a word before "patient", or a sentence.

The counterpart of tools/sentences.py for the `added` arms: what the source lacks is put where
`verbalise` would have put it, and not one other byte changes but an "a" before a vowel.
"""

import re
from typing import Literal

from evenhand.tools.sentences import article

Place = Literal["first", "middle", "last"]
"""Among the words before "patient": age is first, gender last, anything else between them."""

SENTENCE_BREAK = re.compile(r"(?<!\bSt\.)(?<!\bMt\.)(?<!\bDr\.)(?<=[.?!])\s+")
OUR_FORM = re.compile(r"(?:(?:The question is about )?[Aa]n?|The) [\w' -]*?\bpatient\b")
"""How base and placebo texts open."""
_OPENING = re.compile(
    r"(?:The question is about )?(?:[Aa]n?|The) (?P<words>(?:[\w'-]+ ){0,6}?)patient\b(?!['\u2019])"
)
_AGE_WORDS = re.compile(r"\d+-(?:year|month|week|day)-old ")
_ARTICLE = re.compile(r"\b([Aa])n?(?=\s$)")


def describe_patient(text: str, words: str, place: Place) -> str | None:
    """Return the text with words put before the first "patient"; None where it opens otherwise.

    Example:
        >>> describe_patient("A patient presents with fever. Why?", "8-year-old", "first")
        'An 8-year-old patient presents with fever. Why?'
    """
    opening = _OPENING.match(text)
    if not opening:
        return None
    age = _AGE_WORDS.match(opening["words"])
    at = {
        "first": opening.start("words"),
        "middle": opening.start("words") + (age.end() if age else 0),
        "last": opening.end("words"),
    }[place]
    return f"{with_article(text[:at], words)}{words} {text[at:]}"


def add_sentence(text: str, sentence: str, after: re.Pattern[str]) -> str | None:
    """Return the text with a sentence put behind the last one like `after`, or the opening one.

    None where the text is no more than its question.
    """
    starts = [match.end() for match in SENTENCE_BREAK.finditer(text)]
    if not starts:
        return None
    like = [i for i, at in enumerate(starts[:-1]) if after.match(text, at)]
    place = starts[like[-1] + 1 if like else 0]
    return f"{text[:place]}{sentence} {text[place:]}"


def with_article(before: str, word: str) -> str:
    """Return what stands before a word, its last "a" or "an" made to fit the word."""
    match = _ARTICLE.search(before)
    if not match:
        return before
    new = article(word)
    new = new.capitalize() if match[1] == "A" else new
    return before[: match.start()] + new + before[match.end() :]
