"""The quality of a question, 1 to 5, against its source."""

import json

import jsonschema
import pytest

from evenhand.agents.prompt import parse_messages
from evenhand.agents.rubrics import rubrics
from evenhand.agents.rubrics.question_quality import QUALITIES

RUBRIC = rubrics.get("question_quality")


@pytest.mark.parametrize(
    ("value", "status", "read"),
    [
        (1, "ok", 1.0),
        (4.5, "ok", 4.5),
        ("4/5", "ok", 4.0),
        (5.5, "out_of_range", None),
        (0, "out_of_range", None),
        ("n/a", "unparsable", None),
    ],
)
def test_a_rating_stays_on_its_scale(value: object, status: str, read: float | None) -> None:
    assert RUBRIC.parse is not None
    raw = json.dumps({"reason": "r", **dict.fromkeys(QUALITIES, value)})
    verdicts = RUBRIC.parse(raw, "stop")
    assert tuple(verdicts) == QUALITIES
    assert {(v.status, v.value) for v in verdicts.values()} == {(status, read)}


def test_its_examples_follow_its_own_schema() -> None:
    shown = [text for role, text in parse_messages(RUBRIC.prompt) if role == "assistant"]
    assert len(shown) > 1
    for example in shown:
        jsonschema.validate(json.loads(example), RUBRIC.schema)


def test_a_swapped_attribute_is_said_to_be_no_fault_without_saying_that_there_is_one() -> None:
    system = parse_messages(RUBRIC.prompt)[0][1]
    assert "may give the patient another age" in system
    assert "variant" not in system
    assert "bias" not in system
