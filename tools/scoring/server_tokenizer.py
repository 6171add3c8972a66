"""The tokenizer of a model behind a server, asked over its address.

Who encodes does so in a thread of its own, while the event loop of the connection runs on.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeVar

from evenhand.graph_store.errors import UserError
from evenhand.tools.completions import CallFailed
from evenhand.tools.providers.openai import Client

T = TypeVar("T")
_IN_FLIGHT = 8
_CONTROL = re.compile(
    r"<\|[^|<>\s]+\|>|<(?:s|/s|bos|eos|pad|unk)>|\[/?INST\]|<(?:start|end)_of_turn>"
)
"""Control tokens as templates write them; a server does not list its own."""

EncodeOne = Callable[[str], Awaitable[list[int]]]
LayOut = Callable[[list[dict[str, str]]], Awaitable[str]]


class ServerTokenizer:
    """See TextTokenizer.

    Args:
        name: Of the model, for messages.
        encode_one: Ids of a text, control tokens that stand in it one id each, none added.
        lay_out: Templated text of messages, up to where the answer begins; None: no template.
        first: Id that a sequence begins with.
        end: Id that ends an answer.
        specials: Texts of control tokens.
    """

    def __init__(
        self,
        name: str,
        encode_one: EncodeOne,
        lay_out: LayOut | None,
        *,
        first: int | None,
        end: int | None,
        specials: Iterable[str],
    ) -> None:
        """Keep the running loop: calls from other threads are made there."""
        self.name, self.first, self.end = name, first, end
        self.specials: tuple[str, ...] = tuple(sorted(set(specials), key=len, reverse=True))
        self.has_chat = lay_out is not None
        self._encode_one, self._lay_out = encode_one, lay_out
        self._loop = asyncio.get_running_loop()

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of each text; not from the loop's own thread."""
        return self._wait(self._encode_all(texts))

    def chat(self, system: str, user: str) -> str:
        """Return the templated text of one question, up to where the answer begins."""
        turns = [{"role": "system", "content": system}] if system else []
        turns.append({"role": "user", "content": user})
        if self._lay_out is None:
            raise UserError(f"{self.name} has no chat template; use plain prompts (--no-chat).")
        return self._wait(self._lay_out(turns))

    def _wait(self, work: Awaitable[T]) -> T:
        async def awaited() -> T:
            return await work

        try:
            return asyncio.run_coroutine_threadsafe(awaited(), self._loop).result()
        except CallFailed as failure:
            raise UserError(f"The tokenizer of {self.name} cannot be asked: {failure}.") from None

    async def _encode_all(self, texts: Sequence[str]) -> list[list[int]]:
        places = asyncio.Semaphore(_IN_FLIGHT)

        async def one(text: str) -> list[int]:
            async with places:
                return await self._encode_one(text)

        return list(await asyncio.gather(*map(one, texts)))


def control_texts(*texts: str) -> set[str]:
    """Return the control tokens that stand in templates."""
    return {found for text in texts for found in _CONTROL.findall(text)}


async def llama_tokenizer(client: Client, name: str) -> ServerTokenizer:
    """Return the tokenizer of a llama.cpp server.

    Raises:
        UserError: It does not answer as llama.cpp does.
    """

    async def encode(text: str, start: bool = False) -> list[int]:
        body = {"content": text, "add_special": start, "parse_special": True}
        return [int(token) for token in (await client.call("tokenize", body))["tokens"]]

    async def lay_out(turns: list[dict[str, str]]) -> str:
        return str((await client.call("apply-template", {"messages": turns}))["prompt"])

    try:
        props = await client.call("props")
        template, end_text = str(props.get("chat_template") or ""), str(props.get("eos_token", ""))
        plain, started = await encode("a"), await encode("a", start=True)
        end = await encode(end_text) if end_text else []
    except (CallFailed, KeyError, TypeError, ValueError) as error:
        raise UserError(f"The tokenizer of {name} cannot be asked: {error}.") from None
    first = started[0] if started[:1] != plain[:1] else None
    specials = control_texts(template) | {end_text, str(props.get("bos_token", ""))} - {""}
    return ServerTokenizer(
        name,
        encode,
        lay_out if template else None,
        first=first,
        end=end[0] if len(end) == 1 else None,
        specials=specials,
    )


async def vllm_tokenizer(client: Client, name: str) -> tuple[ServerTokenizer, int]:
    """Return the tokenizer of a vLLM server, and the tokens that its model reads at most.

    Raises:
        CallFailed: It does not answer as vLLM does.
    """

    async def ids(body: dict[str, object]) -> list[int]:
        return [int(i) for i in (await client.call("tokenize", {"model": name, **body}))["tokens"]]

    async def encode(text: str, start: bool = False) -> list[int]:
        return await ids({"prompt": text, "add_special_tokens": start})

    async def lay_out(turns: list[dict[str, str]]) -> str:
        tokens = await ids({"messages": turns, "add_generation_prompt": True})
        said = await client.call("detokenize", {"model": name, "tokens": tokens})
        return str(said["prompt"])

    reply = await client.call("tokenize", {"model": name, "prompt": "a"})
    plain, started = await encode("a"), await encode("a", start=True)
    first = started[0] if started[:1] != plain[:1] else None
    try:
        frame = await lay_out([{"role": "user", "content": "a"}])
    except CallFailed as failure:
        if failure.kind == "unreachable":
            raise
        frame = ""
    return (
        ServerTokenizer(
            name,
            encode,
            lay_out if frame else None,
            first=first,
            # The server does not say which token ends an answer.
            end=None,
            specials=control_texts(frame),
        ),
        int(reply["max_model_len"]),
    )
