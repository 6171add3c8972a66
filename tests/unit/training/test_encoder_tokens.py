"""A vocabulary of one's own, and batches of similar length."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.graph_store.errors import UserError
from evenhand.training.encoder_tokens import (
    END,
    PAD,
    START,
    encode,
    epoch_batches,
    equal_lengths,
    load_tokenizer,
    padded,
    train_tokenizer,
)

TEXTS = [f"Note: chest pain for {n} days\nSex: female" for n in range(40)]


@given(st.text(max_size=60))
def test_no_text_is_unknown_and_every_one_comes_back(text: str) -> None:
    tokenizer = train_tokenizer(TEXTS, size=400, least=2)
    (ids,), cut = encode(tokenizer, [text], 1_000)
    written = text.encode("utf-8", "replace").decode("utf-8")
    assert cut == 0
    assert (ids[0], ids[-1]) == (START, END)
    assert tokenizer.decode(ids[1:-1].tolist()) == written


def test_half_a_surrogate_pair_is_no_fault() -> None:
    tokenizer = train_tokenizer(["\udcff pain"] * 3, size=400, least=2)
    assert len(encode(tokenizer, ["\udcff"], 10)[0][0]) == 3


def test_of_a_long_text_the_middle_is_left_out() -> None:
    tokenizer = train_tokenizer(TEXTS, size=400, least=2)
    text = "chest pain " + "x" * 500 + " female"
    (whole,), _ = encode(tokenizer, [text], 10_000)
    (short, other), cut = encode(tokenizer, [text, "pain"], 41)
    assert (len(short), cut) == (41, 1)
    assert short.tolist() == [*whole[:20], *whole[-21:]]
    assert len(other) < 41


def test_the_vocabulary_does_not_depend_on_the_order_of_the_texts() -> None:
    one, other = (train_tokenizer(some, size=400, least=2) for some in (TEXTS, TEXTS[::-1]))
    assert one.get_vocab() == other.get_vocab()
    assert one.get_vocab_size() <= 400


def test_a_damaged_vocabulary_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    with pytest.raises(UserError, match="fit the mimic again"):
        load_tokenizer(path)
    path.write_text("{")
    with pytest.raises(UserError, match="fit the mimic again"):
        load_tokenizer(path)


@given(st.lists(st.integers(2, 90), min_size=1, max_size=200), st.integers(1, 9), st.integers(0, 9))
def test_an_epoch_reads_every_text_once(lengths: list[int], size: int, seed: int) -> None:
    batches = epoch_batches(lengths, size, np.random.default_rng(seed))
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(lengths)))
    assert max(map(len, batches)) <= size
    assert len(batches) == -(-len(lengths) // size)


@given(st.lists(st.integers(2, 40), max_size=120), st.integers(1, 300))
def test_batches_for_asking_hold_one_length(lengths: list[int], most: int) -> None:
    found = list(equal_lengths(lengths, most))
    assert sorted(place for some in found for place in some) == list(range(len(lengths)))
    for some in found:
        of = {lengths[place] for place in some}
        assert len(of) == 1
        assert len(some) == 1 or len(some) * of.pop() <= most


def test_shorter_texts_are_padded_behind() -> None:
    found = padded([np.array([START, 9, END]), np.array([START, END])])
    assert found.tolist() == [[START, 9, END], [START, END, PAD]]
