"""His, her and him right beside another person in an English note: whose, and whom?"""

import re
from typing import Literal

from evenhand.tools.notes import english_predicates as predicates
from evenhand.tools.notes.english_reading import Person, Reading, is_oblique, unclear
from evenhand.tools.notes.english_words import is_object


def owned_or_object(reading: Reading, person: Person) -> Literal["patient", "other"] | None:
    """Decide a possessive or an object after another person; None where they do not decide.

    Raises:
        CannotRewrite: It could be the other person's.
    """
    word, low = reading.pronoun, reading.pronoun.low
    between = reading.between(person)
    named = any(person.word.end <= mention.start < word.start for mention in reading.mentions)
    if low == "him" or (low == "her" and is_object(reading.text, word)):
        _refuse_cared_for(reading, person)
        called = re.search(
            r"\b(?:rung|rang|called|phoned|told|informed|notified|texted|contacted|to|asked)\s$",
            reading.text[: word.start],
        )
        told = re.fullmatch(
            r"\s+(?:also\s|has\s|had\s|last\s|just\s|then\s)?\w+\s(?:to\s)?", between
        )
        if called and not told and not named and person.gender and person.role == "relative":
            raise unclear(reading, person.word.text)
    moved = r"\s(?:followed|came|arrived|drove|left|attended)(?:\s\w+)?\s(?:in|on)\s"
    if low in ("his", "her") and re.fullmatch(moved, between) and not is_oblique(reading, person):
        return "other"
    with_own = re.search(r"\b(?:with|using|from)\s$", between) and person.gender is None
    thing = re.match(
        r"\s(?:\w+\s)?(?:bottle|phone|belt|shirt|scarf|towel|knife|tools?|kit)\b",
        reading.rest(),
    )
    own_sort = low in ("his", "her") and with_own and not named and thing
    if own_sort and not is_oblique(reading, person):
        raise unclear(reading, person.word.text)
    who = predicates.WHO.match(between)
    if (
        low in ("his", "her")
        and who
        and not is_object(reading.text, word)
        and person.role in ("unsexed", "stranger")
    ):
        if re.search(
            r"\b(?:waited|stayed|parked|drove off|stopped)\s(?:\w+\s)?(?:with|in|by)\s$", between
        ):
            return "other"
        if not predicates.OBSERVES.search(between) and not predicates.KIN_NEXT.match(
            reading.rest()
        ):
            raise unclear(reading, person.word.text)
    alone = low == "hers" or (low == "his" and not re.match(r"\s+\w", reading.rest()))
    has = r"\s+(?:keeps?|kept|has|had|uses?|used|left|took|takes|lost)\s+"
    if alone and re.fullmatch(has, between):
        return "other"
    if (
        person.gender is None
        and low in ("his", "her")
        and predicates.WORKPLACE.match(reading.rest())
    ) and (not named or "that" in between):
        raise unclear(reading, person.word.text)
    return None


def _refuse_cared_for(reading: Reading, person: Person) -> None:
    """Refuse "Dad anxious, nurse has made him a tea": the relative who was named, or the patient.

    Raises:
        CannotRewrite: A relative of that gender heads the sentence, and staff act after it.
    """
    word = reading.pronoun
    gender = "male" if word.low == "him" else "female"
    before = [
        each
        for each in reading.people
        if each.word.sentence == word.sentence and each.word.start < person.word.start
    ]
    heads = [each for each in before if each.role in ("relative", "spouse")]
    if not heads or person.role not in ("staff", "unsexed"):
        return
    head = heads[0]
    named = any(head.word.end <= each.start < word.start for each in reading.mentions)
    if head.gender == gender and not named and not is_oblique(reading, head):
        raise unclear(reading, head.word.text)
