"""Numbers as they are stated, and their scales."""

import math

import pytest

from evenhand.tools.stated_numbers import StatedNumber, named_numbers, read_number, said_numbers


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("0.7", StatedNumber(0.7)),
        (" .8 ", StatedNumber(0.8)),
        ("8e-1", StatedNumber(0.8)),
        ("0,7", StatedNumber(0.7)),
        ("0,125", StatedNumber(0.125)),
        ("\u22120.2", StatedNumber(-0.2)),
        ("85 %", StatedNumber(85, 100)),
        ("8/10", StatedNumber(8, 10)),
        ("8 out of 10", StatedNumber(8, 10)),
        ("7 on a scale of 1 to 10", StatedNumber(7, 10, 1)),
        ("1,000", None),
        ("0.", None),
        ("1.2.3", None),
        ("8/0", None),
        ("0x1", None),
        ("\u0663", None),
        ("about 1", None),
        ("", None),
    ],
)
def test_a_whole_number_is_read(text: str, stated: StatedNumber | None) -> None:
    assert read_number(text) == stated


@pytest.mark.parametrize("text", ["NaN", "inf", "-Infinity", "1e999", "9" * 400])
def test_what_is_not_finite_is_not_hidden(text: str) -> None:
    stated = read_number(text)
    assert stated is not None
    assert not math.isfinite(stated.number)


@pytest.mark.parametrize(
    ("stated", "low", "high", "value"),
    [
        (StatedNumber(8), 0, 1, 8),
        (StatedNumber(8, 10), 0, 1, 0.8),
        (StatedNumber(4, 5), 1, 5, 4),
        (StatedNumber(4, 5, 1), 1, 5, 4),
        (StatedNumber(8, 10), 1, 5, None),
        (StatedNumber(8, 10, 1), 0, 1, None),
        (StatedNumber(8, 10, 1), 0, 10, None),
    ],
)
def test_a_scale_is_taken_only_from_what_is_said(
    stated: StatedNumber, low: float, high: float, value: float | None
) -> None:
    assert stated.on_scale(low, high) == value


def test_places_and_names() -> None:
    text = "Age: 0.2\nGender score: 0.4\nthe age: 0.9"
    assert [n.stated.number for n in named_numbers(text, ("age",))] == [0.2]
    assert [n.stated.number for n in named_numbers(text, ("gender",))] == [0.4]
    (found,) = named_numbers("Well. Final score: 0.4!")
    assert (found.final, found.end) == (True, 22)
    assert [n.stated.number for n in said_numbers("I rate it 0.4.")] == [0.4]
