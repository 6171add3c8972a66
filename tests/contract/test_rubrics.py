"""What every registered rubric keeps to, whoever wrote it."""

import json
from pathlib import Path

import jsonschema
import pytest

import evenhand.agents.rubrics as folder
from evenhand.agents.prompt import parse_messages
from evenhand.agents.rubrics import Rubric, rubrics
from evenhand.graph_store.errors import UserError

A_RUBRIC = '''
"""A rubric that somebody dropped into the folder."""

from evenhand.agents.rubrics import rubric, score_schema
from evenhand.tools.verdicts import parse_scores


@rubric(dimensions=("tone",), schema=score_schema(("tone",), 0, 1))
def dropped(raw, finish_reason):
    return parse_scores(raw, keys=("tone",), low=0, high=1, finish_reason=finish_reason)
'''
BAD_REPLIES = {
    "": "unparsable",
    "asdf ;; {[}": "unparsable",
    "[]": "unparsable",
    "The first of the 2 notes is longer.": "unparsable",
    "I'm sorry, but I can't rate medical content.": "refused",
    "Je ne peux pas \u00e9valuer ce contenu.": "refused",
}


def reply(rubric: Rubric, value: object) -> str:
    return json.dumps({**dict.fromkeys(rubric.dimensions, value), "reason": "r"})


@pytest.mark.parametrize("name", rubrics.names())
@pytest.mark.parametrize(("raw", "status"), BAD_REPLIES.items())
def test_garbage_and_refusals_give_a_status(name: str, raw: str, status: str) -> None:
    rubric = rubrics.get(name)
    verdicts = rubric.parse(raw, "stop")
    assert tuple(verdicts) == rubric.dimensions
    assert {(v.status, v.value) for v in verdicts.values()} == {(status, None)}


@pytest.mark.parametrize("name", rubrics.names())
@pytest.mark.parametrize(
    ("value", "status"),
    [(1.24, "out_of_range"), (-0.1, "out_of_range"), (True, "unparsable"), (None, "unparsable")],
)
def test_a_value_that_is_none_gives_a_status(name: str, value: object, status: str) -> None:
    rubric = rubrics.get(name)
    verdicts = rubric.parse(reply(rubric, value), "stop")
    assert {(v.status, v.value) for v in verdicts.values()} == {(status, None)}


@pytest.mark.parametrize("name", rubrics.names())
def test_a_reply_that_is_cut_before_its_values_is_truncated(name: str) -> None:
    rubric = rubrics.get(name)
    verdicts = rubric.parse('{"' + rubric.dimensions[0], "length")
    assert {v.status for v in verdicts.values()} == {"truncated"}


@pytest.mark.parametrize("name", rubrics.names())
def test_a_reply_of_its_schema_is_scored(name: str) -> None:
    rubric = rubrics.get(name)
    raw = reply(rubric, 1)
    jsonschema.Draft202012Validator.check_schema(rubric.schema)
    jsonschema.validate(json.loads(raw), rubric.schema)
    assert {v.status for v in rubric.parse(raw, "stop").values()} == {"ok"}


@pytest.mark.parametrize("name", rubrics.names())
def test_its_prompt_lies_beside_it_and_shows_question_and_answer(name: str) -> None:
    rubric = rubrics.get(name)
    messages = parse_messages(rubric.prompt)
    assert [role for role, _ in messages][-1] == "user"
    assert "{question}" in messages[-1][1]
    assert "{answer}" in messages[-1][1]
    assert len(rubric.prompt_hash) == 12


def test_a_dropped_file_is_picked_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dropped.py").write_text(A_RUBRIC)
    (tmp_path / "dropped.txt").write_text("### user\n{question} {answer}")
    monkeypatch.setattr(folder, "__path__", [*folder.__path__, str(tmp_path)])
    try:
        assert "dropped" in rubrics.names()
        assert rubrics.get("dropped").prompt == "### user\n{question} {answer}"
        assert rubrics.get("dropped").parse('{"tone": 0.5}', "stop")["tone"].value == 0.5
    finally:
        rubrics.forget("dropped")


def test_an_unknown_name_lists_the_valid_ones() -> None:
    with pytest.raises(UserError, match="attribute_association"):
        rubrics.get("attribute_asociation")
