"""Calls to models: many at once, no faster than the server likes, each recorded, none paid twice.

A call that fails for good is a Reply with status "error", and the run goes on. RunStopped is
raised at a cap, and where going on would only make a row of errors: nobody answers any more, or
the server asks to come back much later.
"""

import asyncio
import contextlib
import hashlib
import json
import os
import re
import time
import tomllib
from collections.abc import AsyncGenerator, Callable, Iterable
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

from evenhand.graph_store.errors import RunStopped, UserError
from evenhand.graph_store.redact import redact
from evenhand.graph_store.run_directory import Call
from evenhand.tools.cache import AnswerCache, answer_key
from evenhand.tools.completions import CallFailed, Messages, response_format
from evenhand.tools.providers import OpenModel, find_provider
from evenhand.tools.window import Window

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

ReplyStatus = Literal["ok", "empty", "truncated", "error"]

_CHARACTERS_A_TOKEN = 3
"""For the estimate before a call; English has 4, so this is rather too many tokens than too few."""
_TOKENS_A_MESSAGE = 8


@dataclass(frozen=True)
class Request:
    """What is asked of a model, for one record."""

    id: str
    """The record that the call is made for."""
    messages: Messages
    """(role, text) pairs; the role is "system", "user" or "assistant"."""
    temperature: float
    max_tokens: int
    seed: int
    repeat: int = 0
    schema: dict[str, Any] | None = None
    """JSON schema that the reply must follow."""


@dataclass(frozen=True)
class Reply:
    """What came back; `text` is whole as it came, also where it was cut or breaks the schema."""

    status: ReplyStatus
    text: str = ""
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float | None = None
    """Time of the attempt that brought the reply, waiting in our own queue not included."""
    cost_usd: float | None = None
    """None where the model's price or its tokens are not known."""
    error: str | None = None
    """Why there is no reply (status "error"), or how the reply breaks the schema."""
    cached: bool = False


@dataclass(frozen=True)
class Price:
    """USD per million tokens."""

    input: float
    output: float

    def cost(self, prompt_tokens: int | None, completion_tokens: int | None) -> float | None:
        """Return the cost of a call in USD, None where tokens are not known."""
        if self == FREE:
            return 0.0
        if prompt_tokens is None or completion_tokens is None:
            return None
        return (prompt_tokens * self.input + completion_tokens * self.output) / 1e6


FREE = Price(0.0, 0.0)


@cache
def _price_table() -> dict[str, Any]:
    return tomllib.loads((files("evenhand.tools") / "prices.toml").read_text("utf-8"))


def prices_dated() -> str:
    """Return when the prices were read, for reports."""
    return str(_price_table()["dated"])


def find_price(spec: str, host: str | None) -> Price | None:
    """Return the price of a model at a host; None where it is not known.

    What runs in this process is free. A server on this machine has no known price: it may be a
    gateway to a vendor. A dated name (gpt-4o-2024-08-06) costs what its model costs.
    """
    provider, name = find_provider(spec)
    if provider.in_process:
        return FREE
    listed = _price_table().get(host or "", {})
    entry = listed.get(name) or listed.get(re.sub(r"-\d{4}-\d{2}-\d{2}$", "", name))
    return Price(entry["input"], entry["output"]) if entry else None


def call_seed(run_seed: int, answer_id: str, repeat: int) -> int:
    """Return the seed of a call, in [0, 2**31): the same in each resume, another in each repeat."""
    digest = hashlib.sha256(f"{run_seed}\x1f{answer_id}\x1f{repeat}".encode()).digest()
    return int.from_bytes(digest[:4]) >> 1


def estimate_tokens(messages: Messages) -> int:
    """Return about how many tokens a prompt has, rather too many than too few."""
    return sum(len(text) // _CHARACTERS_A_TOKEN + _TOKENS_A_MESSAGE for _, text in messages)


@dataclass(frozen=True)
class Spend:
    """Calls, tokens and dollars, used or about to be used."""

    calls: int = 0
    tokens: int = 0
    usd: float = 0.0

    def __add__(self, other: "Spend") -> "Spend":
        """Return the sum."""
        return Spend(self.calls + other.calls, self.tokens + other.tokens, self.usd + other.usd)

    def __sub__(self, other: "Spend") -> "Spend":
        """Return the difference."""
        return Spend(self.calls - other.calls, self.tokens - other.tokens, self.usd - other.usd)


@dataclass
class Budget:
    """Caps of a run, shared by all its callers; None: no cap.

    A call is let in only if it fits with what is used and what is in flight, at the most it can
    cost; afterwards the estimate gives way to what it did cost. Cached replies cost nothing.
    """

    max_calls: int | None = None
    max_usd: float | None = None
    max_tokens: int | None = None
    used: Spend = Spend()
    _reserved: Spend = Spend()
    _settled: asyncio.Event = field(default_factory=asyncio.Event)

    def count(self, calls: Iterable[Call]) -> None:
        """Add the calls that a resumed run has already made."""
        for call in calls:
            if not call.cached and not (call.error and not call.reply):
                tokens = (call.prompt_tokens or 0) + (call.completion_tokens or 0)
                self.used += Spend(1, tokens, call.cost_usd or 0.0)

    async def reserve(self, need: Spend) -> None:
        """Let a call in, or wait while calls in flight may yet leave room for it.

        Raises:
            RunStopped: The call would exceed a cap.
        """
        while cap := self._exceeded(need):
            if self._reserved == Spend():
                raise RunStopped(
                    f"The next call would exceed {cap}; raise the cap and go on with "
                    "`evenhand resume`."
                )
            self._settled.clear()
            await self._settled.wait()
        self._reserved += need

    def settle(self, need: Spend, spent: Spend) -> None:
        """Replace what was reserved by what was spent."""
        left = self._reserved - need
        # Sums of floats need not come back to 0 exactly, and "nothing in flight" must be seen.
        self._reserved = left if left.calls else Spend()
        self.used += spent
        self._settled.set()

    def _exceeded(self, need: Spend) -> str | None:
        total = self.used + self._reserved + need
        if self.max_calls is not None and total.calls > self.max_calls:
            return f"the cap of {self.max_calls} calls"
        if self.max_tokens is not None and total.tokens > self.max_tokens:
            return f"the cap of {self.max_tokens} tokens"
        if self.max_usd is not None and total.usd > self.max_usd:
            return f"the cap of {self.max_usd:.2f} USD"
        return None


@dataclass(frozen=True)
class Patience:
    """How long a failing call is tried again. Waits double, and obey Retry-After."""

    tries_refused: int = 12
    tries_fault: int = 5
    tries_unreachable: int = 3
    first_wait_seconds: float = 0.5
    longest_wait_seconds: float = 60.0
    longest_retry_after_seconds: float = 300.0
    """A server that asks for more stops the run: it can be resumed then."""
    unreachable_in_a_row: int = 10
    """So many calls without any answer stop the run: the server is gone."""

    def tries(self, failure: CallFailed) -> int:
        """Return how often such a call is made at most."""
        return {
            "refused": self.tries_refused,
            "fault": self.tries_fault,
            "unreachable": self.tries_unreachable,
            "permanent": 1,
        }[failure.kind]

    def wait_seconds(self, failure: CallFailed, attempt: int, request: Request) -> float:
        """Return the wait before the next try; spread, so that callers do not come back as one."""
        spread = 0.5 + call_seed(attempt, request.id, request.repeat) / 2**31
        wait = (
            min(self.longest_wait_seconds, self.first_wait_seconds * 2.0 ** (attempt - 1)) * spread
        )
        return max(wait, failure.retry_after or 0.0)


class Caller:
    """Calls of one role to one model.

    Args:
        role: "target", "judge" ...: stands in calls.jsonl and in traces.
        model: The open model; whoever opened it closes it.
        cache: Answers across runs, or None.
        record: Called with each call once it has ended, failed and cached ones too.
        budget: Caps, shared by the callers of a run.
        max_in_flight: Calls at the same time at most, if fewer than the model's own limit.
        patience: How often and how long to try again.

    Raises:
        UserError: A cap in USD on a model whose price is not known.
    """

    def __init__(
        self,
        *,
        role: str,
        model: OpenModel,
        cache: AnswerCache | None,
        record: Callable[[Call], None],
        budget: Budget,
        max_in_flight: int | None = None,
        patience: Patience | None = None,
    ) -> None:
        """Prepare; nothing is called."""
        self.role = role
        self.model = model
        self.limit = min(model.max_in_flight, max_in_flight or model.max_in_flight)
        self._cache = cache
        self._record = record
        self._budget = budget
        self._patience = patience or Patience()
        self._window = Window(self.limit)
        self._price = find_price(model.spec, model.host)
        self._unreachable = 0
        if self._price is None and budget.max_usd is not None:
            raise UserError(
                f"No price is known for {model.spec}, so a cap of {budget.max_usd:.2f} USD cannot "
                "be held; cap the calls or tokens instead, or leave the cap out."
            )

    async def ask(self, request: Request) -> Reply:
        """Return the reply to one request, from the cache or from the model.

        Raises:
            RunStopped: A cap, or a server that is gone.
        """
        key = self._key(request)
        kept = self._cache.get(key) if self._cache is not None else None
        if kept is not None:
            reply = Reply(**{**kept, "cached": True, "cost_usd": 0.0})
        else:
            reply = await self._ask_model(request)
            if self._cache is not None and reply.status != "error":
                self._cache.put(key, asdict(reply))
        self._record(self._call_record(request, reply))
        return reply

    async def ask_all(
        self, requests: Iterable[Request], *, stop: Callable[[], bool] = lambda: False
    ) -> AsyncGenerator[tuple[Request, Reply]]:
        """Yield each request with its reply, as they come; only a window of them is in memory.

        What is in flight when it ends early is awaited and recorded, not lost: at RunStopped, when
        `stop` begins to say yes (asked before each new call), and when the caller breaks off
        inside `async with contextlib.aclosing(...)`.

        Raises:
            RunStopped: A cap, a server that is gone, or `stop`; after the last reply.
        """
        waiting, tasks = iter(requests), dict[asyncio.Task[Reply], Request]()
        stopped: RunStopped | None = None
        try:
            while True:
                while stopped is None and len(tasks) < self.limit:
                    if stop():
                        stopped = RunStopped("Stopped on request; go on with `evenhand resume`.")
                    elif (request := next(waiting, None)) is None:
                        break
                    else:
                        tasks[asyncio.create_task(self.ask(request))] = request
                if not tasks:
                    break
                done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    request = tasks.pop(task)
                    try:
                        reply = task.result()
                    except RunStopped as reason:
                        stopped = stopped or reason
                        continue
                    yield request, reply
            if stopped is not None:
                raise stopped
        except (GeneratorExit, RunStopped):
            await asyncio.gather(*tasks, return_exceptions=True)
            raise
        except BaseException:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise

    async def _ask_model(self, request: Request) -> Reply:
        need = self._need(request)
        await self._budget.reserve(need)
        spent = Spend()
        try:
            reply = await self._try_until_answered(request)
            tokens = (reply.prompt_tokens or 0) + (reply.completion_tokens or 0)
            if reply.status != "error":
                spent = Spend(1, tokens, reply.cost_usd or 0.0)
        finally:
            self._budget.settle(need, spent)
        return reply

    def _need(self, request: Request) -> Spend:
        """Return the most that a call may cost."""
        asked = estimate_tokens(request.messages)
        usd = self._price.cost(asked, request.max_tokens) if self._price else None
        return Spend(1, asked + request.max_tokens, usd or 0.0)

    async def _try_until_answered(self, request: Request) -> Reply:
        attempt, started = 0, 0.0
        while True:
            attempt += 1
            try:
                async with self._window.place() as started:
                    reply = await self._call_once(request)
                self._unreachable = 0
                return reply
            except CallFailed as failure:
                self._note(failure)
                if attempt >= self._patience.tries(failure):
                    tried = f" (tried {attempt} times)" if attempt > 1 else ""
                    return Reply("error", error=redact(f"{failure}{tried}"))
                wait = self._patience.wait_seconds(failure, attempt, request)
                if failure.kind == "refused":
                    self._window.refuse(started, wait)
                else:
                    await asyncio.sleep(wait)

    def _note(self, failure: CallFailed) -> None:
        """Stop the run where its other calls can only fail likewise."""
        self._unreachable = self._unreachable + 1 if failure.kind == "unreachable" else 0
        if self._unreachable >= self._patience.unreachable_in_a_row:
            raise RunStopped(
                f"{failure} ({self._unreachable} calls in a row); start the server, then go on "
                "with `evenhand resume`."
            )
        if (failure.retry_after or 0.0) > self._patience.longest_retry_after_seconds:
            raise RunStopped(
                f"{failure}; the server asks to wait {failure.retry_after:.0f} s: go on with "
                "`evenhand resume` then."
            )

    async def _call_once(self, request: Request) -> Reply:
        options: dict[str, Any] = {
            "temperature": request.temperature,
            "max_tokens": request.max_tokens,
            "seed": request.seed,
        }
        if request.schema is not None:
            options["response_format"] = response_format(request.schema)
        started = time.perf_counter()
        with _tracing():
            message = await self.model.chat.ainvoke(
                list(request.messages),
                {"metadata": {"request_id": request.id}, "run_name": self.role},
                **options,
            )
        return self._reply(request, message, time.perf_counter() - started)

    def _reply(self, request: Request, message: "AIMessage", seconds: float) -> Reply:
        usage = message.usage_metadata
        asked, given = (usage["input_tokens"], usage["output_tokens"]) if usage else (None, None)
        finish_reason = message.response_metadata.get("finish_reason")
        text = message.text
        status: ReplyStatus = "ok" if text.strip() else "empty"
        if finish_reason == "length":
            status = "truncated"
        broken = _schema_error(request.schema, text) if status == "ok" else None
        return Reply(
            status,
            text,
            finish_reason,
            asked,
            given,
            round(seconds, 4),
            self._price.cost(asked, given) if self._price else None,
            broken,
        )

    def _key(self, request: Request) -> bytes:
        return answer_key(
            self.model.identity,
            request.temperature,
            request.max_tokens,
            request.messages,
            request.schema,
            request.repeat,
            request.seed,
        )

    def _call_record(self, request: Request, reply: Reply) -> Call:
        return Call(
            id=request.id,
            role=self.role,
            model=self.model.spec,
            messages=request.messages,
            reply=reply.text,
            finish_reason=reply.finish_reason,
            prompt_tokens=reply.prompt_tokens,
            completion_tokens=reply.completion_tokens,
            seconds=reply.seconds,
            cost_usd=reply.cost_usd,
            cached=reply.cached,
            error=reply.error,
        )


async def probe(model: OpenModel) -> None:
    """Check that a model can be reached, before anything is written.

    Raises:
        UserError: It cannot; the sentence names address and cause.
    """
    await model.probe()


def _tracing() -> contextlib.AbstractContextManager[Any]:
    """Keep LangSmith from sending prompts out on account of its own environment variable."""
    if os.environ.get("EVENHAND_LANGSMITH") == "1":
        return contextlib.nullcontext()
    from langsmith import tracing_context

    return tracing_context(enabled=False)


def _schema_error(schema: dict[str, Any] | None, text: str) -> str | None:
    """Say how a reply breaks its schema: not every server and grammar enforces all of it."""
    if schema is None:
        return None
    from jsonschema import Draft202012Validator

    try:
        error = next(Draft202012Validator(schema).iter_errors(json.loads(text)), None)
    except ValueError:
        return "the reply is not JSON"
    return f"the reply breaks the schema: {redact(error.message)[:200]}" if error else None
