"""How costs, times, progress and runs are said."""

from pathlib import Path

import pytest

from evenhand.agents.estimate import check_plan
from evenhand.agents.jobs import StageProgress
from evenhand.agents.plan import Plan
from evenhand.agents.recipe import STAGES
from evenhand.graph_store.errors import UserError
from evenhand.graph_store.run_directory import Manifest, RunDirectory
from evenhand.ui.glossary import glossary
from evenhand.ui.options import counts_by_name, groups_list, names_list, names_or_none
from evenhand.ui.results import find_run
from evenhand.ui.words import (
    STAGE_WORDS,
    asked_facts,
    attempts,
    cost,
    duration,
    graph_place,
    rate,
)


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


def test_none_is_no_name_and_silence_is_not() -> None:
    assert names_or_none("none") == ()
    assert names_or_none(None) is None
    assert names_or_none(" age,gender") == ("age", "gender")


def test_numbers_by_name() -> None:
    assert counts_by_name("location=4, age = 2") == {"location": 4, "age": 2}
    assert counts_by_name(None) == {}


@pytest.mark.parametrize(
    "text", ["location", "location=", "=4", "location=0", "location=-1", "a=\u0664"]
)
def test_what_is_no_number_of_values_is_named(text: str) -> None:
    with pytest.raises(UserError, match="location=4") as raised:
        counts_by_name(text)
    assert repr(text) in str(raised.value)


def test_a_plan_says_what_is_changed_put_in_and_judged() -> None:
    facts = {fact.label: fact for fact in asked_facts(check_plan(Plan(n=4)))}
    assert facts["Changed"].value == (
        "age, gender, location (4 values); together: age+gender, age+gender+location"
    )
    assert facts["Put in where lacking"].value == "age, gender, location"
    assert facts["Judged"].value == "attribute association, paired change"
    assert all(fact.term in glossary() for fact in facts.values() if fact.term)
    bare = check_plan(Plan(n=4, attributes=("age",), added=(), controls=()))
    said = {fact.label: fact.value for fact in asked_facts(bare)}
    assert (said["Changed"], said["Put in where lacking"]) == ("age", "nothing")
    assert said["Noise controls"].startswith("none")


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
