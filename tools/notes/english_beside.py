"""A pronoun right beside another person in an English note: who speaks, acts or cares decides."""

import re
from collections.abc import Sequence
from typing import Literal

from evenhand.tools.notes import english_predicates as predicates
from evenhand.tools.notes.english_owned import owned_or_object
from evenhand.tools.notes.english_reading import Person, Reading, is_oblique, unclear


def beside_person(reading: Reading, gender: str) -> Literal["patient", "other"] | None:
    """Decide by the words right around the pronoun: who stands beside it, speaks, or cares.

    Returns None where they do not decide.

    Raises:
        CannotRewrite: The nearest person spoke or acted, and so may the patient have.
    """
    word, low = reading.pronoun, reading.pronoun.low
    rivals = [
        person
        for person in reading.people
        if person.gender in (gender, None)
        and person.word.start < word.start
        and word.sentence - person.word.sentence <= 1
    ]
    here = [person for person in rivals if person.word.sentence == word.sentence]
    if not reading.people_known_apart(word):
        group = predicates.TWO_PATIENTS.search(reading.text[: word.start])
        if group and low in ("he", "she"):
            raise unclear(reading, group[0])
    pair = predicates.PAIR.search(reading.text[: word.start])
    if pair and low in ("he", "she", "his", "her", "him") and pair.end() < word.start:
        who = next((each for each in reading.people if each.word.start == pair.start("who")), None)
        if who is None or who.gender in (gender, None):
            raise unclear(reading, pair["who"])
    if here and here[-1].role != "spouse":
        bracketed = _in_bracket(reading, here[-1])
        if bracketed:
            return "other"
    family = [
        person for person in rivals if person.role == "relative" or person.word.low == "parent"
    ]
    if low in ("his", "her") and family and predicates.OTHER_CHILD.match(reading.rest()):
        raise unclear(reading, family[-1].word.text)
    if re.match(r"\s*\((?:the|his|her)\s\w+\)", reading.rest()):
        return "other"  # "she (the dog) is vaccinated"
    anyone = [
        each for each in reading.people if each.gender == gender and each.word.start < word.start
    ]
    if low in ("he", "she") and (anyone or rivals) and predicates.WATCHED.match(reading.rest()):
        raise unclear(reading, (anyone or rivals)[-1].word.text)
    if low in ("he", "she"):
        return _subject_pronoun(reading, here, rivals)
    if here:
        return owned_or_object(reading, here[-1])
    return None


def _in_bracket(reading: Reading, person: Person) -> bool:
    """Tell "carer (she visits" and "bystander (off-duty nurse, he stayed"."""
    between = reading.between(person)
    if ")" in between or reading.pronoun.low not in ("he", "she"):
        return False
    if re.fullmatch(r"\s*\(\s*", between):
        return True
    opened = (
        "(" in reading.text[max(0, person.word.start - 30) : person.word.start].rpartition(")")[2]
    )
    inside = reading.text[: person.word.start].rpartition("(")[2]
    return opened and bool(re.fullmatch(r",\s*(?:who\s)?", between)) and len(inside) < 30


def _subject_pronoun(
    reading: Reading, here: Sequence[Person], rivals: Sequence[Person]
) -> Literal["patient", "other"] | None:
    rest = reading.rest()
    if here:
        person = here[-1]
        between = reading.between(person)
        named = [
            mention
            for mention in reading.mentions
            if person.word.end <= mention.start < reading.pronoun.start
        ]
        if predicates.STAFF_ONLY.match(rest) and person.role == "staff" and not named:
            return "other"
        if predicates.IS_NURSE.match(between) and predicates.HELPS.match(rest):
            return "other"
        if (
            person.role in ("relative", "unsexed")
            and re.search(r",\s*$", between)
            and not is_oblique(reading, person)
            and predicates.SAYS_OF_PARENT.match(rest)
        ):
            return "other"
        if predicates.WORRY_AS.match(between) and person.role != "staff":
            if predicates.NOT_OWN_WORRY.match(rest):
                raise unclear(reading, person.word.text)
            return "patient"
        read = re.search(r"\b(?:that|which)\s$", between) and re.match(
            r"\s(?:has\s|had\s)?(?:read|reported|interpreted|reviewed)\b", rest
        )
        if read and person.role in ("staff", "unsexed") and not named:
            return "other"
        if (
            predicates.WHO.match(re.sub(r"^\s[A-Z][\w'-]+", "", between))
            and not named
            and person.role in ("staff", "unsexed", "stranger")
            and not predicates.RIGHT_AFTER_SAYS.search(between)
            and not re.search(
                r"\b(?:because|after|when|as|while|where|until|before|if|since)\s$", between
            )
        ):
            raise unclear(reading, person.word.text)
        called = re.search(
            r"\b(?:phoned|called|rung|informed|contacted|told|aware)\b[^,.]*(?:,|\band)\s*$",
            between,
        )
        if (
            predicates.ON_THE_WAY.match(rest)
            and person.role in ("relative", "spouse")
            and (
                called
                or re.fullmatch(
                    r"\s(?:has|is)\s(?:LPA|POA|DPOA|NOK|proxy|aware)\s?(?:,|and)\s", between
                )
            )
            and not is_oblique(reading, person)
            and not named
        ):
            return "other"
        if person.role == "staff" and not named and predicates.AWAY.match(rest):
            return "other"
        objects = named and all(
            each.low in ("him", "her", "his", "pt", "patient") for each in named
        )
        acts = [predicates.CALLER, predicates.RESCUES, predicates.WORRIED, predicates.ON_THE_WAY]
        acts += [predicates.STAFF_VERB] if person.role == "staff" else []
        joined = re.search(r"(?:,|;|:|\band|\bbut)\s*$", between)
        spliced = re.search(r",\s*$", between) and not re.search(
            r"\b(?:when|if|as|because)\b", between
        )
        doubt = (
            joined
            and not predicates.SICK.match(rest)
            and (
                (
                    objects
                    and spliced
                    and re.match(r"\s+(?:was|had been)\s(?:told|asked|advised)\b", rest)
                )
                or (
                    objects and re.match(r"\s+(?:hid|threw|took away|removed|flushed|kept)\b", rest)
                )
                or predicates.ON_THE_WAY.match(rest)
                or predicates.HAS_WORK.match(rest)
                or predicates.CAME_WITH.match(rest)
            )
        )
        if doubt and not is_oblique(reading, person) and (objects or not named):
            raise unclear(reading, person.word.text)
        if (
            objects
            and re.search(r",\s*$", between)
            and not is_oblique(reading, person)
            and any(each.match(rest) for each in acts)
        ):
            raise unclear(reading, person.word.text)
        if named:
            return None
        if (
            predicates.RESCUES.match(rest) or predicates.FLED.match(rest)
        ) and not predicates.RIGHT_AFTER_SAYS.search(between):
            return "other"
        if (
            re.search(r"\bwho\b", between)
            and predicates.SAYS_WORD.search(between)
            and person.role == "unsexed"
        ):
            raise unclear(reading, person.word.text)
        if (
            (
                person.gender is None
                and re.search(r",\s*$", between)
                and not is_oblique(reading, person)
            )
            and not predicates.SICK.match(rest)
            and not re.search(r"\bby\b|\bwhen\b|\bif\b|\bafter\b", between)
        ):
            if predicates.SAYS_NEXT.match(rest) and person.role == "staff":
                return "other"
            raise unclear(reading, person.word.text)
        if predicates.RIGHT_AFTER_SAYS.search(between) and len(between) < 40:
            if predicates.CARES_FOR.match(rest):
                return "other"
            if predicates.ON_THE_WAY.match(rest):
                raise unclear(reading, person.word.text)
            if person.gender is None and (
                predicates.WORRIED.match(rest) or predicates.ACTS_ON.match(rest)
            ):
                raise unclear(reading, person.word.text)
            return None
        if re.fullmatch(r"\s*(?:letter|note|advice|call)?\s*(?:,|:|-|\u2013|and)\s*", between):
            return _spliced(reading, person)
        if (
            predicates.WELL_NOW.match(rest)
            and re.search(r",\s*(?:but\s|and\s)?$", between)
            and not is_oblique(reading, person)
            and person.role == "relative"
        ):
            return "other"
        if predicates.CARES_FOR.match(rest) and not is_oblique(reading, person):
            if predicates.HISTORY.match(reading.text, person.word.end):
                raise unclear(reading, person.word.text)
            return "other"
        if (
            predicates.SICK.match(rest)
            and predicates.CONNECTIVE.search(between)
            and (person.role != "stranger")
            and not predicates.HISTORY.match(reading.text, person.word.end)
            and not re.search(r"\bwho\b", between)
        ):
            return "patient"
        if (
            person.gender is None
            and not reading.mentioned_before()
            and (
                predicates.WORRIED.match(rest)
                or predicates.SAW.match(rest)
                or predicates.SAYS_NEXT.match(rest)
            )
        ):
            raise unclear(reading, person.word.text)
        return None
    if rivals and not reading.mentioned_before():
        person = rivals[-1]
        clause = reading.between(person)
        spliced = re.search(r";\s*$", clause) and "." not in clause
        if predicates.WITH_PATIENT.match(rest):
            return "other"
        if re.match(r"\s+(?:is|was)\s(?:from|the)\b", rest) and re.search(r";\s*$", clause):
            raise unclear(reading, person.word.text)
        told = any(
            each.start > person.word.end and each.low in ("him", "her") for each in reading.mentions
        )
        if person.role == "staff" and told and predicates.ANSWERS.match(rest):
            return "patient"
        if predicates.ON_THE_WAY.match(rest) or (spliced and not predicates.SICK.match(rest)):
            raise unclear(reading, person.word.text)
        ill = predicates.HISTORY.match(reading.text, person.word.end)
        if (
            person.role != "staff"
            and not ill
            and re.match(r"\s+(?:says|states|reports)\s(?:he|she)\b", rest)
        ):
            raise unclear(reading, person.word.text)
        before = [
            w
            for w in reading.words
            if w.sentence == person.word.sentence and w.start < person.word.start
        ]
        if (
            person.gender is None
            and len(before) < 4
            and re.match(
                r"\s+(?:needs|wants|asked|will|would)\b|\s+(?:is|was)\s(?:upset|worried"
                r"|concerned)\b",
                rest,
            )
        ):
            raise unclear(reading, person.word.text)
        if person.gender and predicates.WORRIED.match(rest):
            raise unclear(reading, person.word.text)
        if any(
            each.match(rest) for each in (predicates.CARES_FOR, predicates.RESCUES, predicates.FLED)
        ):
            return "other"
        if (
            predicates.FINE.match(rest)
            and person.role in ("relative", "unsexed")
            and not (
                re.search(
                    r"\b(?:by|says|states|reports)\b", reading.text[: person.word.start][-12:]
                )
            )
        ):
            raise unclear(reading, person.word.text)
        if (
            predicates.SICK.match(rest)
            and person.role
            in (
                "relative",
                "staff",
                "unsexed",
                "spouse",
            )
            and not predicates.HISTORY.match(reading.text, person.word.end)
        ):
            return "patient"
    return None


def _spliced(reading: Reading, person: Person) -> Literal["patient", "other"] | None:
    """After "GP, she said": the pronoun stands right behind the person."""
    rest = reading.rest()
    if predicates.SAYS_NEXT.match(rest) or predicates.CARES_FOR.match(rest):
        if person.role == "staff" and not re.match(r"\s+(?:denie|feel|complain)", rest):
            return "other"
        raise unclear(reading, person.word.text)
    return None
