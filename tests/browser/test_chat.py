"""The chat page in a real browser: ask, check the plan, approve, follow, read what was found."""

import http.client
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
ASK = "Audit planted/location on demo for location, 6 questions"
SECONDS = 1000
expect.set_options(timeout=60 * SECONDS)


class Server:
    """`evenhand chat` as a process of its own, on a port and a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [sys.executable, "-m", "evenhand.ui.cli", "chat", "--port", str(self.port)]
        self.process = subprocess.Popen([*command, "--runs-dir", str(self.folder)])
        until = time.monotonic() + 60
        while not self._answers():
            assert self.process.poll() is None, "the server ended"
            assert time.monotonic() < until, "the server did not come up"
            time.sleep(0.2)

    def stop(self) -> None:
        assert self.process is not None
        self.process.terminate()
        self.process.wait(20)

    def _answers(self) -> bool:
        try:
            return self.status("/config") == 200
        except OSError:
            return False

    def status(self, path: str, method: str = "GET", **headers: str) -> int:
        return self.ask(path, method, headers)[0]

    def ask(self, path: str, method: str, headers: dict[str, str]) -> tuple[int, str]:
        """Return status and policy; urllib would follow redirects and mend what we send."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request(method, path, headers=headers)
            reply = connection.getresponse()
            return reply.status, reply.headers.get("Content-Security-Policy", "")
        finally:
            connection.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("chat") / "runs")
    running.start()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        yield opened
        opened.close()


@pytest.fixture
def page(browser: Browser, server: Server) -> Iterator[Page]:
    """A page on which every error of the console and every request elsewhere is a failure."""
    opened = browser.new_page(viewport={"width": 1280, "height": 900})
    opened.set_default_timeout(90 * SECONDS)
    wrong: list[str] = []
    opened.on("console", lambda m: wrong.append(m.text) if m.type == "error" else None)
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    inside = (server.address, "data:", "blob:", "about:")
    opened.on("request", lambda r: None if r.url.startswith(inside) else wrong.append(r.url))
    yield opened
    opened.close()
    assert wrong == []


def _say(page: Page, text: str) -> None:
    page.locator("#ask textarea").fill(text)
    page.locator("#send").click()


def _planned(page: Page, server: Server, text: str = ASK) -> None:
    page.goto(server.address)
    expect(page.locator(".example").first).to_be_visible(timeout=60 * SECONDS)
    _say(page, text)
    expect(page.locator("#approve")).to_be_visible(timeout=60 * SECONDS)


def test_a_sentence_becomes_a_plan_a_run_and_a_finding(page: Page, server: Server) -> None:
    _planned(page, server)
    card = page.locator("#plan-card")
    for part in ("planted/location", "this machine only", "$0.00", "6 questions"):
        expect(card).to_contain_text(part)
    assert not list(server.folder.glob("*/manifest.json")), "nothing before approval"

    page.locator("#plan-n input").fill("4")
    expect(page.locator("#plan-costs")).to_contain_text("for 4 questions", timeout=60 * SECONDS)
    page.locator("#approve").click()
    result = page.locator("#result")
    expect(result.locator(".headline")).to_be_visible(timeout=90 * SECONDS)
    expect(result).to_contain_text("location")
    expect(page.locator("#strip")).to_be_hidden()
    assert result.locator("svg .mark").count() > 0
    (run,) = server.folder.glob("*/manifest.json")
    assert len((run.parent / "samples.jsonl").read_text("utf-8").splitlines()) == 4

    with page.expect_popup() as popup:
        result.locator(".open-report").click()
    report = popup.value
    expect(report.locator("h1")).to_contain_text("planted/location")
    report.close()


def test_a_talk_is_found_again_after_a_refresh_and_a_restart(page: Page, server: Server) -> None:
    _planned(page, server)
    address = page.url
    page.reload()
    expect(page.locator("#approve")).to_be_visible(timeout=60 * SECONDS)
    expect(page.locator("#plan-n input")).to_have_value("6")
    page.goto("about:blank")
    server.stop()
    server.start()
    page.goto(address)
    expect(page.locator("#approve")).to_be_visible(timeout=60 * SECONDS)
    page.locator("#cancel").click()
    expect(page.locator("#plan-card")).to_be_hidden(timeout=60 * SECONDS)
    expect(page.locator("#log")).to_contain_text("Cancelled. Nothing was sent.")


def test_a_fit_says_how_far_it_is_and_goes_on_while_the_page_restarts(
    page: Page, server: Server, need: Callable[[str, bool], None]
) -> None:
    need("torch (the extra 'torch')", find_spec("torch") is not None)
    ask = "Audit demo_visits with mimic/scratch_encoder by gender, 120 visits"
    _planned(page, server, ask)
    expect(page.locator("#plan-card")).to_contain_text("mimic/scratch_encoder, a mimic of who")
    address = page.url
    page.locator("#approve").click()
    strip = page.locator("#strip")
    step = re.compile(r"mimic/scratch_encoder, .*step \d+ of \d+, loss .*visits a second")
    expect(strip).to_contain_text(step, timeout=120 * SECONDS)

    page.goto("about:blank")
    server.stop()
    server.start()
    page.goto(address)
    # The job is a process of its own: it is still running, or done meanwhile on a fast machine.
    result = page.locator("#result")
    there = re.compile("Running|What was found")
    expect(page.locator(".gradio-container")).to_contain_text(there, timeout=60 * SECONDS)
    expect(result.locator(".headline")).to_be_visible(timeout=240 * SECONDS)
    expect(result).to_contain_text("pairs")
    assert result.locator("svg .mark:visible").count() > 0
    (events,) = server.folder.glob("counterfactual-*/events.jsonl")
    assert events.read_text("utf-8").count("process started") == 1


def test_a_metamorphic_audit_ends_in_its_table(page: Page, server: Server) -> None:
    _planned(page, server, "Test echo/refusal with MR5, 3 questions")
    expect(page.locator("#log")).to_contain_text("take sides between groups")
    page.locator("#approve").click()
    result = page.locator("#result")
    expect(result.locator(".headline")).to_be_visible(timeout=120 * SECONDS)
    # What is refused is counted, and is neither fair nor unfair.
    expect(result.locator(".headline")).to_have_text("It cannot be said from this run.")
    expect(result.locator("table")).to_contain_text("3 refused")
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_what_is_missing_is_asked_and_a_mistake_is_said(page: Page, server: Server) -> None:
    page.goto(server.address)
    expect(page.locator(".example").first).to_be_visible(timeout=60 * SECONDS)
    _say(page, "audit planted/fair for age")
    expect(page.locator("#log")).to_contain_text("On which data?", timeout=60 * SECONDS)
    expect(page.locator("#plan-card")).to_be_hidden()
    _say(page, "demo, 5 questions")
    expect(page.locator("#approve")).to_be_visible(timeout=60 * SECONDS)
    _say(page, "use planted/nobody as the target")
    expect(page.locator(".turn.error")).to_contain_text("nobody", timeout=60 * SECONDS)
    expect(page.locator("#plan-card")).to_be_hidden()


def test_what_a_person_types_stays_text(page: Page, server: Server) -> None:
    page.goto(server.address)
    expect(page.locator(".example").first).to_be_visible(timeout=60 * SECONDS)
    evil = "<img src=http://pictures.example/x onerror=alert(1)> ${alert(2)} {{alert(3)}}"
    page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
    _say(page, evil)
    expect(page.locator(".turn.person p")).to_have_text(evil, timeout=60 * SECONDS)
    assert page.locator("#log img").count() == 0


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_light_and_dark_wide_and_narrow(
    browser: Browser, server: Server, width: int, scheme: str
) -> None:
    page = browser.new_page(
        viewport={"width": width, "height": 900},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    _planned(page, server)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.body.classList.contains('dark')") == (scheme == "dark")
    for locator in page.locator("button:visible, nav a:visible").all():
        box = locator.bounding_box()
        assert box is not None
        assert box["height"] >= 44, locator.inner_text()
    # Gradio's own bar and footer are not shown; ours has one way to the other scheme.
    assert page.locator("footer:visible, .nav-holder:visible").count() == 0
    page.locator("#theme-choice").click()
    assert page.evaluate("document.body.classList.contains('dark')") == (scheme == "light")
    page.close()


def test_the_guard_turns_others_away(server: Server) -> None:
    upload = "/gradio_api/upload"
    assert server.status("/config", Host="evil.example") == 400
    assert server.status(upload, "POST", Origin="http://evil.example") == 403
    assert server.status(upload, "POST", Origin="http://127.0.0.1:1") == 403
    assert server.status("/config", Origin=server.address) == 200
    assert server.status("/report/..%2f..%2fetc%2fpasswd") == 404
    assert server.status("/report/no-such-run") == 404


def test_pages_forbid_what_comes_from_elsewhere(server: Server) -> None:
    status, policy = server.ask("/?talk=abcdefgh", "GET", {})
    assert status == 200
    assert re.search(r"default-src 'self'.*frame-ancestors 'none'", policy)
