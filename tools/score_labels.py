"""Labels scored after any number of prompts, block by block: memory does not grow with them."""

import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from evenhand.tools.scoring import LabelScores, OpenScorer, Work

ROWS_A_BLOCK = 8_192
"""Prompts of one prefix tree. Prompts with a common stem should stand together, or in one block:
across blocks a stem is computed again."""


@dataclass(frozen=True)
class ScoreProgress:
    """Where scoring stands.

    Attributes:
        done: Prompts scored, those of earlier runs included.
        total: Of all; None where it is not known.
        rate: Prompts a second, since this run began.
        seconds_left: At that rate; None where it is not known.
        work: Of this run.
    """

    done: int
    total: int | None
    rate: float
    seconds_left: float | None
    work: Work


OnProgress = Callable[[ScoreProgress], None]


async def score_labels(
    prompts: Iterable[str],
    labels: Sequence[str],
    scorer: OpenScorer,
    *,
    rows_a_block: int = ROWS_A_BLOCK,
    total: int | None = None,
    on_progress: OnProgress | None = None,
) -> AsyncIterator[LabelScores]:
    """Score labels after prompts; yields parts as they are done, each prompt exactly once.

    At most one forward pass a prompt, and on the torch backend no token twice within a block.

    Args:
        prompts: Texts up to where the answer begins; read a block at a time.
        labels: Answers, at least two.
        scorer: An opened model.
        rows_a_block: Prompts that are looked at together.
        total: Number of prompts, for the time left.
        on_progress: Called after each part; what it raises ends the scoring.

    Yields:
        Parts whose `places` count from the first prompt given, in any order within a block.

    Raises:
        UserError: As in OpenScorer.score.
    """
    began, done, work = time.monotonic(), 0, Work()
    first = 0
    for block in blocks(prompts, rows_a_block):
        async for part in scorer.score(block, labels):
            done, work = done + len(part), work + part.work
            yield replace(part, places=part.places + first)
            if on_progress is not None:
                on_progress(progress(done, total, done, time.monotonic() - began, work))
        first += len(block)


def progress(
    done: int, total: int | None, done_now: int, seconds: float, work: Work
) -> ScoreProgress:
    """Return where scoring stands, of which `done_now` prompts took `seconds`."""
    rate = done_now / seconds if seconds > 0 else 0.0
    left = (total - done) / rate if total is not None and rate > 0 else None
    return ScoreProgress(done, total, rate, left, work)


def blocks(items: Iterable[str], size: int) -> Iterator[list[str]]:
    """Yield items in lists of `size`, the last one shorter."""
    whole = iter(items)
    while block := list(islice(whole, size)):
        yield block
