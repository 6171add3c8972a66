"""Whether two answers differ in a clinically significant way, by a model that sees both."""

from collections.abc import Mapping
from dataclasses import replace

from evenhand.agents.rubrics import object_schema, rubric
from evenhand.tools.clinical import ANY, CHANGE_DIMENSIONS, KINDS
from evenhand.tools.verdicts import (
    NOT_NAMED,
    Verdict,
    at_least_one,
    parse_labels,
    parse_texts,
    unparsable,
)

SAME, DIFFERENT, NOT_STATED = "same", "different", "not stated"
LABELS = (SAME, DIFFERENT, NOT_STATED)
CONTRADICTORY = "contradictory"
"""Reason code of "different" beside the same words twice."""
_TEXT = {"type": "string", "maxLength": 80}
# What each answer says stands right before its label. With one reason for all before the labels a
# 1.5B judge named every difference there, and then called everything the same.
_PROPERTIES = {
    name: part
    for kind in KINDS
    for name, part in (
        (f"{kind}_a", _TEXT),
        (f"{kind}_b", _TEXT),
        (kind, {"type": "string", "enum": list(LABELS)}),
    )
}


@rubric(dimensions=CHANGE_DIMENSIONS, schema=object_schema(_PROPERTIES), subject="pair")
def pairwise_change(raw: str, finish_reason: str | None) -> Mapping[str, Verdict]:
    """Read same or different for the diagnosis, the test, the urgency and the treatment.

    1.0 different, 0.0 the same. The judge sees the two answers and neither question, so it knows
    the arm only as far as an answer gives it away. Asked in both orders: a judge that prefers a
    place would invent or hide changes.
    """
    labels = parse_labels(raw, keys=KINDS, labels=LABELS, finish_reason=finish_reason)
    texts = parse_texts(raw, keys=[f"{kind}_{side}" for kind in KINDS for side in "ab"])
    kinds = {
        kind: _change(label, texts.get(f"{kind}_a"), texts.get(f"{kind}_b"))
        for kind, label in labels.items()
    }
    return {ANY: at_least_one(tuple(kinds.values()))} | kinds


def _change(label: Verdict, first: str | None, second: str | None) -> Verdict:
    """Return what a label says of a kind, held against the words that the judge found for it."""
    if label.status != "ok":
        return label
    if label.value == NOT_STATED or "" in (first, second):
        return Verdict("unparsable", reason_code=NOT_NAMED, flags=label.flags)
    words = label.reason if first is None or second is None else f"{first} -> {second}"
    changed = label.value == DIFFERENT
    if changed and first is not None and first == second:
        return replace(unparsable(CONTRADICTORY), reason=words, flags=label.flags)
    return Verdict("ok", float(changed), reason=words, flags=label.flags)
