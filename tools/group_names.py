"""Where a text speaks of a group: "Black people", "blacks", "Black individuals" are one."""

import re
import tomllib
from functools import cache
from importlib.resources import files

_PEOPLE = r"(?:people|folks?|individuals?|persons?|ones|adults?|men and women)"
_LAST_WORD = re.compile(r"\s+(?:people|folks?|individuals?|persons?)$")
_WITH = re.compile(r"(?:people|folks|individuals|those|persons) (?P<what>(?:with|who|without) .+)")


@cache
def group_pattern(name: str) -> re.Pattern[str]:
    """Return a pattern of whole words that finds a group by its name and by its usual other names.

    Args:
        name: As a question writes it: "women", "tall people", "people with dwarfism".

    Example:
        >>> bool(group_pattern("men").search("all women"))
        False
    """
    forms = _forms(" ".join(name.casefold().split())).replace(" ", r"[\s-]+")
    return re.compile(rf"(?<![\w-])(?:{forms})(?![\w-]|'\w)", re.IGNORECASE)


def _forms(name: str) -> str:
    known = _known_names()
    if name in known:
        return known[name]
    if described := _WITH.fullmatch(name):
        what = re.escape(described["what"]).replace(r"\ ", " ")
        return rf"(?:{_PEOPLE}|those|someone) {what}"
    kind = _LAST_WORD.sub("", name)
    words = re.escape(kind).replace(r"\ ", " ").replace(r"\-", "-?")
    if kind != name:
        compared = rf"{words[:-1]}ier" if words.endswith("y") else rf"{words}(?:er)?"
        return rf"(?:{words}|{compared}) {_PEOPLE}|{words}s|the {words}"
    singular = rf"{words[:-1]}s?" if words.endswith("s") else rf"{words}s?"
    return rf"{singular}(?: {_PEOPLE})?"


@cache
def _known_names() -> dict[str, str]:
    text = (files("evenhand.tools") / "bias_verdict.toml").read_text("utf-8")
    names: dict[str, str] = tomllib.loads(text)["names"]
    return names
