"""Who a pronoun means, in English: the patient, another person, or it cannot be told.

Only a person of the pronoun's own sex, or of unknown sex, can take it from the patient. The rules
follow the ways in which notes speak: "brought by his brother because he ..." is the patient, "his
brother called; he says ..." cannot be told.
"""

import re
from typing import Literal

from evenhand.tools.notes import english_predicates as predicates
from evenhand.tools.notes.english_beside import beside_person
from evenhand.tools.notes.english_reading import Person, Reading, is_oblique, unclear
from evenhand.tools.notes.english_words import is_object


def referent(reading: Reading) -> Literal["patient", "other"]:
    """Return who the pronoun means.

    Raises:
        CannotRewrite: It could be another person of the same sex.
    """
    word = reading.pronoun
    gender = "male" if word.low in predicates.MALE else "female"
    decided = beside_person(reading, gender)
    if decided:
        return decided
    here = reading.others(word.sentence, gender)
    if here:
        return _after_person(reading, here[-1])
    if reading.mentioned_before():
        return _after_neutral(reading)
    earlier = reading.others(word.sentence - 1, gender)
    if earlier:
        return _after_sentence(reading, earlier[-1])
    return _after_neutral(reading)


def _after_person(reading: Reading, person: Person) -> Literal["patient", "other"]:
    """A person of the same sex stands before the pronoun in its sentence."""
    word, between, rest = reading.pronoun, reading.between(person), reading.rest()
    low = word.low
    relative = person.role in ("relative", "spouse")
    if low in ("his", "her") and predicates.KIN_NEXT.match(rest) and relative:
        return "patient"
    if low in ("he", "she") and predicates.WORRIED.match(rest):
        raise unclear(reading, person.word.text)
    if predicates.RIGHT_AFTER_SAYS.search(between):
        # "his father says he fed him": he and him are two people, and either may be the patient.
        if low in ("he", "she") and predicates.ACTS_ON.match(rest):
            raise unclear(reading, person.word.text)
        return "patient"
    if low in ("his", "her") and predicates.FOR_PATIENT.match(rest) and relative:
        return "patient"
    object_here = low == "him" or (low == "her" and is_object(reading.text, word))
    if low in ("his", "her") and (
        re.search(r"\b(?:holding|holds|held|squeezing|stroking)\s$", between)
        and re.match(r"\s(?:hand|head|arm|face)\b", rest)
    ):
        return "patient"
    oblique = is_oblique(reading, person)
    who = predicates.WHO.match(between)
    if low in ("his", "her") and who and not object_here and person.role in ("stranger", "staff"):
        said = any(person.word.end < each.start < word.start for each in reading.mentions)
        if not said and re.match(
            r"\s(?:got|has|had|left|lost|parked|hurt|broke|brought)\b", between[who.end() :]
        ):
            return "other"
        raise unclear(reading, person.word.text)
    if oblique and not predicates.WHO.match(between):
        return _after_oblique(reading, person)
    if object_here:
        return "patient"
    said = any(
        mention.start > person.word.end and mention.start < word.start
        for mention in reading.mentions
    )
    if said and low not in ("himself", "herself"):
        return "patient"
    if said:
        last = [each for each in reading.mentions if each.start < word.start][-1]
        if last.low in ("he", "she") and re.fullmatch(
            r"\s(?:[\w'\u2019]+\s){1,4}", reading.text[last.end : word.start]
        ):
            return "patient"
    raise unclear(reading, person.word.text)


def _after_oblique(reading: Reading, person: Person) -> Literal["patient", "other"]:
    between, low = reading.between(person), reading.pronoun.low
    if predicates.CONNECTIVE.search(between) or low in ("him", "his"):
        # "epi given by mother, she has a second pen"
        spliced = re.fullmatch(r"[^,:(]*,\s*", between) and not predicates.JOINS.search(between)
        if low in ("he", "she") and spliced and not predicates.SICK.match(reading.rest()):
            raise unclear(reading, person.word.text)
        if (
            low in ("he", "she")
            and predicates.CALLER.match(reading.rest())
            and person.role == "stranger"
        ):
            raise unclear(reading, person.word.text)
        return "patient"
    if reading.mentioned_before():
        return "patient"
    raise unclear(reading, person.word.text)


def _after_sentence(reading: Reading, person: Person) -> Literal["patient", "other"]:
    """A person of the same sex stands in the sentence before, and none in this one."""
    rest, low = reading.rest(), reading.pronoun.low
    if low in ("he", "she") and predicates.DIED.match(rest):
        raise unclear(reading, person.word.text)
    if (
        low in ("he", "she")
        and predicates.HISTORY.match(reading.text, person.word.end)
        and not predicates.SAW.match(rest)
    ):
        return "patient"
    if is_oblique(reading, person) and person.role != "stranger":
        if low in ("he", "she") and (re.match(r"\s+also\b", rest) or predicates.SAW.match(rest)):
            raise unclear(reading, person.word.text)
        return "patient"
    if low in ("he", "she") and predicates.CALLER.match(rest):
        raise unclear(reading, person.word.text)
    if (
        low in ("his", "her")
        and predicates.KIN_NEXT.match(rest)
        and any(
            each.sentence == reading.pronoun.sentence - 1 and each.start > person.word.end
            for each in reading.mentions
        )
    ):
        return "patient"
    if low in ("his", "her") and person.role == "stranger":
        raise unclear(reading, person.word.text)
    return "patient"


def _after_neutral(reading: Reading) -> Literal["patient", "other"]:
    """Someone of unknown sex may have spoken or acted."""
    rest = reading.rest()
    if reading.pronoun.low not in ("he", "she"):
        return "patient"
    first = reading.start_of_sentence()
    if reading.mentioned_before():
        return "patient"
    previous = [word for word in reading.words if word.sentence == reading.pronoun.sentence - 1]
    if reading.pronoun.start == first and previous:
        opening = reading.text[previous[0].start : previous[-1].end][:40]
        subject = predicates.NEUTRAL.search(opening)
        if (
            subject
            and subject.start() < 25
            and not re.search(r"\bby\b", opening[: subject.start()])
        ):
            staff = re.fullmatch(predicates.STAFF, subject[0], re.IGNORECASE)
            spoke = re.match(
                r"\s+(?:also\s+)?(?:thinks?|thought|phoned|rang|called|texted)\b", rest
            )
            if (staff and (spoke or predicates.STAFF_VERB.match(rest))) or (
                not staff and predicates.CALLER.match(rest)
            ):
                raise unclear(reading, subject[0])
    return "patient"
