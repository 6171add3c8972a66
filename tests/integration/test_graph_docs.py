"""docs/graph.md: its queries run on a real Neo4j and say what evenhand says; so do its tables."""

import os
import re
from pathlib import Path
from typing import Any, cast, get_args
from xml.etree import ElementTree

import pytest

from evenhand.graph_store.run_directory import RunDirectory, list_runs
from evenhand.graph_store.schema import LINK_TYPES, Label
from evenhand.graph_store.store import GraphStore, open_store
from evenhand.ui.cli import run as evenhand
from evenhand.ui.commands.graph import QUERIES

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "graph.md").read_text("utf-8")
CYPHER = re.findall(r"```cypher\n(.*?)```", PAGE, re.DOTALL)


def test_the_page_names_every_label_type_query_and_verb() -> None:
    assert all(f"\n| {label} | " in PAGE for label in get_args(Label))
    assert all(f"\n| {type_} " in PAGE for type_ in LINK_TYPES)
    assert all(f"evenhand graph query {name} " in PAGE for name in QUERIES)
    assert all(f"evenhand graph {verb}" in PAGE for verb in ("stats", "picture", "export", "drop"))


def test_the_picture_of_the_page_is_whole() -> None:
    root = ElementTree.parse(DOCS / "graph.svg").getroot()  # noqa: S314
    marks = [element for element in root.iter() if element.get("class") == "mark"]
    assert len(marks) > 15
    assert "changed-changed" in {element.get("data-id") for element in marks}


class Asked:
    """A Neo4j with two audits of planted targets, and the parameters that the page sets."""

    def __init__(self, address: str, folder: Path) -> None:
        self.address, self.folder = address, folder
        for target in ("location", "fair"):
            arguments = ["audit", "--target", f"planted/{target}", "--n", "12", "--yes", "--json"]
            # One place a question: the page's queries show 50 rows, and all are compared.
            changed = ["--attributes", "location", "--draws", "location=1"]
            options = ["--graph", address, "--runs-dir", str(folder)]
            assert evenhand([*arguments, *changed, *options]) == 0
        by_target = {_target(run): run for run in list_runs(folder)}
        self.run, other = by_target["planted/location"], by_target["planted/fair"]
        self.sample = self.run.samples()[0]
        self.parameters = {
            "run": self.run.run_id,
            "other": other.run_id,
            "sample": f"demo {self.sample.position}",
            "attribute": "location",
        }

    def rows(self, number: int) -> list[dict[str, Any]]:
        """Return what the page's query of this number (from 1) answers."""
        return self.ask(CYPHER[number - 1])

    def ask(self, query: str) -> list[dict[str, Any]]:
        from neo4j import GraphDatabase

        password = os.environ.get("NEO4J_PASSWORD")
        auth = (os.environ.get("NEO4J_USERNAME") or "neo4j", password) if password else None
        with GraphDatabase.driver(self.address, auth=auth) as driver:
            found = driver.execute_query(cast(Any, query), self.parameters)
            return [record.data() for record in found.records]

    def store(self) -> GraphStore:
        return open_store(self.address, self.folder)


def _target(run: RunDirectory) -> str:
    return str(run.manifest.plan["roles"]["target"]["model"])


@pytest.fixture
def asked(neo4j_address: str, tmp_path: Path) -> Asked:
    return Asked(neo4j_address, tmp_path)


def test_the_six_queries_answer_as_the_page_says(asked: Asked) -> None:
    assert len(CYPHER) == 6
    parameters = re.search(r":param \{(.*)\}", PAGE)
    assert parameters is not None
    assert set(re.findall(r"(\w+): ", parameters.group(1))) == set(asked.parameters)
    run = asked.run.run_id
    with asked.store() as store:
        facts = store.triples_of(asked.sample.id, run=run)
        cases = store.changed_cases("location", run=run)
        difference = store.group_difference("location", run=run, limit=1_000)
        sides = store.side_by_side([run, asked.parameters["other"]], limit=1_000)
    assert len(asked.rows(1)) == len(facts) > 0
    assert {row["judged"][0]["name"] for row in asked.rows(2)} == {"location"}

    hops = asked.rows(3)
    assert {row["shown"] for row in hops} == {"base", "location"}
    assert {row["hop"] for row in hops} <= {1, 2, 3}

    moved = asked.rows(4)
    assert len(moved) == len(cases) > 0
    assert {(row["before"], row["after"], row["asked"], row["what_changed"]) for row in moved} == {
        (case.before, case.after, case.arm, case.reason) for case in cases
    }

    new = {
        (r["subject"], r["predicate"], r["object"], r["hop"]): r["answers"] for r in asked.rows(5)
    }
    assert new == {
        (row.subject_key, row.type, row.object_key, row.hop): row.only_variant
        for row in difference
        if row.only_variant
    }

    both = [side for side in sides if side.repeat == 0 and all(s.answer_id for s in side.sides)]
    compared = [
        side
        for side in both
        if all(any(v.rubric == "paired_change" for v in s.verdicts) for s in side.sides)
    ]
    beside = asked.rows(6)
    assert len(beside) == len(compared) > 0
    assert {row["model"] for row in beside} == {"planted/location"}
    assert {row["other_model"] for row in beside} == {"planted/fair"}

    unnamed = asked.ask(
        "MATCH (n) WHERE n.name IS NULL RETURN DISTINCT labels(n)[0] AS label ORDER BY label"
    )
    assert [row["label"] for row in unnamed] == ["Entity", "EvenhandSchema"], "see Captions"
