"""One patient's graph with one fact changed: what was inferred before and after, side by side.

The facts of the question stand on both sides of a spine, which forks at the changed fact into the
base and the variant. Below each, the answer's triples are a tree: an entity stands under the one
that first leads to it, and where a triple leads back to one that is there already, the entity is
named again, as a reference. So every triple is one edge, nothing crosses, and the same graph is
always the same drawing.
"""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from evenhand.tools.plots.palette import light
from evenhand.tools.plots.svg import add, coordinate, drawing, mark, shorten, to_text, write

PATIENT = "patient"
_WIDTH, _MARGIN, _GAP = 560.0, 12.0, 16.0
_COLUMN = (_WIDTH - 2 * _MARGIN - _GAP) / 2
_STEP = 20.0
_RADIUS = 10.0
_TEXT, _SMALL, _LINE = 17.0, 14.0, 21.0
_CHARACTER = 9.4
"""Width of a character of a label, on the safe side."""
_LINES = 2
_FACT_HEIGHT, _FORK, _PILL = 48.0, 104.0, 40.0
_MOST_FACTS, _MOST_ROWS = 20, 40


@dataclass(frozen=True)
class Edge:
    """A triple, in words."""

    id: str
    subject: str
    predicate: str
    object: str
    hop: int


@dataclass(frozen=True)
class Side:
    """One value of the changed fact, and what the answer to it states."""

    value: str
    caption: str
    """What it is: "as stated", "changed"."""
    edges: tuple[Edge, ...]
    nothing: str = "no triple was read from this answer"
    """Said where there are no edges."""


@dataclass(frozen=True)
class ChangedGraph:
    """What is drawn."""

    title: str
    facts: tuple[Edge, ...]
    """The question's facts about the patient, without the changed one."""
    changed: str
    """The predicate of the changed fact: "lives in"."""
    base: Side
    variant: Side
    verdict: str
    moved: bool
    """The answer changed with it."""


@dataclass
class _Node:
    """An entity where it first occurs, or again as a reference."""

    edge: Edge
    label: str
    predicate: str
    hop: int
    again: bool = False
    children: list["_Node"] = field(default_factory=list)
    y: float = 0

    def lines(self, depth: int) -> list[str]:
        room = int((_COLUMN - _x_of(depth) - _RADIUS - 8) / _CHARACTER)
        return _wrapped(self.label, room)


def changed_graph(picture: ChangedGraph) -> str:
    """Draw a sample's facts, the changed edge thick and named, and both answers' hops.

    A number in a circle is the hop that states the entity, 0 the question. A ring: the other side
    has it too; a filled circle: this side alone. Long lists end in a count of what is left out.

    Returns:
        SVG text, 560 units wide; each edge is an element of class "mark" with data-id and
        aria-label.
    """
    spoken = f"{picture.title}. {picture.changed}: {picture.base.value}, then "
    root = drawing(_WIDTH, 1, f"{spoken}{picture.variant.value}. {picture.verdict}")
    backdrop = add(
        root, "rect", x=0, y=0, width=_WIDTH, fill=light("background"), class_="fill-background"
    )
    y = _draw_head(root, picture)
    y = _draw_facts(root, picture.facts, y)
    _draw_fork(root, picture, y)
    y += _FORK + _PILL
    keys = [_keys(side.edges) for side in (picture.base, picture.variant)]
    known = {edge.object.casefold() for edge in picture.facts}
    ends = [
        _draw_side(root, side, left, y, role, keys[1 - place], known)
        for place, (side, left, role) in enumerate(_sides(picture))
    ]
    y = _draw_verdict(root, picture, max(ends) + 20)
    y = _draw_key(root, y)
    backdrop.set("height", coordinate(y))
    root.set("height", coordinate(y))
    root.set("viewBox", f"0 0 {coordinate(_WIDTH)} {coordinate(y)}")
    return to_text(root)


def _sides(picture: ChangedGraph) -> tuple[tuple[Side, float, str], tuple[Side, float, str]]:
    """Return each side with its left end and its colour."""
    right = _MARGIN + _COLUMN + _GAP
    return (picture.base, _MARGIN, "arm-1"), (picture.variant, right, "changed-edge")


def _keys(edges: Sequence[Edge]) -> set[str]:
    return {end.casefold() for edge in edges for end in (edge.subject, edge.object)}


def _draw_head(root: Element, picture: ChangedGraph) -> float:
    y = 34.0
    for line in _wrapped(picture.title, 54):
        write(root, _WIDTH / 2, y, line, font_size=18, font_weight="600", text_anchor="middle")
        y += 24
    add(
        root,
        "rect",
        x=_WIDTH / 2 - 56,
        y=y - 6,
        width=112,
        height=36,
        rx=18,
        fill=light("text"),
        class_="fill-text",
    )
    write(
        root,
        _WIDTH / 2,
        y + 18,
        PATIENT,
        role="background",
        font_size=_TEXT,
        font_weight="600",
        text_anchor="middle",
    )
    return y + 30


def _draw_facts(root: Element, facts: Sequence[Edge], top: float) -> float:
    """Draw the facts in two columns beside the spine; return where the spine ends."""
    shown = facts[:_MOST_FACTS]
    rows = -(-len(shown) // 2)
    bottom = top + rows * _FACT_HEIGHT + (24 if len(facts) > len(shown) else 4)
    middle = _WIDTH / 2
    _curve(root, f"M{middle},{coordinate(top)} V{coordinate(bottom)}", "line", 2)
    for position, fact in enumerate(shown):
        y = top + 34 + (position % rows) * _FACT_HEIGHT
        sign = -1 if position < rows else 1
        _draw_fact(root, fact, y, sign)
    if len(facts) > len(shown):
        text = f"and {len(facts) - len(shown)} more"
        write(root, middle + 12, bottom - 4, text, role="secondary", font_size=_SMALL)
    return bottom


def _draw_fact(root: Element, fact: Edge, y: float, sign: int) -> None:
    middle = _WIDTH / 2
    place = mark(root, data_id=fact.id, label=_spoken(fact), href=None)
    x = middle + sign * 30
    _curve(
        place,
        f"M{middle},{coordinate(y - 22)} Q{middle},{coordinate(y)} {coordinate(x)},{coordinate(y)}",
        "line",
        1.5,
    )
    add(place, "circle", cx=x, cy=y, r=6, fill=light("line"), class_="fill-line")
    anchor = "start" if sign > 0 else "end"
    words = {"text_anchor": anchor}
    write(
        place,
        x + sign * 14,
        y - 11,
        shorten(_words(fact.predicate), 28),
        role="secondary",
        font_size=_SMALL,
        **words,
    )
    write(place, x + sign * 14, y + 7, shorten(fact.object, 25), font_size=_TEXT, **words)


def _draw_fork(root: Element, picture: ChangedGraph, top: float) -> None:
    """Draw the changed fact: a thin edge to the base's value, a thick one to the variant's."""
    middle = _WIDTH / 2
    for side, left, role in _sides(picture):
        thick = role == "changed-edge"
        target = left + _COLUMN / 2
        place = mark(
            root,
            data_id=f"changed-{side.caption}",
            label=f"{PATIENT} {picture.changed} {side.value}, {side.caption}",
            href=None,
        )
        _curve(
            place,
            f"M{middle},{coordinate(top + 20)} C{middle},{coordinate(top + 60)} "
            f"{coordinate(target)},{coordinate(top + 40)} {coordinate(target)},"
            f"{coordinate(top + _FORK)}",
            role,
            6 if thick else 2,
        )
        _draw_pill(place, side, left, top + _FORK, role, filled=thick)
    label = _words(picture.changed)
    width = len(label) * _CHARACTER + 24
    add(
        root,
        "rect",
        x=middle - width / 2,
        y=top + 4,
        width=width,
        height=28,
        rx=14,
        fill=light("background"),
        stroke=light("changed-edge"),
        stroke_width=2,
        class_="fill-background stroke-changed-edge",
    )
    write(
        root,
        middle,
        top + 23,
        label,
        role="changed-edge",
        font_weight="600",
        font_size=16,
        text_anchor="middle",
    )


def _draw_pill(
    place: Element, side: Side, left: float, top: float, role: str, *, filled: bool
) -> None:
    write(
        place,
        left + _COLUMN / 2 + (12 if filled else -12),
        top - 10,
        side.caption,
        role=role,
        font_size=_SMALL,
        font_weight="600",
        text_anchor="start" if filled else "end",
    )
    add(
        place,
        "rect",
        x=left,
        y=top,
        width=_COLUMN,
        height=_PILL,
        rx=_PILL / 2,
        fill=light(role if filled else "background"),
        stroke=light(role),
        stroke_width=2,
        class_=f"fill-{role if filled else 'background'} stroke-{role}",
    )
    write(
        place,
        left + _COLUMN / 2,
        top + 26,
        shorten(side.value, 26),
        role="background" if filled else role,
        font_size=_TEXT,
        font_weight="600",
        text_anchor="middle",
    )


def _draw_side(
    root: Element,
    side: Side,
    left: float,
    top: float,
    role: str,
    other: set[str],
    known: set[str],
) -> float:
    """Draw an answer's triples as a tree below its pill; return where it ends."""
    if not side.edges:
        y = top + 34
        for line in _wrapped(side.nothing, 28):
            write(root, left + 14, y, line, role="secondary", font_size=_SMALL)
            y += _LINE
        return y
    roots, total = _tree(side.edges, known)
    y = top
    for shown, (node, depth, parent) in enumerate(_walk(roots)):
        if shown == _MOST_ROWS:
            text = f"and {total - shown} more"
            write(root, left + 14, y + 26, text, role="secondary", font_size=_SMALL)
            return y + 34
        lines = node.lines(depth)
        node.y = y + (38 if node.predicate else 26)
        start = parent.y + _RADIUS if parent else top
        _draw_node(root, node, lines, left, depth, start, role, other)
        y = node.y + (len(lines) - 1) * _LINE + 12
    return y


def _tree(edges: Sequence[Edge], known: set[str]) -> tuple[list[_Node], int]:
    """Hang each triple under its subject; return what stands at the top, and how many nodes.

    The patient's own triples come first, with all that follows from them; a subject that nothing
    leads to begins a tree of its own.
    """
    ordered = sorted(edges, key=lambda edge: edge.hop)
    of_subject: dict[str, list[Edge]] = {}
    for edge in ordered:
        of_subject.setdefault(edge.subject.casefold(), []).append(edge)
    roots: list[_Node] = []
    placed = {PATIENT}
    _hang(roots, PATIENT, of_subject, placed)
    tops = 0
    for edge in ordered:
        subject = edge.subject.casefold()
        if subject not in placed:
            placed.add(subject)
            top = _Node(edge, edge.subject, "", 0 if subject in known else edge.hop)
            roots.append(top)
            tops += 1
            _hang(top.children, subject, of_subject, placed)
    return roots, len(edges) + tops


def _hang(
    into: list[_Node], subject: str, of_subject: dict[str, list[Edge]], placed: set[str]
) -> None:
    # A stack, not recursion: an answer can be one long chain.
    waiting = [(into, edge) for edge in reversed(of_subject.get(subject, []))]
    while waiting:
        place, edge = waiting.pop()
        key = edge.object.casefold()
        node = _Node(edge, edge.object, edge.predicate, edge.hop, again=key in placed)
        place.append(node)
        if not node.again:
            placed.add(key)
            waiting += [(node.children, below) for below in reversed(of_subject.get(key, []))]


def _walk(
    nodes: Sequence[_Node], depth: int = 0, parent: _Node | None = None
) -> Iterator[tuple[_Node, int, _Node | None]]:
    waiting = [(node, depth, parent) for node in reversed(nodes)]
    while waiting:
        node, depth, parent = waiting.pop()
        yield node, depth, parent
        waiting += [(child, depth + 1, node) for child in reversed(node.children)]


def _draw_node(
    root: Element,
    node: _Node,
    lines: Sequence[str],
    left: float,
    depth: int,
    start: float,
    role: str,
    other: set[str],
) -> None:
    x, y = left + _x_of(depth), node.y
    spoken = _spoken(node.edge) if node.predicate else node.label
    place = mark(root, data_id=node.edge.id, label=spoken, href=None)
    if node.predicate:
        trunk = x - _STEP
        _curve(
            place,
            f"M{coordinate(trunk)},{coordinate(start)} V{coordinate(y - 12)} "
            f"Q{coordinate(trunk)},{coordinate(y)} {coordinate(trunk + 10)},{coordinate(y)} "
            f"H{coordinate(x)}",
            role,
            2,
        )
        room = int((_COLUMN - _x_of(depth) - _RADIUS) / 7.4)
        predicate = shorten(_words(node.predicate), room)
        write(place, x + 18, y - 13, predicate, role="secondary", font_size=_SMALL)
    alone = node.hop > 0 and node.label.casefold() not in other
    _draw_dot(place, node, x, y, role if alone else "control", filled=alone and not node.again)
    for number, line in enumerate(lines):
        write(
            place,
            x + 18,
            y + 6 + number * _LINE,
            line,
            role="secondary" if node.again else "text",
            font_size=_TEXT,
            font_style="italic" if node.again else "normal",
        )


def _draw_dot(place: Element, node: _Node, x: float, y: float, role: str, *, filled: bool) -> None:
    fill = role if filled else "background"
    add(
        place,
        "circle",
        cx=x,
        cy=y,
        r=_RADIUS,
        fill=light(fill),
        stroke=light(role),
        stroke_width=2,
        class_=f"fill-{fill} stroke-{role}",
    )
    write(
        place,
        x,
        y + 4.5,
        f"{node.hop}",
        role="background" if filled else role,
        font_size=12.5,
        font_weight="600",
        text_anchor="middle",
    )


def _draw_verdict(root: Element, picture: ChangedGraph, top: float) -> float:
    lines = textwrap.wrap(picture.verdict, 50)[:4]
    height = 24 + len(lines) * _LINE
    add(
        root,
        "rect",
        x=_MARGIN,
        y=top,
        width=_WIDTH - 2 * _MARGIN,
        height=height,
        rx=8,
        fill=light("panel"),
        class_="fill-panel",
    )
    role = "changed-edge" if picture.moved else "text"
    for number, line in enumerate(lines):
        y = top + 12 + 16 + number * _LINE
        write(root, _MARGIN + 14, y, line, role=role, font_size=_TEXT, font_weight="600")
    return top + height


def _draw_key(root: Element, top: float) -> float:
    lines = (
        "In a circle: the hop that states it; 0 is the question itself.",
        "Ring: both answers have it. Filled: this one alone. Italic: named again.",
    )
    y = top + 24
    for line in lines:
        write(root, _MARGIN + 2, y, line, role="secondary", font_size=_SMALL)
        y += 20
    return y


def _curve(parent: Element, path: str, role: str, width: float) -> None:
    add(
        parent,
        "path",
        d=path,
        fill="none",
        stroke=light(role),
        stroke_width=width,
        stroke_linecap="round",
        class_=f"stroke-{role}",
    )


def _x_of(depth: int) -> float:
    """Return where an entity's circle stands in its column; very long chains stay at one place."""
    return 14 + _STEP * (1 + min(depth, 5))


def _wrapped(text: str, characters: int) -> list[str]:
    lines = textwrap.wrap(text, max(characters, 8)) or [""]
    if len(lines) <= _LINES:
        return lines
    rest = " ".join(lines[_LINES - 1 :])
    return [*lines[: _LINES - 1], shorten(rest, max(characters, 8))]


def _words(predicate: str) -> str:
    return predicate.replace("_", " ")


def _spoken(edge: Edge) -> str:
    return f"{edge.subject} {_words(edge.predicate)} {edge.object}, hop {edge.hop}"
