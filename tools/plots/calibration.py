"""Calibration curve: how often a model is right where it is so sure, against the diagonal."""

from collections.abc import Sequence
from typing import Protocol

from evenhand.tools.plots.svg import add, drawing, mark, stroke, symbol, to_text, write

_SIZE, _LEFT, _TOP, _SIDE = 360.0, 52.0, 12.0, 288.0
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


class Bin(Protocol):
    """Items of one stretch of confidence."""

    @property
    def n(self) -> int:
        """Items."""
        ...

    @property
    def confidence(self) -> float:
        """Mean confidence, 0 to 1."""
        ...

    @property
    def accuracy(self) -> float:
        """Share in which the model was right."""
        ...


def calibration(bins: Sequence[Bin], *, title: str) -> str:
    """Draw a mark for each bin; on the dashed diagonal a model is as often right as it is sure.

    Args:
        bins: Bins with at least one item, by rising confidence; none draws the axes alone.
        title: What the plot shows, for a reader who does not see it.

    Returns:
        SVG text; each mark is an element of class "mark" with data-id and aria-label.
    """
    root = drawing(_SIZE, _SIZE, title)
    quiet = {"role": "secondary", "font_size": "12"}
    for tick in _TICKS:
        stroke(root, [_place(0, tick), _place(1, tick)], role="rule")
        stroke(root, [_place(tick, 0), _place(tick, 1)], role="rule")
        x, y = _place(tick, 0)
        write(root, x, y + 18, f"{tick:g}", text_anchor="middle", **quiet)
        x, y = _place(0, tick)
        write(root, x - 8, y + 4, f"{tick:g}", text_anchor="end", **quiet)
    stroke(root, [_place(0, 0), _place(1, 1)], role="secondary", width=1.5, dash="4 4")
    x, y = _place(0.5, 0)
    write(root, x, y + 40, "how sure the model is", text_anchor="middle", **quiet)
    turned = write(root, 0, 0, "how often it is right", text_anchor="middle", **quiet)
    turned.set("transform", f"translate(12 {_TOP + _SIDE / 2:g}) rotate(-90)")
    ends = [_place(one.confidence, one.accuracy) for one in bins]
    if len(ends) > 1:
        stroke(root, ends, role="arm-1", width=2)
    for place, one in enumerate(bins):
        x, y = ends[place]
        said = f"sure {one.confidence:.2f}, right {one.accuracy:.2f}, {one.n:,} items"
        group = mark(root, data_id=f"bin-{place}", label=said, href=None)
        add(group, "title", said)
        symbol(group, 0, x, y, role="arm-1", filled=True)
    return to_text(root)


def _place(x: float, y: float) -> tuple[float, float]:
    return _LEFT + x * _SIDE, _TOP + (1 - y) * _SIDE
