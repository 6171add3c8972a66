"""What a rewriter is: it says the same triples in other words, for the placebo arm.

One rewriter is one file beside this one, a function with the decorator `@rewriter`. Every object
and every attribute keeps its value; the gate (tools/gate.py, check_placebo) looks at it.
"""

from collections.abc import Callable, Sequence

from evenhand.graph_store.records import Triple
from evenhand.graph_store.registry import Registry

Rewriter = Callable[[Sequence[Triple], str], str]
"""(triples of the base text, question) -> the text in other words, the question unchanged."""

rewriters: Registry[Rewriter] = Registry("rewriter", __name__)


def rewriter(write: Rewriter) -> Rewriter:
    """Register a function as a rewriter under its own name."""
    rewriters.add(write.__name__, write)
    return write
