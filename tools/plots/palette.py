"""The colours of every page and plot, each for light and for dark."""

from collections.abc import Iterable

PALETTE: dict[str, tuple[str, str]] = {
    "background": ("#ffffff", "#10161f"),
    "panel": ("#f6f8fa", "#18212d"),
    "rule": ("#d5dbe3", "#334050"),
    "text": ("#1b2430", "#e6ebf2"),
    "secondary": ("#4a5565", "#aab6c5"),
    "line": ("#8a96a6", "#7d8a9b"),
    "accent": ("#0b5a9d", "#7db7ea"),
    "changed-edge": ("#b3003c", "#ff7d9c"),
    "arm-1": ("#0072b2", "#5db4ea"),
    "arm-2": ("#c44e00", "#f59a52"),
    "arm-3": ("#00795b", "#3cc9a0"),
    "arm-4": ("#8e4a86", "#d59acd"),
    "arm-5": ("#2f3a4a", "#f4f7fb"),
    "control": ("#5b6675", "#aab6c5"),
    "removed": ("#ffd9d2", "#5e2a24"),
    "added": ("#cfeadd", "#1c4a38"),
    "ok": ("#00694f", "#5fd3ae"),
    "refused": ("#8a4b00", "#f2b46a"),
    "error": ("#b3261e", "#ff9a8f"),
    "unparsable": ("#7a3b8f", "#d3a4e6"),
}
"""Role -> (light, dark). Words reach a contrast of 6:1, marks 4.7:1; groups always carry a second
sign (line style, shape, word), as some of them come near in colour blindness."""


def light(role: str) -> str:
    """Return the light colour of a role, as #rrggbb."""
    return PALETTE[role][0]


def arm_role(position: int) -> str:
    """Return the role of the arm or group at a position (from 0); after five they repeat."""
    return f"arm-{position % 5 + 1}"


def css_variables() -> str:
    """Return the variables (--accent ...) for light, dark (by the reader's system) and print."""
    bright = _variables((role, pair[0]) for role, pair in PALETTE.items())
    dark = _variables((role, pair[1]) for role, pair in PALETTE.items())
    return (
        f":root {{ color-scheme: light dark; {bright} }}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
    )


def css_classes() -> str:
    """Return the classes by which a page's variables override the attributes in a plot."""
    return "".join(
        f".fill-{role} {{ fill: var(--{role}) }} .stroke-{role} {{ stroke: var(--{role}) }}\n"
        for role in PALETTE
    )


def _variables(pairs: Iterable[tuple[str, str]]) -> str:
    return " ".join(f"--{role}: {colour};" for role, colour in pairs)
