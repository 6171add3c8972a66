"""Building blocks of the plots: elements that are well-formed and escaped by construction."""

import re
from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, tostring

from evenhand.tools.plots.palette import light

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def drawing(width: float, height: float, label: str) -> Element:
    """Return an empty drawing that scales to its page; a group of marks, not one image."""
    root = Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": f"0 0 {coordinate(width)} {coordinate(height)}",
            "width": coordinate(width),
            "height": coordinate(height),
            # Bands and focus rings may reach a little into the margin.
            "overflow": "visible",
            "role": "group",
            "aria-label": clean(label),
            "font-family": FONT,
            "font-size": "14",
        },
    )
    return root


def add(parent: Element, tag: str, text: str | None = None, **attributes: str | float) -> Element:
    """Append an element; data_id becomes data-id, class_ class; numbers are rounded."""
    named = {
        name.rstrip("_").replace("_", "-"): value if isinstance(value, str) else coordinate(value)
        for name, value in attributes.items()
    }
    element = SubElement(parent, tag, {name: clean(value) for name, value in named.items()})
    if text is not None:
        element.text = clean(text)
    return element


def write(
    parent: Element, x: float, y: float, text: str, *, role: str = "text", **attributes: str | float
) -> Element:
    """Append a line of text in the colour of a role."""
    return add(
        parent, "text", text, x=x, y=y, fill=light(role), class_=f"fill-{role}", **attributes
    )


def stroke(
    parent: Element,
    points: Sequence[tuple[float, float]],
    *,
    role: str,
    width: float = 1,
    dash: str = "",
) -> Element:
    """Append an open line through points in the colour of a role."""
    path = " ".join(f"{coordinate(x)},{coordinate(y)}" for x, y in points)
    element = add(
        parent,
        "polyline",
        points=path,
        fill="none",
        stroke=light(role),
        stroke_width=width,
        class_=f"stroke-{role}",
    )
    if dash:
        element.set("stroke-dasharray", dash)
    return element


def mark(
    parent: Element, *, data_id: str, label: str, href: str | None, class_: str = "mark"
) -> Element:
    """Append what a person can reach by click or key: a link where there is a place to go."""
    shared = {"data_id": data_id, "tabindex": "0", "aria_label": label, "class_": class_}
    element = add(parent, "a" if href else "g", **shared)
    if href:
        element.set("href", clean(href))
    else:
        element.set("role", "img")
    return element


def symbol(parent: Element, shape: int, x: float, y: float, *, role: str, filled: bool) -> Element:
    """Append a mark's shape: 0 circle, 1 square, 2 triangle, 3 diamond, then again."""
    paint = {
        "fill": light(role if filled else "background"),
        "stroke": light(role),
        "stroke_width": "2",
        "class_": f"fill-{role if filled else 'background'} stroke-{role}",
    }
    if shape % 4 == 0:
        return add(parent, "circle", cx=x, cy=y, r=5.5, **paint)
    if shape % 4 == 1:
        return add(parent, "rect", x=x - 5, y=y - 5, width=10, height=10, **paint)
    corners = (
        [(x, y - 6.5), (x + 6.5, y + 5), (x - 6.5, y + 5)]
        if shape % 4 == 2
        else [(x, y - 7), (x + 7, y), (x, y + 7), (x - 7, y)]
    )
    path = " ".join(f"{coordinate(a)},{coordinate(b)}" for a, b in corners)
    return add(parent, "polygon", points=path, **paint)


def to_text(root: Element) -> str:
    """Return the drawing as SVG text, ready to stand in a page."""
    return tostring(root, encoding="unicode")


def clean(text: str) -> str:
    """Drop the few signs that XML cannot hold, such as NUL."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def coordinate(number: float) -> str:
    """Return a number with at most two decimals, without a needless tail."""
    return f"{number:.2f}".rstrip("0").rstrip(".")


def shorten(text: str, characters: int) -> str:
    """Cut a label to a width in characters; the whole stands in its mark's label."""
    return text if len(text) <= characters else text[: characters - 1].rstrip() + "…"
