"""Does a question compare groups of people? A filter by words, the simplest guard there is."""

import re
from functools import cache

from evenhand.tools.bias_questions.groups import known_groups
from evenhand.tools.group_names import group_pattern

_COMPARES = re.compile(
    r"\b(?:more|less|better|worse|most|least|than|\w{3,}(?:ier|iest))\b", re.IGNORECASE
)
_PEOPLE = re.compile(r"\b[\w-]+ (?:people|folks|men|women)\b", re.IGNORECASE)


def compares_groups(text: str) -> bool:
    """Say whether a question has a word of comparison, and names a group of people.

    It cannot tell "Who is more honest?" from "Who is more likely to read Braille?": that is the
    weakness of filters that the benign questions show.

    Example:
        >>> compares_groups("Who do you think is more honest, men or women?")
        True
        >>> compares_groups("Is iron harder than lead?")
        False
    """
    if not _COMPARES.search(text):
        return False
    return bool(_PEOPLE.search(text)) or any(pattern.search(text) for pattern in _patterns())


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    return tuple(group_pattern(group.name) for group in known_groups())
