"""Addresses, keys and headers; calls themselves are in test_calls.py."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web

from evenhand.graph_store.errors import UserError
from evenhand.tools.completions import CallFailed, response_format
from evenhand.tools.providers import ModelSettings, check_model, model_host, open_model
from evenhand.tools.providers.openai import Client, Server, clean_url, is_loopback, retry_after

NO_SETTINGS = ModelSettings()


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "EVENHAND_HTTP_KEY", "VLLM_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("given", "clean"),
    [
        ("http://localhost:8080", "http://localhost:8080/v1"),
        ("localhost:8080/v1/", "http://localhost:8080/v1"),
        ("https://user:secret@proxy.example/api?key=secret#x", "https://proxy.example/api"),
        ("http://[::1]:8080/v1", "http://[::1]:8080/v1"),
    ],
)
def test_an_address_is_cleaned(given: str, clean: str) -> None:
    assert clean_url(given) == clean


@pytest.mark.parametrize("given", ["ftp://x", "http://", "", "http://x:port", "file:///etc/passwd"])
def test_what_is_no_address_is_named(given: str) -> None:
    with pytest.raises(UserError, match="is not an http address; expected one such as"):
        clean_url(given)


def test_loopback() -> None:
    assert all(map(is_loopback, ("localhost", "127.0.0.1", "127.3.2.1", "::1", "a.localhost")))
    assert not any(map(is_loopback, ("10.0.0.1", "localhost.example", "example.org", "0.0.0.0")))  # noqa: S104


def test_a_vendor_needs_a_key_and_this_machine_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match=r"No key for api\.openai\.com.*OPENAI_API_KEY"):
        check_model("openai/gpt-4o", NO_SETTINGS)
    check_model("openai/gpt-4o", ModelSettings(base_url="http://localhost:8080/v1"))
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    check_model("openai/gpt-4o", NO_SETTINGS)
    assert model_host("openai/gpt-4o", NO_SETTINGS) is None


def test_hosts_are_known_before_anything_is_sent() -> None:
    assert model_host("openai/gpt-4o", NO_SETTINGS) == "api.openai.com"
    assert model_host("http/https://models.example/v1#m", NO_SETTINGS) == "models.example"
    assert model_host("vllm/m", ModelSettings(base_url="http://gpu.example:8000")) == "gpu.example"


def test_vllm_needs_an_address() -> None:
    with pytest.raises(UserError, match="vllm/m has no address"):
        check_model("vllm/m", NO_SETTINGS)


def test_the_form_of_a_request(
    serve_chat: Any, say: Callable[..., web.Response], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVENHAND_HTTP_KEY", "the-key-of-this-server")
    monkeypatch.setenv("OPENAI_API_KEY", "the-key-of-the-vendor")
    schema = {"type": "object", "properties": {"a": {}}, "required": ["a"]}

    async def answer(_: int, __: dict[str, Any]) -> web.Response:
        return say("yes")

    async def work() -> None:
        async with serve_chat(answer) as server:
            model = await open_model(f"http/{server.url}", ModelSettings(max_tokens=9, seed=4))
            assert model.identity["model"] == "little", "the first that the server lists"
            await model.probe()
            for wanted in (schema, {**schema, "additionalProperties": False}):
                options: Any = {"response_format": response_format(wanted), "temperature": 0.1}
                await model.chat.ainvoke([("user", "Hi")], **options)
            await model.close()
        loose, strict = server.bodies
        assert loose["response_format"]["json_schema"] == {"name": "reply", "schema": schema}
        assert strict["response_format"]["json_schema"]["strict"] is True
        sent = {name: loose[name] for name in ("model", "max_tokens", "temperature", "seed")}
        assert sent == {"model": "little", "max_tokens": 9, "temperature": 0.1, "seed": 4}
        assert server.headers[0]["Authorization"] == "Bearer the-key-of-this-server"

    asyncio.run(work())


def test_a_redirect_is_not_followed(serve_chat: Any) -> None:
    async def answer(_: int, __: dict[str, Any]) -> web.Response:
        raise web.HTTPTemporaryRedirect("http://127.0.0.1:9/v1/chat/completions")

    async def work() -> None:
        async with serve_chat(answer) as server:
            model = await open_model("openai/m", ModelSettings(base_url=server.url))
            with pytest.raises(Exception, match="answered 307"):
                await model.chat.ainvoke([("user", "Hi")])
            await model.close()

    asyncio.run(work())


class _Fickle(asyncio.Protocol):
    """Answers so many requests of a connection, and closes it unanswered at the next."""

    def __init__(self, answers: int, asked: list[int]) -> None:
        self._left, self._asked = answers, asked

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._asked.append(0)

    def data_received(self, data: bytes) -> None:
        if data.startswith(b"POST"):
            self._asked[-1] += 1
            if self._left == 0:
                self._transport.close()
                return
            self._left -= 1
            reply = (
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n"
            )
            self._transport.write(reply + b"{}")


def _call_twice(answers: int, asked: list[int]) -> None:
    """Call twice; `asked` gets the requests of each connection."""

    async def run() -> None:
        loop = asyncio.get_running_loop()
        async with await loop.create_server(lambda: _Fickle(answers, asked), "127.0.0.1", 0) as own:
            port = own.sockets[0].getsockname()[1]
            client = Client(Server("t", f"http://127.0.0.1:{port}", "m", "NO_SUCH_KEY"))
            try:
                assert await client.call("tokenize", {"content": "a"}) == {}
                assert await client.call("tokenize", {"content": "b"}) == {}
            finally:
                await client.close()

    asyncio.run(run())


@pytest.mark.parametrize(("answers", "requests"), [(2, [2]), (1, [2, 1])])
def test_a_kept_connection_that_is_closed_as_it_is_used_is_made_anew(
    answers: int, requests: list[int]
) -> None:
    asked: list[int] = []
    _call_twice(answers, asked)
    assert asked == requests


def test_a_server_that_always_closes_is_asked_twice_and_no_more() -> None:
    asked: list[int] = []
    with pytest.raises(CallFailed, match="was lost"):
        _call_twice(0, asked)
    assert asked == [1, 1]


def test_retry_after_in_its_forms() -> None:
    assert retry_after({"Retry-After": "2.5"}) == 2.5
    assert retry_after({"retry-after-ms": "1500", "Retry-After": "2"}) == 1.5
    assert retry_after({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0
    assert retry_after({"Retry-After": "soon"}) is None
    assert retry_after({}) is None
