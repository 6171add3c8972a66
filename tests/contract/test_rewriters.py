from pathlib import Path

import pytest

from evenhand.graph_store.records import Triple
from evenhand.tools import rewriters as folder
from evenhand.tools.gate import check_placebo
from evenhand.tools.rewriters import rewriters
from evenhand.tools.sentences import PAPER_QUESTION

A_REWRITER = '''
from evenhand.tools.rewriters import rewriter

@rewriter
def dropped(triples, question):
    """Say only the question."""
    return question
'''
FACTS = [
    ("has_age", "28"),
    ("has_gender", "male"),
    ("has_symptom", "fever"),
    ("lives_in", "Leeds"),
    ("denies", "cough"),
]
TRIPLES = [
    Triple(
        id=f"s-0-0/t{position}",
        source_id="s-0-0",
        subject="patient",
        predicate=predicate,
        object=thing,
        subject_key="patient",
        object_key=thing,
        hop=0,
        origin="rules",
    )
    for position, (predicate, thing) in enumerate(FACTS)
]


@pytest.mark.parametrize("name", rewriters.names())
def test_it_passes_the_gate(name: str) -> None:
    text = rewriters.get(name)(TRIPLES, PAPER_QUESTION)
    assert check_placebo(TRIPLES, text, PAPER_QUESTION).accepted
    assert text == rewriters.get(name)(TRIPLES, PAPER_QUESTION)


def test_a_dropped_file_is_picked_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dropped_rewriter.py").write_text(A_REWRITER)
    monkeypatch.setattr(folder, "__path__", [*folder.__path__, str(tmp_path)])
    try:
        assert "dropped" in rewriters.names()
        text = rewriters.get("dropped")(TRIPLES, PAPER_QUESTION)
        assert check_placebo(TRIPLES, text, PAPER_QUESTION).reason_code == "wrong_value"
    finally:
        rewriters.forget("dropped")
