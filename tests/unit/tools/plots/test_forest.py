"""A forest plot is well-formed, has a mark a row, and says in words what it cannot show."""

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.tools.plots.forest import ForestGroup, ForestRow, fit_axis, forest, legend

SVG = "{http://www.w3.org/2000/svg}"
shares = st.floats(-100, 100) | st.none()


def _draw(*rows: ForestRow, narrow: bool = False) -> ElementTree.Element:
    groups = [ForestGroup("No hop", rows, style=1)]
    drawn = forest(groups, title="Net", axis_label="points", narrow=narrow)
    return ElementTree.fromstring(drawn)  # noqa: S314 - our own drawing


def _marks(root: ElementTree.Element) -> list[ElementTree.Element]:
    return [element for element in root.iter() if element.get("class") == "mark"]


@st.composite
def forest_rows(draw: st.DrawFn) -> ForestRow:
    value = draw(shares)
    ends = (None, None) if value is None else (draw(shares), draw(shares))
    return ForestRow(
        id=draw(st.text(max_size=8)),
        label=draw(st.text(max_size=50)),
        detail=draw(st.text(max_size=50)),
        value=value,
        low=ends[0],
        high=ends[1],
        significant=draw(st.booleans()),
        control=draw(st.booleans()),
        href=draw(st.sampled_from([None, "#rows-1"])),
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(forest_rows(), max_size=6), st.booleans())
def test_any_rows_give_well_formed_marks_without_nan(rows: list[ForestRow], narrow: bool) -> None:
    root = _draw(*rows, narrow=narrow)
    assert len(_marks(root)) == len(rows)
    places = [
        value
        for element in root.iter()
        for name, value in element.attrib.items()
        if name in ("x", "y", "cx", "cy", "points", "viewBox", "width", "height")
    ]
    assert not [place for place in places if re.search(r"nan|inf", place)]


def test_a_mark_says_all_that_it_shows_and_leads_to_its_rows() -> None:
    row = ForestRow(
        id="run/m3",
        label="location",
        detail="changed alone",
        value=33.3,
        low=2.1,
        high=60.4,
        numbers="+33.3 points [2.1, 60.4]",
        counts="n 6",
        href="#rows-3",
    )
    [mark] = _marks(_draw(row))
    assert mark.tag == f"{SVG}a"
    assert mark.get("data-id") == "run/m3"
    assert mark.get("href") == "#rows-3"
    assert mark.get("tabindex") == "0"
    assert mark.get("aria-label") == "location, changed alone, +33.3 points [2.1, 60.4], n 6"


@pytest.mark.parametrize(
    ("row", "shape", "colour"),
    [
        (ForestRow("m", "age", value=5.0, significant=True), "circle", "#c44e00"),
        (ForestRow("m", "age", value=5.0), "rect", "#5b6675"),
        (ForestRow("m", "placebo", value=5.0, significant=True, control=True), "circle", "#5b6675"),
    ],
)
def test_significance_is_shape_and_colour(row: ForestRow, shape: str, colour: str) -> None:
    [mark] = _marks(_draw(row))
    [symbol] = [
        e for e in mark.iter() if e.get("stroke-width") == "2" and e.tag != f"{SVG}polyline"
    ]
    assert symbol.tag == SVG + shape
    assert symbol.get("stroke") == colour


def test_what_is_not_estimable_is_words_and_no_symbol() -> None:
    [mark] = _marks(_draw(ForestRow("m", "age", reason="nothing was scored")))
    assert "not estimable: nothing was scored" in (mark.get("aria-label") or "")
    assert "not estimable: nothing was scored" in "".join(mark.itertext())
    assert not [e for e in mark.iter() if e.tag == f"{SVG}circle" or e.get("stroke-width") == "2"]


@given(st.lists(st.floats(-100, 100, allow_subnormal=False), max_size=5))
def test_the_axis_holds_zero_and_every_number(values: list[float]) -> None:
    rows = tuple(ForestRow(str(i), "", value=value) for i, value in enumerate(values))
    axis = fit_axis([ForestGroup("", rows)], 0, 100)
    near = axis.step * 1e-9
    assert axis.low - near <= min([0.0, *values])
    assert max([0.0, *values]) <= axis.high + near
    assert any(abs(tick) < axis.step / 1e6 for tick in axis.ticks)
    assert len(axis.ticks) <= 14


def test_the_plot_is_a_group_with_a_name_and_a_key() -> None:
    root = _draw()
    assert (root.get("role"), root.get("aria-label")) == ("group", "Net")
    assert "after Holm" in legend()
