"""Tables of words: names that tell a sex, a check of pairs, the plain swap of a whole text."""

import csv
import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

from evenhand.tools.notes.english_words import counterpart, gender_of, kind_of
from evenhand.tools.notes.words import cased_as, words_of

Why = Literal["unknown_word", "ambiguous_source", "not_gendered"]


@cache
def _names() -> dict[str, frozenset[str]]:
    text = (files("evenhand.tools.notes") / "given_names.csv").read_text("utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    return {sex: frozenset(row[sex] for row in rows) for sex in ("male", "female")}


def given_name(word: str, sex: str) -> bool:
    """Tell a frequent given name of one sex, as written ("Marie")."""
    return word in _names()[sex]


@dataclass(frozen=True)
class Problem:
    """What is wrong with one pair of a table; `word` is the one at fault."""

    pair: tuple[str, str]
    why: Why
    word: str


def check_pairs(pairs: Iterable[tuple[str, str]], known_words: Collection[str]) -> list[Problem]:
    """Return what is wrong with a table of (word, counterpart), pair by pair; [] where all is well.

    unknown_word: a word that the list of known words lacks, so it may be misspelt. not_gendered:
    neither word of the pair is gendered in English. ambiguous_source: one word has two
    counterparts, and nothing says which ("his": her, hers); told once, at the second pair.
    """
    known = {word.lower() for word in known_words}
    seen: defaultdict[str, list[str]] = defaultdict(list)
    problems: list[Problem] = []
    for source, target in pairs:
        pair = (source, target)
        unknown = [word for word in pair if word.lower() not in known]
        problems += [Problem(pair, "unknown_word", word) for word in unknown]
        gendered = [kind_of(word.lower().rstrip(".")) for word in pair]
        if not unknown and not all(gendered):
            problems.append(Problem(pair, "not_gendered", source))
        seen[source.lower()].append(target.lower())
        if len(set(seen[source.lower()])) == 2 and len(seen[source.lower()]) == 2:
            problems.append(Problem(pair, "ambiguous_source", source))
    return problems


def swap_all(text: str) -> str:
    """Return an English text with every gendered word swapped, whoever it means, in one pass.

    For checks and comparison: a note's relatives change with the patient. Swapping twice gives the
    text back, save for titles (Miss) and words that share a counterpart (hers, her).

    Example:
        >>> swap_all("The man thanked the woman; he paid and she left.")
        'The woman thanked the man; she paid and he left.'
    """
    pieces: list[str] = []
    done = 0
    for word in words_of(text):
        if not kind_of(word.low) or re.fullmatch(r"[A-Z]", word.text):
            continue
        after = "female" if gender_of(word.low) == "male" else "male"
        new = cased_as(word.text, counterpart(word.low, after, text, word))
        pieces += [text[done : word.start], new]
        done = word.end
    return "".join([*pieces, text[done:]])
