"""What spaCy's parse says of a member of a list: is it a thing of its own, or cut from something?

The rule filter cuts lists at commas and "and", which cannot tell "fever and a cough" from "fever,
and a biopsy is taken". What the parse sees as part of something else is left out.
"""

from functools import lru_cache
from typing import TYPE_CHECKING

from evenhand.tools.facts import language
from evenhand.tools.phrases import is_condition, is_finding

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

_SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj"})
_BEFORE_A_NOUN = frozenset({"amod", "det", "compound", "nummod", "poss"})


def is_cut(sentence: str, start: int, end: int, list_start: int) -> bool:
    """Whether the words from start to end are torn from what they belong to.

    "a biopsy" of "and a biopsy is taken" has a verb of its own, "a harsh" of "a harsh, systolic
    murmur" waits for its noun, "flexor surfaces" of "sparing of the knees and flexor surfaces" is
    where something is, not a finding.

    Args:
        sentence: The whole sentence.
        start: Where the member begins.
        end: Where it ends.
        list_start: Where the list begins that it is a member of.
    """
    span = _span(sentence, start, end)
    if span is None:
        return False
    return (
        _has_own_verb(span)
        or _waits_for_noun(span)
        or _is_joined_inside(span, list_start)
        or _is_no_thing(span)
    )


def whole_members(sentence: str, begin: int, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join members that share a noun: "a harsh, systolic murmur"."""
    whole: list[tuple[int, int]] = []
    waiting: int | None = None
    for i, (left, right) in enumerate(spans):
        start = left if waiting is None else waiting
        text = sentence[begin + left : begin + right].rstrip()
        span = _span(sentence, begin + left, begin + left + len(text)) if text.strip() else None
        after = spans[i + 1] if i + 1 < len(spans) else None
        if after and span is not None and _waits_for_noun(span):
            noun = span[-1].head.idx
            if begin + after[0] <= noun < begin + after[1]:
                waiting = start
                continue
        whole.append((start, right))
        waiting = None
    return whole


def _span(sentence: str, start: int, end: int) -> "Span | None":
    span = _parsed(sentence).char_span(start, end, alignment_mode="expand")
    return span if span is not None and len(span) else None


@lru_cache(maxsize=256)
def _parsed(sentence: str) -> "Doc":
    return language()(sentence)


def _has_own_verb(span: "Span") -> bool:
    root = span.root
    verb = root.head
    if root.dep_ not in _SUBJECTS or verb.i < span.end:
        return False
    between = span.doc[span.end : verb.i]
    if verb.tag_ == "VBN" and not between:
        return False  # "arthritis diagnosed a year ago"
    return all(token.pos_ in ("AUX", "ADV", "PART") or token.tag_ == "MD" for token in between)


def _waits_for_noun(span: "Span") -> bool:
    last = span[-1]
    return (
        not is_finding(last.text)
        and last.head.i >= span.end
        and last.dep_ in _BEFORE_A_NOUN
        and last.pos_ in ("ADJ", "DET", "NUM")
    )


def _is_joined_inside(span: "Span", list_start: int) -> bool:
    """Whether an unknown word is joined to a word inside the member before it."""
    if is_finding(span.text) or is_condition(span.text) or span[0].pos_ == "DET":
        return False
    first = span.root
    while first.dep_ == "conj" and first.head is not first:
        first = first.head
    inside = first.i < span.start and first.dep_ == "pobj" and first.head.idx >= list_start
    return inside and first.head.head.pos_ in ("NOUN", "PROPN")


def _is_no_thing(span: "Span") -> bool:
    """Whether it is a verb, or a state with more behind it: "tired in the afternoon"."""
    root = span.root
    if span.start and span.doc[span.start - 1].tag_ == "TO":
        return True
    if span.text.lower().startswith("feel"):
        return False
    if root.tag_ == "VBG" and any(child.dep_ == "advmod" for child in root.children):
        return len(span) > 2
    return root.pos_ == "ADJ" and any(
        child.dep_ == "prep" and root.i < child.i < span.end for child in root.children
    )
