"""Two texts, word by word: what stayed, what went, what came."""

import difflib
import re
from typing import Literal, NamedTuple

_WORDS = re.compile(r"\s+|\w+|[^\w\s]")


class Piece(NamedTuple):
    """A stretch of text that both share, or that only one of them has."""

    kind: Literal["same", "removed", "added"]
    text: str


def word_diff(before: str, after: str) -> list[Piece]:
    """Return the pieces that lead from `before` to `after`, in reading order.

    The pieces that are not "added" spell `before`, those that are not "removed" spell `after`.

    Example:
        >>> word_diff("a man from Leeds", "a man from Accra")[1:]
        [Piece(kind='removed', text='Leeds'), Piece(kind='added', text='Accra')]
    """
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    # Without autojunk: it would take frequent words of a long text for noise.
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    pieces: list[Piece] = []
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            pieces.append(Piece("same", "".join(old[a:b])))
            continue
        if b > a:
            pieces.append(Piece("removed", "".join(old[a:b])))
        if d > c:
            pieces.append(Piece("added", "".join(new[c:d])))
    return pieces
