"""Labels scored by servers that are asked one sequence of token ids at a time.

A server keeps what it computed of the last prompts and begins where the next one differs. Sorted by
their ids, prompts with a common stem follow each other, as on a walk through their prefix tree: so
each distinct token is computed once, though nobody lays out a tree. Lanes take neighbours together.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from evenhand.graph_store.errors import RunStopped
from evenhand.tools.calls import Patience
from evenhand.tools.completions import CallFailed
from evenhand.tools.scoring import LabelScores, LogProbs, Work
from evenhand.tools.scoring.prefix_tree import shared_length
from evenhand.tools.scoring.tree_scores import asked_tokens, label_log_probs
from evenhand.training.label_tokens import TokenIds

T = TypeVar("T")
Turn = TypeVar("Turn")
TOO_LONG, ERROR = "too_long", "error"


@dataclass(frozen=True)
class NextTokens:
    """What a server says of the token after a sequence.

    Attributes:
        log_probs: Of the asked tokens, over the whole vocabulary, shape (U,).
        computed: Tokens that went through the model; 0 where the server does not say.
    """

    log_probs: NDArray[np.float64]
    computed: int = 0


Lane = Callable[[TokenIds, Sequence[int]], Awaitable[NextTokens]]
"""Asks for the log-probabilities of tokens (U,) after a sequence; raises CallFailed."""


async def lane_scores(
    lanes: Sequence[Lane],
    prompts: Sequence[TokenIds],
    labels: Sequence[TokenIds],
    *,
    context: int | None,
    prompts_a_turn: int,
    patience: Patience | None = None,
) -> AsyncIterator[LabelScores]:
    """Score labels after prompts; yields prompts as they are done, each exactly once.

    Args:
        lanes: What works at the same time, at least one.
        prompts: Token ids, shape (n,) of sequences, none empty.
        labels: Token ids, shape (L,) of sequences, none empty.
        context: Tokens that the model reads at most; None where it is not known.
        prompts_a_turn: Neighbours that a lane takes together.
        patience: How often a failing call is tried again.

    Raises:
        RunStopped: The server is gone.
    """
    owners: dict[TokenIds, list[int]] = {}
    for place, prompt in enumerate(prompts):
        owners.setdefault(prompt, []).append(place)
    room = (context or 1 << 62) - max(map(len, labels)) + 1
    if long := [place for place, prompt in enumerate(prompts) if len(prompt) > room]:
        yield unscored(long, len(labels), TOO_LONG)
    distinct = sorted(prompt for prompt in owners if len(prompt) <= room)
    turns = [distinct[at : at + prompts_a_turn] for at in range(0, len(distinct), prompts_a_turn)]
    worker = _Worker(labels, owners, patience or Patience())
    async for part in in_lanes([partial(worker.score, lane) for lane in lanes], turns):
        yield part


async def in_lanes(
    lanes: Sequence[Callable[[Turn], Awaitable[T]]], turns: Iterable[Turn]
) -> AsyncIterator[T]:
    """Yield what lanes make of turns, as it comes; each lane takes the next turn when it is free.

    Args:
        lanes: What works at the same time, at least one.
        turns: In this order, each once.

    Raises:
        Exception: What a lane raises, after what the others had done before it.
    """
    waiting = iter(turns)
    done: asyncio.Queue[T | None] = asyncio.Queue()

    async def work(lane: Callable[[Turn], Awaitable[T]]) -> None:
        try:
            for turn in waiting:
                done.put_nowait(await lane(turn))
        finally:
            done.put_nowait(None)

    tasks = [asyncio.create_task(work(lane)) for lane in lanes]
    try:
        running = len(tasks)
        while running:
            part = await done.get()
            if part is None:
                running -= 1
            else:
                yield part
        for task in tasks:
            await task
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def unscored(places: Sequence[int], labels: int, status: str) -> LabelScores:
    """Return prompts that have no score, and why."""
    rows = np.array(places, dtype=np.int64)
    return LabelScores(rows, np.full((len(rows), labels), np.nan), (status,) * len(rows))


def new_nodes(prompts: Sequence[TokenIds], beginnings: Sequence[TokenIds]) -> dict[TokenIds, int]:
    """Return how many nodes each prompt, followed by each beginning, adds to their prefix tree.

    Example:
        >>> new_nodes([(1, 2), (1, 3)], [(), (7,)])
        {(1, 2): 3, (1, 3): 2}
    """
    counts = dict.fromkeys(prompts, 0)
    before: TokenIds = ()
    for sequence, prompt in sorted((own + then, own) for own in counts for then in beginnings):
        counts[prompt] += len(sequence) - shared_length(before, sequence)
        before = sequence
    return counts


async def ask_patiently(call: Callable[[], Awaitable[T]], patience: Patience) -> T:
    """Return what a call brings, tried again as long as that may help.

    Raises:
        CallFailed: It failed for good.
        RunStopped: Nobody answers any more, or the server asks to come back much later.
    """
    attempt = 0
    while True:
        attempt += 1
        try:
            return await call()
        except CallFailed as failure:
            wait = failure.retry_after or 0.0
            if wait > patience.longest_retry_after_seconds:
                raise RunStopped(
                    f"{failure}; the server asks to wait {wait:.0f} s: score again then, what is "
                    "scored is kept."
                ) from None
            if attempt >= patience.tries(failure):
                if failure.kind == "unreachable":
                    raise RunStopped(
                        f"{failure}; start the server, then score again: what is scored is kept."
                    ) from None
                raise
            doubled = patience.first_wait_seconds * 2.0 ** (attempt - 1)
            await asyncio.sleep(max(wait, min(doubled, patience.longest_wait_seconds)))


class _Worker:
    """Scores distinct prompts over a lane.

    Args:
        labels: Token ids.
        owners: Where each distinct prompt stands among those that were asked.
        patience: With calls that fail.
    """

    def __init__(
        self,
        labels: Sequence[TokenIds],
        owners: dict[TokenIds, list[int]],
        patience: Patience,
    ) -> None:
        """Work out which tokens are asked after which beginning of a label."""
        self._labels, self._owners, self._patience = labels, owners, patience
        self._asked = asked_tokens([()], labels)
        self._new = new_nodes(list(owners), self._asked.sequences)
        self._columns: list[list[int]] = [[] for _ in range(self._asked.beginnings)]
        for beginning, column in sorted({step for steps in self._asked.steps for step in steps}):
            self._columns[beginning].append(column)

    async def score(self, lane: Lane, turn: Sequence[TokenIds]) -> LabelScores:
        """Return the scores of distinct prompts at every place where they stand."""
        found = [await self._one(lane, prompt) for prompt in turn]
        rows = [row for row, prompt in enumerate(turn) for _ in self._owners[prompt]]
        places = np.array([place for prompt in turn for place in self._owners[prompt]], np.int64)
        asked = sum(len(prompt) * len(self._owners[prompt]) for prompt in turn)
        distinct = sum(self._new[prompt] for prompt in turn)
        return LabelScores(
            places,
            np.array([found[row][0] for row in rows]),
            tuple(found[row][1] for row in rows),
            Work(asked, distinct, sum(computed for _, _, computed in found)),
        )

    async def _one(self, lane: Lane, prompt: TokenIds) -> tuple[LogProbs, str, int]:
        """Return the labels' log-probabilities (L,), the status and the tokens computed."""
        asked = self._asked
        table = np.zeros((asked.beginnings, len(asked.tokens)))
        computed = 0
        try:
            for number, beginning in enumerate(asked.sequences):
                tokens = asked.tokens[self._columns[number]].tolist()
                sequence = prompt + beginning
                said = await ask_patiently(partial(lane, sequence, tokens), self._patience)
                table[number, self._columns[number]] = said.log_probs
                computed += said.computed
        except CallFailed:
            return np.full(len(self._labels), np.nan), ERROR, computed
        return label_log_probs(asked, table)[0], "ok", computed
