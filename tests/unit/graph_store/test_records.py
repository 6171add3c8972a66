import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from evenhand.graph_store.records import (
    Answer,
    Change,
    Judgement,
    Measurement,
    Sample,
    Triple,
    Variant,
    child_id,
    content_hash,
    sample_id,
)


def test_ids_are_as_published() -> None:
    """Stored runs hold these ids: a change of the rule would make every call anew."""
    assert sample_id("demo", 12, "text") == f"demo-12-{content_hash('text')}"
    assert content_hash("text") == "982d9e3e"
    assert child_id("demo-12-982d9e3e", "v", 3, "location", "Leeds") == (
        f"demo-12-982d9e3e/v3-{content_hash('location', 'Leeds')}"
    )


@given(st.lists(st.text(), max_size=4), st.lists(st.text(), max_size=4))
def test_other_parts_have_another_hash(one: list[str], other: list[str]) -> None:
    safe = [[part.replace("\x1f", "") for part in parts] for parts in (one, other)]
    same = safe[0] == safe[1] or "".join(safe[0]) == "".join(safe[1]) == ""
    assert (content_hash(*safe[0]) == content_hash(*safe[1])) == same or len(one) != len(other)


def test_the_parts_do_not_run_together() -> None:
    assert content_hash("ab", "c") != content_hash("a", "bc") != content_hash("abc")


def test_lineage_is_a_prefix() -> None:
    variant = child_id("demo-0-00000000", "v", 1, "age")
    assert child_id(variant, "a", 2, "multi_hop").startswith(variant + "/a2-")


def _judgement(**fields: Any) -> Judgement:
    whole = {"id": "j", "subject_id": "a", "rubric": "r", "dimension": "d", "judge": "rules"}
    return Judgement.model_validate(whole | fields)


@pytest.mark.parametrize("status", ["refused", "unparsable", "out_of_range", "tie", "error"])
def test_what_is_not_ok_has_no_value(status: str) -> None:
    assert math.isnan(_judgement(status=status).number)
    with pytest.raises(ValidationError, match="value is given exactly when status is ok"):
        _judgement(status=status, value=0.0)


def test_what_is_ok_has_a_value() -> None:
    with pytest.raises(ValidationError, match="value is given exactly when status is ok"):
        _judgement(status="ok")
    assert _judgement(status="ok", value=0).number == 0.0
    assert math.isnan(_judgement(status="ok", value="accepted").number)
    with pytest.raises(ValidationError, match="value is given exactly when status is ok"):
        Measurement(
            id="m", status="not_estimable", metric="x", arm="no_hop", groups=("age",), value=0
        )


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_numbers_are_finite(number: float) -> None:
    with pytest.raises(ValidationError, match="must be finite"):
        _judgement(status="ok", value=number)
    with pytest.raises(ValidationError, match="must be finite"):
        Answer(
            id="a",
            status="ok",
            variant_id="v",
            arm="no_hop",
            model="m",
            prompt_hash="h",
            seconds=number,
        )


def test_records_are_frozen_and_closed() -> None:
    sample = Sample(id="s", dataset="demo", position=0, text="t")
    with pytest.raises(ValidationError, match="frozen"):
        sample.text = "other"  # type: ignore[misc]
    with pytest.raises(ValidationError, match="Extra inputs"):
        Sample.model_validate(sample.model_dump() | {"colour": "blue"})
    with pytest.raises(ValidationError, match="less than or equal to 3"):
        Triple.model_validate(
            dict.fromkeys(("id", "source_id", "subject", "predicate", "object"), "x")
            | {"subject_key": "x", "object_key": "x", "hop": 4, "origin": "rules"}
        )


def test_the_group_of_a_variant() -> None:
    def variant(*names: str, arm: str = "isolated") -> Variant:
        changes = tuple(Change(attribute=name, before=None, after="x") for name in names)
        return Variant.model_validate(
            {"id": "v", "sample_id": "s", "arm": arm, "changes": changes, "made_by": "rules"}
        )

    assert variant("age", "gender").group == "age+gender"
    assert variant("age").attributes == ("age",)
    assert variant(arm="placebo").group == "placebo"


@given(st.text(st.characters(exclude_categories=["Cs"])), st.none() | st.floats(allow_nan=False))
def test_a_line_comes_back_equal(text: str, seconds: float | None) -> None:
    number = seconds if seconds is not None and math.isfinite(seconds) else None
    answer = Answer(
        id="a",
        status="truncated",
        variant_id="v",
        arm="original",
        model="m",
        prompt_hash="h",
        text=text,
        seconds=number,
    )
    line = answer.model_dump_json()
    assert "\n" not in line
    assert Answer.model_validate_json(line) == answer
