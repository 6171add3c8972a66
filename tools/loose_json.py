"""JSON as models write it: read without repairing a value into being.

Beside JSON it reads Python dicts, single and curly quotes, bare keys, trailing or missing commas,
comments after a value, and objects that are cut or break off. A number is never converted here: it
stays the text that stands in the reply, so `0x1`, `1_0`, `NaN` and `0.` cannot turn into numbers.
(json5 reads `0x1` as 1 and takes 5 s a megabyte; ast.literal_eval reads `1_0` as 10 and drops
duplicate keys silently; neither reads a cut object.) One pass, linear time, no recursion beyond
MAX_DEPTH.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

MAX_DEPTH = 40
"""Deeper nesting counts as broken: a verdict has two or three levels."""


@dataclass(frozen=True)
class Bare:
    """An unquoted scalar, as it stands in the text: 0.7, 85%, 8/10, True, NaN."""

    text: str


@dataclass
class Members:
    """The members of an object in their order, duplicates kept."""

    pairs: list[tuple[str, "Value"]] = field(default_factory=list)


State = Literal["whole", "cut", "broken"]
Value = Members | list["Value"] | str | Bare


@dataclass(frozen=True)
class Found:
    """An object in a text, from start to end.

    `state` is "whole", "cut" (the text ended inside it) or "broken" (it stopped making sense at
    `end`). A cut or broken object holds only the members whose values are certainly complete.
    """

    value: Members
    start: int
    end: int
    state: State

    def spans(self, text: str) -> bool:
        """Say whether the object is whole and the whole text."""
        return self.state == "whole" and self.start == 0 and self.end == len(text)


class _Stopped(Exception):
    def __init__(self, state: State, position: int) -> None:
        super().__init__(state)
        self.state: State = state
        self.position = position


def find_objects(text: str) -> list[Found]:
    """Return the outermost objects of a text in their order; braces in prose are none."""
    return list(_objects(text))


def read_value(text: str) -> Value | None:
    """Return the one value that the whole text is, or None if it is anything else."""
    reader = _Reader(text, 0)
    try:
        value = reader.value(0)
    except _Stopped:
        return None
    return value if reader.at_end() else None


def _objects(text: str) -> Iterator[Found]:
    start = _START.search(text)
    while start:
        position = start.start()
        reader = _Reader(text, position)
        members = Members()
        try:
            reader.members(members, 0)
            state: State = "whole"
            end = reader.position
        except _Stopped as stop:
            state, end = stop.state, stop.position
        if state == "whole" or reader.has_key:
            yield Found(members, position, end, state)
            start = _START.search(text, end)
        else:
            # Not even one key: a brace of the prose. Its text may still hold an object.
            start = _START.search(text, position + 1)


_START = re.compile(r"\{(?=\s*[\"'“\w])")
_SPACE = re.compile(r"\s*")
_FILLER = re.compile(r"(?:\s+|//[^\n]*|#[^\n]*|/\*[\s\S]*?(?:\*/|\Z))*")
_STRINGS = {
    '"': re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"', re.DOTALL),
    "'": re.compile(r"'([^'\\]*(?:\\.[^'\\]*)*)'", re.DOTALL),
    "“": re.compile(r"[“]([^“”]*)”"),
}
_BARE_KEY = re.compile(r"[^\W\d][\w .+&-]{0,60}?(?=\s{0,20}:)")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+(?=\s*(?:\}|,\s|\n|$))")
_BARE = re.compile(r"(?:(?!//|/\*| #)[^,{}\[\]\"'“”:\n])+")
_SIMPLE_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_ESCAPE = re.compile(
    r"\\(?:(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|U(00(?:10|0[0-9a-fA-F])[0-9a-fA-F]{4}))|(.))",
    re.DOTALL,
)


class _Reader:
    """A position in a text that moves forward only."""

    def __init__(self, text: str, position: int) -> None:
        self.text = text
        self.position = position
        self.has_key = False

    def at_end(self) -> bool:
        self._skip()
        return self.position == len(self.text)

    def value(self, depth: int) -> Value:
        """Read any value; raises _Stopped where the text ends or makes no sense."""
        self._skip()
        sign = self._peek()
        if sign == "{":
            members = Members()
            self.members(members, depth)
            return members
        if sign == "[":
            items: list[Value] = []
            self._items(items, depth)
            return items
        return self._string() if sign in _STRINGS else self._bare()

    def members(self, members: Members, depth: int) -> None:
        """Read an object into `members`, which keeps what was read if it stops."""
        self._open(depth)
        while not self._closes("}"):
            key = self._key()
            self._skip()
            if self._peek() in ("{", "["):
                self._container(members, key, depth)
            else:
                start = self.position
                decimal = _DECIMAL_COMMA.match(self.text, start)
                if decimal:
                    self.position = decimal.end()
                scalar = Bare(decimal[0]) if decimal else self.value(depth + 1)
                if self._confirmed(scalar):
                    members.pairs.append((key, scalar))
            self._separator()

    def _container(self, members: Members, key: str, depth: int) -> None:
        # Hung in before it is read, so that a cut inside leaves what was complete.
        if self._peek() == "{":
            inner = Members()
            members.pairs.append((key, inner))
            self.members(inner, depth + 1)
        else:
            items: list[Value] = []
            members.pairs.append((key, items))
            self._items(items, depth + 1)

    def _items(self, items: list[Value], depth: int) -> None:
        self._open(depth)
        while not self._closes("]"):
            self._skip()
            if self._peek() == "{":
                inner = Members()
                items.append(inner)
                self.members(inner, depth + 1)
            else:
                item = self.value(depth + 1)
                if isinstance(item, Bare) and self.position == len(self.text):
                    raise self._stop()
                items.append(item)
            self._skip()
            if self._peek() == ",":
                self.position += 1
            elif self._peek() != "]":
                raise self._stop()

    def _open(self, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise _Stopped("broken", self.position)
        self.position += 1

    def _closes(self, bracket: str) -> bool:
        self._skip()
        if self._peek() != bracket:
            return False
        self.position += 1
        return True

    def _key(self) -> str:
        if self._peek() in _STRINGS:
            key = self._string()
        else:
            match = _BARE_KEY.match(self.text, self.position)
            if not match:
                raise self._stop()
            key = match[0]
            self.position = match.end()
        self._skip()
        if self._peek() != ":":
            raise self._stop()
        self.position += 1
        self.has_key = True
        return key

    def _string(self) -> str:
        match = _STRINGS[self._peek()].match(self.text, self.position)
        if not match:
            raise _Stopped("cut", len(self.text))
        self.position = match.end()
        return _unescape(match[1])

    def _bare(self) -> Bare:
        match = _BARE.match(self.text, self.position)
        if not match:
            raise self._stop()
        self.position = match.end()
        return Bare(match[0].rstrip())

    def _confirmed(self, scalar: Value) -> bool:
        """Say whether a member's scalar is complete; leaves the position where it is.

        At the end of the text `0.4` may go on, and so may `0` before a comma (0,7).
        """
        if not isinstance(scalar, Bare):
            return True
        ended_by_space = self.text[self.position - 1].isspace()
        after = _FILLER.match(self.text, self.position)
        position = after.end() if after else self.position
        following = self.text[position : position + 2]
        if not following:
            return ended_by_space or position > self.position
        if following == ",":
            return not scalar.text.lstrip("+-").isdigit()
        if following[0] == ",":
            return not following[1].isdigit()
        ended_by_line = "\n" in self.text[self.position : position]
        return ended_by_line or following[0] in ("}", *_STRINGS)

    def _separator(self) -> None:
        self._skip()
        if self._peek() == ",":
            self.position += 1
        elif self._peek() not in ("}", *_STRINGS):  # a comma may be missing before a quoted key
            raise self._stop()

    def _peek(self) -> str:
        return self.text[self.position : self.position + 1]

    def _skip(self) -> None:
        # Comments only once there is a key: before it, "{ //" may be any prose, and searching
        # for the end of a comment from every brace would not be linear.
        match = (_FILLER if self.has_key else _SPACE).match(self.text, self.position)
        if match:
            self.position = match.end()

    def _stop(self) -> _Stopped:
        at_end = self.position >= len(self.text)
        return _Stopped("cut" if at_end else "broken", self.position)


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    plain = _ESCAPE.sub(_escaped, text)
    # Surrogate pairs become one sign, a lone one becomes a question mark: it cannot be stored.
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _escaped(match: re.Match[str]) -> str:
    digits = match[1] or match[2] or match[3]
    return chr(int(digits, 16)) if digits else _SIMPLE_ESCAPES.get(match[4], match[4])
