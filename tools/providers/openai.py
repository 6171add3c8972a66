"""Every OpenAI-compatible server, by one client over aiohttp: a cut reply is kept whole."""

import asyncio
import hashlib
import ipaddress
import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit, urlunsplit

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.redact import redact
from evenhand.tools.completions import CallFailed, Completion, FailureKind, Prompt, response_format
from evenhand.tools.providers import ModelSettings, OpenModel, completion_model, provider

if TYPE_CHECKING:
    import aiohttp

VENDOR_URL = "https://api.openai.com/v1"
VENDOR_HOST = "api.openai.com"

_CALL_SECONDS = 600.0
"""A queue in front of a slow server is no failure; a call that lasts longer is one."""
_CONNECT_SECONDS = 10.0
_PROBE_SECONDS = 10.0
_IDLE_SECONDS = 4.0
"""An idle connection is kept for less time than servers keep it (llama.cpp and uvicorn: 5 s)."""
_QUOTED = 300
"""Characters of a server's own message that are kept."""
_REFUSALS = (429, 503, 529)
_FAULTS = (408, 409, 425)


class ConnectionLost(CallFailed):
    """A connection that was made ended before the reply did."""


@dataclass(frozen=True)
class Server:
    """An address that speaks OpenAI's protocol, and how we may speak to it."""

    kind: str
    url: str
    """Without a slash at the end, and without user and password."""
    model: str
    key_name: str
    """Environment variable of the key."""

    @property
    def key(self) -> str | None:
        """The key, read anew; never kept, printed or stored."""
        return os.environ.get(self.key_name) or None

    @property
    def host(self) -> str | None:
        """Where prompts go; None for this machine."""
        host = urlsplit(self.url).hostname or ""
        return None if is_loopback(host) else host

    @property
    def is_vendor(self) -> bool:
        """Whether this is OpenAI itself, whose newer models renamed a parameter."""
        return self.host == VENDOR_HOST


@provider(
    form="openai/<model>",
    packages=("aiohttp",),
    check=lambda settings: _check(_openai_server(settings)),
    host=lambda settings: _openai_server(settings).host,
)
async def openai(settings: ModelSettings) -> OpenModel:
    """Any OpenAI-compatible server: OpenAI itself, or the one at base_url or OPENAI_BASE_URL.

    The key is OPENAI_API_KEY; a server on this machine needs none.
    """
    return await server_model(settings, _openai_server(settings))


def _openai_server(settings: ModelSettings) -> Server:
    url = settings.base_url or os.environ.get("OPENAI_BASE_URL") or VENDOR_URL
    return Server("openai", clean_url(url), settings.name, "OPENAI_API_KEY")


def _check(server: Server) -> None:
    if server.host and not server.key:
        raise UserError(
            f"No key for {server.host}; expected it in {server.key_name}. Set that variable, or "
            "name a server on this machine with --base-url."
        )


def clean_url(url: str) -> str:
    """Return a base URL with scheme, without user, password, query or last slash; /v1 by default.

    Raises:
        UserError: Not an http or https address.
    """
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port, parts = None, None, urlsplit("")
    if parts.scheme not in ("http", "https") or not host:
        raise UserError(
            f"Address {redact(url)!r} is not an http address; "
            "expected one such as http://localhost:8080/v1."
        )
    place = f"[{host}]" if ":" in host else host
    place = f"{place}:{port}" if port else place
    return urlunsplit((parts.scheme, place, parts.path.rstrip("/") or "/v1", "", ""))


def is_loopback(host: str) -> bool:
    """Return whether a host name means this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


async def server_model(settings: ModelSettings, server: Server) -> OpenModel:
    """Open a client to a server; no connection is made before the first call."""
    client = Client(server)
    return completion_model(
        server.kind,
        settings,
        client.complete,
        identity={"model": server.model, "base_url": server.url},
        host=server.host,
        max_in_flight=64,
        close=client.close,
        probe=client.probe,
    )


class Client:
    """Calls to one server over one pool of connections.

    Made inside the event loop that uses it.
    """

    def __init__(self, server: Server) -> None:
        """Open the pool; nothing is sent."""
        import aiohttp

        self.server = server
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_IDLE_SECONDS),
            timeout=aiohttp.ClientTimeout(total=_CALL_SECONDS, sock_connect=_CONNECT_SECONDS),
            # A proxy of the environment is for the world outside, not for this machine.
            trust_env=server.host is not None,
        )

    async def close(self) -> None:
        """Close the pool."""
        await self._session.close()

    async def complete(self, prompt: Prompt) -> Completion:
        """Ask once.

        Raises:
            CallFailed: No reply, or one that cannot be read.
        """
        body = self._body(prompt)
        status, headers, text = await self._send(
            "POST", "chat/completions", body, _idempotency(prompt.id, body)
        )
        if status != 200:
            raise self._failure(status, headers, text)
        return self._read(text)

    async def call(self, path: str, body: dict[str, Any] | None = None) -> Any:
        """Send JSON (or ask, where there is no body) and return the JSON that comes back.

        A connection that is lost is made once more: a server may close one that was kept open
        just as it is used again, so what is sent must be such that it may be sent twice.

        Args:
            path: After the server's address.
            body: What is sent.

        Raises:
            CallFailed: No reply, a failure, or one that is not JSON.
        """
        method = "GET" if body is None else "POST"
        try:
            status, headers, text = await self._send(method, path, body)
        except ConnectionLost:
            status, headers, text = await self._send(method, path, body)
        if status != 200:
            raise self._failure(status, headers, text)
        try:
            return json.loads(text)
        except ValueError:
            raise CallFailed(f"{self.server.url} sent no JSON but: {_short(text)}") from None

    async def probe(self) -> None:
        """Ask for the list of models, which every such server has and none charges for.

        Raises:
            UserError: Nobody answers, or the key is refused.
        """
        await self.models()

    async def models(self) -> list[str]:
        """Return the names of the server's models; empty where it keeps no list.

        Raises:
            UserError: Nobody answers, or the key is refused.
        """
        try:
            async with asyncio.timeout(_PROBE_SECONDS):
                status, headers, text = await self._send("GET", "models")
        except (CallFailed, TimeoutError) as error:
            cause = str(error) or f"no answer within {_PROBE_SECONDS:.0f} s"
            raise UserError(
                f"Model {self.server.kind}/{self.server.model} cannot be reached: {cause}. "
                "Start the server, or correct the address (--base-url)."
            ) from None
        if status in (401, 403):
            raise UserError(str(self._failure(status, headers, text)))
        try:
            return [str(entry["id"]) for entry in json.loads(text)["data"]]
        except (ValueError, KeyError, TypeError):
            return []

    async def _send(
        self, method: str, path: str, body: dict[str, Any] | None = None, key: str | None = None
    ) -> tuple[int, Mapping[str, str], str]:
        import aiohttp

        address = f"{self.server.url}/{path}"
        try:
            async with self._session.request(
                method,
                address,
                json=body,
                headers=self._headers(key),
                # Prompts go to the host that the plan names and to no other.
                allow_redirects=False,
            ) as response:
                content = await response.read()
                return response.status, response.headers, content.decode("utf-8", "replace")
        except aiohttp.ClientConnectorError as error:
            raise CallFailed(
                f"no connection to {address}: {_cause(error)}", "unreachable"
            ) from None
        except TimeoutError:
            raise CallFailed(f"{address} did not answer in time", "fault") from None
        except (aiohttp.ClientError, OSError) as error:
            cause = redact(str(error)) or type(error).__name__
            raise ConnectionLost(f"connection to {address} was lost: {cause}", "fault") from None

    def _headers(self, idempotency_key: str | None) -> dict[str, str]:
        headers = {"Accept": "application/json"}
        if self.server.key:
            headers["Authorization"] = f"Bearer {self.server.key}"
        if idempotency_key:
            headers["Idempotency-Key"] = idempotency_key
        return headers

    def _body(self, prompt: Prompt) -> dict[str, Any]:
        limit = "max_completion_tokens" if self.server.is_vendor else "max_tokens"
        body: dict[str, Any] = {
            "model": self.server.model,
            "messages": [{"role": role, "content": text} for role, text in prompt.messages],
            "temperature": prompt.temperature,
            limit: prompt.max_tokens,
        }
        if prompt.seed is not None:
            body["seed"] = prompt.seed
        if prompt.schema is not None:
            body["response_format"] = response_format(prompt.schema)
        return body

    def _read(self, text: str) -> Completion:
        try:
            reply = json.loads(text)
            choice = reply["choices"][0]
            message = choice["message"]
            usage = reply.get("usage") or {}
            # A model that declines a schema says so in a field of its own.
            said = message.get("content") or message.get("refusal") or ""
            return Completion(
                str(said),
                choice.get("finish_reason"),
                usage.get("prompt_tokens"),
                usage.get("completion_tokens"),
            )
        except (ValueError, KeyError, IndexError, TypeError, AttributeError):
            raise CallFailed(
                f"{self.server.url} sent no chat completion but: {_short(text)}", "fault"
            ) from None

    def _failure(self, status: int, headers: Mapping[str, str], text: str) -> CallFailed:
        where, said = urlsplit(self.server.url).netloc, _server_message(text)
        wait = retry_after(headers)
        if status in (401, 403):
            advice = f"set {self.server.key_name} to a key that is valid there"
            return CallFailed(f"{where} refused the key ({status}): {said}; {advice}")
        if status == 404:
            advice = "check the model's name and the address"
            return CallFailed(
                f"{where} has no model {self.server.model!r} at {self.server.url} (404): "
                f"{said}; {advice}"
            )
        kind: FailureKind = "permanent"
        if status in _REFUSALS and "insufficient_quota" not in text:
            kind = "refused"
        elif status in _FAULTS or (status >= 500 and status not in _REFUSALS):
            kind = "fault"
        return CallFailed(f"{where} answered {status}: {said}", kind, retry_after=wait)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a server asks to wait: a number or a date, in milliseconds or not."""
    exact = headers.get("retry-after-ms", "").strip()
    value = headers.get("Retry-After", "").strip()
    try:
        if exact:
            return max(0.0, float(exact) / 1000)
        return max(0.0, float(value)) if value else None
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None


def _idempotency(record: str | None, body: dict[str, Any]) -> str | None:
    """Return the key by which a server may see the same request again.

    The record's id alone is not enough: it names what is asked, not with which temperature or
    prompt text, and a server that keeps keys would give the answer of an earlier run.
    """
    if record is None:
        return None
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:12]
    return f"{quote(record, safe='/:+-_.,')}-{digest}"


def _cause(error: "aiohttp.ClientConnectorError") -> str:
    return error.os_error.strerror or str(error.os_error)


def _server_message(text: str) -> str:
    try:
        error = json.loads(text)["error"]
        said = error["message"] if isinstance(error, dict) else error
    except (ValueError, KeyError, TypeError):
        said = text
    return _short(str(said))


def _short(text: str) -> str:
    flat = " ".join(redact(text).split())
    return flat if len(flat) <= _QUOTED else f"{flat[:_QUOTED]}..."
