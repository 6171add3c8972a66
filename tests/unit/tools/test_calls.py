"""Calls against a real server on loopback: limits, faults, caps, cache, records."""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from evenhand.graph_store.errors import RunStopped, UserError
from evenhand.graph_store.run_directory import Call
from evenhand.tools.cache import AnswerCache
from evenhand.tools.calls import (
    FREE,
    Budget,
    Caller,
    Patience,
    Reply,
    Request,
    Spend,
    call_seed,
    find_price,
    probe,
)
from evenhand.tools.providers import ModelSettings, OpenModel, open_model

Say = Callable[..., web.Response]
Serve = Any
QUICK = Patience(first_wait_seconds=0.01, longest_wait_seconds=0.05)
SCHEMA = {"type": "object", "properties": {"score": {"type": "number"}}, "required": ["score"]}


def request(name: str = "s/v0/a0", **changes: Any) -> Request:
    fields: dict[str, Any] = {
        "messages": (("system", "Be brief."), ("user", "What is it?")),
        "temperature": 0.5,
        "max_tokens": 50,
        "seed": call_seed(0, name, 0),
    }
    return Request(id=name, **{**fields, **changes})


class Recorded(Caller):
    """A caller that keeps its calls."""

    def __init__(self, model: OpenModel, **options: Any) -> None:
        self.calls: list[Call] = []
        defaults: dict[str, Any] = {"cache": None, "budget": Budget(), "patience": QUICK}
        super().__init__(
            role="target", model=model, record=self.calls.append, **{**defaults, **options}
        )


@contextlib.asynccontextmanager
async def caller(url: str, spec: str = "openai/little", **options: Any) -> AsyncGenerator[Recorded]:
    model = await open_model(spec, ModelSettings(base_url=url))
    try:
        yield Recorded(model, **options)
    finally:
        await model.close()


async def collect(
    made: Caller, n: int, into: dict[str, Reply] | None = None, **options: Any
) -> dict[str, Reply]:
    replies = {} if into is None else into
    async for asked, reply in made.ask_all((request(f"a{i}") for i in range(n)), **options):
        replies[asked.id] = reply
    return replies


def test_a_reply_is_whole_and_recorded(serve_chat: Serve, say: Say) -> None:
    async def answer(_: int, body: dict[str, Any]) -> web.Response:
        return say(f"seed {body['seed']}")

    async def work() -> None:
        async with serve_chat(answer) as server, caller(server.url) as made:
            reply = await made.ask(request())
            assert (reply.status, reply.text) == ("ok", f"seed {call_seed(0, 's/v0/a0', 0)}")
            assert (reply.prompt_tokens, reply.completion_tokens) == (11, 7)
            assert reply.cost_usd is None, "a server on this machine may be a gateway: no price"
            (call,) = made.calls
            assert (call.id, call.role, call.model) == ("s/v0/a0", "target", "openai/little")
            assert call.messages == request().messages
            assert call.reply == reply.text
            assert server.bodies[0]["messages"][0] == {"role": "system", "content": "Be brief."}
            assert server.headers[0]["Idempotency-Key"].startswith("s/v0/a0-")

    asyncio.run(work())


@pytest.mark.parametrize(
    ("text", "finish_reason", "status"),
    [
        ("It is mala", "length", "truncated"),
        ("", "stop", "empty"),
        (" \n", "stop", "empty"),
        ("", "length", "truncated"),
        ("fine", "stop", "ok"),
    ],
)
def test_a_cut_or_empty_reply_is_kept_with_its_status(
    serve_chat: Serve, say: Say, text: str, finish_reason: str, status: str
) -> None:
    async def answer(_: int, __: dict[str, Any]) -> web.Response:
        return say(text, finish_reason)

    async def work() -> Reply:
        async with serve_chat(answer) as server, caller(server.url) as made:
            return await made.ask(request(schema=SCHEMA))

    reply = asyncio.run(work())
    assert (reply.status, reply.text, reply.finish_reason) == (status, text, finish_reason)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('{"score": 0.5}', None),
        ('{"score": "high"}', "the reply breaks the schema: 'high' is not of type 'number'"),
        ("so so", "the reply is not JSON"),
    ],
)
def test_a_reply_is_checked_against_the_schema_again(
    serve_chat: Serve, say: Say, text: str, error: str | None
) -> None:
    async def answer(_: int, body: dict[str, Any]) -> web.Response:
        assert body["response_format"]["json_schema"]["schema"] == SCHEMA
        return say(text)

    async def work() -> Reply:
        async with serve_chat(answer) as server, caller(server.url) as made:
            return await made.ask(request(schema=SCHEMA))

    assert asyncio.run(work()).error == error


def test_retry_after_is_obeyed_by_all(serve_chat: Serve, say: Say) -> None:
    async def answer(number: int, _: dict[str, Any]) -> web.Response:
        if number == 1:
            return web.json_response({}, status=429, headers={"Retry-After": "1"})
        return say("yes")

    async def work() -> float:
        async with serve_chat(answer) as server, caller(server.url, max_in_flight=1) as made:
            started = time.monotonic()
            replies = await collect(made, 3)
            assert [reply.status for reply in replies.values()] == ["ok"] * 3
            return time.monotonic() - started

    assert 0.95 < asyncio.run(work()) < 5


def test_faults_are_tried_again(serve_chat: Serve, say: Say) -> None:
    async def answer(number: int, _: dict[str, Any]) -> web.Response:
        if number == 1:
            return web.json_response({"error": {"message": "overworked"}}, status=500)
        return web.Response(text="<html>gateway</html>") if number == 2 else say("at last")

    async def work() -> None:
        async with serve_chat(answer) as server, caller(server.url) as made:
            assert (await made.ask(request())).text == "at last"
            assert len(made.calls) == 1

    asyncio.run(work())


def test_a_dropped_connection_is_tried_again(serve_chat: Serve, say: Say) -> None:
    async def answer(number: int, _: dict[str, Any]) -> web.StreamResponse:
        if number == 1:
            return _Dropped()
        return say("again")

    async def work() -> Reply:
        async with serve_chat(answer) as server, caller(server.url) as made:
            return await made.ask(request())

    assert asyncio.run(work()).text == "again"


class _Dropped(web.Response):
    """Cuts the line where a response should begin."""

    async def prepare(self, request: web.BaseRequest) -> Any:
        assert request.transport is not None
        request.transport.close()
        return await super().prepare(request)


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, "answered 400: no such option"),
        (401, "set OPENAI_API_KEY"),
        (404, "no model 'little'"),
    ],
)
def test_what_will_fail_again_is_not_tried_again(serve_chat: Serve, status: int, said: str) -> None:
    async def answer(_: int, __: dict[str, Any]) -> web.Response:
        return web.json_response({"error": {"message": "no such option"}}, status=status)

    async def work() -> None:
        async with serve_chat(answer) as server, caller(server.url) as made:
            reply = await made.ask(request())
            assert reply.status == "error"
            assert said in (reply.error or "")
            assert len(server.bodies) == 1

    asyncio.run(work())


def test_nobody_there_is_an_error_that_names_address_and_cause() -> None:
    async def work() -> None:
        async with caller("http://127.0.0.1:9/v1") as made:
            reply = await made.ask(request())
            assert reply.status == "error"
            assert "http://127.0.0.1:9/v1/chat/completions" in (reply.error or "")
            assert "efused" in (reply.error or "") or "onnect call failed" in (reply.error or "")
            with pytest.raises(UserError, match=r"cannot be reached.*127\.0\.0\.1:9"):
                await probe(made.model)

    asyncio.run(work())


def test_a_server_that_is_gone_stops_the_run() -> None:
    async def work() -> None:
        async with caller("http://127.0.0.1:9/v1") as made:
            with pytest.raises(RunStopped, match=r"calls in a row.*resume"):
                await collect(made, 200)
            assert len(made.calls) < 20

    asyncio.run(work())


def test_a_very_long_retry_after_stops_the_run(serve_chat: Serve) -> None:
    async def answer(_: int, __: dict[str, Any]) -> web.Response:
        return web.json_response({}, status=429, headers={"Retry-After": "3600"})

    async def work() -> None:
        async with serve_chat(answer) as server, caller(server.url) as made:
            with pytest.raises(RunStopped, match="3600 s"):
                await made.ask(request())

    asyncio.run(work())


def test_the_window_finds_a_servers_limit(serve_chat: Serve, say: Say) -> None:
    busy, refused, most = 0, 0, 0

    async def answer(_: int, __: dict[str, Any]) -> web.Response:
        nonlocal busy, refused, most
        if busy >= 6:
            refused += 1
            return web.json_response({}, status=429)
        busy += 1
        most = max(most, busy)
        await asyncio.sleep(0.01)
        busy -= 1
        return say("yes")

    async def work() -> None:
        async with serve_chat(answer) as server, caller(server.url) as made:
            replies = await collect(made, 300)
            assert {reply.status for reply in replies.values()} == {"ok"}
            assert len(replies) == 300

    asyncio.run(work())
    assert most >= 5
    assert refused < 60


def test_only_a_window_of_requests_is_drawn(serve_chat: Serve, say: Say) -> None:
    drawn: list[int] = []

    async def answer(_: int, __: dict[str, Any]) -> web.Response:
        return say("yes")

    def many() -> Iterator[Request]:
        for i in range(100_000):
            drawn.append(i)
            yield request(f"a{i}")

    async def work() -> None:

        async with serve_chat(answer) as server, caller(server.url, max_in_flight=8) as made:
            async with contextlib.aclosing(made.ask_all(many())) as replies:
                async for _ in replies:
                    break
            assert len(made.calls) == len(server.bodies) >= 1, "all that was sent is recorded"

    asyncio.run(work())
    assert len(drawn) <= 8


def test_a_cap_on_calls_stops_before_the_call_that_exceeds_it(serve_chat: Serve, say: Say) -> None:
    async def answer(_: int, __: dict[str, Any]) -> web.Response:
        await asyncio.sleep(0.01)
        return say("yes")

    async def work() -> None:
        replies: dict[str, Reply] = {}
        budget = Budget(max_calls=5)
        async with serve_chat(answer) as server, caller(server.url, budget=budget) as made:
            with pytest.raises(RunStopped, match="the cap of 5 calls"):
                await collect(made, 20, replies)
            assert len(server.bodies) == len(replies) == len(made.calls) == 5

    asyncio.run(work())


def test_a_cap_on_tokens_holds(serve_chat: Serve, say: Say) -> None:
    async def answer(_: int, __: dict[str, Any]) -> web.Response:
        return say("yes")

    async def work() -> None:
        budget = Budget(max_tokens=300)
        async with serve_chat(answer) as server, caller(server.url, budget=budget) as made:
            with pytest.raises(RunStopped, match="300 tokens"):
                await collect(made, 100)
            assert 200 < budget.used.tokens <= 300
            assert budget.used.calls == len(server.bodies)

    asyncio.run(work())


def test_a_resumed_run_counts_what_was_spent() -> None:
    call = Call(id="a", role="target", model="m", messages=(), reply="x", prompt_tokens=5)
    budget = Budget(max_calls=2)
    budget.count([call, call.model_copy(update={"cached": True})])
    assert budget.used == Spend(1, 5, 0.0)


def test_a_cap_in_usd_needs_a_price(serve_chat: Serve, say: Say) -> None:
    async def answer(_: int, __: dict[str, Any]) -> web.Response:
        return say("yes")

    async def work() -> None:
        async with serve_chat(answer) as server:
            with pytest.raises(UserError, match="No price is known for openai/little"):
                async with caller(server.url, budget=Budget(max_usd=1.0)):
                    pass

    asyncio.run(work())


def test_stop_lets_what_is_in_flight_come_home(serve_chat: Serve, say: Say) -> None:
    async def answer(_: int, __: dict[str, Any]) -> web.Response:
        await asyncio.sleep(0.02)
        return say("yes")

    async def work() -> None:
        got: dict[str, Reply] = {}
        async with serve_chat(answer) as server, caller(server.url) as made:
            with pytest.raises(RunStopped, match="Stopped on request"):
                await collect(made, 500, got, stop=lambda: len(got) >= 3)
            assert len(got) == len(server.bodies) < 500

    asyncio.run(work())


def test_an_answer_is_paid_for_once(serve_chat: Serve, say: Say, tmp_path: Path) -> None:
    async def answer(number: int, _: dict[str, Any]) -> web.Response:
        if number == 1:
            return web.json_response({"error": "bad"}, status=400)
        return say(f"call {number}")

    async def work() -> None:
        async with serve_chat(answer) as server:
            with AnswerCache(tmp_path / "cache.sqlite") as kept:
                async with caller(server.url, cache=kept) as made:
                    assert (await made.ask(request())).status == "error"
                    assert (await made.ask(request())).text == "call 2", "errors are not kept"
                    again = await made.ask(request())
                    assert (again.text, again.cached, again.cost_usd) == ("call 2", True, 0.0)
                    for other in (request(repeat=1), request(seed=7), request(temperature=0.6)):
                        assert not (await made.ask(other)).cached
                    assert made.calls[2].cached

    asyncio.run(work())


def test_no_key_is_written(
    serve_chat: Serve, say: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "vsecret-0123456789"
    monkeypatch.setenv("OPENAI_API_KEY", key)

    async def answer(number: int, _: dict[str, Any]) -> web.Response:
        if number == 1:
            return web.json_response({"error": {"message": f"bad key {key}"}}, status=401)
        return say(f"your key is {key}")

    async def work() -> None:
        async with serve_chat(answer) as server:
            with AnswerCache(tmp_path / "cache.sqlite") as kept:
                async with caller(server.url, cache=kept) as made:
                    failed = await made.ask(request())
                    assert key not in (failed.error or "")
                    await made.ask(request())
                    assert key not in (await made.ask(request())).text
            assert server.headers[0]["Authorization"] == f"Bearer {key}"

    asyncio.run(work())


def test_langsmith_sends_nothing_on_account_of_its_own_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from langchain_core.tracers.langchain import LangChainTracer

    traced: list[object] = []
    monkeypatch.setenv("LANGSMITH_TRACING", "true")
    monkeypatch.setattr(LangChainTracer, "_persist_run_single", traced.append)
    monkeypatch.setattr(
        LangChainTracer, "on_chat_model_start", lambda *_, **__: traced.append("start")
    )

    async def work() -> None:
        model = await open_model("echo/hello", ModelSettings())
        made = Caller(role="judge", model=model, cache=None, record=lambda _: None, budget=Budget())
        assert (await made.ask(request())).text == "hello"

    asyncio.run(work())
    assert traced == []


def test_prices() -> None:
    price = find_price("openai/gpt-4o-2024-08-06", "api.openai.com")
    assert price is not None
    assert price.cost(1_000_000, 100_000) == pytest.approx(3.5)
    assert price.cost(None, 5) is None
    assert find_price("openai/gpt-4o", "proxy.example") is None
    assert find_price("openai/unheard-of", "api.openai.com") is None
    assert find_price("local", None) == FREE


def test_seeds_differ_by_repeat_and_stay() -> None:
    seeds = {call_seed(run, name, repeat) for run in (0, 1) for name in "ab" for repeat in (0, 1)}
    assert len(seeds) == 8
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert call_seed(0, "demo-12-9f3ac2e1/v3-a2fe2da7", 1) == 1054247108
