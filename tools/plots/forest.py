"""Forest plot: a row a comparison, with its interval against zero, and the control rows in grey."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from evenhand.tools.plots.palette import arm_role, light
from evenhand.tools.plots.svg import add, drawing, mark, shorten, stroke, symbol, to_text, write

MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True)
class ForestRow:
    """One comparison. Numbers are on the axis (percentage points for net rates)."""

    id: str
    """The measurement: data-id of the mark."""
    label: str
    detail: str = ""
    """A second, smaller line under the label."""
    value: float | None = None
    """None: not estimable, said in words."""
    low: float | None = None
    high: float | None = None
    beside: tuple[float, float] | None = None
    """A second interval, of another method: thin and dashed under the first."""
    numbers: str = ""
    """Value and interval as words, "+33.3 points [2.1, 60.4]"."""
    counts: str = ""
    """What stands behind it, "n 6, p 0.03 (Holm)"."""
    significant: bool = False
    """After correction within the family."""
    control: bool = False
    """A control arm (repeat, placebo): grey."""
    reason: str = ""
    """Why it is not estimable."""
    href: str | None = None
    """Where a click on it leads: the rows behind it."""


@dataclass(frozen=True)
class ForestGroup:
    """Rows under one heading: an arm as asked."""

    title: str
    rows: tuple[ForestRow, ...]
    style: int = 0
    """Colour of the group: the position of the arm, from 0, as in the radar."""


@dataclass(frozen=True)
class Axis:
    """A scale from numbers to x, with round ticks; 0 is always on it."""

    low: float
    high: float
    step: float
    left: float
    right: float

    def x(self, number: float) -> float:
        """Return where a number stands."""
        share = (number - self.low) / (self.high - self.low)
        return self.left + share * (self.right - self.left)

    @property
    def ticks(self) -> list[float]:
        """Round numbers from end to end."""
        count = round((self.high - self.low) / self.step)
        return [self.low + index * self.step for index in range(count + 1)]


@dataclass(frozen=True)
class _Layout:
    width: float
    left: float
    right: float
    row_height: float
    ticks: int


_WIDE = _Layout(width=1040, left=236, right=652, row_height=48, ticks=8)
_NARROW = _Layout(width=350, left=12, right=338, row_height=100, ticks=5)
_NUMBERS_X = 676
_HEADING, _FOOT = 48, 52


def forest(
    groups: Sequence[ForestGroup], *, title: str, axis_label: str, narrow: bool = False
) -> str:
    """Draw the rows of every group on one axis.

    A filled circle is significant, a hollow square is not; what cannot be estimated is said in
    words and has no mark. The narrow layout stacks label, bar and numbers, for 390 px.

    Args:
        groups: Rows by heading; an empty sequence draws the axis alone.
        title: What the plot shows, for a reader who does not see it.
        axis_label: What 0 and the direction mean.
        narrow: The layout for a small screen.

    Returns:
        SVG text; each row is one element of class "mark" with data-id and aria-label.
    """
    layout = _NARROW if narrow else _WIDE
    axis = fit_axis(groups, layout.left, layout.right, layout.ticks)
    heights = [_HEADING + len(group.rows) * layout.row_height for group in groups]
    height = sum(heights) + _FOOT
    root = drawing(layout.width, height, title)
    y = 0.0
    for group, tall in zip(groups, heights, strict=True):
        _draw_bands(root, group, y + _HEADING, layout)
        if not narrow:
            _draw_grid(root, axis, y + _HEADING, y + tall)
        write(root, 0, y + 28, group.title, font_size=14, font_weight="600")
        stroke(root, [(0, y + _HEADING - 4), (layout.width, y + _HEADING - 4)], role="rule")
        for index, row in enumerate(group.rows):
            top = y + _HEADING + index * layout.row_height
            _draw_row(root, row, group.style, top, axis, layout)
        y += tall
    _draw_scale(root, axis, height, axis_label, layout)
    return to_text(root)


def fit_axis(groups: Sequence[ForestGroup], left: float, right: float, most_ticks: int = 8) -> Axis:
    """Return a scale that holds 0, every value and every interval, with round ends."""
    numbers = [0.0]
    for group in groups:
        for row in group.rows:
            numbers += [n for n in (row.value, row.low, row.high) if n is not None]
            numbers += row.beside or ()
    low, high = min(numbers), max(numbers)
    if high - low < 1e-9:
        low, high = -10.0, 10.0
    step = _round_step((high - low) / (most_ticks - 1))
    return Axis(math.floor(low / step) * step, math.ceil(high / step) * step, step, left, right)


def _round_step(at_least: float) -> float:
    power = 10.0 ** math.floor(math.log10(at_least))
    return next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= at_least)


def _draw_bands(root: Element, group: ForestGroup, top: float, layout: _Layout) -> None:
    """Lay a quiet band under the control rows, which are the noise and not the finding."""
    for index, row in enumerate(group.rows):
        if row.control:
            add(
                root,
                "rect",
                x=-8,
                y=top + index * layout.row_height,
                width=layout.width + 16,
                height=layout.row_height,
                fill=light("panel"),
                class_="fill-panel",
            )


def _draw_grid(root: Element, axis: Axis, top: float, bottom: float) -> None:
    for tick in axis.ticks:
        line = [(axis.x(tick), top), (axis.x(tick), bottom)]
        if abs(tick) < axis.step / 2:
            stroke(root, line, role="secondary", width=1.5, dash="4 4")
        else:
            stroke(root, line, role="rule")


def _draw_scale(root: Element, axis: Axis, height: float, axis_label: str, layout: _Layout) -> None:
    quiet = {"role": "secondary", "font_size": "12", "text_anchor": "middle"}
    for tick in axis.ticks:
        write(root, axis.x(tick), height - _FOOT + 20, _tick_text(tick, axis.step), **quiet)
    write(root, (layout.left + layout.right) / 2, height - 8, axis_label, **quiet)


def _tick_text(tick: float, step: float) -> str:
    if abs(tick) < step / 2:
        return "0"
    return f"{MINUS if tick < 0 else '+'}{abs(tick):g}"


def _draw_row(
    root: Element, row: ForestRow, style: int, y: float, axis: Axis, layout: _Layout
) -> None:
    words = row.numbers if row.value is not None else f"not estimable{_because(row.reason)}"
    spoken = ", ".join(part for part in (row.label, row.detail, words, row.counts) if part)
    place = mark(root, data_id=row.id, label=spoken, href=row.href)
    add(
        place,
        "rect",
        x=0,
        y=y,
        width=layout.width,
        height=layout.row_height,
        fill="none",
        pointer_events="all",
        class_="hit",
    )
    role = arm_role(style) if row.significant and not row.control else "control"
    ink = "secondary" if row.control else "text"
    if layout is _NARROW:
        label = write(place, 0, y + 22, shorten(row.label, 24), role=ink)
        quiet = add(label, "tspan", f"  {shorten(row.detail, 30)}", font_size=12, dx=6)
        quiet.attrib.update({"fill": light("secondary"), "class": "fill-secondary"})
        # Lines of the grid only behind the bar: they would cross the words above and below it.
        _draw_grid(place, axis, y + 30, y + 52)
        _draw_interval(place, row, role, y + 41, axis)
        write(place, 0, y + 70, shorten(words, 52), role=ink)
        write(place, 0, y + 87, row.counts, role="secondary", font_size=12)
        return
    middle = y + layout.row_height / 2
    write(place, 0, middle - 2 if row.detail else middle + 5, shorten(row.label, 30), role=ink)
    write(place, 0, middle + 15, shorten(row.detail, 36), role="secondary", font_size=12)
    _draw_interval(place, row, role, middle, axis)
    write(place, _NUMBERS_X, middle - 2, shorten(words, 48), role=ink)
    write(place, _NUMBERS_X, middle + 15, row.counts, role="secondary", font_size=12)


def _draw_interval(place: Element, row: ForestRow, role: str, y: float, axis: Axis) -> None:
    if row.value is None:
        return
    if row.low is not None and row.high is not None:
        ends = [(axis.x(row.low), y), (axis.x(row.high), y)]
        stroke(place, ends, role=role, width=3 if row.significant else 2)
        for x, _ in ends:
            stroke(place, [(x, y - 4), (x, y + 4)], role=role, width=2)
    if row.beside is not None:
        ends = [(axis.x(end), y + 11) for end in row.beside]
        stroke(place, ends, role="line", width=2, dash="3 2")
    shape = 0 if row.significant else 1
    symbol(place, shape, axis.x(row.value), y, role=role, filled=row.significant)


def _because(reason: str) -> str:
    return f": {reason}" if reason else ""


def legend(
    differs: str = "differs from the control (after Holm)",
    same: str = "does not differ demonstrably",
    beside: str = "",
) -> str:
    """Return a small drawing of the two marks and the interval, with their words.

    Args:
        differs: What a filled mark says.
        same: What a hollow one says.
        beside: What the second interval is; empty where the plot has none.
    """
    root = drawing(660, 44 if beside else 24, "Key to the marks")
    symbol(root, 0, 8, 12, role="text", filled=True)
    write(root, 22, 16, differs, role="secondary", font_size=12)
    symbol(root, 1, 282, 12, role="control", filled=False)
    write(root, 296, 16, same, role="secondary", font_size=12)
    stroke(root, [(506, 12), (536, 12)], role="control", width=2)
    write(root, 544, 16, "95 % interval", role="secondary", font_size=12)
    if beside:
        stroke(root, [(2, 34), (32, 34)], role="line", width=2, dash="3 2")
        write(root, 40, 38, beside, role="secondary", font_size=12)
    return to_text(root)
