"""vLLM: in this process, or a server that runs it; shared stems come from its prefix cache.

A newer vLLM gives the log-probabilities of named tokens. Where it does not, each token is asked on
its own, as the only one that may be drawn: the log-probability of the drawn one is unbiased.
"""

import asyncio
import importlib
import importlib.util
import json
import os
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.graph_store.errors import UserError
from evenhand.tools.scoring import LabelScores, LogProbs, ScorerSettings, Work, label_scorer
from evenhand.tools.scoring.label_requests import MAX_NAMED_TOKENS
from evenhand.tools.scoring.lanes import TOO_LONG, new_nodes, unscored
from evenhand.tools.scoring.tree_scores import asked_tokens, label_log_probs
from evenhand.tools.scoring.vllm_server import open_server, server_of
from evenhand.training.label_tokens import HubTokenizer, TokenIds

_PROMPTS_A_TURN = 256
_CPU_BLOCK = 32
"""Tokens of a cache block on a CPU: the only size there with which a shared stem was a gain."""
_LORA_NAME = "evenhand"
_RANKS = (8, 16, 32, 64, 128, 256, 320, 512)
"""vLLM sets aside room for one of these (vllm.config.lora)."""


@label_scorer(
    form="vllm/<model>",
    extra="vllm",
    check=lambda settings: _check(settings),
    host=lambda settings: _host(settings),
)
async def vllm(settings: ScorerSettings) -> Any:
    """A model of vLLM: at base_url, or in this process where no address is given."""
    if settings.base_url:
        return await open_server(settings)
    return await asyncio.to_thread(VllmScorer, settings)


def _host(settings: ScorerSettings) -> str | None:
    if settings.base_url:
        return server_of(settings).host
    return None if Path(settings.name).expanduser().exists() else "huggingface.co"


def _check(settings: ScorerSettings) -> None:
    if settings.base_url:
        server_of(settings)
        return
    if importlib.util.find_spec("vllm") is None:
        raise UserError(
            f"Model vllm/{settings.name} needs vLLM, which is not installed here; name a running "
            "vLLM server with --base-url, use torch/..., or install vllm in an environment of its "
            "own (its pins conflict with ours)."
        )
    if settings.adapter and not (Path(settings.adapter) / "adapter_config.json").is_file():
        raise UserError(
            f"Adapter {settings.adapter!r} holds no adapter_config.json; name the folder of one."
        )


class VllmScorer:
    """vLLM in this process; see OpenScorer.

    Args:
        settings: Model, adapter, dtype, form of the prompts.
    """

    host = None

    def __init__(self, settings: ScorerSettings) -> None:
        """Load the model; a minute or two.

        Raises:
            UserError: It cannot be loaded.
        """
        # Its statistics would be sent out, and nothing of ours is.
        os.environ["VLLM_NO_USAGE_STATS"] = os.environ["DO_NOT_TRACK"] = "1"
        # Not by its name: type checkers look into an environment without it.
        engine: Any = importlib.import_module("vllm")
        platforms: Any = importlib.import_module("vllm.platforms")

        self._settings, self._sampling = settings, engine.SamplingParams
        on_cpu = platforms.current_platform.is_cpu()
        options: dict[str, Any] = (
            {"enforce_eager": True, "block_size": _CPU_BLOCK} if on_cpu else {}
        )
        if settings.adapter:
            options |= {"enable_lora": True, "max_loras": 1, "max_lora_rank": _rank(settings)}
        try:
            self._engine: Any = engine.LLM(
                model=str(Path(settings.name).expanduser())
                if Path(settings.name).expanduser().exists()
                else settings.name,
                revision=settings.revision,
                dtype=settings.dtype,
                seed=0,
                enable_prefix_caching=True,
                disable_log_stats=True,
                **options,
            )
        except (RuntimeError, ValueError, OSError) as error:
            raise UserError(
                f"vLLM cannot load {settings.name!r} ({type(error).__name__}: {error}); expected "
                "the folder or Hugging Face id of a causal language model with its tokenizer."
            ) from None
        self._adapter = _adapter(settings.adapter)
        self._tokenizer = HubTokenizer(self._engine.get_tokenizer(), settings.name)
        self._context = int(self._engine.llm_engine.model_config.max_model_len)
        device = "the CPU" if on_cpu else "CUDA"
        self.spec = f"vllm/{settings.name}"
        self.says: tuple[str, ...] = (f"vLLM {engine.__version__} scores on {device}.",)
        self.identity = {
            "backend": "vllm",
            "model": settings.name,
            "adapter": settings.adapter or "",
            "engine": f"vllm {engine.__version__}",
            "device": device,
            "dtype": settings.dtype,
            "form": "plain" if settings.chat is False else "chat where there is a template",
            "system": settings.system,
        }

    async def score(
        self, prompts: Sequence[str], labels: Sequence[str]
    ) -> AsyncIterator[LabelScores]:
        """Score labels after prompts; see OpenScorer."""
        encoded = await asyncio.to_thread(self._settings.encode, self._tokenizer, prompts, labels)
        parts = self._score_tokens(encoded.prompts, encoded.labels.ids)
        while (part := await asyncio.to_thread(next, parts, None)) is not None:
            yield part

    async def close(self) -> None:
        """End the engine's process."""
        if self._engine is not None:
            await asyncio.to_thread(self._engine.llm_engine.engine_core.shutdown)
        self._engine = None

    def _score_tokens(
        self, prompts: Sequence[TokenIds], labels: Sequence[TokenIds]
    ) -> Iterator[LabelScores]:
        # vLLM wants room for the one token that it draws.
        room = self._context - max(map(len, labels))
        if long := [place for place, prompt in enumerate(prompts) if len(prompt) > room]:
            yield unscored(long, len(labels), TOO_LONG)
        owners: dict[TokenIds, list[int]] = {}
        for place, prompt in enumerate(prompts):
            if len(prompt) <= room:
                owners.setdefault(prompt, []).append(place)
        distinct = sorted(owners)
        new = new_nodes(distinct, asked_tokens([()], labels).sequences)
        for at in range(0, len(distinct), _PROMPTS_A_TURN):
            turn = distinct[at : at + _PROMPTS_A_TURN]
            asked = asked_tokens(turn, labels)
            table, computed = self._ask(asked.sequences, asked.tokens.tolist())
            found = label_log_probs(asked, table)
            rows = [row for row, prompt in enumerate(turn) for _ in owners[prompt]]
            places = np.array([place for prompt in turn for place in owners[prompt]], np.int64)
            work = Work(
                sum(len(prompts[place]) for place in places),
                sum(new[prompt] for prompt in turn),
                computed,
            )
            yield LabelScores(places, found[rows], ("ok",) * len(places), work)

    def _ask(self, sequences: Sequence[TokenIds], tokens: list[int]) -> tuple[LogProbs, int]:
        """Return log-probabilities (m, U) of tokens after sequences, and the tokens computed."""
        table = np.zeros((len(sequences), len(tokens)))
        computed = 0
        for start in range(0, len(tokens), MAX_NAMED_TOKENS):
            named = tokens[start : start + MAX_NAMED_TOKENS]
            asking = self._sampling(
                max_tokens=1, temperature=0.0, logprob_token_ids=named, detokenize=False
            )
            replies = self._engine.generate(
                [{"prompt_token_ids": list(sequence)} for sequence in sequences],
                asking,
                use_tqdm=False,
                lora_request=self._adapter,
            )
            for row, reply in enumerate(replies):
                said = reply.outputs[0].logprobs[0]
                table[row, start : start + len(named)] = [said[token].logprob for token in named]
                computed += len(sequences[row]) - (reply.num_cached_tokens or 0)
        return table, computed


def _rank(settings: ScorerSettings) -> int:
    """Return the least rank that vLLM knows and the adapter fits in."""
    named = Path(settings.adapter or "").expanduser() / "adapter_config.json"
    own = int(json.loads(named.read_text("utf-8"))["r"])
    fits = next((rank for rank in _RANKS if rank >= own), None)
    if fits is None:
        raise UserError(f"The adapter has rank {own}; vLLM takes {_RANKS[-1]} at most.")
    return fits


def _adapter(folder: str | None) -> Any:
    if folder is None:
        return None
    requests: Any = importlib.import_module("vllm.lora.request")
    return requests.LoRARequest(_LORA_NAME, 1, str(Path(folder).expanduser()))
