"""Vectors are computed once."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from evenhand.graph_store.errors import UserError
from evenhand.training.embedding_cache import EmbeddingCache
from evenhand.training.lent import Embedder


class Counting:
    """An encoder that remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        return np.array([[len(text), text.count("a")] for text in texts], dtype=np.float32)


def test_each_text_is_asked_once_and_order_is_kept() -> None:
    inner = Counting()
    cache = EmbeddingCache(Embedder("lengths", inner))
    first = cache.embed(["aa", "b", "aa", "\udcff"])
    assert first.tolist() == [[2, 2], [1, 0], [2, 2], [1, 0]]
    assert cache.embedder.embed(["b", "ccc"]).tolist() == [[1, 0], [3, 0]]
    assert inner.asked == ["aa", "b", "\udcff", "ccc"]
    assert cache.embedder.name == "lengths"


def test_with_a_folder_they_outlive_the_process(tmp_path: Path) -> None:
    EmbeddingCache(Embedder("lengths", Counting()), tmp_path).embed(["aa", "b"])
    inner = Counting()
    again = EmbeddingCache(Embedder("lengths", inner), tmp_path)
    assert again.embed(["b", "aa"]).tolist() == [[1, 0], [2, 2]]
    assert inner.asked == []
    assert b"aa" not in b"".join(path.read_bytes() for path in tmp_path.iterdir())[-40:]


def test_vectors_of_another_encoder_are_not_taken(tmp_path: Path) -> None:
    EmbeddingCache(Embedder("lengths", Counting()), tmp_path).embed(["aa"])
    inner = Counting()
    EmbeddingCache(Embedder("other", inner), tmp_path).embed(["aa"])
    assert inner.asked == ["aa"]


def test_a_damaged_part_is_named(tmp_path: Path) -> None:
    (tmp_path / "part.safetensors").write_bytes(b"torn")
    with pytest.raises(UserError, match="delete the file"):
        EmbeddingCache(Embedder("lengths", Counting()), tmp_path)


def test_no_texts_are_no_vectors() -> None:
    assert EmbeddingCache(Embedder("lengths", Counting())).embed([]).shape[0] == 0
