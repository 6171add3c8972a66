"""llama.cpp: the embedded model in this process, or a server that someone else started.

Exact log-probabilities over the whole vocabulary, without its tens of thousands of numbers: a bias
on the asked tokens makes the server draw one of them, whose unbiased probability it reports beside
those of the likeliest tokens. What is not among these is asked again for the shares of the biased
draw; they differ from the unbiased ones by one factor, and that is known from the drawn token.

With quantised weights llama.cpp rounds activations too, and where a batch is cut moves what is
rounded: a cache that ended in mid-batch moved log-probabilities by up to .08. So engines of our
own go on only where a batch of theirs begins, which gives the same bits as the whole prompt alone;
of another's server, whose batches are not known, the cache is not used.
"""

import asyncio
import importlib.metadata
import math
import os
import secrets
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.graph_store.errors import UserError
from evenhand.tools.completions import CallFailed
from evenhand.tools.providers.local import (
    CONTEXT_TOKENS,
    SCORING_BLOCK,
    embedded_weights,
    scoring_engines,
    weights_digest,
    weights_host,
)
from evenhand.tools.providers.openai import Client, Server, clean_url
from evenhand.tools.scoring import LabelScores, ScorerSettings, label_scorer
from evenhand.tools.scoring.lanes import Lane, NextTokens, lane_scores
from evenhand.tools.scoring.prefix_tree import shared_length
from evenhand.tools.scoring.server_tokenizer import ServerTokenizer, llama_tokenizer
from evenhand.training.label_tokens import TokenIds

_BIAS = 100.0
"""Added to the logits of the asked tokens: far above what a model says of any other."""
_TOP = 40
"""Likeliest tokens that are sent with each draw; most labels are among them."""
_LEAST = math.log(np.finfo(np.float32).tiny)
"""-87.3: the server's probabilities have 32 bits, and what is rarer than this comes as 0."""
_PROMPTS_A_TURN = 16
_KEY = "LLAMA_API_KEY"


@label_scorer(
    name="local",
    form="local[/<file.gguf>]",
    packages=("xllamacpp",),
    check=lambda settings: _check_local(settings),
    host=lambda settings: weights_host(settings.name),
)
async def local(settings: ScorerSettings) -> "LlamaScorer":
    """The embedded model (SmolLM2-135M unless a GGUF file is named), in this process."""
    path = await asyncio.to_thread(embedded_weights, settings.name)
    key = secrets.token_hex(32)
    engines = await asyncio.to_thread(scoring_engines, path, key)
    clients = [Client(_Engine("local", e.listening_address, path.name, _KEY, key)) for e in engines]
    identity = {
        "backend": "local",
        "file": path.name,
        "sha256": await asyncio.to_thread(weights_digest, path),
        "engine": f"xllamacpp {importlib.metadata.version('xllamacpp')}",
    }
    spec = f"local/{settings.name}" if settings.name else "local"
    slots = [(client, 0) for client in clients]
    return await _scorer(spec, settings, slots, identity, CONTEXT_TOKENS, engines)


@label_scorer(
    form="llama_cpp/<model>",
    packages=("aiohttp",),
    check=lambda settings: _check_server(settings),
    host=lambda settings: _server(settings).host,
)
async def llama_cpp(settings: ScorerSettings) -> "LlamaScorer":
    """A llama.cpp server at base_url; its key, if it has one, is LLAMA_API_KEY."""
    client = Client(_server(settings))
    try:
        props = await client.call("props")
        context = int(props["default_generation_settings"]["n_ctx"])
        count = min(int(props["total_slots"]), settings.in_flight or 1 << 30)
        weights = str(props.get("model_path", "")).rpartition("/")[2]
    except (CallFailed, KeyError, TypeError, ValueError) as error:
        await client.close()
        raise UserError(
            f"llama_cpp/{settings.name} cannot be asked: {error}. Expected a llama.cpp server at "
            f"{client.server.url}; start it, or correct the address (--base-url)."
        ) from None
    identity = {
        "backend": "llama_cpp",
        "model": settings.name,
        "base_url": client.server.url,
        "file": weights,
    }
    slots = [(client, slot) for slot in range(max(1, count))]
    return await _scorer(f"llama_cpp/{settings.name}", settings, slots, identity, context, [])


@dataclass(frozen=True)
class _Engine(Server):
    """An engine of our own, whose key nobody else knows."""

    own_key: str = ""

    @property
    def key(self) -> str | None:
        """The key that was made for it."""
        return self.own_key


def _server(settings: ScorerSettings) -> Server:
    url = clean_url(settings.base_url or "http://localhost:8080").removesuffix("/v1")
    return Server("llama_cpp", url, settings.name, _KEY)


def _check_server(settings: ScorerSettings) -> None:
    server = _server(settings)
    _no_adapter(settings)
    if server.host and not os.environ.get(_KEY):
        raise UserError(
            f"No key for {server.host}; expected it in {_KEY}. Set that variable, or name a "
            "server on this machine with --base-url."
        )


def _check_local(settings: ScorerSettings) -> None:
    _no_adapter(settings)
    if settings.name:
        embedded_weights(settings.name)


def _no_adapter(settings: ScorerSettings) -> None:
    if settings.adapter:
        raise UserError(
            f"Adapter {settings.adapter!r} is of torch, which llama.cpp does not read; use "
            "torch/local (or vllm/...) with it."
        )


async def _scorer(
    spec: str,
    settings: ScorerSettings,
    slots: Sequence[tuple[Client, int]],
    identity: dict[str, str],
    context: int,
    engines: list[Any],
) -> "LlamaScorer":
    tokenizer = await llama_tokenizer(slots[0][0], spec)
    return LlamaScorer(spec, settings, slots, identity, context, tokenizer, engines)


class LlamaScorer:
    """llama.cpp as a scorer; see OpenScorer.

    Args:
        spec: 'backend/name'.
        settings: Chat form, separator, system text.
        slots: Who is asked, and which slot keeps its prompts; each is one lane.
        identity: What answers.
        context: Tokens that a slot reads at most.
        tokenizer: Of the model.
        engines: Kept alive as long as the scorer is.
    """

    def __init__(
        self,
        spec: str,
        settings: ScorerSettings,
        slots: Sequence[tuple[Client, int]],
        identity: dict[str, str],
        context: int,
        tokenizer: ServerTokenizer,
        engines: list[Any],
    ) -> None:
        """Keep what was opened."""
        self.spec, self._settings, self._context = spec, settings, context
        self.host = slots[0][0].server.host
        self.says: tuple[str, ...] = ()
        form = "plain" if settings.chat is False else "chat where there is a template"
        self.identity = {**identity, "form": form, "system": settings.system}
        self._tokenizer, self._engines = tokenizer, engines
        self._clients = {id(client): client for client, _ in slots}.values()
        block = SCORING_BLOCK if engines else 0
        self._lanes: list[Lane] = [_Slot(client, slot, block).ask for client, slot in slots]

    async def score(
        self, prompts: Sequence[str], labels: Sequence[str]
    ) -> AsyncIterator[LabelScores]:
        """Score labels after prompts; see OpenScorer."""
        encoded = await asyncio.to_thread(self._settings.encode, self._tokenizer, prompts, labels)
        async for part in lane_scores(
            self._lanes,
            encoded.prompts,
            encoded.labels.ids,
            context=self._context,
            prompts_a_turn=_PROMPTS_A_TURN,
        ):
            yield part

    async def close(self) -> None:
        """Close the connections; engines of our own end."""
        for client in self._clients:
            await client.close()
        self._engines.clear()


class _Slot:
    """What a slot holds, and how it is asked; see Lane.

    Args:
        client: Of the server.
        number: Of the slot.
        block: Tokens of a batch, where it is known; 0: the cache is not used.
    """

    def __init__(self, client: Client, number: int, block: int) -> None:
        """Nothing is known of what the slot holds."""
        self._client, self._number, self._block = client, number, block
        self._held: TokenIds = ()

    async def ask(self, sequence: TokenIds, tokens: Sequence[int]) -> NextTokens:
        """Return the log-probabilities of tokens after a sequence; raises CallFailed."""
        bias = {"logit_bias": [[token, _BIAS] for token in tokens]}
        likeliest = {**bias, "samplers": ["top_k"], "top_k": 1, "n_probs": _TOP}
        drawn, computed = await self._draw(sequence, likeliest)
        known = {int(entry["id"]): float(entry["logprob"]) for entry in drawn["top_logprobs"]}
        known[int(drawn["id"])] = float(drawn["logprob"])
        if not all(token in known for token in tokens):
            shared = {"samplers": ["temperature"], "temperature": 1.0, "n_probs": len(tokens)}
            more, also = await self._draw(sequence, {**bias, **shared, "post_sampling_probs": True})
            computed += also
            shares = {int(e["id"]): _log(float(e["prob"])) for e in more["top_probs"]}
            mass = known[int(drawn["id"])] - shares[int(drawn["id"])]
            known = {token: shares[token] + mass for token in tokens} | known
        return NextTokens(np.maximum([known[token] for token in tokens], _LEAST), computed)

    async def _draw(self, sequence: TokenIds, asking: dict[str, Any]) -> tuple[dict[str, Any], int]:
        """Return what is said of one drawn token, and the tokens that were computed."""
        going_on, computed = await self._cut(sequence)
        reply = await self._complete(sequence, {**asking, "cache_prompt": going_on})
        drawn, also = _drawn(reply)
        return drawn, computed + also

    async def _cut(self, sequence: TokenIds) -> tuple[bool, int]:
        """Make the slot hold of a sequence only whole batches; say whether it holds any.

        A token that does not follow there makes the server forget what did.
        """
        if not self._block:
            return False, 0
        shared = shared_length(self._held, sequence)
        kept = min(shared, len(sequence) - 1) // self._block * self._block
        if kept in (0, shared):
            return kept > 0, 0
        follow = {sequence[kept], *self._held[kept : kept + 1]}
        other = next(token for token in range(3) if token not in follow)
        reply = await self._complete((*sequence[:kept], other), {"cache_prompt": True})
        return True, int(reply.get("timings", {}).get("prompt_n", 0))

    async def _complete(self, sequence: TokenIds, asking: dict[str, Any]) -> Any:
        self._held = ()
        body = {"prompt": list(sequence), "n_predict": 1, "id_slot": self._number, **asking}
        reply = await self._client.call("completion", body)
        self._held = sequence
        return reply


def _drawn(reply: Any) -> tuple[dict[str, Any], int]:
    """Return what is said of the one token that was drawn, and the tokens that were computed."""
    try:
        return reply["completion_probabilities"][0], int(reply["timings"]["prompt_n"])
    except (KeyError, IndexError, TypeError, ValueError):
        raise CallFailed("the server sent no probabilities; expected llama.cpp's own") from None


def _log(probability: float) -> float:
    return math.log(probability) if probability > 0 else _LEAST
