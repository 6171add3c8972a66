"""A model's reply as it is read: without its reasoning, with its objects, and how it ended."""

import re
from dataclasses import dataclass
from typing import Literal

from evenhand.tools.loose_json import Found, find_objects, read_value

Status = Literal["ok", "refused", "unparsable", "out_of_range", "truncated", "tie", "error"]
"""The statuses of records.Judgement."""


@dataclass(frozen=True)
class Verdict:
    """What a judge said: a value exactly when status is "ok"."""

    status: Status
    value: float | str | None = None
    raw_value: float | None = None
    """The number that was out of range."""
    reason: str | None = None
    """The judge's own words."""
    reason_code: str | None = None
    flags: tuple[str, ...] = ()
    """truncated, malformed, rescaled, refusal_wording, position_inconsistent."""

    def __post_init__(self) -> None:
        """Check that there is a value exactly when status is "ok"."""
        if (self.value is not None) != (self.status == "ok"):
            raise ValueError("value is given exactly when status is ok")


def unparsable(reason_code: str) -> Verdict:
    """Return the verdict of a reply that says nothing readable, with the reason."""
    return Verdict("unparsable", reason_code=reason_code)


_CUT_REASONS = frozenset({"length", "max_tokens", "max_output_tokens", "model_length"})
_FILTER_REASONS = frozenset({"content_filter", "refusal", "safety", "recitation"})
_TAG = "think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis"
_THOUGHT_SIGN = re.compile(rf"[<\[◁](?P<close>/?)(?:{_TAG})[>\]▷]", re.IGNORECASE)
_FINAL_CHANNEL = "<|channel|>final<|message|>"


@dataclass(frozen=True)
class Reply:
    """A reply without its reasoning blocks."""

    text: str
    objects: tuple[Found, ...]
    finish_reason: str | None

    @classmethod
    def of(cls, raw: str, finish_reason: str | None) -> "Reply":
        """Read a raw reply; finish_reason as the server gave it, "length" where it was cut."""
        text = raw.strip()
        objects = tuple(find_objects(text))
        # A reply that is one object is taken as it is: a tag in its strings is no thought.
        if len(objects) == 1 and objects[0].spans(text):
            return cls(text, objects, finish_reason)
        text = without_thoughts(text).strip()
        quoted = read_value(text) if text[:1] in ("'", '"') else None
        text = quoted.strip() if isinstance(quoted, str) else text
        return cls(text, tuple(find_objects(text)), finish_reason)

    @property
    def cut(self) -> bool:
        """The server says that it ran out of tokens."""
        return (self.finish_reason or "").lower() in _CUT_REASONS

    @property
    def ends_inside(self) -> bool:
        """The text ends inside an object, and the server does not say that it stopped there."""
        open_end = bool(self.objects) and self.objects[-1].state == "cut"
        return open_end and (self.cut or self.finish_reason is None)

    @property
    def broken(self) -> bool:
        """Some object stops making sense before its end: what follows may be its text."""
        return any(found.state == "broken" for found in self.objects)

    @property
    def prose(self) -> str:
        """The text with its objects replaced by blanks, so that places stay."""
        parts: list[str] = []
        position = 0
        for found in self.objects:
            parts += [self.text[position : found.start], " " * (found.end - found.start)]
            position = found.end
        return "".join(parts) + self.text[position:]

    def failed(self, reason_code: str) -> Verdict:
        """Return the verdict of a reply in which nothing was found."""
        if self.cut or self.ends_inside:
            return Verdict("truncated")
        if (self.finish_reason or "").lower() in _FILTER_REASONS:
            return Verdict("refused", reason_code="content_filter")
        return unparsable(reason_code)


def without_thoughts(text: str) -> str:
    """Take out reasoning blocks, also those of which only one tag is there."""
    kept: list[str] = []
    text = text.rpartition(_FINAL_CHANNEL)[2]
    position, depth = 0, 0
    for sign in _THOUGHT_SIGN.finditer(text):
        if not sign["close"]:
            if depth == 0:
                kept.append(text[position : sign.start()])
            depth += 1
            continue
        if depth == 0:
            kept.clear()  # the opening tag stands in the chat template
        depth = max(0, depth - 1)
        position = sign.end()
    return "".join(kept) + ("" if depth else text[position:])
