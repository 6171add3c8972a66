"""report.html needs nothing but itself; report.json is valid JSON with the stored numbers."""

import base64
import hashlib
import itertools
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.run_directory import Manifest, RunDirectory
from evenhand.tools.report import write_report

SECTIONS = (
    "verdict",
    "forest",
    "radar",
    "measurements",
    "unscored",
    "traces",
    "limits",
    "methods",
)
MakeRun = Callable[..., RunDirectory]


@pytest.fixture(scope="module")
def written(make_run: MakeRun) -> tuple[RunDirectory, str, str]:
    run = make_run()
    page, data = write_report(run, SECTIONS)
    return run, page.read_text("utf-8"), data.read_text("utf-8")


def test_the_numbers_are_those_of_measurements_jsonl(
    written: tuple[RunDirectory, str, str],
) -> None:
    run, _, text = written
    data = json.loads(text, parse_constant=pytest.fail)
    assert data["measurements"] == [m.model_dump(mode="json") for m in run.measurements()]
    assert data["unscored"]["no_hop"] == {"answer_refused": 1}
    assert data["unscored"]["placebo"] == {"gate_rejected": 1}
    assert data["plan"] == run.manifest.plan


def test_the_page_has_no_script_and_asks_for_nothing(
    written: tuple[RunDirectory, str, str],
) -> None:
    page = written[1]
    assert not re.findall(r"<(script|img|link|iframe|object)\b|\bstyle=|\bon\w+=\"", page)
    assert not re.findall(r"(?:src|href|url\()\W*https?:", page)


def test_the_policy_allows_this_style_sheet_and_nothing_else(
    written: tuple[RunDirectory, str, str],
) -> None:
    page = written[1]
    [policy] = re.findall(r'Content-Security-Policy" content="([^"]+)"', page)
    [style] = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy.startswith("default-src 'none';")
    assert f"style-src 'sha256-{digest}'" in policy
    assert "unsafe" not in policy


def test_headings_go_down_one_level_at_a_time(written: tuple[RunDirectory, str, str]) -> None:
    levels = [int(level) for level in re.findall(r"<h([1-6])", written[1])]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_every_table_has_a_caption_and_its_headers_a_scope(
    written: tuple[RunDirectory, str, str],
) -> None:
    tables = re.findall(r"<table.*?</table>", written[1], re.DOTALL)
    assert tables
    assert all("<caption" in table for table in tables)
    assert not re.findall(r"<th(?![^>]*scope=)[ >]", written[1])


def test_a_run_that_has_only_begun_still_has_a_report(tmp_path: Path) -> None:
    manifest = Manifest(run="kg-demo-0", created="2026-11-30T09:12:44+00:00", plan={}, seed=0)
    page, data = write_report(RunDirectory.create(tmp_path / "kg-demo-0", manifest), SECTIONS)
    assert "It cannot be said from this run." in page.read_text("utf-8")
    assert json.loads(data.read_text("utf-8"))["measurements"] == []


def test_an_unknown_section_is_named_before_anything_is_written(tmp_path: Path) -> None:
    manifest = Manifest(run="kg-demo-0", created="2026-11-30T09:12:44+00:00", plan={}, seed=0)
    run = RunDirectory.create(tmp_path / "kg-demo-0", manifest)
    with pytest.raises(UserError, match=r"Unknown section 'verdit'; expected one of: verdict"):
        write_report(run, ["verdit"])
    assert not (run.path / "report.html").exists()
