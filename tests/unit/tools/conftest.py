"""A real HTTP server on loopback that answers as a test tells it to."""

import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web

Answer = Callable[[int, dict[str, Any]], Awaitable[web.StreamResponse]]
"""Makes the response to the n-th call (from 1) from its JSON body."""


@dataclass
class ChatServer:
    """What a test needs of the server: its address and what it was sent."""

    url: str
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)


ServeChat = Callable[[Answer], AbstractAsyncContextManager[ChatServer]]


def completion(text: str, finish_reason: str = "stop", **extra: Any) -> web.Response:
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    choice = {"index": 0, "finish_reason": finish_reason, "message": message}
    return web.json_response({"choices": [choice], "usage": usage, **extra})


@pytest.fixture
def say() -> Callable[..., web.Response]:
    """Give the maker of a chat completion from text and finish reason."""
    return completion


@pytest.fixture
def serve_chat() -> ServeChat:
    """Give the context in which a server answers as told."""

    @contextlib.asynccontextmanager
    async def serve(answer: Answer) -> AsyncGenerator[ChatServer]:
        server = ChatServer("")

        async def chat(request: web.Request) -> web.StreamResponse:
            body = await request.json()
            server.bodies.append(body)
            server.headers.append(dict(request.headers))
            return await answer(len(server.bodies), body)

        async def models(_: web.Request) -> web.Response:
            return web.json_response({"data": [{"id": "little"}]})

        app = web.Application()
        app.router.add_post("/v1/chat/completions", chat)
        app.router.add_get("/v1/models", models)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        server.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        try:
            yield server
        finally:
            await runner.cleanup()

    return serve
