"""`evenhand score` on a file: kill -9 loses no row and repeats none; bad input is one sentence."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenhand.tools.bulk_scores import read_part_columns

REPOSITORY = Path(__file__).parents[2]
ROWS = 600

Score = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def bench() -> Any:
    spec = importlib.util.spec_from_file_location("bench_score", REPOSITORY / "bench" / "score.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["bench_score"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def tiny(bench: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("models") / "tiny"
    bench.tiny_model(folder)
    return folder


@pytest.fixture(scope="module")
def prompts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("prompts") / "prompts.csv"
    lines = [f"r{row},Visit {row % 37} of {row}: sex F. Level:" for row in range(ROWS)]
    path.write_text("\n".join(["id,prompt", *lines]) + "\n", "utf-8")
    return path


def words(prompts: Path, tiny: Path, out: Path, *more: str) -> list[str]:
    return [
        sys.executable,
        "-c",
        "from evenhand.ui.cli import main; main()",
        "score",
        str(prompts),
        "--model",
        f"torch/{tiny}",
        "--labels",
        "1,2,12",
        "--id",
        "id",
        "--out",
        str(out),
        *more,
    ]


def run(command: list[str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


def rows_of(folder: Path) -> dict[str, tuple[str, float]]:
    found: dict[str, tuple[str, float]] = {}
    for table in read_part_columns(folder):
        for row in table.to_pylist():
            assert row["id"] not in found, "a row was scored twice"
            found[row["id"]] = (row["label"], row["log_prob_12"])
    return found


def test_kill_9_loses_no_row_and_repeats_none(prompts: Path, tiny: Path, tmp_path: Path) -> None:
    whole = run(words(prompts, tiny, tmp_path / "whole", "--json"))
    assert whole.returncode == 0, whole.stderr
    said = json.loads(whole.stdout)
    assert said["scored_now"] == said["rows"] == said["statuses"]["ok"] == ROWS
    assert said["computed_tokens"] == said["distinct_tokens"] < said["prompt_tokens"]
    out = tmp_path / "killed"
    script = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from evenhand.tools.bulk_scores import prompt_column, score_file\n"
        "from evenhand.tools.scoring import ScorerSettings, open_scorer\n"
        "async def score():\n"
        f"    scorer = await open_scorer('torch/{tiny}')\n"
        f"    source = prompt_column(Path({str(prompts)!r}), ['1', '2', '12'], id_column='id')\n"
        f"    await score_file(source, scorer, Path({str(out)!r}), rows_a_part=40)\n"
        "asyncio.run(score())\n"
    )
    killed = subprocess.Popen([sys.executable, "-c", script])
    deadline = time.monotonic() + 200
    while len(list(out.glob("part-*"))) < 3 and time.monotonic() < deadline:
        assert killed.poll() is None, "it ended before it was killed"
        time.sleep(0.002)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    kept = rows_of(out)
    assert 0 < len(kept) < ROWS
    resumed = run(words(prompts, tiny, out, "--json"))
    assert resumed.returncode == 0, resumed.stderr
    assert json.loads(resumed.stdout)["scored_now"] == ROWS - len(kept)
    first, second = rows_of(tmp_path / "whole"), rows_of(out)
    assert len(second) == ROWS
    assert {name: label for name, (label, _) in first.items()} == {
        name: label for name, (label, _) in second.items()
    }
    assert np.array([second[name][1] for name in first]) == pytest.approx(
        np.array([value for _, value in first.values()]), abs=1e-3
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"labels": "1"}, "at least two"),
        ({"id": "nobody"}, "no column 'nobody'; found: id, prompt"),
        ({"model": "torch/{folder}/none"}, "has no tokenizer that can be loaded"),
        ({"device": "cuda:7"}, "cuda:7"),
        ({"dtype": "bfloat16"}, "use --dtype float32"),
        ({"model": "nobody/x"}, "Unknown label scorer 'nobody'"),
        ({"adapter": "/nowhere"}, "'/nowhere' is no folder"),
    ],
)
def test_bad_input_is_one_sentence(
    change: dict[str, str], said: str, prompts: Path, tiny: Path, tmp_path: Path
) -> None:
    more = [
        part
        for name, value in change.items()
        for part in (f"--{name}", value.format(folder=tmp_path))
    ]
    done = run(words(prompts, tiny, tmp_path / "out", *more))
    assert done.returncode == 2, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_scores_of_another_model_or_file_are_not_mixed(
    prompts: Path, tiny: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert run(words(prompts, tiny, out)).returncode == 0
    other = tmp_path / "other.csv"
    other.write_text("id,prompt\na,Level:\n", "utf-8")
    done = run(words(other, tiny, out))
    assert done.returncode == 2
    assert "holds scores of another source and digest" in done.stderr


def test_visits_of_a_mapping_are_rendered_and_scored(tiny: Path, tmp_path: Path) -> None:
    table = REPOSITORY / "tools" / "datasets" / "demo_visits.en.csv"
    few = tmp_path / "visits.csv"
    few.write_text("\n".join(table.read_text("utf-8").splitlines()[:30]), "utf-8")
    done = run(
        [
            *words(few, tiny, tmp_path / "out", "--json")[:4],
            str(few),
            "--model",
            f"torch/{tiny}",
            "--map",
            str(table.with_suffix(".toml")),
            "--out",
            str(tmp_path / "out"),
            "--json",
        ]
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["rows"] == said["statuses"]["ok"] > 10
    assert list(said["labels"]) == ["1", "2", "3", "4", "5"]


def test_the_small_bench_passes_its_checks() -> None:
    done = run([sys.executable, str(REPOSITORY / "bench" / "score.py"), "--small"])
    assert done.returncode == 0, done.stderr
    assert "(1.0000 of distinct)" in done.stdout
