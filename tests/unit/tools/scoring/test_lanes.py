"""Work that is shared out to lanes: everything once, failures as a status, nothing lost."""

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from evenhand.graph_store.errors import RunStopped
from evenhand.tools.calls import Patience
from evenhand.tools.completions import CallFailed
from evenhand.tools.scoring import LabelScores
from evenhand.tools.scoring.lanes import Lane, NextTokens, ask_patiently, lane_scores

QUICK = Patience(first_wait_seconds=0.001, longest_wait_seconds=0.002)
LABELS = ((7,), (8, 9))


async def modelled(sequence: tuple[int, ...], tokens: Sequence[int]) -> NextTokens:
    """Say of each token that it is less likely the higher it is, and by the sequence's sum."""
    await asyncio.sleep(0)
    return NextTokens(np.array([-token - sum(sequence) / 100 for token in tokens]), len(sequence))


def collect(
    lanes: Sequence[Lane], prompts: list[tuple[int, ...]], context: int | None = None
) -> tuple[list[LabelScores], np.ndarray, dict[int, str]]:
    async def run() -> list[LabelScores]:
        return [
            part
            async for part in lane_scores(
                lanes, prompts, LABELS, context=context, prompts_a_turn=2, patience=QUICK
            )
        ]

    parts = asyncio.run(run())
    rows = np.zeros((len(prompts), len(LABELS)))
    statuses: dict[int, str] = {}
    for part in parts:
        for place, status in zip(part.places.tolist(), part.statuses, strict=True):
            assert place not in statuses, "twice"
            statuses[place] = status
        rows[part.places] = part.log_probs
    assert sorted(statuses) == list(range(len(prompts)))
    return parts, rows, statuses


def test_a_label_of_two_tokens_is_the_sum_of_both_in_context() -> None:
    prompts = [(1, 2), (1, 3), (1, 2), (4,), (5, 5)]
    parts, rows, statuses = collect([modelled] * 3, prompts)
    assert set(statuses.values()) == {"ok"}
    for prompt, row in zip(prompts, rows, strict=True):
        begun = sum(prompt) / 100
        assert row == pytest.approx([-7 - begun, -8 - begun - 9 - begun - 0.08])
    # Four different prompts, and one inner token of a label after each.
    assert sum(part.work.computed_tokens for part in parts) == sum(
        2 * len(prompt) + 1 for prompt in set(prompts)
    )


def test_only_what_fits_is_asked() -> None:
    _, rows, statuses = collect([modelled], [(1,) * 4, (1,) * 5], context=5)
    assert statuses == {0: "ok", 1: "too_long"}
    assert np.isnan(rows[1]).all()


def test_what_fails_for_good_is_a_status_and_the_rest_goes_on() -> None:
    async def picky(sequence: tuple[int, ...], tokens: Sequence[int]) -> NextTokens:
        if sequence[0] == 3:
            raise CallFailed("no", "permanent")
        return await modelled(sequence, tokens)

    _, rows, statuses = collect([picky, picky], [(2,), (3,), (4,)])
    assert statuses == {0: "ok", 1: "error", 2: "ok"}
    assert np.isnan(rows[1]).all()


def test_what_may_go_well_is_tried_again() -> None:
    tries: dict[tuple[int, ...], int] = {}

    async def shaky(sequence: tuple[int, ...], tokens: Sequence[int]) -> NextTokens:
        tries[sequence] = tries.get(sequence, 0) + 1
        if tries[sequence] < 3:
            raise CallFailed("busy", "refused", retry_after=0.001)
        return await modelled(sequence, tokens)

    _, _, statuses = collect([shaky], [(2,), (3,)])
    assert set(statuses.values()) == {"ok"}
    assert set(tries.values()) == {3}


def test_a_server_that_is_gone_ends_the_scoring_and_what_was_done_is_given() -> None:
    async def dying(sequence: tuple[int, ...], tokens: Sequence[int]) -> NextTokens:
        if sequence[0] > 2:
            raise CallFailed("no connection", "unreachable")
        return await modelled(sequence, tokens)

    async def run() -> list[int]:
        given: list[int] = []
        parts = lane_scores(
            [dying],
            [(1,), (2,), (3,), (4,)],
            LABELS,
            context=None,
            prompts_a_turn=1,
            patience=QUICK,
        )

        async def to_the_end() -> None:
            async for part in parts:
                given.extend(part.places.tolist())

        with pytest.raises(RunStopped, match="no connection"):
            await to_the_end()
        return given

    assert asyncio.run(run()) == [0, 1]


def test_a_long_wait_ends_the_scoring() -> None:
    async def later() -> None:
        raise CallFailed("tomorrow", "refused", retry_after=10_000)

    with pytest.raises(RunStopped, match="10000 s"):
        asyncio.run(ask_patiently(later, QUICK))
