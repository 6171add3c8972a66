"""A judge's reply -> one of several labels, or a status, never a default."""

import re
from collections.abc import Sequence
from dataclasses import replace

from evenhand.tools.loose_json import Bare, Members, Value
from evenhand.tools.refusals import declines
from evenhand.tools.replies import Reply, Verdict, unparsable


def parse_label(raw: str, *, labels: Sequence[str], finish_reason: str | None = None) -> Verdict:
    """Read one of several labels: the reply itself, an object's, or one that the prose states.

    In prose a label must stand as a whole word, in a statement: what is negated ("not biased"),
    asked or supposed ("whether it is biased") says nothing, and is never turned into another
    label.

    Args:
        raw: The whole reply, as it came.
        labels: The labels; a longer one wins over one inside it ("not biased", "biased").
        finish_reason: As the server gave it; "length" means that the reply was cut.

    Returns:
        A Verdict with one of `labels` as given, or a status: refused, truncated, or unparsable
        with a reason_code (no_label, negated, several_labels, missing_key, wrong_type, empty).

    Raises:
        ValueError: No labels.

    Example:
        >>> parse_label("Verdict: **unbiased**", labels=["biased", "unbiased"]).value
        'unbiased'
    """
    if not labels:
        raise ValueError("labels must not be empty")
    reply = Reply.of(raw, finish_reason)
    if not reply.text:
        return reply.failed("empty")
    if reply.objects:
        return _from_objects(reply, labels)
    named = _NAMED.findall(reply.text)
    verdict = _label_of(named[-1] if named else reply.text, labels)
    if reply.cut:
        may_go_on = verdict.status == "ok" and reply.text.casefold().endswith(
            str(verdict.value).casefold()
        )
        whole = verdict.status == "ok" and not may_go_on
        return replace(verdict, flags=("truncated",)) if whole else Verdict("truncated")
    refused = verdict.reason_code == "no_label" and declines(reply.text)
    return Verdict("refused") if refused else verdict


def parse_labels(
    raw: str, *, keys: Sequence[str], labels: Sequence[str], finish_reason: str | None = None
) -> dict[str, Verdict]:
    """Read a label for each of several keys, from an object or from lines "key: label".

    A key that is missing is unparsable for itself alone, or truncated where the reply was cut
    before it. Case and underscores do not matter; two different labels for a key are none.

    Args:
        raw: The whole reply, as it came; reasoning blocks in it do not count.
        keys: What is labelled.
        labels: The labels, the same for every key.
        finish_reason: As the server gave it; "length" means that the reply was cut.

    Returns:
        A Verdict for each key, as of `parse_label`.

    Example:
        >>> parse_labels('{"a": "same"}', keys=["a"], labels=["same", "different"])["a"].value
        'same'
    """
    reply = Reply.of(raw, finish_reason)
    stated = {key: _stated(reply, key) for key in keys}
    if not any(stated.values()):
        refused = not reply.objects and declines(reply.text)
        missing = "missing_key" if reply.objects else "no_label" if reply.text else "empty"
        return dict.fromkeys(keys, Verdict("refused") if refused else reply.failed(missing))
    reason = _reason(reply)
    return {
        key: replace(_agreed(values, labels), reason=reason)
        if values
        else reply.failed("missing_key")
        for key, values in stated.items()
    }


def parse_texts(raw: str, *, keys: Sequence[str]) -> dict[str, str]:
    """Return what the objects of a reply say in words under each of several keys.

    A key without words, or with different ones, is left out; blanks around them do not count.
    """
    reply = Reply.of(raw, None)
    found: dict[str, str] = {}
    for key in keys:
        stated = {v.strip() for v in _stated(reply, key) if reply.objects and isinstance(v, str)}
        if len(stated) == 1:
            found[key] = stated.pop()
    return found


def _stated(reply: Reply, key: str) -> list[Value]:
    """Return what is stated for a key: in objects, or, where there is none, on lines."""
    if reply.objects:
        pairs = [pair for found in reply.objects for pair in found.value.pairs]
        return [value for name, value in pairs if _normal(name.replace("_", " ")) == _spaced(key)]
    line = rf"^[\s*_`#>-]{{0,6}}{re.escape(_spaced(key))}[\s*_`]{{0,4}}[:=]([^\n]{{1,200}})$"
    lines = re.findall(line, reply.text.replace("_", " "), re.IGNORECASE | re.MULTILINE)
    whole = lines[:-1] if reply.cut and lines and reply.text.endswith(lines[-1]) else lines
    return list(whole)


def _agreed(values: Sequence[Value], labels: Sequence[str]) -> Verdict:
    plain = [value.replace("_", " ") if isinstance(value, str) else value for value in values]
    read = {_label_of_value(value, labels) for value in plain}
    return read.pop() if len(read) == 1 else unparsable("several_labels")


def _reason(reply: Reply) -> str | None:
    said = [v for found in reply.objects for name, v in found.value.pairs if name == "reason"]
    return next((value for value in said if isinstance(value, str)), None)


def _spaced(key: str) -> str:
    return key.replace("_", " ").casefold()


_KEY = re.compile(
    r"\s*(?:final\s)?(?:label|verdict|answer|classification|decision|category|result|choice"
    r"|judge?ment)\s*",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"^[\s*_`#>-]{0,6}(?:final\s)?(?:verdict|label|answer|classification|decision|conclusion)"
    r"[\s*_`]{0,4}[:=]([^\n]{1,200})$",
    re.IGNORECASE | re.MULTILINE,
)
_NEGATION = re.compile(
    r"\b(?:not|no|never|neither|nor|none|without|hardly|barely|cannot|rather\sthan|instead\sof|"
    r"far\sfrom|free\s(?:of|from)|non|pas|jamais|aucun\w*|ni|sans)\b|n't\b",
    re.IGNORECASE,
)
_DENIED_AFTER = re.compile(r"[\s:=*_\"'-]{0,6}(?:no|non|false|faux|0)\b", re.IGNORECASE)
_SUPPOSED = re.compile(
    r"\b(?:whether|if|could|might|may|would|maybe|perhaps|possibly|potentially|unsure|unclear|"
    r"uncertain|either|or|si|peut-être|pourrait|ou)\b|\?",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[.,;:!\n]|\b(?:but|yet|mais|however)\b", re.IGNORECASE)
_SENTENCE = re.compile(r"[^.!?\n]+[.!?\n]?")
_REACH = 120
"""Characters before a label in which a negation can still be its own."""


def _from_objects(reply: Reply, labels: Sequence[str]) -> Verdict:
    stated = [v for found in reply.objects for v in _values(found.value)]
    if not stated:
        return reply.failed("missing_key")
    verdicts = {_label_of_value(value, labels) for value in stated}
    if len(verdicts) > 1:
        return unparsable("several_labels")
    verdict = verdicts.pop()
    truncated = reply.cut or reply.ends_inside
    return replace(verdict, flags=("truncated",)) if truncated else verdict


def _values(value: Members) -> list[Value]:
    return [v for key, v in value.pairs if _KEY.fullmatch(key)]


def _label_of_value(value: Value, labels: Sequence[str]) -> Verdict:
    if not isinstance(value, Bare | str):
        return unparsable("wrong_type")
    return _label_of(value.text if isinstance(value, Bare) else value, labels)


def _label_of(text: str, labels: Sequence[str]) -> Verdict:
    by_name = {_normal(label): label for label in labels}
    if _normal(text) in by_name:
        return Verdict("ok", by_name[_normal(text)])
    said: set[str] = set()
    negated = False
    pattern = _pattern(labels)
    for sentence in _SENTENCE.findall(text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")):
        if _SUPPOSED.search(pattern.sub("", sentence)):
            continue
        for match in pattern.finditer(sentence):
            before = sentence[max(0, match.start() - _REACH) : match.start()]
            if _NEGATION.search(_CLAUSE_END.split(before)[-1]) or _DENIED_AFTER.match(
                sentence, match.end()
            ):
                negated = True
            else:
                said.add(by_name[_normal(match[0])])
    if len(said) == 1:
        return Verdict("ok", said.pop())
    return unparsable("several_labels" if said else "negated" if negated else "no_label")


def _pattern(labels: Sequence[str]) -> re.Pattern[str]:
    longest_first = sorted(labels, key=len, reverse=True)
    words = "|".join(r"\s+".join(map(re.escape, label.split())) for label in longest_first)
    return re.compile(rf"(?<![\w-])(?:{words})(?![\w-])", re.IGNORECASE)


def _normal(text: str) -> str:
    return " ".join(text.casefold().strip(" \t\n*_`\"'.!“”").split())
