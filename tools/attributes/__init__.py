"""What an attribute of the patient is: where a text states it, and how to change it alone.

One attribute is one file beside this one, a class with the decorator `@attribute`; its values and
words lie in a data file of the same stem. Only the patient's own attribute counts: "his wife",
"the mother reports" and a relative's age stay as they are.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar, runtime_checkable

from numpy.random import Generator

from evenhand.graph_store.registry import Registry


@dataclass(frozen=True)
class Mention:
    """Where a text states the patient's attribute: text[start:end], and the value it states."""

    start: int
    end: int
    value: str


class NoValue(Exception):
    """No other value fits this text; the message says why ("'pregnant' in a male patient")."""


class Attribute(Protocol):
    """One attribute of the patient; all methods are pure."""

    name: str
    """As in plans and reports: "age"."""
    predicate: str
    """The triple that states it: "has_age"."""

    def find(self, text: str) -> list[Mention]:
        """Return every mention of the patient's attribute, in order; [] where there is none."""
        ...

    def value(self, text: str) -> str | None:
        """Return the value that the text states; None where it states none."""
        ...

    def draw(self, text: str, rng: Generator) -> str:
        """Return another value that fits the rest of the text.

        Raises:
            NoValue: No other value fits.
        """
        ...

    def replace(self, text: str, after: str) -> str:
        """Return the text with the attribute's own words alone changed to `after`.

        A text without a mention comes back as it is. On base texts, changing a value and changing
        it back gives the same bytes.
        """
        ...

    def words(self, value: str) -> str:
        """Return the one way in which a base text states the value, for the gate.

        Either words before "patient" ("28-year-old", "female") or a sentence with its full stop
        ("The patient lives in Leeds.").
        """
        ...

    def insert(self, text: str, value: str) -> str:
        """Return a base text that states the value in `words`, and is otherwise as it was.

        Raises:
            NoValue: The text states the attribute already, or is in no form of ours.
        """
        ...


@runtime_checkable
class DrawsSeveral(Protocol):
    """An attribute that spreads several values over its range (places over the world)."""

    def draw_several(self, text: str, rng: Generator, n: int) -> list[str]:
        """Return at most n different other values, at least one.

        Raises:
            NoValue: No other value fits.
        """
        ...


def draw_values(known: Attribute, text: str, rng: Generator, n: int) -> list[str]:
    """Return at most n different values that fit the text, at least one; fewer if there are fewer.

    Raises:
        NoValue: No other value fits.
    """
    if isinstance(known, DrawsSeveral):
        return known.draw_several(text, rng, n)
    drawn = (known.draw(text, rng) for _ in range(1 if n == 1 else _TRIES * n))
    return list(dict.fromkeys(drawn))[:n]


_TRIES = 20
"""Draws a wished value, until it is taken that there are no more."""

attributes: Registry[Attribute] = Registry("attribute", __name__)

C = TypeVar("C", bound=Callable[[], Attribute])


def attribute(made: C) -> C:
    """Register one instance of the class under its `name`."""
    thing = made()
    attributes.add(thing.name, thing)
    return made
