"""Examples, their batches and their order."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.graph_store.errors import UserError
from evenhand.training.language_examples import (
    Example,
    build_example,
    choose_layout,
    label_losses,
    packed_batch,
    padded_batch,
    training_order,
)


@pytest.fixture(scope="module")
def model(make_tiny_model: Any) -> Any:
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(str(make_tiny_model())).eval()


def examples(n: int, seed: int = 0) -> list[Example]:
    """Make prompts with a common beginning, some equal, labels of one token or two."""
    rng = np.random.default_rng(seed)
    return [
        build_example(
            (1, 5, 6, 7, *rng.integers(8, 200, rng.integers(1, 12)).tolist()),
            tuple(rng.integers(8, 200, rng.integers(1, 3)).tolist()),
            60,
            weight=float(rng.uniform(0.5, 2)),
        )
        for _ in range(n)
    ]


@given(prompt=st.integers(1, 60), label=st.integers(1, 5), longest=st.integers(7, 40))
def test_the_label_is_kept_whole_and_the_ends_of_the_prompt_stay(
    prompt: int, label: int, longest: int
) -> None:
    words, answer = tuple(range(prompt)), tuple(range(900, 900 + label))
    made = build_example(words, answer, longest)
    assert made.label == answer
    assert len(made) == min(prompt + label, longest)
    assert made.cut == prompt - len(made.prompt)
    assert (made.prompt[0], made.prompt[-1]) == (words[0], words[-1])


@pytest.mark.parametrize(("label", "longest"), [((), 10), ((1, 2, 3), 4)])
def test_a_label_that_leaves_no_room_is_refused(label: tuple[int, ...], longest: int) -> None:
    with pytest.raises(UserError, match="do not fit"):
        build_example((1, 2, 3), label, longest)


@pytest.mark.parametrize("n", [1, 2, 7])
def test_packed_and_padded_batches_cost_what_the_examples_cost_alone(model: Any, n: int) -> None:
    import torch

    some = examples(n, seed=n)
    some = [*some, some[0]]
    with torch.no_grad():
        alone = torch.cat([label_losses(model, padded_batch([one], 0)) for one in some])
        for batch in (packed_batch(some), padded_batch(some, 0)):
            assert torch.allclose(label_losses(model, batch), alone, atol=1e-5)


def test_the_common_beginning_is_laid_out_once(model: Any) -> None:
    some = examples(6)
    packed, padded = packed_batch(some), padded_batch(some, 0)
    tails = sum(len(each) - 1 - 4 for each in some)
    assert packed["input_ids"].numel() == 4 + tails
    assert packed["input_ids"].numel() < 0.6 * padded["input_ids"].numel()
    assert choose_layout(model, some, 0) is packed_batch


def test_a_model_that_reads_masks_in_its_own_way_gets_padded_batches(model: Any) -> None:
    import torch

    class Flat(torch.nn.Module):  # type: ignore[misc]
        """Takes a mask of two dimensions only."""

        def __init__(self) -> None:
            super().__init__()
            self.device = model.device

        def forward(self, input_ids: Any, attention_mask: Any, use_cache: bool = False) -> Any:
            if attention_mask.ndim != 2:
                raise ValueError("too many dimensions")
            return model(input_ids=input_ids, attention_mask=attention_mask, use_cache=use_cache)

    some = examples(3)
    layout = choose_layout(Flat(), some, 0)
    assert layout(some)["attention_mask"].ndim == 2


def test_a_pass_deals_everything_once_each_epoch_and_neighbours_are_alike() -> None:
    lengths = np.random.default_rng(0).integers(10, 400, 1000).tolist()
    dealt = training_order(lengths, batch=8, epochs=3, most_batches=None, seed=0)
    assert np.bincount(dealt).tolist() == [3] * 1000
    batches = np.asarray(lengths)[dealt].reshape(-1, 8)
    assert np.ptp(batches, axis=1).mean() < 20
    assert not np.array_equal(dealt[:1000], dealt[1000:2000])
    again = training_order(lengths, batch=8, epochs=3, most_batches=None, seed=0)
    assert np.array_equal(dealt, again)
    other = training_order(lengths, batch=8, epochs=3, most_batches=None, seed=1)
    assert not np.array_equal(dealt, other)


@pytest.mark.parametrize(("n", "batch", "most", "dealt"), [(10, 4, None, 10), (10, 4, 2, 8)])
def test_the_last_step_may_be_short_and_steps_may_be_limited(
    n: int, batch: int, most: int | None, dealt: int
) -> None:
    found = training_order([3] * n, batch=batch, epochs=1, most_batches=most, seed=0)
    assert len(found) == len(set(found.tolist())) == dealt
