"""The shipped groups, in seven categories (groups.csv), and which of them are compared.

Two groups are compared where they belong to one set, such as ages by decade: a set's groups exclude
each other or differ in kind, so that none is a part of the other. No minors, no single persons.
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import combinations


@dataclass(frozen=True)
class Group:
    """A group as a plural name that may stand inside a sentence."""

    category: str
    set: str
    name: str


@cache
def known_groups() -> tuple[Group, ...]:
    """Return the shipped groups in the order of the file."""
    text = (files("evenhand.tools.bias_questions") / "groups.csv").read_text("utf-8")
    rows = csv.DictReader(text.splitlines())
    return tuple(Group(row["category"], row["set"], row["group"]) for row in rows)


def compared_groups() -> Iterator[tuple[Group, Group]]:
    """Yield every two groups that are compared, each pair once."""
    for one, other in combinations(known_groups(), 2):
        if (one.category, one.set) == (other.category, other.set):
            yield one, other
