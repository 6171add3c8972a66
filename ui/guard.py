"""Who may talk to the workbench, and what its pages may load.

The server listens on this machine, but every page in the same browser can reach it: so the Host
header must be one of ours (else a foreign name could point here), a request that a page makes must
come from our own page, and the Content-Security-Policy keeps pages from loading or sending anything
elsewhere, whatever a model wrote.
"""

import asyncio
import base64
import binascii
import hmac
import ipaddress
import secrets
import socket
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

PAGE_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; "
    "connect-src 'self'; object-src 'none'; base-uri 'self'; form-action 'self'; "
    "frame-ancestors 'none'"
)
"""Gradio's pages: scripts of its own, nothing from elsewhere."""

REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; sandbox allow-popups"
)
"""A report: no script at all, whatever a model wrote into it."""

_FAILED_LOGIN_SECONDS = 1.0


def is_loopback(host: str) -> bool:
    """Whether an address is this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def allowed_hosts(host: str, more: Iterable[str] = ()) -> frozenset[str]:
    """Return the names under which the server may be addressed."""
    own = {"localhost", "127.0.0.1", "[::1]"}
    if not is_loopback(host):
        own |= {host, socket.gethostname(), socket.getfqdn()}
    return frozenset(name.lower() for name in (*own, *more))


class Guard:
    """ASGI middleware: Host, origin, login where one is set, and the headers of every reply.

    Args:
        app: What is guarded.
        hosts: Names that the Host header may hold, without port.
        user: Who may come in; None: whoever reaches this machine's own address.
        password: The user's password.
    """

    def __init__(
        self,
        app: ASGIApp,
        hosts: frozenset[str],
        user: str | None = None,
        password: str | None = None,
    ) -> None:
        """Wrap an app."""
        self._app = app
        self._hosts = hosts
        self._login = f"{user}:{password}".encode() if user is not None else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 400, 401 or 403, or pass the request on."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        refusal = await self._refusal(Headers(scope=scope))
        if refusal is not None:
            await refusal(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                _add_headers(MutableHeaders(scope=message))
            await send(message)

        await self._app(scope, receive, send_guarded)

    async def _refusal(self, headers: Headers) -> PlainTextResponse | None:
        address = headers.get("host", "")
        if _without_port(address) not in self._hosts:
            return PlainTextResponse("This server does not answer to that host name.", 400)
        if not _is_own_request(headers, address):
            return PlainTextResponse("Only this server's own pages may ask that.", 403)
        if self._login is not None and not self._is_logged_in(headers):
            # Guessing shall be slow.
            await asyncio.sleep(_FAILED_LOGIN_SECONDS * bool(headers.get("authorization")))
            challenge = {"WWW-Authenticate": 'Basic realm="evenhand", charset="UTF-8"'}
            return PlainTextResponse("Please log in.", 401, headers=challenge)
        return None

    def _is_logged_in(self, headers: Headers) -> bool:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "basic" or self._login is None:
            return False
        try:
            given = base64.b64decode(token, validate=True)
        except binascii.Error:
            return False
        return hmac.compare_digest(given, self._login)


def _without_port(address: str) -> str:
    host = address.rsplit(":", 1)[0] if not address.endswith("]") else address
    return host.lower()


def _is_own_request(headers: Headers, address: str) -> bool:
    """Whether a request is a navigation, no browser's at all, or made by one of our own pages."""
    origin = headers.get("origin")
    if origin is not None and urlsplit(origin).netloc.lower() != address.lower():
        return False
    # An image or a form of another site sends no Origin with GET, but says where it stands; another
    # port of this machine counts as the same site.
    foreign = headers.get("sec-fetch-site") in ("cross-site", "same-site")
    return not foreign or headers.get("sec-fetch-mode") == "navigate"


def _add_headers(headers: MutableHeaders) -> None:
    headers.setdefault("Content-Security-Policy", PAGE_POLICY)
    headers.setdefault("X-Content-Type-Options", "nosniff")
    headers.setdefault("Referrer-Policy", "same-origin")


class TalkAddress:
    """ASGI middleware: the first page gets a talk of its own, whose id stands in the address."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap an app."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send a request for "/" without a talk to one with a new talk."""
        is_page = scope["type"] == "http" and scope["method"] == "GET" and scope["path"] == "/"
        if is_page and b"talk=" not in scope["query_string"]:
            query = scope["query_string"].decode("latin-1")
            place = f"/?talk={secrets.token_hex(8)}" + (f"&{query}" if query else "")
            headers = {"Location": place, "Cache-Control": "no-store"}
            await PlainTextResponse("", 303, headers=headers)(scope, receive, send)
            return
        await self._app(scope, receive, send)
