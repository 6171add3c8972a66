"""Any OpenAI-compatible chat server that lists the likeliest tokens of its reply.

Such a server says nothing of tokens outside its list. A prompt with a label outside is counted as
"outside_top" and has no score: a missing number is not a small one, and the mass that the list
leaves over may be that label's.
"""

import os
from collections.abc import AsyncIterator, Sequence
from typing import Any

import numpy as np

from evenhand.graph_store.errors import UserError
from evenhand.tools.calls import Patience
from evenhand.tools.completions import CallFailed
from evenhand.tools.providers.openai import VENDOR_URL, Client, Server, clean_url
from evenhand.tools.scoring import LabelScores, ScorerSettings, Work, label_scorer
from evenhand.tools.scoring.label_requests import plan_requests
from evenhand.tools.scoring.lanes import ERROR, ask_patiently, in_lanes, unscored
from evenhand.training.label_tokens import check_labels

OUTSIDE_TOP = "outside_top"
TOP_TOKENS = 20
"""OpenAI's limit, and the default of most servers."""
_IN_FLIGHT = 16
_KEY = "OPENAI_API_KEY"


@label_scorer(
    form="openai/<model>",
    packages=("aiohttp",),
    check=lambda settings: _check(settings),
    host=lambda settings: _server(settings).host,
)
async def openai(settings: ScorerSettings) -> "ChatScorer":
    """A chat server at base_url, OPENAI_BASE_URL or OpenAI, by the likeliest tokens it lists."""
    client = Client(_server(settings))
    try:
        await client.probe()
    except UserError:
        await client.close()
        raise
    return ChatScorer(client, settings)


def _server(settings: ScorerSettings) -> Server:
    url = settings.base_url or os.environ.get("OPENAI_BASE_URL") or VENDOR_URL
    return Server("openai", clean_url(url), settings.name, _KEY)


def _check(settings: ScorerSettings) -> None:
    server = _server(settings)
    if server.host and not server.key:
        raise UserError(
            f"No key for {server.host}; expected it in {_KEY}. Set that variable, or name a "
            "server on this machine with --base-url."
        )
    if settings.chat is False:
        raise UserError(
            f"openai/{settings.name} is asked in chat form only; leave --no-chat out, or use "
            "vllm/, llama_cpp/ or torch/, which take plain prompts."
        )
    if settings.adapter:
        raise UserError(
            f"openai/{settings.name} takes no adapter; write the name that the server knows it "
            "by as the model."
        )


class ChatScorer:
    """A chat server as a scorer; see OpenScorer.

    Args:
        client: Open connections.
        settings: System text, separator, requests in flight.
    """

    def __init__(self, client: Client, settings: ScorerSettings) -> None:
        """Keep what was opened."""
        self._client, self._settings = client, settings
        self._patience = Patience()
        self.spec = f"openai/{settings.name}"
        self.host = client.server.host
        self.says: tuple[str, ...] = (
            f"Labels are looked up among the {TOP_TOKENS} likeliest tokens; a prompt with a label "
            f'outside is counted as "{OUTSIDE_TOP}", without a score.',
        )
        self.identity = {
            "backend": "openai",
            "model": settings.name,
            "base_url": client.server.url,
            "top_tokens": str(TOP_TOKENS),
            "form": "chat",
            "system": settings.system,
        }

    async def score(
        self, prompts: Sequence[str], labels: Sequence[str]
    ) -> AsyncIterator[LabelScores]:
        """Score labels after prompts; see OpenScorer.

        Raises:
            UserError: More labels than the server lists tokens, or labels of which one begins
                another: the server shows one token.
        """
        known = _one_token_each(labels, self._settings.name)
        plan = plan_requests(len(known), max_logprobs=TOP_TOKENS)
        if plan.strategy != "top_list":
            raise UserError(
                f"{len(known)} labels are more than the {TOP_TOKENS} tokens that {self.spec} "
                "lists; use torch/, vllm/ or llama_cpp/, which score any number."
            )
        owners: dict[str, list[int]] = {}
        for place, prompt in enumerate(prompts):
            owners.setdefault(prompt, []).append(place)

        async def one(prompt: str) -> LabelScores:
            return await self._one(prompt, known, owners[prompt])

        count = self._settings.in_flight or _IN_FLIGHT
        async for part in in_lanes([one] * count, list(owners)):
            yield part

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _one(self, prompt: str, labels: tuple[str, ...], places: list[int]) -> LabelScores:
        try:
            reply = await ask_patiently(
                lambda: self._client.call("chat/completions", self._body(prompt)), self._patience
            )
            top, tokens = _first_token(reply)
        except CallFailed:
            return unscored(places, len(labels), ERROR)
        wanted = [(self._settings.separator or "") + label for label in labels]
        if not all(text in top for text in wanted):
            return unscored(places, len(labels), OUTSIDE_TOP)
        rows = np.tile([top[text] for text in wanted], (len(places), 1))
        work = Work(prompt_tokens=tokens * len(places))
        return LabelScores(np.array(places, np.int64), rows, ("ok",) * len(places), work)

    def _body(self, prompt: str) -> dict[str, Any]:
        system = self._settings.system
        messages = [{"role": "system", "content": system}] if system else []
        limit = "max_completion_tokens" if self._client.server.is_vendor else "max_tokens"
        return {
            "model": self._client.server.model,
            "messages": [*messages, {"role": "user", "content": prompt}],
            "temperature": 0.0,
            limit: 1,
            "logprobs": True,
            "top_logprobs": TOP_TOKENS,
        }


def _one_token_each(labels: Sequence[str], model: str) -> tuple[str, ...]:
    known = check_labels(labels)
    for label in known:
        longer = next((one for one in known if one != label and one.startswith(label)), None)
        if longer is not None:
            raise UserError(
                f"Label {label!r} begins label {longer!r}, and openai/{model} shows one token "
                "only; use torch/, vllm/ or llama_cpp/, or labels of which none begins another."
            )
    return known


def _first_token(reply: Any) -> tuple[dict[str, float], int]:
    """Return the log-probabilities of the listed first tokens by text, and the prompt's tokens.

    Two tokens may have the same text; together they are as likely as their sum.
    """
    try:
        listed = reply["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
        found: dict[str, float] = {}
        for entry in listed:
            text, value = str(entry["token"]), float(entry["logprob"])
            found[text] = float(np.logaddexp(found[text], value)) if text in found else value
        return found, int((reply.get("usage") or {}).get("prompt_tokens") or 0)
    except (KeyError, IndexError, TypeError, ValueError):
        raise CallFailed("the server sent no log-probabilities of its first token") from None
