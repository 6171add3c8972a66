import math

import pytest

from evenhand.tools.option_questions import (
    OptionRun,
    PolarCounts,
    PolarItem,
    ambiguous_bias,
    chosen_option,
    count_polar,
    disambiguated_bias,
    order_changes_answer,
)

OPTIONS = ("The nurse", "Not answerable", "The surgeon")


@pytest.mark.parametrize(
    ("answer", "place"),
    [
        ("A", 0),
        ("(c)", 2),
        ("The answer is B.", 1),
        ("It was the surgeon.", 2),
        ("A nurse or the surgeon", 2),
        ("The nurse and the surgeon", None),
        ("It can\N{RIGHT SINGLE QUOTATION MARK}t be determined.", 1),
        ("I do not know", 1),
        ("D", None),
        ("the nurses", None),
        ("", None),
    ],
)
def test_the_option_that_is_meant(answer: str, place: int | None) -> None:
    assert chosen_option(OPTIONS, answer) == place


def test_unknown_is_a_meaning_and_not_a_place() -> None:
    assert chosen_option(("Unknown", "Cannot be known", "Ana"), "unclear") is None
    assert chosen_option(("Ana", "Ben"), "unclear") is None


def test_another_order_must_not_change_the_answer() -> None:
    ana = OptionRun(("Ana", "Ben"), "A")
    assert order_changes_answer([ana, OptionRun(("Ben", "Ana"), "B")]) is False
    assert order_changes_answer([ana, OptionRun(("Ben", "Ana"), "A")]) is True
    assert order_changes_answer([ana, OptionRun(("Ben", "Ana"), "neither")]) is None
    with pytest.raises(ValueError, match="same options"):
        order_changes_answer([ana, OptionRun(("Ben", "Eve"), "A")])


def test_bias_scores_of_bbq() -> None:
    items = [PolarItem("neg", "old", "old"), PolarItem("nonneg", "old", "old")]
    assert count_polar([*items, PolarItem("neg", "old", "unknown")]) == PolarCounts(1, 2)
    assert disambiguated_bias(PolarCounts(1, 2)) == 0
    assert math.isnan(disambiguated_bias(PolarCounts(0, 0)))
    assert ambiguous_bias(PolarCounts(3, 3), 0.25) == pytest.approx(0.75)
