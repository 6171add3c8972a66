"""kill -9 in the middle of the answers, then resume: nothing lost, nothing asked twice."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from evenhand.graph_store.run_directory import RunDirectory, list_runs
from evenhand.tools.clinical import clinical_terms


class CountingServer:
    """An OpenAI-compatible server that counts each answer it gave, by the answer's id.

    At request number `kill_at` it kills the client before it answers.
    """

    def __init__(self) -> None:
        self.answered: Counter[str] = Counter()
        self.arrived = 0
        self.kill_at: int | None = None
        self.client: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._send({"object": "list", "data": [{"id": "counted"}]})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if outer.must_kill():
                    return
                # The key is the answer's id and a hash of the request.
                key = self.headers["Idempotency-Key"].rpartition("-")[0]
                self._send(_completion(body))
                with outer._lock:
                    outer.answered[key] += 1

            def _send(self, value: object) -> None:
                data = json.dumps(value).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def must_kill(self) -> bool:
        """Count a request; at the appointed one kill the client and answer nothing."""
        with self._lock:
            self.arrived += 1
            if self.kill_at is None or self.arrived < self.kill_at or self.client is None:
                return False
            self.client.send_signal(signal.SIGKILL)
            self.client.wait()
            return True

    def close(self) -> None:
        self._server.shutdown()


def _completion(body: dict[str, object]) -> dict[str, object]:
    terms = clinical_terms("diagnosis")
    term = terms[int(str(body["seed"])) % len(terms)]
    text = f"The most likely diagnosis is {term}. This is urgent."
    return {
        "id": "x",
        "object": "chat.completion",
        "model": "counted",
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 12, "total_tokens": 112},
    }


@pytest.fixture
def server() -> Iterator[CountingServer]:
    made = CountingServer()
    yield made
    made.close()


def _start(server: CountingServer, folder: Path, *words: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "evenhand.ui.cli", *words, "--runs-dir", str(folder)]
    log = (folder.parent / "log.txt").open("ab")
    server.client = subprocess.Popen(
        command, stdout=log, stderr=log, env={**os.environ, "OPENAI_API_KEY": ""}
    )
    return server.client


def _audit_words(server: CountingServer, in_flight: int) -> list[str]:
    target = ["--target", "openai/counted", "--target-base-url", server.url]
    size = ["--n", "6", "--max-in-flight", str(in_flight)]
    return ["audit", "--recipe", "kg", "--dataset", "demo", *target, *size, "--yes"]


@pytest.mark.parametrize("in_flight", [1, 8])
def test_kill_9_loses_no_answer_and_asks_none_twice(
    server: CountingServer, tmp_path: Path, in_flight: int
) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    server.kill_at = 30
    killed = _start(server, folder, *_audit_words(server, in_flight))
    assert killed.wait(timeout=300) == -signal.SIGKILL
    (run,) = list_runs(folder)
    before = [answer.id for answer in run.answers()]
    asked_before = Counter(server.answered)
    assert 0 < len(before) < 30
    server.kill_at = None
    assert _start(server, folder, "resume", run.run_id).wait(timeout=300) == 0

    after = [answer.id for answer in run.answers()]
    assert after[: len(before)] == before
    assert len(after) == len(set(after)) == _expected(run)
    again = {key: n for key, n in server.answered.items() if n > 1}
    # What was recorded is never asked again; with one call in flight nothing at all is.
    assert set(before) <= set(server.answered)
    assert not set(again) & set(before)
    assert len(again) <= in_flight - 1
    assert asked_before.total() - len(before) <= in_flight


def _expected(run: RunDirectory) -> int:
    accepted = {g.subject_id for g in run.gate() if g.value == "accepted"}
    variants = [v for v in run.variants() if v.id in accepted]
    bases = sum(v.arm == "base" for v in variants)
    return 2 * len(variants) + bases + 2 * bases


def test_a_resumed_run_equals_an_undisturbed_one(server: CountingServer, tmp_path: Path) -> None:
    runs: dict[str, RunDirectory] = {}
    for name, kill_at in (("undisturbed", None), ("disturbed", 20)):
        folder = tmp_path / name / "runs"
        folder.mkdir(parents=True)
        server.arrived, server.kill_at = 0, kill_at
        _start(server, folder, *_audit_words(server, 4)).wait(timeout=300)
        server.kill_at = None
        (run,) = list_runs(folder)
        assert _start(server, folder, "resume", run.run_id).wait(timeout=300) == 0
        runs[name] = run
    first, second = runs.values()
    assert first.run_id == second.run_id
    assert {a.id: a.text for a in first.answers()} == {a.id: a.text for a in second.answers()}
    assert first.measurements() == second.measurements()
