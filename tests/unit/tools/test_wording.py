import pytest

from evenhand.tools import wording
from evenhand.tools.data_kinds import data_kinds
from evenhand.tools.metrics import metrics
from evenhand.tools.units import Unit


@pytest.mark.parametrize(
    ("value", "unit", "said"),
    [
        (0.113, "rate", "11.3 %"),
        (0.333, "net_rate", "+33.3 points"),
        (0.42, "score", "0.42"),
        (-0.05, "score_difference", "\N{MINUS SIGN}0.05"),
        (0.0414, "divergence", "0.041"),
        (4.25, "grade", "4.25"),
    ],
)
def test_each_unit_has_its_form(value: float, unit: Unit, said: str) -> None:
    assert wording.number(value, unit) == said


def test_intervals_of_divergences_have_three_digits() -> None:
    assert wording.interval(0.0, 0.0619, "divergence") == "[0.000, 0.062]"
    assert wording.interval(0.058, 0.182, "rate") == "[5.8, 18.2]"


def test_added_arms_are_said_apart_from_swaps() -> None:
    assert wording.group("added:age+gender") == "age + gender (added)"
    assert wording.group("age+gender") == "age + gender"


def test_a_unit_is_that_of_the_kind_of_data() -> None:
    for name in metrics.names():
        assert wording.unit_of(name) == data_kinds.get(metrics.get(name).data).unit
    assert wording.unit_of("gone") == "score"


def test_a_cell_that_is_empty_by_plan_says_so() -> None:
    assert wording.reason("not_needed") == "every source states it already"
    assert wording.reason("not_stated") == "no source states it"
    assert wording.status("control_not_needed") == "control: the source states it already"
