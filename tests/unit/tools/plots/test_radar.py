"""A radar plot has a mark a value; what is missing is a gap and a note, never 0."""

from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.tools.plots.radar import RadarPoint, RadarSeries, radar

SVG = "{http://www.w3.org/2000/svg}"
AXES = ("age", "gender", "location")


def _draw(*values: float | None) -> ElementTree.Element:
    points = tuple(RadarPoint(f"m{i}", value, f"text {i}") for i, value in enumerate(values))
    drawn = radar(AXES, [RadarSeries("no hop", points, 1)], title="Scores")
    return ElementTree.fromstring(drawn)  # noqa: S314 - our own drawing


def _marks(root: ElementTree.Element) -> list[ElementTree.Element]:
    return [element for element in root.iter() if element.get("class") == "mark"]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(0, 1) | st.none(), min_size=3, max_size=3))
def test_each_value_has_one_mark_and_no_coordinate_is_nan(values: list[float | None]) -> None:
    root = _draw(*values)
    assert len(_marks(root)) == sum(value is not None for value in values)
    text = ElementTree.tostring(root, encoding="unicode")
    assert "nan" not in text
    assert ("not estimable" in text) == (None in values)


def test_a_missing_value_is_a_gap_in_the_line_and_a_note() -> None:
    whole, gap = _draw(0.2, 0.4, 0.6), _draw(0.2, None, 0.6)

    def lines(root: ElementTree.Element) -> int:
        return sum(e.get("class") == "stroke-arm-2" for e in root.iter(f"{SVG}polyline"))

    assert lines(whole) - lines(gap) == 2
    assert "no hop: not estimable for gender" in "".join(gap.itertext())


def test_a_series_has_a_line_style_and_a_shape_beside_its_colour() -> None:
    root = _draw(0.2, 0.4, 0.6)
    dashes = {e.get("stroke-dasharray") for e in root.iter(f"{SVG}polyline")}
    assert "7 4" in dashes
    assert {e.tag for mark in _marks(root) for e in mark if e.get("stroke")} == {f"{SVG}rect"}


def test_values_outside_the_scale_are_cut_at_its_ends() -> None:
    def places(*values: float) -> list[dict[str, str]]:
        return [mark[0].attrib for mark in _marks(_draw(*values))]

    assert places(1.4, -0.2, 0.5) == places(1.0, 0.0, 0.5)


def test_a_series_must_have_a_point_for_each_axis() -> None:
    with pytest.raises(ValueError, match="1 points for 3 axes"):
        radar(AXES, [RadarSeries("no hop", (RadarPoint("m", 0.1),))], title="Scores")
