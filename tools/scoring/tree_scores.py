"""Label log-probabilities of a causal language model, each distinct token computed once.

All prompts of a block, with the inner tokens of their labels, are one prefix tree. It is cut into
passes of a token budget (see packing); in a pass a token's position is its depth, and a mask lets
it see its ancestors alone. Logits are taken where a prompt ends and nowhere else.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from evenhand.tools.scoring import LabelScores, LogProbs, Work
from evenhand.tools.scoring.packing import Pass, plan_passes
from evenhand.tools.scoring.prefix_tree import Ints, PrefixTree, build_tree
from evenhand.training.label_tokens import TokenIds


class Passes(Protocol):
    """The forward passes of one tree, asked in order."""

    def run(self, one: Pass, ends: Ints, tokens: Ints) -> LogProbs:
        """Compute a pass; return log-probabilities of `tokens` at the ends in it, (k, U)."""
        ...


StartPasses = Callable[[PrefixTree], Passes]


@dataclass(frozen=True)
class Asked:
    """Which tokens are asked where, for labels of any number of tokens.

    Attributes:
        sequences: Each prompt followed by each different beginning of a label, the empty one
            first: shape (n * B,) of sequences, B beginnings of prompt 0, then of prompt 1.
        beginnings: B.
        tokens: Ids that some label holds, ascending, shape (U,).
        steps: For each label, (beginning, place among `tokens`) of each of its tokens.
    """

    sequences: list[TokenIds]
    beginnings: int
    tokens: Ints
    steps: tuple[tuple[tuple[int, int], ...], ...]


def asked_tokens(prompts: Sequence[TokenIds], labels: Sequence[TokenIds]) -> Asked:
    """Return what must be asked of a model to score labels after prompts."""
    beginnings = sorted({ids[:length] for ids in labels for length in range(len(ids))})
    tokens = sorted({token for ids in labels for token in ids})
    places = {token: place for place, token in enumerate(tokens)}
    numbers = {beginning: number for number, beginning in enumerate(beginnings)}
    steps = tuple(
        tuple((numbers[ids[:at]], places[token]) for at, token in enumerate(ids)) for ids in labels
    )
    sequences = [(*prompt, *beginning) for prompt in prompts for beginning in beginnings]
    return Asked(sequences, len(beginnings), np.array(tokens, dtype=np.int64), steps)


def label_log_probs(asked: Asked, table: LogProbs) -> LogProbs:
    """Return the log-probability of each label: the sum over its tokens, each in its context.

    Args:
        asked: What was asked.
        table: Log-probability of each of `asked.tokens` after each sequence, shape (n * B, U).

    Returns:
        Shape (n, L).
    """
    by_prompt = table.reshape(-1, asked.beginnings, len(asked.tokens))
    columns = [sum(by_prompt[:, b, u] for b, u in steps) for steps in asked.steps]
    return np.stack([np.asarray(column) for column in columns], axis=1)


def tree_scores(
    start: StartPasses,
    prompts: Sequence[TokenIds],
    labels: Sequence[TokenIds],
    *,
    token_budget: int,
) -> Iterator[LabelScores]:
    """Score labels after prompts on one prefix tree; yields prompts as they are done.

    Args:
        start: Begins the passes of a tree.
        prompts: Token ids, shape (n,) of sequences, none empty.
        labels: Token ids, shape (L,) of sequences, none empty.
        token_budget: Tokens of one pass.
    """
    asked = asked_tokens(prompts, labels)
    tree = build_tree(asked.sequences)
    ends, rows = np.unique(tree.terminals, return_inverse=True)
    rows = rows.reshape(len(prompts), asked.beginnings)
    last = rows.max(axis=1)
    order = np.argsort(last, kind="stable")
    lengths = np.array([len(prompt) for prompt in prompts])
    table = np.full((len(ends), len(asked.tokens)), np.nan)
    known, done, computed = 0, 0, 0
    for found, nodes in _end_log_probs(start(tree), tree, ends, asked.tokens, token_budget):
        table[known : known + len(found)] = found
        known, computed = known + len(found), computed + nodes
        until = int(np.searchsorted(last[order], known))
        if until > done:
            places = order[done:until]
            yield LabelScores(
                places,
                label_log_probs(asked, table[rows[places].ravel()]),
                ("ok",) * len(places),
                Work(int(lengths[places].sum()), computed, computed),
            )
            done, computed = until, 0


def _end_log_probs(
    passes: Passes, tree: PrefixTree, ends: Ints, tokens: Ints, token_budget: int
) -> Iterator[tuple[LogProbs, int]]:
    """Yield log-probabilities at the next few ends, shape (k, U), and the nodes computed for it."""
    known = 0
    for one in plan_passes(tree, token_budget):
        until = int(np.searchsorted(ends, one.stop))
        yield passes.run(one, ends[known:until], tokens), len(one)
        known = until
