"""English nouns for persons that tell a sex by their family: headmistress, choirboy, policewoman.

A table of single words always lacks one; "-woman", "-boy" and "-mistress" behind a known stem do
not. What tells a sex and has no sure counterpart ("tomboy", "governess") is known too, so that no
note with it is taken for rewritten.
"""

import tomllib
from functools import cache
from importlib.resources import files

_FAMILIES: dict[str, str] = tomllib.loads(
    (files("evenhand.tools.notes") / "english_families.toml").read_text("utf-8")
)
_ENDINGS = (("man", "man", "woman"), ("boy", "boy", "girl"), ("master", "master", "mistress"))
COMPOUNDS = frozenset(_FAMILIES["compounds"].split())


@cache
def families() -> dict[str, tuple[str, str]]:
    """Return word -> (sex, counterpart) of every word of the families."""
    table: dict[str, tuple[str, str]] = {}
    pairs = [pair.split("/") for pair in _FAMILIES["pairs"].split()]
    for stems, male_ending, female_ending in _ENDINGS:
        pairs += [[stem + male_ending, stem + female_ending] for stem in _FAMILIES[stems].split()]
    for male, female in pairs:
        table.setdefault(male, ("male", female))
        table.setdefault(female, ("female", male))
    return table


@cache
def without_counterpart() -> dict[str, str]:
    """Return word -> sex of the words that have no sure counterpart."""
    table = dict.fromkeys(_FAMILIES["only_female"].split(), "female")
    return table | dict.fromkeys(_FAMILIES["only_male"].split(), "male")
