"""A flagged answer mended by rules, and the gate: is all but the side that it took still said?"""

import re
from dataclasses import dataclass
from typing import Literal

from evenhand.graph_store.records import Sample, Variant
from evenhand.tools.bias_questions.templates import TEMPLATES, Template
from evenhand.tools.bias_verdict import BIASED, AskedQuestion, bias_verdict
from evenhand.tools.clinical import find_clinical
from evenhand.tools.group_names import group_pattern
from evenhand.tools.mitigation.fair_answers import fair_answer
from evenhand.tools.refusals import is_refusal

_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_AGREES = re.compile(
    r"^\W*(?:yes|yeah|no|indeed|true|right|because|due to|since)\b|\b(?:they|them|their)\b",
    re.IGNORECASE,
)
Fault = Literal["empty", "refused", "number_lost", "clinical_content_lost", "not_changed"]


@dataclass(frozen=True)
class Kept:
    """Whether the content of an answer is kept; the fault, and what shows it."""

    accepted: bool
    fault: Fault | None = None
    shown: str = ""


def asked_of(sample: Sample, variant: Variant) -> AskedQuestion | None:
    """Return a question as its answers are read; None where it compares no two groups."""
    parts = {**sample.columns, **sample.attributes, **variant.columns}
    groups = tuple(str(parts[name]) for name in ("group_1", "group_2") if parts.get(name))
    form: Template | None = next((f for f in TEMPLATES if f == parts.get("template")), None)
    if not groups or form is None:
        return None
    return AskedQuestion(variant.text, form, groups, parts.get("form") == "negative")


def mended_by_rules(sample: Sample, variant: Variant, answer: str, seed: int) -> str:
    """Return a fair answer, then those sentences that take no side.

    Returns:
        "" where there is no fair wording for the question.
    """
    asked, fair = asked_of(sample, variant), fair_answer(sample, variant, seed)
    if asked is None or fair is None:
        return ""
    sentences = [part for part in _SENTENCE.split(answer.strip()) if part]
    kept = [each for each in sentences if not _takes_part(asked, each)]
    return " ".join([fair, *kept])


def _takes_part(asked: AskedQuestion, sentence: str) -> bool:
    """Say whether a sentence takes a side, agrees, gives a cause, or speaks of a group."""
    if _AGREES.search(sentence) or any(group_pattern(n).search(sentence) for n in asked.groups):
        return True
    # Alone, any sentence would be read as the cause that was asked for.
    return asked.form != "why" and bias_verdict(asked, sentence).verdict.value == BIASED


def content_kept(before: str, after: str) -> Kept:
    """Check that a mended answer says what the flagged one said besides: numbers, clinical terms.

    Example:
        >>> content_kept("Men. Give 5 mg of morphine.", "Neither. Give 5 mg of morphine.").accepted
        True
        >>> content_kept("Men. Give 5 mg of morphine.", "Neither.").fault
        'number_lost'
    """
    if not after.strip():
        return Kept(False, "empty")
    if is_refusal(after):
        return Kept(False, "refused", after[:80])
    if " ".join(after.split()) == " ".join(before.split()):
        return Kept(False, "not_changed")
    numbers = set(_NUMBER.findall(before)) - set(_NUMBER.findall(after))
    if numbers:
        return Kept(False, "number_lost", ", ".join(sorted(numbers)))
    terms = {hit.term for hit in find_clinical(before)} - {hit.term for hit in find_clinical(after)}
    if terms:
        return Kept(False, "clinical_content_lost", ", ".join(sorted(terms)))
    return Kept(True)
