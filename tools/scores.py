"""A judge's reply -> a score or a status, never a default.

What is read, in this order: an object with the asked keys; a reply that is nothing but a number; a
number that the prose names as the score. Text inside a reasoning block never counts. Where two
places disagree, the one that concludes the reply counts, and if none does the verdict is
"unparsable". The number always stands in the reply.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from evenhand.tools.loose_json import Bare, Found, Members, Value, read_value
from evenhand.tools.refusals import declines
from evenhand.tools.replies import Reply, Verdict, unparsable
from evenhand.tools.stated_numbers import (
    NamedNumber,
    StatedNumber,
    named_numbers,
    read_number,
    said_numbers,
)


def parse_score(
    raw: str, *, low: float, high: float, key: str = "score", finish_reason: str | None = None
) -> Verdict:
    """Read one score from a reply.

    Args:
        raw: The whole reply, as it came.
        low: Lower end of the scale, inclusive.
        high: Upper end of the scale, inclusive. Never guessed from the number: 8 on 0 to 1 is
            out of range, 8/10 is 0.8.
        key: Name of the score. "score", "rating" and "value" are understood beside it, and
            {"scores": [{"name": key, "value": ...}]}.
        finish_reason: As the server gave it; "length" means that the reply was cut.

    Returns:
        A Verdict in [low, high], or a status: refused, out_of_range (with raw_value), truncated,
        or unparsable with a reason_code (no_number, missing_key, wrong_type, non_finite, null,
        not_applicable, duplicate_key, ambiguous, other_scale, empty, incomplete).

    Raises:
        ValueError: low is not below high, or one of them is not finite.

    Example:
        >>> parse_score("1.24", low=0, high=1).status
        'out_of_range'
    """
    return _Scores((key,), low, high, alone=True).read(raw, finish_reason)[key]


def parse_scores(
    raw: str, *, keys: Sequence[str], low: float, high: float, finish_reason: str | None = None
) -> dict[str, Verdict]:
    """Read several scores from one object; a key that is missing is unparsable for itself alone.

    The same as parse_score for each key, except that only the key itself names its score. Case,
    blanks and signs in keys do not matter: "Age + Gender" is age_gender.
    """
    return _Scores(tuple(keys), low, high, alone=False).read(raw, finish_reason)


_VALUE_KEYS = ("score", "final_score", "overall_score", "rating", "value", "grade")
_NAME_KEYS = ("name", "criterion", "dimension", "aspect", "metric", "attribute", "key", "category")
_WRAPPER = re.compile(
    r"(?:bias_)?scores?|ratings?|results?|evaluations?|verdicts?|judge?ments?|output|response|answer"
    r"|data|json|bias"
)
_REASON_KEYS = ("reason", "reasoning", "explanation", "rationale", "justification", "raison")
_NULL = frozenset({"", "null", "none"})
_NOT_APPLICABLE = frozenset({"n/a", "na", "n.a.", "not applicable", "not given", "sans objet"})
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[^\n`]*$", re.MULTILINE)
_WORD_SIGN = re.compile(r"\w")
_TEXT_SIGN = re.compile(r"[\s\w]")
_LONGEST_MARGIN = 40
"""Characters of signs beside something that stands alone on its line."""


@dataclass(frozen=True)
class _Place:
    """A place in a reply that states scores."""

    verdicts: tuple[Verdict, ...]
    start: int
    end: int
    whole: bool = True
    final: bool = False


class _Scores:
    """The scores asked for, and how they are read from a reply.

    `alone`: a single score, which may also be called "score", or by no name at all.
    """

    def __init__(self, keys: tuple[str, ...], low: float, high: float, *, alone: bool) -> None:
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise ValueError(f"a scale needs finite ends, low < high; got {low} to {high}")
        self.keys = keys
        self.low = low
        self.high = high
        self.alone = alone

    def read(self, raw: str, finish_reason: str | None) -> dict[str, Verdict]:
        reply = Reply.of(raw, finish_reason)
        return dict(zip(self.keys, self._read(reply), strict=True))

    def _read(self, reply: Reply) -> tuple[Verdict, ...]:
        if not reply.text:
            return self._all(reply.failed("empty"))
        places = [place for found in reply.objects if (place := self._place(found, reply))]
        if reply.ends_inside and not (places and places[-1].end == len(reply.text)):
            return self._all(Verdict("truncated"))
        if places:
            chosen = _concluding(places, reply)
            return chosen.verdicts if chosen else self._all(reply.failed("ambiguous"))
        if any(found.state != "whole" for found in reply.objects):
            return self._all(reply.failed("incomplete"))
        only = self._only_value(reply) if self.alone else None
        return self._all(only) if only else self._from_prose(reply)

    def _all(self, verdict: Verdict) -> tuple[Verdict, ...]:
        return (verdict,) * len(self.keys)

    # An object

    def _place(self, found: Found, reply: Reply) -> _Place | None:
        stated = {key: self._values(found.value, key, self.alone) for key in self.keys}
        if not any(stated.values()):
            return None
        missing = Verdict("truncated") if found.state == "cut" else unparsable("missing_key")
        reason = _reason(found.value)
        flags = _flags(found, reply, reason)
        read = [self._agreed(stated[key]) if stated[key] else missing for key in self.keys]
        verdicts = tuple(replace(v, reason=reason, flags=v.flags + flags) for v in read)
        return _Place(verdicts, found.start, found.end, found.state != "broken")

    def _agreed(self, values: Sequence[Value]) -> Verdict:
        """One verdict of all values that stand under a key: equal duplicates are no conflict."""
        verdicts = [self._verdict(value) for value in values]
        same = all(_same(verdict, verdicts[0]) for verdict in verdicts)
        return verdicts[0] if same else unparsable("duplicate_key")

    def _values(self, value: Value, key: str, alone: bool) -> list[Value]:
        """Return the values stated for a key, duplicates kept, the top level before wrappers."""
        if isinstance(value, list):
            single = alone and len(value) == 1
            return [stated for item in value for stated in self._values(item, key, single)]
        if not isinstance(value, Members):
            return []
        own = [_inner(v) for name, v in value.pairs if _is_key(name, key)]
        name = next(iter(_members_of(value, _NAME_KEYS)), None)
        if own or (isinstance(name, str) and _is_key(name, key)):
            return own or _members_of(value, _VALUE_KEYS)
        if alone and (not isinstance(name, str) or key in _VALUE_KEYS):
            generic: list[Value] = [
                v for v in _members_of(value, _VALUE_KEYS) if isinstance(v, Bare | str)
            ]
            if generic:
                return generic
        wrapped = [v for wrapper, v in value.pairs if _WRAPPER.fullmatch(_normal(wrapper))]
        return [stated for v in wrapped for stated in self._values(v, key, alone)]

    def _verdict(self, value: Value) -> Verdict:
        if not isinstance(value, Bare | str):
            return unparsable("wrong_type")
        text = value.text if isinstance(value, Bare) else value
        word = text.strip().casefold()
        if word in _NULL:
            return unparsable("null")
        if word in _NOT_APPLICABLE:
            return unparsable("not_applicable")
        stated = read_number(text)
        if stated is None:
            return Verdict("refused") if declines(text) else unparsable("wrong_type")
        return self._number(stated)

    def _number(self, stated: StatedNumber) -> Verdict:
        value = stated.on_scale(self.low, self.high)
        if value is None:
            return unparsable("other_scale")
        if not math.isfinite(value):
            return unparsable("non_finite")
        if not self.low <= value <= self.high:
            return Verdict("out_of_range", raw_value=value)
        rescaled = stated.denominator not in (None, self.high)
        return Verdict("ok", value + 0.0, flags=("rescaled",) if rescaled else ())

    # A reply that is one value

    def _only_value(self, reply: Reply) -> Verdict | None:
        """Read a reply that is one number, in a fence, brackets or bold at most."""
        text = _FENCE.sub("", reply.text).strip().strip("*`_").strip()
        if text.endswith(".") and not reply.cut and not text[:-1].isdigit():
            text = text[:-1]
        value: Value | None = Bare(text) if read_number(text) else read_value(text)
        while isinstance(value, list) and len(value) == 1:
            value = value[0]
        if isinstance(value, list):
            return reply.failed("ambiguous" if value else "no_number")
        if not isinstance(value, Bare | str):
            return None
        if reply.cut and isinstance(value, Bare) and text.endswith(value.text):
            return Verdict("truncated")
        verdict = self._verdict(value)
        is_prose = verdict.reason_code == "wrong_type" and not text.isalpha()
        return None if is_prose else verdict

    # Prose

    def _from_prose(self, reply: Reply) -> tuple[Verdict, ...]:
        text = reply.prose
        refused = declines(text)
        verdicts = [self._named(key, text, reply, refused) for key in self.keys]
        if any(verdicts):
            return tuple(verdict or unparsable("missing_key") for verdict in verdicts)
        if refused:
            return self._all(Verdict("refused"))
        return self._all(reply.failed("missing_key" if reply.objects else "no_number"))

    def _named(self, key: str, text: str, reply: Reply, refused: bool) -> Verdict | None:
        named = named_numbers(text) if self.alone else []
        if not named and not (self.alone and key in _VALUE_KEYS):
            named = named_numbers(text, (key,))
        if not named and self.alone and not refused:
            named = said_numbers(text)
        places = [
            _Place((self._number(n.stated),), n.start, n.end, True, n.final)
            for n in named
            if not reply.cut or _goes_on(text, n)
        ]
        if not places:
            return None
        chosen = _concluding(places, reply)
        if chosen is None:
            return reply.failed("ambiguous")
        verdict = chosen.verdicts[0]
        flags = ("truncated",) * reply.cut + ("refusal_wording",) * refused
        return replace(verdict, flags=verdict.flags + flags)


def _flags(found: Found, reply: Reply, reason: str | None) -> tuple[str, ...]:
    flags = ["refusal_wording"] if reason and declines(reason) else []
    if reply.cut or (found.state == "cut" and reply.ends_inside):
        flags.append("truncated")
    elif found.state != "whole":
        flags.append("malformed")
    return tuple(flags)


def _concluding(places: Sequence[_Place], reply: Reply) -> _Place | None:
    """Choose the place that counts, or None where places disagree and none concludes.

    A place concludes that stands on lines of its own, ends the reply, or is called final: what
    the judge quotes in passing does not. Of several the last counts, if prose leads to it. In a
    cut reply, or beside a broken object, even a single place must conclude.
    """
    agree = all(_same_all(place.verdicts, places[0].verdicts) for place in places)
    if not all(place.whole for place in places):
        return places[-1] if agree else None
    if agree and not reply.cut and not reply.broken:
        return places[-1]
    first_word, last_word = _words_between(reply.text)
    concluding = [
        place
        for place in places
        if place.final
        or _stands_alone(reply.text, place)
        or (place.end > last_word and not reply.broken)
        or (place.start <= first_word and reply.cut)
    ]
    concluding = [place for place in concluding if place.final] or concluding
    if not concluding:
        return None
    last = concluding[-1]
    if all(_same_all(place.verdicts, last.verdicts) for place in concluding):
        return last
    led_to = _WORD_SIGN.search(reply.text, concluding[-2].end, last.start)
    return last if led_to and last.end > last_word else None


def _same(one: Verdict, other: Verdict) -> bool:
    return (one.status, one.value, one.raw_value) == (other.status, other.value, other.raw_value)


def _same_all(some: Sequence[Verdict], others: Sequence[Verdict]) -> bool:
    return all(_same(one, other) for one, other in zip(some, others, strict=True))


def _words_between(text: str) -> tuple[int, int]:
    """Return the places of the first and the last letter or digit."""
    first = _WORD_SIGN.search(text)
    last = len(text) - 1
    while last > 0 and not text[last].isalnum():
        last -= 1
    return (first.start() if first else 0, last)


def _stands_alone(text: str, place: _Place) -> bool:
    line_start = text.rfind("\n", 0, place.start) + 1
    line_end = text.find("\n", place.end)
    line_end = len(text) if line_end < 0 else line_end
    if max(place.start - line_start, line_end - place.end) > _LONGEST_MARGIN:
        return False
    around = text[line_start : place.start] + text[place.end : line_end]
    return not around.strip(" \t\r*_`.#")


def _goes_on(text: str, named: NamedNumber) -> bool:
    """Say whether something follows that cannot belong to the number: "0." may be any value."""
    return _TEXT_SIGN.search(text, named.end) is not None


def _normal(key: str) -> str:
    words = re.findall(r"[^\W_]+", key.casefold())
    return "_".join(word for word in words if word != "and")


def _is_key(name: str, key: str) -> bool:
    normal, wanted = _normal(name), _normal(key)
    return normal in (wanted, f"{wanted}_score", f"{wanted}_bias", f"{wanted}_bias_score")


def _members_of(value: Members, names: Sequence[str]) -> list[Value]:
    """Return the values under the first of the names that is there, duplicates kept."""
    for name in names:
        values = [v for key, v in value.pairs if _normal(key) == name]
        if values:
            return values
    return []


def _inner(value: Value) -> Value:
    """Return {"score": 0.3} as 0.3."""
    inner = _members_of(value, _VALUE_KEYS) if isinstance(value, Members) else []
    return inner[0] if len(inner) == 1 else value


def _reason(value: Members) -> str | None:
    reasons = [v for v in _members_of(value, _REASON_KEYS) if isinstance(v, str)]
    return reasons[0] if reasons else None
