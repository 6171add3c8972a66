import math
from typing import Any

import pytest

from evenhand.graph_store.records import Judgement
from evenhand.tools.askings import ReadVerdict, verdicts_by_key


def said(judge: str, value: float | str | None, status: str = "ok", order: int = 0) -> Judgement:
    fields: dict[str, Any] = {
        "id": f"{judge}{order}",
        "subject_id": "a",
        "against_id": "b",
        "rubric": "r",
        "dimension": "any",
        "judge": judge,
        "order": order,
        "status": status,
        "value": value,
        "reason": f"{judge} says",
    }
    return Judgement.model_validate(fields)


def read(*judgements: Judgement) -> ReadVerdict:
    (verdict,) = verdicts_by_key(judgements).values()
    return verdict


def test_judges_are_averaged_and_one_that_failed_is_left_out() -> None:
    assert read(said("x", 1.0), said("y", 0.5))[:2] == (0.75, "ok")
    assert read(said("x", None, "refused"), said("y", 0.5)) == (0.5, "ok", "y says")


@pytest.mark.parametrize(
    ("second", "status"),
    [(said("x", 0.0, order=1), "tie"), (said("x", None, "unparsable", 1), "unparsable")],
)
def test_a_judge_that_contradicts_itself_in_the_other_order_has_no_verdict(
    second: Judgement, status: str
) -> None:
    value, found, _ = read(said("x", 1.0), second)
    assert math.isnan(value)
    assert found == status
    assert read(said("x", 1.0), second, said("y", 0.0))[:2] == (0.0, "ok")


def test_words_are_no_number() -> None:
    assert read(said("x", "yes"))[1] == "not_a_number"
    assert read(said("x", None, "truncated"))[1] == "truncated"
