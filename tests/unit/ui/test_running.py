"""A run in the terminal, stopped in the middle by every means, and gone on with."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

ANSWER = "The most likely diagnosis is malaria. Order a blood smear first."


class CountingServer:
    """A chat server of the OpenAI form on loopback, slow, that counts what it was asked."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["content-length"])
                body = json.loads(self.rfile.read(length))
                server.asked[json.dumps([body["messages"], body.get("seed")])] += 1
                time.sleep(0.15)
                self._reply({
                    "choices": [{
                        "message": {"role": "assistant", "content": ANSWER},
                        "finish_reason": "stop",
                    }],
                    "usage": {"prompt_tokens": 9, "completion_tokens": 9},
                })  # fmt: skip

            def do_GET(self) -> None:
                self._reply({"data": [{"id": "m"}]})

            def _reply(self, value: Any) -> None:
                body = json.dumps(value).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                # A client that was killed does not wait for its answer.
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                return

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.http.server_address[1]}/v1"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()


@pytest.fixture
def server() -> Iterator[CountingServer]:
    running = CountingServer()
    yield running
    running.http.shutdown()


def _evenhand(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "evenhand.ui.cli", *arguments]
    # Under a background shell SIGINT is ignored, and children inherit that: give it back to them.
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def _answers(folder: Path) -> list[str]:
    files = list(folder.glob("*/answers.jsonl"))
    return files[0].read_text("utf-8").splitlines() if files else []


def _until_answers(audit: subprocess.Popen[str], folder: Path, least: int) -> None:
    until = time.monotonic() + 120
    while len(_answers(folder)) < least:
        assert audit.poll() is None, audit.communicate()[1]
        assert time.monotonic() < until, "no answers came"
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("number", "code", "words"),
    [
        (signal.SIGINT, 130, "stopped; evenhand resume"),
        (signal.SIGTERM, 3, "Go on with `evenhand resume"),
        (signal.SIGKILL, -9, ""),
    ],
)
def test_a_stopped_run_loses_no_answer_and_asks_none_twice(
    server: CountingServer, tmp_path: Path, number: int, code: int, words: str
) -> None:
    folder = tmp_path / "runs"
    place = ("--runs-dir", str(folder))
    audit = _evenhand(
        "audit", "--target", f"http/{server.address}", "--n", "3", "--attributes", "age",
        "--max-in-flight", "2", "--yes", *place,
    )  # fmt: skip
    _until_answers(audit, folder, 3)
    os.kill(audit.pid, number)
    _, said = audit.communicate(timeout=30)
    assert audit.returncode == code, said
    assert words in said
    assert "Traceback" not in said
    kept = _answers(folder)
    again = _evenhand("resume", "last", "--json", *place)
    shown, said = again.communicate(timeout=60)
    assert again.returncode == 0, said
    answers = _answers(folder)
    assert answers[: len(kept)] == kept
    assert len({json.loads(line)["id"] for line in answers}) == len(answers)
    assert len(json.loads(shown)["measurements"]) > 0
    # What was in flight at the moment of the stop may be asked again, nothing else.
    assert sum(count - 1 for count in server.asked.values()) <= 2 + 2


def test_a_plan_that_reaches_its_cap_says_how_to_go_on(
    server: CountingServer, tmp_path: Path
) -> None:
    audit = _evenhand(
        "audit", "--target", f"http/{server.address}", "--n", "2", "--attributes", "age",
        "--max-calls", "4", "--yes", "--runs-dir", str(tmp_path / "runs"),
    )  # fmt: skip
    _, said = audit.communicate(timeout=60)
    assert audit.returncode == 3
    assert "Go on with `evenhand resume" in said
    assert said.strip().splitlines()[-1].startswith("Stopped: ")
