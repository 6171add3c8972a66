"""The pairwise judge: two answers side by side, a label a kind of change."""

import json
from collections.abc import Mapping

import jsonschema
import pytest

from evenhand.agents.judge import rubric_messages
from evenhand.agents.prompt import parse_messages
from evenhand.agents.rubrics import rubrics
from evenhand.agents.rubrics.pairwise_change import CONTRADICTORY, LABELS
from evenhand.tools.clinical import CHANGE_DIMENSIONS, KINDS
from evenhand.tools.verdicts import NOT_NAMED, NOTHING_NAMED, Verdict

RUBRIC = rubrics.get("pairwise_change")
SAID = {
    "diagnosis": ("malaria", "dengue", "different"),
    "test": ("blood film", "blood smear", "same"),
    "urgency": ("urgent", "", "not stated"),
    "treatment": ("artesunate", "fluids", "different"),
}


def reply(**changes: tuple[str, str, str]) -> str:
    said = {**SAID, **changes}
    return json.dumps(
        {
            key: text
            for kind, (first, second, label) in said.items()
            for key, text in ((f"{kind}_a", first), (f"{kind}_b", second), (kind, label))
        }
    )


def parse(raw: str, finish_reason: str = "stop") -> Mapping[str, Verdict]:
    assert RUBRIC.parse is not None
    return RUBRIC.parse(raw, finish_reason)


def test_a_label_a_kind_and_any_of_them() -> None:
    verdicts = parse(reply())
    assert tuple(verdicts) == CHANGE_DIMENSIONS
    assert [v.value for v in verdicts.values()] == [1.0, 1.0, 0.0, None, 1.0]
    assert verdicts["any"].reason == verdicts["diagnosis"].reason == "malaria -> dengue"
    assert verdicts["urgency"].reason_code == NOT_NAMED


def test_the_same_in_every_kind_is_no_change() -> None:
    same = {kind: ("one thing", "one thing", "same") for kind in KINDS}
    assert {v.value for v in parse(reply(**same)).values()} == {0.0}


def test_nothing_named_is_nothing_to_compare() -> None:
    nothing = {kind: ("", "", "not stated") for kind in KINDS}
    verdicts = parse(reply(**nothing))
    assert {v.status for v in verdicts.values()} == {"unparsable"}
    assert verdicts["any"].reason_code == NOTHING_NAMED


@pytest.mark.parametrize("label", ["same", "different"])
def test_what_one_answer_does_not_say_is_not_compared(label: str) -> None:
    assert parse(reply(test=("", "CT", label)))["test"].reason_code == NOT_NAMED


def test_different_beside_the_same_words_is_no_verdict() -> None:
    verdicts = parse(reply(test=("ECG", "ECG", "different")))
    assert (verdicts["test"].status, verdicts["test"].reason_code) == ("unparsable", CONTRADICTORY)


def test_one_kind_that_cannot_be_read_leaves_an_unchanged_pair_unscored() -> None:
    same = {kind: ("one thing", "one thing", "same") for kind in KINDS}
    verdicts = parse(reply(**{**same, "test": ("a", "b", "better")}))
    assert (verdicts["any"].status, verdicts["any"].reason_code) == ("unparsable", "no_label")
    assert verdicts["diagnosis"].value == 0.0


def test_labels_alone_are_enough_where_a_server_knows_no_schema() -> None:
    raw = "diagnosis: different\ntest: same\nurgency: same\ntreatment: not stated"
    assert [v.value for v in parse(raw).values()] == [1.0, 1.0, 0.0, 0.0, None]


def test_reasoning_before_the_reply_does_not_count() -> None:
    thought = '<think>{"diagnosis": "same"} or different?</think>\n'
    assert parse(thought + reply())["diagnosis"].value == 1.0
    assert {v.status for v in parse("<think>both say malaria", "length").values()} == {"truncated"}


def test_a_cut_reply_keeps_what_stands_whole() -> None:
    whole = reply()
    verdicts = parse(whole[: whole.index("urgency_a")], "length")
    assert [verdicts[kind].status for kind in KINDS] == ["ok", "ok", "truncated", "truncated"]
    assert verdicts["any"].value == 1.0


def test_its_examples_follow_its_own_schema_and_use_every_label() -> None:
    shown = [text for role, text in parse_messages(RUBRIC.prompt) if role == "assistant"]
    used = set()
    for example in shown:
        jsonschema.validate(json.loads(example), RUBRIC.schema)
        assert {v.reason_code for v in parse(example).values()} <= {None, NOT_NAMED}
        used |= {json.loads(example)[kind] for kind in KINDS}
    assert used == set(LABELS)


def test_long_answers_are_shown_whole() -> None:
    long = "Fever. " * 3000
    user = rubric_messages(RUBRIC, {"answer_a": long, "answer_b": "x" * 20_000})[-1][1]
    assert long.strip() in user
    assert "x" * 20_000 in user
