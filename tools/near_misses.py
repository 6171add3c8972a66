"""What keeps two names apart that look, sound or mean nearly the same.

Hypotension is near hypertension for every measure of likeness, and so are the left knee and the
right one, IL-2 and IL-12. Rules over words decide, on the careful side: a pair that is kept apart
wrongly costs a suggestion, one that is let through may cost a wrong graph.
"""

import csv
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise
from typing import TypeAlias

from evenhand.tools.entities import canonical_key


def _listed(words: str) -> tuple[str, ...]:
    return tuple(words.split())


# "b12" is the letter and the number, "3.5" one number.
_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")
_LOOK_ALIKE = 0.7
"""Share of common letters from which two different words are easily taken for each other."""
_SAME_BEGINNING = 4
"""Letters; vasodilation and vasoconstriction have them in common."""
_SHORT = 3
"""Letters of a word that may be an abbreviation: CT, MRI, HIV."""

_FILL_WORDS = frozenset(
    _listed("of a an the in on at to for with from and or by is are has have s")
)
_DIRECTIONS = frozenset(_listed("before after from to than by causing caused causes due"))
# What a name may have more than another and still be the same: malaria infection, malaria.
_GENERIC = frozenset(
    _listed(
        "infection infections disease diseases illness disorder condition conditions syndrome "
        "symptom symptoms problem problems feeling sensation episode episodes patient person "
        "area region province city town district level levels some any his her their"
    )
)
_GREEK = frozenset(_listed("alpha beta gamma delta epsilon kappa lambda omega sigma"))
# After these, a letter or a Roman numeral is a name: hepatitis a, stage iv.
_NAMED_BY = frozenset(
    _listed(
        "vitamin hepatitis influenza flu type stage grade class group phase degree factor "
        "hemophilia strep streptococcus protein serotype immunoglobulin angiotensin collagen "
        "interferon"
    )
)
# A line a number, from zero.
_NUMBER_LINES = """zero
one first once i
two twice double ii
three third triple iii
four fourth iv
five fifth v
six sixth vi
seven seventh vii
eight eighth viii
nine ninth ix
ten tenth x
eleven xi
twelve xii"""
_NUMBER_WORDS = {
    word: str(number)
    for number, line in enumerate(_NUMBER_LINES.splitlines())
    for word in line.split()
}
_ROMAN = frozenset(_listed("i ii iii iv v vi vii viii ix x xi xii"))
_SPELLINGS = (("ae", "e"), ("oe", "e"), ("rrh", "rh"), ("our", "or"), ("isation", "ization"))
# Of a word's inflection, not of its meaning; the longest first.
_INFLECTIONS = _listed(
    "ations ation ating ated ative iness ness ings ions ing ies ion ive ous ed es al ic ly s y e"
)
_SHORTEST_STEM = 4
# Two words with such an ending and other beginnings are two things of one kind.
_ENDINGS = _listed(
    "emia uria itis osis oma omas pathy algia ectomy ostomy otomy plasty scopy pnea cardia penia "
    "plegia paresis phagia phasia trophy megaly rrhea rrhagia lysis phobia mania "
    "pril sartan olol statin cillin mycin floxacin azole vir mab tinib prazole triptan caine "
    "zepam zolam gliptin gliflozin thiazide parin dipine cycline sone solone profen "
    "virus coccus worm fly ologist ology"
)


@dataclass(frozen=True, slots=True)
class Difference:
    """Why two names are not one entity."""

    reason: str
    """In words, such as "side: left, right"."""
    opposite: bool
    """They exclude each other, and may never be one; else they may be a near miss."""


def difference(first: str, second: str) -> Difference | None:
    """Return what keeps two names apart, whatever their likeness; None: they may be one entity.

    Rules over words, on the careful side: other numbers, a negation, another class of a group of
    near_misses.csv (sides, high and low with their prefixes, body sites ...), other letters
    (hepatitis A and B), words that look alike (clonidine, clozapine) or share a medical ending
    but not the stem (hyponatremia, hypokalemia), a word more that narrows the meaning (cerebral
    malaria). In the table, `two` says what two classes of a
    group mean, `one` what a class on one side alone means: opposite, different or same.

    Example:
        >>> difference("pain in the left knee", "right knee pain")
        Difference(reason='side: left, right', opposite=True)
        >>> difference("belly pain", "pain in the abdomen") is None
        True
    """
    one, other = canonical_key(first), canonical_key(second)
    if one == other:
        return None
    found = list(_differences(*_both(one, other)))
    return next((item for item in found if item.opposite), found[0] if found else None)


def own_words(first: str, second: str) -> tuple[str, str]:
    """Return the words that each of two names has for itself, in order, without fill words.

    Inflection and spelling do not count: of "yellow skin" and "yellowing of the skin" nothing is
    left.
    """
    one, other = _own(*_both(canonical_key(first), canonical_key(second)))
    return " ".join(one), " ".join(other)


def _both(one: str, other: str) -> tuple[list[str], list[str]]:
    words = _words(one), _words(other)
    return _compounded(words[0], words[1]), _compounded(words[1], words[0])


def _compounded(words: list[str], others: list[str]) -> list[str]:
    """Return the words, two that the others write as one joined: heart beat, heartbeat."""
    stems = {_stem(other) for other in others}
    made: list[str] = []
    for word in words:
        if made and _stem(made[-1] + word) in stems:
            made[-1] += word
        else:
            made.append(word)
    return made


def _words(key: str) -> list[str]:
    """Return a key's words; numbers, in digits or words or Roman, in digits of one form."""
    words = _TOKEN.findall(unicodedata.normalize("NFKC", key))
    return [_number(word, before) or word for before, word in pairwise(["", *words])]


def _number(word: str, before: str) -> str | None:
    if word[0].isdigit():
        whole, _, part = word.replace(",", "").partition(".")
        return f"{whole.lstrip('0') or '0'}.{part.rstrip('0')}".rstrip(".")
    if word in _ROMAN and before not in _NAMED_BY:
        return None
    return _NUMBER_WORDS.get(word)


def _differences(one: list[str], other: list[str]) -> Iterator[Difference]:
    yield from _other_marks("numbers", _numbers(one), _numbers(other))
    yield from _other_marks("letters", _letters(one), _letters(other))
    yield from _other_classes(one, other)
    own = _own(one, other)
    if any(own) and not all(own) and not _GENERIC.issuperset([*own[0], *own[1]]):
        yield Difference(f"narrower: {' '.join([*own[0], *own[1]])}", opposite=False)
    for word in own[0]:
        for match in own[1]:
            if reason := _alike_but_different(word, match):
                yield Difference(f"{reason}: {word}, {match}", opposite=False)
    if not any(own) and one != other and _DIRECTIONS & set(one) & set(other):
        yield Difference("the same words in another order", opposite=False)


def _other_marks(kind: str, one: list[str], other: list[str]) -> Iterator[Difference]:
    if one != other:
        shown = f"{'/'.join(one) or 'none'}, {'/'.join(other) or 'none'}"
        yield Difference(f"{kind}: {shown}", opposite=bool(one and other))


def _numbers(words: list[str]) -> list[str]:
    return sorted(word for word in words if word[0].isdigit())


def _letters(words: list[str]) -> list[str]:
    found = []
    for place, word in enumerate(words):
        before = words[place - 1] if place else ""
        article = word == "a" and place < len(words) - 1 and before not in _NAMED_BY
        possessive = word == "s" and place > 0
        if ((len(word) == 1 and word.isalpha()) or word in _GREEK) and not (article or possessive):
            found.append(word)
    return sorted(found)


@dataclass(frozen=True, slots=True)
class _Group:
    name: str
    two: str
    one: str
    classes: tuple[frozenset[str], ...]


@cache
def _groups() -> tuple[_Group, ...]:
    text = (files("evenhand.tools") / "near_misses.csv").read_text(encoding="utf-8")
    rows: dict[tuple[str, str, str], list[frozenset[str]]] = {}
    for row in csv.DictReader(text.splitlines()):
        group = row["group"], row["two"], row["one"]
        rows.setdefault(group, []).append(frozenset(row["words"].split()))
    return tuple(_Group(*group, tuple(classes)) for group, classes in rows.items())


_Class: TypeAlias = tuple[int, int]
"""Number of a group, and of a class in it."""


@lru_cache(maxsize=100_000)
def _classes_by_word(word: str) -> frozenset[_Class]:
    return frozenset(
        (group, number)
        for group, entry in enumerate(_groups())
        for number, members in enumerate(entry.classes)
        if word in members
    )


@lru_cache(maxsize=100_000)
def _classes(word: str) -> frozenset[_Class]:
    by_affix = (
        (group, number)
        for group, entry in enumerate(_groups())
        for number, members in enumerate(entry.classes)
        if any(_has_affix(word, member) for member in members)
    )
    return _classes_by_word(word).union(by_affix)


def _has_affix(word: str, affix: str) -> bool:
    stem = len(word) - len(affix) + 1 >= _SHORTEST_STEM
    if affix.endswith("-"):
        return stem and word.startswith(affix[:-1])
    return stem and affix.startswith("-") and word.endswith(affix[1:])


def _other_classes(one: list[str], other: list[str]) -> Iterator[Difference]:
    sides = [_words_by_class(one), _words_by_class(other)]
    for number in sorted(sides[0].keys() | sides[1].keys()):
        left, right = (side.get(number, {}) for side in sides)
        group = _groups()[number]
        means = group.two if left and right else group.one
        if left.keys() != right.keys() and means != "same":
            shown = ", ".join("/".join(side.values()) or "none" for side in (left, right))
            yield Difference(f"{group.name}: {shown}", opposite=means == "opposite")


def _words_by_class(words: list[str]) -> dict[int, dict[int, str]]:
    """Return, by group and class, the word or the two words that say so."""
    found: dict[int, dict[int, str]] = {}
    for word in (*words, *map("_".join, pairwise(words))):
        for group, number in _classes(word):
            found.setdefault(group, {})[number] = word
    return found


def _own(one: list[str], other: list[str]) -> tuple[list[str], list[str]]:
    return _unmatched(one, other), _unmatched(other, one)


def _unmatched(words: list[str], others: list[str]) -> list[str]:
    # Numbers are compared as such.
    return [
        word
        for word in words
        if word not in _FILL_WORDS
        and not word[0].isdigit()
        and not any(_same_meaning(word, other) for other in others)
    ]


def _same_meaning(word: str, other: str) -> bool:
    if _stem(word) == _stem(other):
        return True
    # Whole words alone: what hyperglycemia and hyperkalemia share is not their meaning.
    return not _classes_by_word(word).isdisjoint(_classes_by_word(other))


@lru_cache(maxsize=100_000)
def _stem(word: str) -> str:
    for written, meant in _SPELLINGS:
        word = word.replace(written, meant)
    for ending in _INFLECTIONS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word.removesuffix(ending)
    return word


def _alike_but_different(word: str, match: str) -> str | None:
    if len(word) <= _SHORT and len(match) <= _SHORT:
        return "abbreviations"
    if min(len(word), len(match)) >= _SHORT:
        # In one order: the ratio depends on it.
        first, second = sorted((word, match))
        letters = SequenceMatcher(None, first, second, autojunk=False)
        alike = letters.ratio() >= _LOOK_ALIKE
        if alike or word[:_SAME_BEGINNING] == match[:_SAME_BEGINNING]:
            return "look alike"
        if any(word.endswith(ending) and match.endswith(ending) for ending in _ENDINGS):
            return "two of a kind"
    return None
