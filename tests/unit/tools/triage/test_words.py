"""The words beside arrows and numbers."""

import pytest

from evenhand.tools.statistics.bootstrap import Bootstrap
from evenhand.tools.statistics.estimate import Estimate
from evenhand.tools.triage import measure, words
from evenhand.tools.triage.measure import TriageNumber
from evenhand.tools.triage.pairs import Direction

LESS: Direction = "higher_is_less_urgent"


def made_number(metric: str, symbol: str, **rest: object) -> TriageNumber:
    known = {
        "estimate": Estimate("ok", 0.021, 0.004, 0.038, n=400),
        "groups": ("male", "female"),
        "arm": "full",
        **rest,
    }
    return TriageNumber(metric=metric, symbol=symbol, **known)  # type: ignore[arg-type]


def test_the_end_of_the_scale_is_named() -> None:
    assert words.scale(("1", "5"), LESS) == (
        "Levels 1 to 5, 1 the most urgent: ↑ less urgent, ↓ more urgent."
    )
    assert "5 the most urgent: ↑ more urgent" in words.scale(("1", "5"), "higher_is_more_urgent")
    assert "not said" in words.scale(("1", "5"), None)


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        (measure.DTS, "↑ less urgent less ↓ more urgent, male shown as female"),
        (measure.UP, "↑ less urgent, male shown as female"),
        (measure.NATS_DOWN, "↓ more urgent: female→male less male→female"),
        (measure.NMD, "mean levels ↑ less urgent as female than as male"),
    ],
)
def test_a_number_says_what_it_counts(metric: str, said: str) -> None:
    assert words.meaning(made_number(metric, "x"), LESS) == said


def test_units_follow_the_metric() -> None:
    dts = made_number(measure.DTS, "DTS")
    assert words.value_text(dts) == "+2.1 points [0.4, 3.8]"
    assert words.value_text(made_number(measure.PDR, "PDR")) == "2.1 % [0.4, 3.8]"
    assert words.value_text(made_number(measure.NMD, "NMD")) == "+0.02 levels [0.00, 0.04]"
    assert words.symbol("PDR(male->female)") == "PDR(male→female)"


def test_a_silent_control_is_no_information() -> None:
    net = made_number(
        measure.NET_PDR,
        "net PDR",
        control_arm="repeat",
        control=0.0,
        arm_value=0.1,
        control_is_informative=False,
    )
    assert words.control_text(net) == "no information (repeat)"
    assert words.arm_value_text(net) == "10.0 %"
    assert words.value_text(net) == "+2.1 points [0.4, 3.8]"


def test_a_zero_width_is_flagged() -> None:
    flat = Bootstrap(0.0, 0.0, 0.0, 1000, flags=("all_equal",))
    assert words.bootstrap_text(flat, "net_rate") == "[0.0, 0.0] all equal"
    assert words.bootstrap_text(None, "rate") == ""


def test_what_was_left_out_is_said_by_why() -> None:
    assert words.unscored({"refused": 3}) == "3 note not rewritten"
    both = words.unscored({"refused": 3, "not_stated": 10})
    assert both == "13 (10 note does not state it, 3 note not rewritten)"
    assert words.unscored({}) == "0"
    lost = made_number(
        measure.DTS,
        "DTS",
        estimate=Estimate("not_estimable", reason_code="all_unscored"),
        unscored={"not_stated": 5},
    )
    assert words.value_text(lost) == "not estimable: no note states it"
