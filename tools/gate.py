"""The validity gate: did only the declared attributes change, and can such a patient be?

Whoever made a variant (rules or a model), the text decides: outside the declared attributes' own
words, and the "a" or "an" before them, both texts must be the same bytes. What was put in must be
the attribute's one form and nothing more; it is cut out again before the texts are compared.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from evenhand.graph_store.records import Change, Triple
from evenhand.tools.attributes import Mention, attributes
from evenhand.tools.attributes.age import years
from evenhand.tools.base_text import SENTENCE_BREAK, with_article
from evenhand.tools.patients import impossible
from evenhand.tools.sentences import article, verbalise
from evenhand.tools.word_diff import Piece, word_diff

ReasonCode = Literal[
    "other_change",
    "not_changed",
    "wrong_value",
    "number_changed",
    "negation_changed",
    "whitespace",
    "impossible_patient",
    "not_stated",
    "empty",
    "not_similar",
    "other_comparison",
]

_NEGATION = re.compile(
    r"\b(?:no|not|never|none|nor|neither|without|denie[sd]|deny|denying|absent|absence|negative"
    r"|free of|\w+n['\u2019]t|cannot)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\d+(?:[.,]\d+)*|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|once|twice)\b",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"\b([Aa])n?(\s)$")
_SHOWN_CHARACTERS = 60
_LISTED = frozenset({"has_history"})
"""Predicates whose objects are not one attribute's value each."""


@dataclass(frozen=True)
class GateVerdict:
    """Accepted, or why not: a code to count by and a sentence to read."""

    accepted: bool
    reason_code: ReasonCode | None = None
    reason: str | None = None


ACCEPTED = GateVerdict(accepted=True)


def check_isolation(base: str, variant: str, changes: Sequence[Change]) -> GateVerdict:
    """Accept a variant that differs from `base` in the declared attributes' own words alone.

    The reason codes, in the order in which they are looked for: empty; not_changed (an attribute
    still has its old value, or was not put in); wrong_value (it has neither the declared nor the
    old one, or `base` does not state `before`); whitespace, negation_changed, number_changed,
    other_change (what else differs); impossible_patient (only where the base was possible).

    Args:
        base: The base text.
        variant: The text that was made from it.
        changes: The declared changes, at least one, each with a registered attribute; `before` is
            None where the base states no value.
    """
    if not variant.strip():
        return _rejected("empty", "the variant has no text")
    for change in changes:
        fault = _value_fault(base, variant, change)
        if fault:
            return fault
    names = [change.attribute for change in changes if change.before is not None]
    without = variant
    for change in changes:
        if change.before is None:
            shorter = _cut(without, change)
            if shorter is None:
                return _rejected("other_change", f"{change.attribute} is put in in another form")
            without = shorter
    return (
        _other_fault(_masked(base, names), _masked(without, names))
        or _article_fault(base, variant, [change.attribute for change in changes])
        or _patient_fault(base, variant)
        or ACCEPTED
    )


def check_placebo(triples: Sequence[Triple], text: str, question: str = "") -> GateVerdict:
    """Accept a rewording that still states every object, with equal attributes, numbers, denials.

    Args:
        triples: The triples of the base text.
        text: The rewording.
        question: The asking part that it may repeat; its numbers are no change.
    """
    if not text.strip():
        return _rejected("empty", "the rewording has no text")
    return (
        _attribute_fault(triples, text)
        or _missing_object(triples, text)
        or _extra_number(triples, text, question)
        or _denial_fault(triples, text.removesuffix(question))
        or ACCEPTED
    )


def _rejected(code: ReasonCode, reason: str) -> GateVerdict:
    return GateVerdict(accepted=False, reason_code=code, reason=reason)


def _value_fault(base: str, variant: str, change: Change) -> GateVerdict | None:
    known = attributes.get(change.attribute)
    before = {mention.value for mention in known.find(base)}
    after = {mention.value for mention in known.find(variant)}
    name = change.attribute
    if before != ({change.before} - {None}):
        said = ", ".join(sorted(before)) or "none"
        wanted = change.before or "none"
        return _rejected("wrong_value", f"{name} of the base is {said}, not {wanted}")
    if change.before in after and change.before != change.after:
        return _rejected("not_changed", f"{name} is still {change.before}")
    if change.before is None and not after:
        return _rejected("not_changed", f"{name} is still not stated")
    if change.before == change.after:
        return _rejected("not_changed", f"{name} is declared {change.after} before and after")
    if after != {change.after}:
        said = ", ".join(sorted(after)) or "not stated"
        return _rejected("wrong_value", f"{name} is {said}, not {change.after}")
    return None


def _cut(variant: str, change: Change) -> str | None:
    """Return the text without the words that state an added value; None: in no form of ours."""
    known = attributes.get(change.attribute)
    words = f"{known.words(change.after)} "
    spans = [(match.start(), match.end()) for match in re.finditer(re.escape(words), variant)]
    stated = known.find(variant)
    covering = [
        (start, end)
        for start, end in spans
        if all(start <= mention.start and mention.end <= end for mention in stated)
    ]
    if not covering or (words.endswith(". ") and not _opens_sentence(variant, covering[0][0])):
        return None
    start, end = covering[0]
    return with_article(variant[:start], variant[end:]) + variant[end:]


def _opens_sentence(text: str, at: int) -> bool:
    """Tell whether a sentence begins here, behind the opening one."""
    return any(match.end() == at for match in SENTENCE_BREAK.finditer(text))


def _masked(text: str, names: Sequence[str]) -> str:
    """Return the text with the attributes' own words, and the article before them, masked."""
    mentions = [(name, mention) for name in names for mention in attributes.get(name).find(text)]
    end = len(text)
    for name, mention in sorted(mentions, key=lambda each: each[1].start, reverse=True):
        if mention.end > end:
            continue  # another attribute's mention covers the same word ("boy")
        before = _ARTICLE.sub(r"\1(n)\2", text[: mention.start])
        text = f"{before}<{name}>{text[mention.end :]}"
        end = mention.start
    return text


def _other_fault(base: str, variant: str) -> GateVerdict | None:
    if base == variant:
        return None
    pieces = word_diff(base, variant)
    gone, come = _side(pieces, "removed"), _side(pieces, "added")
    reason = f"removed {_shown(gone)}, added {_shown(come)}"
    if "".join(base.split()) == "".join(variant.split()):
        return _rejected("whitespace", "blanks or line breaks differ")
    if _found(_NEGATION, base) != _found(_NEGATION, variant):
        return _rejected("negation_changed", reason)
    if _found(_NUMBER, base) != _found(_NUMBER, variant):
        return _rejected("number_changed", reason)
    return _rejected("other_change", reason)


def _side(pieces: Sequence[Piece], kind: str) -> str:
    return " ... ".join(piece.text.strip() for piece in pieces if piece.kind == kind)


def _shown(words: str) -> str:
    cut = f"{words[:_SHOWN_CHARACTERS]}..." if len(words) > _SHOWN_CHARACTERS else words
    return repr(cut) if words.strip() else "nothing"


def _found(pattern: re.Pattern[str], text: str) -> list[str]:
    return sorted(match[0].lower() for match in pattern.finditer(text))


def _article_fault(base: str, variant: str, names: Sequence[str]) -> GateVerdict | None:
    """Reject a wrong "a" or "an" before what changed; it gives the change away to the model."""
    known = ["age", *(name for name in names if name != "age")]
    wrong = _wrong_article(variant, known)
    if wrong and not _wrong_article(base, known):
        return _rejected("other_change", f"the article in {wrong!r} is wrong")
    return None


def _wrong_article(text: str, names: Sequence[str]) -> str | None:
    for mention in (each for name in names for each in attributes.get(name).find(text)):
        found = _ARTICLE.search(text[: mention.start])
        words = text[mention.start : mention.end]
        if found and found[0].strip().lower() != article(words):
            return f"{found[0]}{words}"
    return None


def _patient_fault(base: str, variant: str) -> GateVerdict | None:
    reason = _impossible(variant)
    if reason and not _impossible(base):
        return _rejected("impossible_patient", reason)
    return None


def _impossible(text: str) -> str | None:
    ages: list[Mention] = attributes.get("age").find(text)
    # Boy, girl, man and woman beside the age follow it: they do not bind it.
    for mention in ages[1:]:
        words = "-" * (mention.end - mention.start)
        text = text[: mention.start] + words + text[mention.end :]
    return impossible(
        text,
        age_years=years(ages[0].value) if ages else None,
        gender=attributes.get("gender").value(text),
    )


def _attribute_fault(triples: Sequence[Triple], text: str) -> GateVerdict | None:
    """Compare each attribute with what its triples alone say in our own form."""
    for name in attributes.names():
        known = attributes.get(name)
        own = [each for each in triples if each.predicate == known.predicate]
        wanted = known.value(verbalise(own))
        said = known.value(text)
        if said is None and known.predicate in _LISTED:
            continue  # its objects are looked for like all others
        if said != wanted and (said is None or wanted is None or said.lower() != wanted.lower()):
            return _rejected("wrong_value", f"{name} is {said}, not {wanted}")
    return None


def _missing_object(triples: Sequence[Triple], text: str) -> GateVerdict | None:
    plain = _plain(text)
    for triple in triples:
        if triple.predicate in ("has_age", "has_gender"):
            continue  # compared as values
        if not _words_pattern(_plain(triple.object).rstrip(".")).search(plain):
            return _rejected("not_stated", f"{triple.predicate} {triple.object!r} is not stated")
    return None


def _extra_number(triples: Sequence[Triple], text: str, question: str) -> GateVerdict | None:
    known = {number for each in triples for number in _found(_NUMBER, each.object)}
    extra = [n for n in _found(_NUMBER, text) if n not in known | {*_found(_NUMBER, question)}]
    if extra:
        return _rejected("number_changed", f"{extra[0]} is in no triple")
    return None


def _denial_fault(triples: Sequence[Triple], text: str) -> GateVerdict | None:
    """Reject a denied symptom that is stated, and a stated one that is denied."""
    objects = [_plain(each.object).rstrip(".") for each in triples]
    for sentence in map(_plain, SENTENCE_BREAK.split(text)):
        for triple, words in zip(triples, objects, strict=True):
            if triple.predicate not in ("denies", "has_symptom", "has_history"):
                continue
            # The other objects are masked: "no interest in eating" denies nothing after it.
            others = (each for each in objects if each not in words)
            alone = _without(sentence, others)
            found = _words_pattern(words).search(alone)
            if not found:
                continue
            denied = bool(_NEGATION.search(alone[: found.start()]))
            if denied != (triple.predicate == "denies"):
                said = "denied" if denied else "stated"
                return _rejected("negation_changed", f"{triple.object!r} is {said}")
    return None


def _without(text: str, objects: Iterable[str]) -> str:
    for words in sorted(objects, key=len, reverse=True):
        text = _words_pattern(words).sub("...", text)
    return text


def _words_pattern(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(words)}(?!\w)")


def _plain(text: str) -> str:
    return " ".join(text.lower().split())
