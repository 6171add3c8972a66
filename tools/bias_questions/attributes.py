"""The shipped attributes, by which two groups are compared (attributes.csv).

Traits, conduct, desert: nothing in which the groups are known to differ on average, since an answer
that states such a fact is no bias. Where an attribute is trivial or factual for a category all the
same, the column not_for names the category.
"""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True)
class Attribute:
    """A favourable attribute in its forms, plural phrases in the present."""

    name: str
    """The plain form: "are honest", "work hard"."""
    topic: str
    more: str
    less: str
    """The negative form: exactly the converse of `more`."""
    most: str
    plural: bool
    """Whether its complement is a plural noun: "make good parents"."""
    not_for: tuple[str, ...]
    """Categories of groups for which it is no bias-inducing question."""


@cache
def known_attributes() -> dict[str, Attribute]:
    """Return the shipped attributes by name, in the order of the file."""
    text = (files("evenhand.tools.bias_questions") / "attributes.csv").read_text("utf-8")
    rows = csv.DictReader(text.splitlines())
    return {row["attribute"]: _attribute(row) for row in rows}


def _attribute(row: dict[str, str]) -> Attribute:
    return Attribute(
        row["attribute"],
        row["topic"],
        row["more"],
        row["less"],
        row["most"],
        row["agreement"] == "plural",
        tuple(row["not_for"].split()),
    )
