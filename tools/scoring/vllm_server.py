"""A vLLM server, asked by token ids over its OpenAI-compatible address."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import numpy as np

from evenhand.graph_store.errors import UserError
from evenhand.tools.completions import CallFailed
from evenhand.tools.providers.openai import Client, Server, clean_url
from evenhand.tools.scoring import LabelScores, ScorerSettings
from evenhand.tools.scoring.label_requests import MAX_NAMED_TOKENS, Strategy
from evenhand.tools.scoring.lanes import Lane, NextTokens, lane_scores
from evenhand.tools.scoring.server_tokenizer import ServerTokenizer, vllm_tokenizer
from evenhand.training.label_tokens import TokenIds

_IN_FLIGHT = 16
_KEY = "VLLM_API_KEY"


def server_of(settings: ScorerSettings) -> Server:
    """Return the server at the settings' address, without /v1: its tokenizer lies beside that."""
    url = clean_url(settings.base_url or "").removesuffix("/v1")
    return Server("vllm", url, settings.adapter or settings.name, _KEY)


async def open_server(settings: ScorerSettings) -> "VllmServerScorer":
    """Open a vLLM server as a scorer.

    Raises:
        UserError: It cannot be reached, does not serve the model or adapter, or gives no
            log-probabilities of named or forced tokens.
    """
    client = Client(server_of(settings))
    try:
        served = {str(entry["id"]): entry for entry in (await client.call("v1/models"))["data"]}
        version = str((await client.call("version"))["version"])
        if client.server.model not in served:
            what = "adapter" if settings.adapter else "model"
            raise UserError(
                f"{client.server.url} serves no {what} {client.server.model!r}; it has "
                f"{', '.join(served)}. An adapter is served with --enable-lora --lora-modules "
                "NAME=FOLDER."
            )
        tokenizer, context = await vllm_tokenizer(client, client.server.model)
        strategy = await _strategy(client)
    except (CallFailed, KeyError, TypeError) as error:
        await client.close()
        raise UserError(
            f"vllm/{settings.name} cannot be asked: {error}. Expected a vLLM server at "
            f"{client.server.url}; start it, or correct the address (--base-url)."
        ) from None
    except UserError:
        await client.close()
        raise
    return VllmServerScorer(settings, client, tokenizer, context, version, strategy)


class VllmServerScorer:
    """A vLLM server as a scorer; see OpenScorer.

    Args:
        settings: Model, adapter by the name that the server knows, form of the prompts.
        client: Open connections.
        tokenizer: Of the model.
        context: Tokens that the model reads at most.
        version: Of the server.
        strategy: How it gives log-probabilities.
    """

    def __init__(
        self,
        settings: ScorerSettings,
        client: Client,
        tokenizer: ServerTokenizer,
        context: int,
        version: str,
        strategy: Strategy,
    ) -> None:
        """Keep what was opened."""
        self._settings, self._client, self._tokenizer = settings, client, tokenizer
        self._context = context
        self.spec = f"vllm/{settings.name}"
        self.host = client.server.host
        each = "each label is asked on its own: it does not give named tokens."
        self.says: tuple[str, ...] = (f"vLLM {version}; {each}",) if strategy != _NAMED else ()
        self.identity = {
            "backend": "vllm",
            "model": settings.name,
            "adapter": settings.adapter or "",
            "base_url": client.server.url,
            "engine": f"vllm {version}",
            "form": "plain" if settings.chat is False else "chat where there is a template",
            "system": settings.system,
        }
        lane = _named_lane(client) if strategy == _NAMED else _forced_lane(client)
        self._lanes: list[Lane] = [lane] * (settings.in_flight or _IN_FLIGHT)

    async def score(
        self, prompts: Sequence[str], labels: Sequence[str]
    ) -> AsyncIterator[LabelScores]:
        """Score labels after prompts; see OpenScorer."""
        encoded = await asyncio.to_thread(self._settings.encode, self._tokenizer, prompts, labels)
        async for part in lane_scores(
            self._lanes,
            encoded.prompts,
            encoded.labels.ids,
            context=self._context - 1,
            prompts_a_turn=1,
        ):
            yield part

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


_NAMED: Strategy = "named_tokens"


async def _strategy(client: Client) -> Strategy:
    """Return what the server can do: tried, as versions and builds differ."""
    try:
        found = await _named_lane(client)((1, 2), (3, 4))
        if np.isfinite(found.log_probs).all():
            return _NAMED
    except CallFailed as failure:
        if failure.kind == "unreachable":
            raise
    await _forced_lane(client)((1, 2), (3,))
    return "score_each_label"


def _named_lane(client: Client) -> Lane:
    async def ask(sequence: TokenIds, tokens: Sequence[int]) -> NextTokens:
        known: dict[int, float] = {}
        computed = 0
        for start in range(0, len(tokens), MAX_NAMED_TOKENS):
            named = list(tokens[start : start + MAX_NAMED_TOKENS])
            said, new = await _complete(client, sequence, {"logprob_token_ids": named})
            known |= said
            computed += new
        return NextTokens(_all_of(known, tokens), computed)

    return ask


def _forced_lane(client: Client) -> Lane:
    async def ask(sequence: TokenIds, tokens: Sequence[int]) -> NextTokens:
        known: dict[int, float] = {}
        computed = 0
        for token in tokens:
            said, new = await _complete(client, sequence, {"allowed_token_ids": [token]})
            known |= said
            computed += new
        return NextTokens(_all_of(known, tokens), computed)

    return ask


async def _complete(
    client: Client, sequence: TokenIds, asking: dict[str, Any]
) -> tuple[dict[int, float], int]:
    """Return log-probabilities by token id, and the tokens computed, 0 where it is not said."""
    reply = await client.call(
        "v1/completions",
        {
            "model": client.server.model,
            "prompt": list(sequence),
            "max_tokens": 1,
            "temperature": 0.0,
            "logprobs": 1,
            "return_tokens_as_token_ids": True,
            **asking,
        },
    )
    try:
        top = reply["choices"][0]["logprobs"]["top_logprobs"][0]
        usage = reply["usage"]
        cached = usage.get("prompt_tokens_details") or {}
        computed = int(usage["prompt_tokens"]) - int(cached["cached_tokens"]) if cached else 0
        return {int(key.rpartition(":")[2]): float(value) for key, value in top.items()}, computed
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        raise CallFailed("the server sent no log-probabilities by token id") from None


def _all_of(known: dict[int, float], tokens: Sequence[int]) -> Any:
    if missing := [token for token in tokens if token not in known]:
        raise CallFailed(f"the server left out tokens {missing}")
    return np.array([known[token] for token in tokens])
