"""All prompts of a block in one prefix tree of token ids: what they share is there once.

Nodes are numbered in preorder (a node, then its whole subtree), which makes every subtree an
interval and lets any interval of nodes be computed if the path to its first node is known.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class PrefixTree:
    """A prefix tree, nodes in preorder, shape (m,) each.

    Attributes:
        tokens: Token id of each node.
        depths: Place in its sequence, 0 for the first token.
        ends: Number of the first node after the subtree of each node.
        terminals: Node where each given sequence ends, shape (n,).
    """

    tokens: Ints
    depths: Ints
    ends: Ints
    terminals: Ints

    def __len__(self) -> int:
        """Return the number of nodes: distinct prefixes."""
        return len(self.tokens)

    def path(self, node: int) -> Ints:
        """Return the nodes from the root to a node, without it, in order; shape (depth,)."""
        before = np.arange(node)
        return before[self.ends[:node] > node]


def build_tree(sequences: Sequence[Sequence[int]]) -> PrefixTree:
    """Return the prefix tree of sequences; the same tree whatever their order.

    Sorted, each sequence adds the nodes after what it shares with the one before it.

    Args:
        sequences: Token ids, shape (n,) of sequences, none empty.

    Raises:
        ValueError: A sequence is empty.

    Example:
        >>> tree = build_tree([(5, 1), (5, 2), (5, 1)])
        >>> tree.tokens.tolist(), tree.depths.tolist(), tree.terminals.tolist()
        ([5, 1, 2], [0, 1, 1], [1, 2, 1])
    """
    if not all(map(len, sequences)):
        raise ValueError("a sequence has no tokens")
    order = sorted(range(len(sequences)), key=lambda place: tuple(sequences[place]))
    terminals = np.zeros(len(sequences), dtype=np.int64)
    tokens: list[int] = []
    depths: list[int] = []
    path: list[int] = []
    before: Sequence[int] = ()
    for place in order:
        own = sequences[place]
        shared = shared_length(before, own)
        del path[shared:]
        path.extend(range(len(tokens), len(tokens) + len(own) - shared))
        tokens.extend(own[shared:])
        depths.extend(range(shared, len(own)))
        terminals[place] = path[-1]
        before = own
    return PrefixTree(
        np.array(tokens, dtype=np.int64),
        np.array(depths, dtype=np.int64),
        _subtree_ends(depths),
        terminals,
    )


def shared_length(one: Sequence[int], other: Sequence[int]) -> int:
    """Return how many tokens two sequences begin with alike."""
    shortest = min(len(one), len(other))
    if one[:shortest] == other[:shortest]:
        return shortest
    for place in range(shortest):
        if one[place] != other[place]:
            return place
    return shortest


def _subtree_ends(depths: Sequence[int]) -> Ints:
    """A subtree ends at the next node that is no deeper than its root."""
    ends = np.full(len(depths), len(depths), dtype=np.int64)
    deeper: list[int] = []
    for node, depth in enumerate(depths):
        while len(deeper) > depth:
            ends[deeper.pop()] = node
        deeper.append(node)
    return ends
