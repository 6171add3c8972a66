"""Radar plot: one polygon a series over axes from 0 to 1; what is missing is a gap, never 0."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from evenhand.tools.plots.palette import arm_role, light
from evenhand.tools.plots.svg import add, coordinate, drawing, mark, stroke, symbol, to_text, write

DASHES = ("", "7 4", "2 3", "9 3 2 3", "12 4")
"""Line style of a series, by position: the second sign beside its colour."""

_WIDTH, _RADIUS, _MIDDLE = 420.0, 124.0, (210.0, 162.0)
_RINGS = (0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class RadarPoint:
    """A value on one axis; None where it is not estimable."""

    id: str
    value: float | None
    text: str = ""
    """Value, interval and n in words."""
    href: str | None = None


@dataclass(frozen=True)
class RadarSeries:
    """One polygon: an arm as asked, with a point an axis."""

    name: str
    points: tuple[RadarPoint, ...]
    style: int = 0
    """Position of the arm, from 0: colour, line style and shape."""


def radar(axes: Sequence[str], series: Sequence[RadarSeries], *, title: str) -> str:
    """Draw the series over the axes, each axis from 0 in the middle to 1 at the rim.

    Args:
        axes: Labels, clockwise from the top; at least one.
        series: Each with as many points as there are axes.
        title: What the plot shows, for a reader who does not see it.

    Returns:
        SVG text; each value that exists is one element of class "mark". A note names the rest.

    Raises:
        ValueError: A series has not one point an axis.
    """
    for one in series:
        if len(one.points) != len(axes):
            raise ValueError(f"{one.name}: {len(one.points)} points for {len(axes)} axes")
    notes = _missing(axes, series)
    height = 312 + 24 * len(series) + 18 * len(notes)
    root = drawing(_WIDTH, height, title)
    _draw_frame(root, axes)
    for one in series:
        _draw_series(root, one)
    for index, one in enumerate(series):
        _draw_key(root, one, 320 + 24 * index)
    for index, note in enumerate(notes):
        y = 326 + 24 * len(series) + 18 * index
        write(root, _WIDTH / 2, y, note, role="secondary", font_size=12, text_anchor="middle")
    return to_text(root)


def _place(index: int, count: int, value: float) -> tuple[float, float]:
    angle = 2 * math.pi * index / count - math.pi / 2
    radius = _RADIUS * value
    return _MIDDLE[0] + radius * math.cos(angle), _MIDDLE[1] + radius * math.sin(angle)


def _draw_frame(root: Element, axes: Sequence[str]) -> None:
    count = len(axes)
    for ring in _RINGS:
        corners = [_place(index, count, ring) for index in range(count)]
        stroke(root, [*corners, corners[0]], role="rule")
    for index, label in enumerate(axes):
        stroke(root, [_MIDDLE, _place(index, count, 1)], role="rule")
        x, y = _place(index, count, 1.1)
        side = x - _MIDDLE[0]
        anchor = "middle" if abs(side) < 8 else "start" if side > 0 else "end"
        lift = -6 if anchor == "middle" and y < _MIDDLE[1] else 5
        write(root, x, y + lift, label, font_size=13, text_anchor=anchor)
    for ring in (0.0, 0.5, 1.0):
        x, y = _place(0, count, ring)
        write(root, x + 5, y - 4, f"{ring:g}", role="secondary", font_size=11)


def _draw_series(root: Element, series: RadarSeries) -> None:
    role = arm_role(series.style)
    count = len(series.points)
    places = [
        None if point.value is None else _place(index, count, min(max(point.value, 0), 1))
        for index, point in enumerate(series.points)
    ]
    whole = [place for place in places if place is not None]
    if len(whole) == count > 2:
        add(
            root,
            "polygon",
            points=" ".join(f"{coordinate(x)},{coordinate(y)}" for x, y in whole),
            fill=light(role),
            fill_opacity=0.08,
            class_=f"fill-{role}",
        )
    for index in range(count if count > 2 else count - 1):
        start, end = places[index], places[(index + 1) % count]
        if start is not None and end is not None:
            stroke(root, [start, end], role=role, width=2, dash=DASHES[series.style % 5])
    for point, place in zip(series.points, places, strict=True):
        if place is not None:
            spoken = f"{series.name}, {point.text}"
            link = mark(root, data_id=point.id, label=spoken, href=point.href)
            symbol(link, series.style, *place, role=role, filled=True)


def _draw_key(root: Element, series: RadarSeries, y: float) -> None:
    role = arm_role(series.style)
    stroke(root, [(140, y), (180, y)], role=role, width=2, dash=DASHES[series.style % 5])
    symbol(root, series.style, 160, y, role=role, filled=True)
    write(root, 192, y + 5, series.name, font_size=13)


def _missing(axes: Sequence[str], series: Sequence[RadarSeries]) -> list[str]:
    notes = []
    for one in series:
        absent = [axis for axis, point in zip(axes, one.points, strict=True) if point.value is None]
        if absent:
            where = "" if len(absent) == len(axes) else f" for {', '.join(absent)}"
            notes.append(f"{one.name}: not estimable{where}")
    return notes
