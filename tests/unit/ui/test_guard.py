"""The guard: whom the workbench answers, asked as raw HTTP would ask."""

import asyncio
import base64
from collections.abc import Mapping
from typing import Any

import pytest
from starlette.responses import PlainTextResponse

from evenhand.graph_store.errors import UserError
from evenhand.ui import guard
from evenhand.ui.app import PASSWORD_VARIABLE, _password

OWN = "127.0.0.1:7860"


def _ask(app: Any, headers: Mapping[str, str], path: str = "/", query: str = "") -> dict[str, Any]:
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b""}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": "GET", "path": path, "query_string": query.encode(),
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
    }  # fmt: skip
    asyncio.run(app(scope, receive, send))
    names = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return {"status": sent[0]["status"], **names}


def _guarded(host: str = "127.0.0.1", **login: str) -> guard.Guard:
    return guard.Guard(PlainTextResponse("in"), guard.allowed_hosts(host), **login)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": OWN}, 200),
        ({"Host": "localhost:7860"}, 200),
        ({"Host": "[::1]:7860"}, 200),
        ({"Host": "evil.example:7860"}, 400),
        ({"Host": "127.0.0.1.evil.example"}, 400),
        ({}, 400),
        ({"Host": OWN, "Origin": f"http://{OWN}"}, 200),
        ({"Host": OWN, "Origin": "http://evil.example"}, 403),
        ({"Host": OWN, "Origin": "http://127.0.0.1:9999"}, 403),
        ({"Host": OWN, "Origin": "null"}, 403),
        ({"Host": OWN, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, 403),
        ({"Host": OWN, "Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"}, 403),
        ({"Host": OWN, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, 200),
        ({"Host": OWN, "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}, 200),
    ],
)
def test_only_our_own_names_and_pages_are_answered(headers: dict[str, str], status: int) -> None:
    assert _ask(_guarded(), headers)["status"] == status


def test_every_page_has_a_policy_that_loads_nothing_from_elsewhere() -> None:
    reply = _ask(_guarded(), {"Host": OWN})
    policy = reply["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "img-src 'self' data: blob:" in policy
    assert "frame-ancestors 'none'" in policy
    assert "http" not in policy
    assert reply["x-content-type-options"] == "nosniff"


def test_a_stricter_policy_of_a_page_is_kept() -> None:
    page = PlainTextResponse("", headers={"Content-Security-Policy": guard.REPORT_POLICY})
    reply = _ask(guard.Guard(page, guard.allowed_hosts("127.0.0.1")), {"Host": OWN})
    assert reply["content-security-policy"] == guard.REPORT_POLICY
    assert "script-src" not in guard.REPORT_POLICY
    assert "default-src 'none'" in guard.REPORT_POLICY


def test_with_a_login_nothing_is_shown_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "_FAILED_LOGIN_SECONDS", 0.0)
    guarded = _guarded(user="ann", password="long enough")  # noqa: S106

    def status(login: str | None) -> int:
        token = base64.b64encode((login or "").encode()).decode()
        given = {} if login is None else {"Authorization": f"Basic {token}"}
        return int(_ask(guarded, {"Host": OWN, **given})["status"])

    assert [status(login) for login in (None, "ann:wrong", "ann:long enough")] == [401, 401, 200]
    assert _ask(guarded, {"Host": OWN, "Authorization": "Basic %%%"})["status"] == 401


def test_another_address_needs_a_login_with_a_real_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(PASSWORD_VARIABLE, raising=False)
    assert _password("127.0.0.1", None) is None
    with pytest.raises(UserError, match="others could open"):
        _password("192.0.2.1", None)
    with pytest.raises(UserError, match="8 signs or more"):
        _password("192.0.2.1", "ann")
    monkeypatch.setenv(PASSWORD_VARIABLE, "long enough")
    assert _password("192.0.2.1", "ann") == "long enough"


@pytest.mark.parametrize(
    ("host", "own"),
    [("localhost", True), ("127.0.0.2", True), ("::1", True), ("0.0.0.0", False), ("x.y", False)],  # noqa: S104
)
def test_loopback_is_told_from_other_addresses(host: str, own: bool) -> None:
    assert guard.is_loopback(host) is own


def test_the_first_page_gets_a_talk_of_its_own() -> None:
    app = guard.TalkAddress(PlainTextResponse("page"))
    one, two = (_ask(app, {"Host": OWN}) for _ in range(2))
    assert one["status"] == 303
    assert one["location"].startswith("/?talk=")
    assert one["location"] != two["location"]
    assert _ask(app, {"Host": OWN}, query="talk=abcdefgh")["status"] == 200
    assert _ask(app, {"Host": OWN}, path="/config")["status"] == 200
