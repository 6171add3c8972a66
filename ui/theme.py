"""The look of the workbench: the palette of tools/plots, for Gradio's variables and our own."""

from importlib.resources import files

from evenhand.tools.plots.palette import PALETTE, css_classes

_GRADIO_VARIABLES = {
    "body-background-fill": "background",
    "body-text-color": "text",
    "body-text-color-subdued": "secondary",
    "background-fill-primary": "background",
    "background-fill-secondary": "panel",
    "block-background-fill": "background",
    "block-border-color": "rule",
    "block-label-text-color": "secondary",
    "block-title-text-color": "text",
    "block-info-text-color": "secondary",
    "border-color-primary": "rule",
    "border-color-accent": "accent",
    "color-accent": "accent",
    "color-accent-soft": "panel",
    "input-background-fill": "background",
    "input-background-fill-focus": "background",
    "input-border-color": "line",
    "input-border-color-focus": "accent",
    "input-border-color-hover": "line",
    "input-placeholder-color": "secondary",
    "button-primary-background-fill": "accent",
    "button-primary-background-fill-hover": "accent",
    "button-primary-border-color": "accent",
    "button-primary-text-color": "background",
    "button-primary-text-color-hover": "background",
    "button-secondary-background-fill": "background",
    "button-secondary-background-fill-hover": "panel",
    "button-secondary-border-color": "line",
    "button-secondary-text-color": "text",
    "button-secondary-text-color-hover": "text",
    "error-background-fill": "panel",
    "error-text-color": "error",
    "error-border-color": "error",
    "link-text-color": "accent",
    "link-text-color-hover": "accent",
    "link-text-color-active": "accent",
    "link-text-color-visited": "accent",
    "loader-color": "accent",
}
"""Gradio's variable -> role of the palette."""


def css() -> str:
    """Return the style sheet of the workbench, light and dark."""
    light = _block({role: pair[0] for role, pair in PALETTE.items()})
    dark = _block({role: pair[1] for role, pair in PALETTE.items()})
    gradio = _block({name: f"var(--{role})" for name, role in _GRADIO_VARIABLES.items()})
    sheet = (files("evenhand.ui") / "workbench.css").read_text("utf-8")
    # Gradio sets its variables on :root and on .dark; ours must win in both.
    return (
        f":root {{ color-scheme: light; {light} }}\n"
        f".dark {{ color-scheme: dark; {dark} }}\n"
        f":root body, body.dark, .dark .gradio-container, .gradio-container {{ {gradio} }}\n"
        f"{css_classes()}\n{sheet}"
    )


def head() -> str:
    """Return what the page's head gets: the choice of light or dark, before anything is drawn."""
    script = (files("evenhand.ui") / "workbench.js").read_text("utf-8")
    return f"<script>{script}</script>"


def _block(variables: dict[str, str]) -> str:
    return " ".join(f"--{name}: {value};" for name, value in variables.items())
