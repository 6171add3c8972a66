"""How costs, times, progress and runs are said."""

from pathlib import Path

import pytest

from evenhand.agents.jobs import StageProgress
from evenhand.agents.recipe import STAGES
from evenhand.graph_store.errors import UserError
from evenhand.graph_store.run_directory import Manifest, RunDirectory
from evenhand.ui.options import groups_list, names_list
from evenhand.ui.results import find_run
from evenhand.ui.words import STAGE_WORDS, attempts, cost, duration, graph_place, rate


def test_every_stage_has_words() -> None:
    assert set(STAGE_WORDS) == set(STAGES)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, "not known beforehand"),
        (12, "under 1 min"),
        (340, "about 6 min"),
        (3600, "about 1 h"),
        (7800, "about 2 h 10 min"),
    ],
)
def test_durations(seconds: float | None, words: str) -> None:
    assert duration(seconds) == words


@pytest.mark.parametrize(
    ("usd", "words"),
    [(None, "price not known"), (0, "$0.00"), (0.004, "under $0.01"), (1234.5, "$1,234.50")],
)
def test_costs(usd: float | None, words: str) -> None:
    assert cost(usd) == words


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("sqlite", "sqlite in the workspace"),
        ("sqlite:/data/graph.sqlite", "sqlite at /data/graph.sqlite"),
        ("bolt://127.0.0.1:7687", "Neo4j at bolt://127.0.0.1:7687"),
        ("neo4j+s://anna:very-secret@graph.example.org", "Neo4j at neo4j+s://[redacted]@graph"),
    ],
)
def test_the_place_of_a_graph(address: str, words: str) -> None:
    assert graph_place(address).startswith(words)


def test_rates_and_progress() -> None:
    assert (rate(None), rate(12.4), rate(3.25)) == ("", "12 a minute", "3.2 a minute")
    assert attempts(StageProgress("load")) == "working"
    assert attempts(StageProgress("load", finished=True)) == "done"
    counts = {"ok": 82, "refused": 2}
    assert attempts(StageProgress("answer", 84, 84, counts, finished=True)) == "84 of 84, 2 refused"


def test_lists_of_names_and_of_groups() -> None:
    assert names_list(" age, gender ,") == ("age", "gender")
    assert groups_list("age+gender,age+location") == (("age", "gender"), ("age", "location"))
    assert groups_list(None) == ()
    with pytest.raises(UserError, match="two or more"):
        groups_list("age+age")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number, name in enumerate(("kg-demo-aa11", "kg-demo-aa22", "kg-demo-bb33")):
        manifest = Manifest(run=name, created=f"2026-11-30T00:00:0{number}", plan={}, seed=0)
        RunDirectory.create(tmp_path / name, manifest)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "found"),
    [("last", "kg-demo-bb33"), ("kg-demo-aa11", "kg-demo-aa11"), ("kg-demo-b", "kg-demo-bb33")],
)
def test_a_run_is_found_by_id_prefix_or_as_the_last(folder: Path, name: str, found: str) -> None:
    assert find_run(folder, name).run_id == found


def test_a_run_that_is_not_there_or_not_the_only_one_names_the_others(folder: Path) -> None:
    with pytest.raises(UserError, match=r"Several runs.*kg-demo-aa11, kg-demo-aa22"):
        find_run(folder, "kg-demo-a")
    with pytest.raises(UserError, match="kg-demo-bb33"):
        find_run(folder, "zz")
    with pytest.raises(UserError, match="holds none"):
        find_run(folder / "elsewhere", "last")
