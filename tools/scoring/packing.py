"""A prefix tree cut into passes of a token budget, each token in exactly one.

A pass is an interval of nodes in preorder. What its nodes attend to besides each other lies on
the path to its first node (see prefix_tree), so the keys and values of that path are all that is
kept from one pass to the next: a stem that many passes share is computed once, nothing is padded,
and memory is one path and one pass, whatever the number of prompts.
"""

import math
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
    """Yield the passes of a tree, of `token_budget` nodes at most and about the same size each.

    Raises:
        ValueError: The budget is below 1.
    """
    if token_budget < 1:
        raise ValueError(f"token budget {token_budget}; expected at least 1")
    passes = math.ceil(len(tree) / token_budget)
    cuts = [len(tree) * number // passes for number in range(passes + 1)]
    path = np.empty(0, dtype=np.int64)
    for start, stop in pairwise(cuts):
        known = np.concatenate([path, np.arange(start, stop)])
        open_nodes = np.flatnonzero(tree.ends[known] > stop)
        yield Pass(start, stop, path, open_nodes)
        path = known[open_nodes]


@dataclass(frozen=True)
class Block:
    """Consecutive nodes of a pass, and what they attend to.

    Attributes:
        start: Place of the first among the pass's nodes.
        stop: Place after the last.
        keys: Places among path and nodes of the pass, in that order, of what any of them attends
            to: what is open before the first, then the block itself; shape (k,).
        seen: Which of the keys each attends to, shape (stop - start, k).
    """

    start: int
    stop: int
    keys: Ints
    seen: NDArray[np.bool_]


def plan_blocks(tree: PrefixTree, one: Pass, most: int) -> list[Block]:
    """Return the blocks of a pass, in order: attention to all the pass would mostly be masked.

    Cut where the tree is shallowest, so that a block shares little with the one before.

    Args:
        tree: Of the pass.
        one: The pass.
        most: Nodes of a block.
    """
    known = np.concatenate([one.path, np.arange(one.start, one.stop)])
    blocks, start = [], one.start
    while start < one.stop:
        stop = one.stop
        if stop - start > most:
            places = np.arange(start + most, start + most // 2, -1)
            stop = int(places[np.argmin(tree.depths[places])])
        behind = len(one.path) + start - one.start
        before = np.flatnonzero(tree.ends[known[:behind]] > start)
        places = np.concatenate([before, np.arange(behind, behind + stop - start)])
        seen = _attended(tree, known[places], np.arange(start, stop))
        blocks.append(Block(start - one.start, stop - one.start, places, seen))
        start = stop
    return blocks


def visible(tree: PrefixTree, one: Pass) -> NDArray[np.bool_]:
    """Return what each node of a pass attends to: its ancestors and itself.

    Returns:
        Shape (nodes, path + nodes).
    """
    nodes = np.arange(one.start, one.stop)
    return _attended(tree, np.concatenate([one.path, nodes]), nodes)


def _attended(tree: PrefixTree, keys: Ints, nodes: Ints) -> NDArray[np.bool_]:
    """Return which keys are ancestors of which nodes, or the nodes themselves."""
    seen: NDArray[np.bool_] = (keys[None, :] <= nodes[:, None]) & (
        nodes[:, None] < tree.ends[keys][None, :]
    )
    return seen
