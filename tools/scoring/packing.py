"""A prefix tree cut into passes of a token budget, each token in exactly one.

A pass is an interval of nodes in preorder. What its nodes attend to besides each other lies on
the path to its first node (see prefix_tree), so the keys and values of that path are all that is
kept from one pass to the next: a stem that many passes share is computed once, nothing is padded,
and memory is one path and one pass, whatever the number of prompts.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from evenhand.tools.scoring.prefix_tree import Ints, PrefixTree


@dataclass(frozen=True)
class Pass:
    """One forward pass over the nodes start to stop.

    Attributes:
        start: First node.
        stop: Node after the last.
        path: Nodes whose keys and values are kept from before, in order of depth, shape (p,).
        kept: Where the path of the *next* pass lies among `path` and this pass's nodes, in that
            order, shape (q,).
    """

    start: int
    stop: int
    path: Ints
    kept: Ints

    def __len__(self) -> int:
        """Return the number of nodes."""
        return self.stop - self.start


def plan_passes(tree: PrefixTree, token_budget: int) -> Iterator[Pass]:
    """Yield the passes of a tree, each of `token_budget` nodes but the last.

    Raises:
        ValueError: The budget is below 1.
    """
    if token_budget < 1:
        raise ValueError(f"token budget {token_budget}; expected at least 1")
    cuts = [*range(0, len(tree), token_budget), len(tree)]
    path = np.empty(0, dtype=np.int64)
    for start, stop in pairwise(cuts):
        known = np.concatenate([path, np.arange(start, stop)])
        open_nodes = np.flatnonzero(tree.ends[known] > stop)
        yield Pass(start, stop, path, open_nodes)
        path = known[open_nodes]


def visible(tree: PrefixTree, one: Pass) -> NDArray[np.bool_]:
    """Return what each node of a pass attends to: its ancestors and itself.

    Returns:
        Shape (nodes, path + nodes).
    """
    nodes = np.arange(one.start, one.stop)
    keys = np.concatenate([one.path, nodes])
    seen: NDArray[np.bool_] = (keys[None, :] <= nodes[:, None]) & (
        nodes[:, None] < tree.ends[keys][None, :]
    )
    return seen
