"""BERTScore: how much of a reference an answer says, by its nearest tokens.

Each token of the answer is matched with the most similar token of the reference, and the other way
round: precision is the mean similarity over the answer's tokens, recall over the reference's, F1
their harmonic mean. No idf weights and no rescaling; the marks of beginning and end do not count.

Source: Zhang, Kishore, Wu, Weinberger, Artzi 2020, "BERTScore: Evaluating Text Generation with
BERT", ICLR. Numbers of different encoders are not comparable: the encoder belongs to the number.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from evenhand.graph_store.errors import UserError
from evenhand.tools.vector_index import Vectors, open_encoder

MINILM = "minilm"
"""The encoder that needs no torch: all-MiniLM-L6-v2 in numpy."""
EmbedTokens = Callable[[str], Vectors]
"""Unit vectors of a text's tokens, shape (tokens, d)."""


@dataclass(frozen=True)
class TokenMatch:
    """Precision, recall and F1, cosines in [-1, 1]; in practice 0 to 1."""

    precision: float
    recall: float
    f1: float


def match_tokens(candidate: Vectors, reference: Vectors) -> TokenMatch | None:
    """Match unit vectors of tokens greedily.

    Args:
        candidate: Shape (m, d).
        reference: Shape (n, d).

    Returns:
        None where one of them has no token.
    """
    if not len(candidate) or not len(reference):
        return None
    cosines = np.clip(candidate.astype(np.float64) @ reference.T.astype(np.float64), -1, 1)
    precision, recall = float(cosines.max(axis=1).mean()), float(cosines.max(axis=0).mean())
    total = precision + recall
    f1 = 2 * precision * recall / total if precision > 0 and recall > 0 else 0.0
    return TokenMatch(precision, recall, f1)


@lru_cache(maxsize=50_000)
def bert_score(candidate: str, reference: str, encoder: str = MINILM) -> TokenMatch | None:
    """Score a text against a reference; None where one of them is empty.

    Args:
        candidate: An answer; one longer than the encoder takes is read in parts.
        reference: What it should say, such as the correct diagnosis.
        encoder: "minilm", a folder with a model, or its name for transformers (extra torch).

    Raises:
        UserError: The encoder is not installed or not found.
    """
    embed = token_encoder(encoder)
    return match_tokens(embed(candidate), _reference(reference, encoder))


@lru_cache(maxsize=1_000)
def _reference(text: str, encoder: str) -> Vectors:
    return token_encoder(encoder)(text)


@cache
def token_encoder(name: str) -> EmbedTokens:
    """Return what embeds tokens, opened once.

    Raises:
        UserError: The encoder is not installed or not found.
    """
    if name == MINILM:
        return open_encoder().embed_tokens
    if find_spec("transformers") is None or find_spec("torch") is None:
        raise UserError(
            f"The encoder {name!r} needs torch and transformers, not installed here; expected "
            f"the extra torch, or {MINILM!r}, which needs neither."
        )
    return _TransformersEncoder(name)


class _TransformersEncoder:
    """Any encoder that transformers can open, from a folder, its cache or the hub.

    The last layer is used. A text longer than the model takes is read in parts.
    """

    def __init__(self, name: str) -> None:
        # By name, so that type checks need neither package.
        transformers: Any = import_module("transformers")
        try:
            self._tokenizer: Any = transformers.AutoTokenizer.from_pretrained(name, use_fast=True)
            self._model: Any = transformers.AutoModel.from_pretrained(
                name, use_safetensors=True
            ).eval()
        except (OSError, ValueError) as error:
            first = str(error).strip().splitlines()[0]
            raise UserError(
                f"No encoder {name!r} ({first}); expected a folder with a model, a name on the "
                f"Hugging Face hub with weights as safetensors, or {MINILM!r}."
            ) from None
        longest = int(getattr(self._model.config, "max_position_embeddings", 512))
        self._longest = min(longest, int(self._tokenizer.model_max_length))

    def __call__(self, text: str) -> Vectors:
        """Return unit vectors of the tokens of a text."""
        torch: Any = import_module("torch")
        parts = self._tokenizer(
            text,
            truncation=True,
            max_length=self._longest,
            return_overflowing_tokens=True,
            return_special_tokens_mask=True,
        )
        states = []
        for ids, special in zip(parts["input_ids"], parts["special_tokens_mask"], strict=True):
            with torch.no_grad():
                last = self._model(input_ids=torch.tensor([ids])).last_hidden_state[0]
            states.append(last[~torch.tensor(special, dtype=torch.bool)])
        vectors: Vectors = torch.nn.functional.normalize(torch.cat(states), dim=-1).numpy()
        return vectors
