"""Every term a person may meet, in one sentence (glossary.toml)."""

import tomllib
from functools import cache
from importlib.resources import files


@cache
def glossary() -> dict[str, str]:
    """Return term -> sentence."""
    text = (files("evenhand.ui") / "glossary.toml").read_text("utf-8")
    terms: dict[str, str] = tomllib.loads(text)
    return terms
