"""Models of transformers in this process, on the CPU or on CUDA; each distinct token once."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.graph_store.errors import UserError
from evenhand.tools.providers.torch import adapter_digest, is_here
from evenhand.tools.providers.torch import torch_base as torch_base
from evenhand.tools.scoring import LabelScores, LogProbs, ScorerSettings, label_scorer
from evenhand.tools.scoring.forward_scores import ReadyModel, ready_model, score_tokens
from evenhand.training.label_tokens import TokenIds
from evenhand.training.language_models import LanguageModel, choose_device, open_language_model


@label_scorer(
    form="torch/<local, folder or Hugging Face id>",
    packages=("torch", "transformers"),
    extra="torch",
    check=lambda settings: _check(settings),
    host=lambda settings: None if is_here(settings.name) else "huggingface.co",
)
async def torch(settings: ScorerSettings) -> "TorchScorer":
    """A causal language model of transformers, in this process, on the CPU or on CUDA."""
    return await asyncio.to_thread(open_torch, settings)


def open_torch(settings: ScorerSettings) -> "TorchScorer":
    """Open a model as a scorer.

    Raises:
        UserError: As in `open_language_model`; no such device; bfloat16 on the CPU.
    """
    device, said = choose_device(settings.device)
    if settings.dtype == "bfloat16" and device == "cpu":
        raise UserError("bfloat16 on a CPU is slow and moves near ties; use --dtype float32.")
    adapter = Path(settings.adapter).expanduser() if settings.adapter else None
    base = torch_base(settings.name, settings.revision)
    opened = open_language_model(base, device=device, dtype=settings.dtype, adapter=adapter)
    return TorchScorer(opened, settings, said)


class TorchScorer:
    """An opened model; see OpenScorer.

    Args:
        opened: Model and tokenizer.
        settings: Chat form, separator, budget.
        said: The sentence about the device.
    """

    host: str | None = None

    def __init__(self, opened: LanguageModel, settings: ScorerSettings, said: str) -> None:
        """Try how the model can be asked, in three short passes."""
        import torch
        import transformers

        self._opened, self._settings = opened, settings
        self._ready: ReadyModel = ready_model(opened.model)
        self.spec = f"torch/{opened.base.name}"
        self.says = tuple(filter(None, (said, self._ready.says)))
        self.identity = {
            "backend": "torch",
            "model": opened.base.name,
            "digest": opened.base.digest,
            "adapter": adapter_digest(settings.adapter),
            "engine": f"torch {torch.__version__}, transformers {transformers.__version__}",
            "device": opened.device,
            "dtype": settings.dtype,
            "method": self._ready.method,
            "form": "plain" if settings.chat is False else "chat where there is a template",
            "system": settings.system,
        }

    async def score(
        self, prompts: Sequence[str], labels: Sequence[str]
    ) -> AsyncIterator[LabelScores]:
        """Score labels after prompts; see OpenScorer."""
        parts = self.score_texts(prompts, labels)
        while (part := await asyncio.to_thread(next, parts, None)) is not None:
            yield part

    def score_texts(self, prompts: Sequence[str], labels: Sequence[str]) -> Iterator[LabelScores]:
        """Likewise, without a thread of its own."""
        settings = self._settings
        encoded = settings.encode(self._opened.tokenizer, prompts, labels)
        yield from score_tokens(
            self._ready, encoded.prompts, encoded.labels.ids, token_budget=settings.token_budget
        )

    async def close(self) -> None:
        """Nothing runs on."""


def lend_scorer(model: Any, prompts: Sequence[TokenIds], labels: Sequence[TokenIds]) -> LogProbs:
    """Return the log-probability of each label after each prompt, shape (n, L).

    A `Scorer` for training. Where a prompt is longer than the context, its row is NaN.
    """
    found = np.full((len(prompts), len(labels)), np.nan)
    for part in score_tokens(ready_model(model), prompts, labels):
        found[part.places] = part.log_probs
    return found


def _check(settings: ScorerSettings) -> None:
    if settings.adapter and not Path(settings.adapter).expanduser().is_dir():
        raise UserError(f"Adapter {settings.adapter!r} is no folder; name the folder of one.")
