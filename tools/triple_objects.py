"""The words under a cue -> the predicate and object of a triple, or nothing.

The matching of paper 1, appendix A.1: a member of a list is kept where its words match those of its
cue. What would be no English behind "presents with" is filtered out: half a phrase, a clause.
"""

import re
from functools import cache
from typing import TYPE_CHECKING

from evenhand.tools.cues import Cue
from evenhand.tools.facts import language
from evenhand.tools.phrases import (
    compiled,
    is_condition,
    is_finding,
    is_modifier,
    pattern,
    patterns,
    whole_words,
)
from evenhand.tools.sentences import is_state

if TYPE_CHECKING:
    from spacy.tokens import Doc

_EDGE = " \"'“”.,:;-\u2013\u2014"
_POSSESSIVE = re.compile(r"\b(?:his|her|their|my|our)\b(?=\s+\w)", re.I)
_SIDE = re.compile(
    r"^(?:(?:the|an?|left|right|upper|lower|both|proximal|distal|temporal)\s+)+", re.I
)
_GRADED = re.compile(r"(?:\w+ly|more|less|a little|still|very|not) ", re.I)
_NO_ILLNESS = compiled(r"no\b|(?:an? |the )?(?:{relatives})$")
_LONGEST_FINDING = 16
_LONGEST_UNKNOWN = 8


def predicate_of(cue: Cue, said: str, name: str) -> str | None:
    """The matching of appendix A.1: the predicate of a member under its cue, None: filtered out."""
    bare = _SIDE.sub("", name)
    if not re.search(r"[^\W\d_]{2}", name) or whole_words("body").fullmatch(bare):
        return None
    if (
        name.count('"') % 2
        or name.count("(") != name.count(")")
        or name.lower() in ("for", "with", "of", "in", "by")
    ):
        return None  # half a quotation, the rest of "for which"
    if cue.predicate != "family_has" and (pattern("fragment").search(name) or is_modifier(name)):
        return None
    if cue.predicate == "has_symptom" and re.match(r"similar (?:symptoms|episodes)\b", name):
        return None  # similar to what nobody said
    if cue.predicate == "family_has" and _NO_ILLNESS.match(name):
        return None
    finding, condition = is_finding(name), is_condition(name)
    if cue.predicate != "takes_medication" and pattern("cut_off").search(name):
        return None
    illness = cue.predicate in ("has_history", "family_has")
    if illness and not condition and pattern("medicine").search(name):
        return None
    if cue.predicate == "denies" and pattern("never_denied").search(name):
        return None
    if cue.predicate in ("has_symptom", "has_finding") and _is_adjective(name):
        return None
    short = len(name.split()) <= _LONGEST_UNKNOWN and not pattern("not_a_finding").search(name)
    plain = short or (finding and len(name.split()) <= _LONGEST_FINDING)
    unknown = cue.any and short and _is_noun_phrase(name)
    match cue.predicate:
        case "has_symptom" if said.startswith("ha") and re.fullmatch(r"\w+ed", name):
            return None  # "has ulcerated": a verb without its subject
        case "has_symptom" if (
            condition and not finding and ("of" not in said.split() or "year" in said)
        ):
            return "has_history" if plain else None
        case "has_symptom":
            return "has_symptom" if plain and (finding or condition or unknown) else None
        case "family_has" if re.search(r"\b(?:becomes?|is|was|has|are)\b", name):
            return None  # a clause of its own
        case "family_has" if re.match(r"(?:been )?(?:\w+ing|(?!swoll)\w+ed|says?|did)\b", name):
            return None  # what they did, not what they have
        case "family_has":
            ill = finding or condition or pattern("illness").search(name) or _is_noun_phrase(name)
            return "family_has" if ill and (plain or condition) else None
        case "denies" if said.startswith("without"):
            return "denies" if finding and plain else None
        case "takes_medication":
            return (
                "takes_medication"
                if not pattern("person").search(name)
                and not ((condition or finding) and re.fullmatch(r"\w+(?<!killers)", name))
                and not pattern("not_a_medicine").search(name)
                and len(name.split()) <= _LONGEST_UNKNOWN
                else None
            )
        case _:
            return cue.predicate if (plain and finding) or condition or unknown else None


def _is_noun_phrase(name: str) -> bool:
    """Whether spaCy reads the phrase as one about a thing, not a person, place, time or verb."""
    doc: Doc = _parsed(name)
    root = next((token for token in doc if token.dep_ == "ROOT"), None)
    if root is None or root.pos_ not in ("NOUN", "PROPN", "ADJ"):
        return False
    return not any(
        entity.label_ in ("GPE", "DATE", "TIME", "LOC", "CARDINAL") for entity in doc.ents
    )


def _is_adjective(name: str) -> bool:
    """Whether it waits for a noun, and says nothing of a person either: "an acutely elevated"."""
    last = _parsed(name)[-1]
    if last.pos_ not in ("ADJ", "ADV") or is_state(name) or is_condition(name):
        return False
    if re.fullmatch(r"an? \w+(?:able|ed|ous|ive|ic|al)", name):
        return True
    return not is_finding(name) or _GRADED.match(name) is not None


@cache
def _parsed(name: str) -> "Doc":
    return language()(name)


@cache
def nouns() -> dict[str, str]:
    """What the patient is or did -> what the patient has: "asthmatic" -> "asthma"."""
    listed: dict[str, str] = patterns()["nouns"]
    return listed


@cache
def _third_person_of() -> dict[str, str]:
    verbs: dict[str, str] = patterns()["third_person"]
    return verbs


def third_person(phrase: str) -> str:
    """Make "the patient ..." a sentence: owns, is a farmer, reports eating raw fish."""
    phrase = phrase[:1].lower() + phrase[1:]
    adverb = re.match(
        r"(?:(?:usually|regularly|frequently|often|sometimes|recently|also|currently|now|as) )+",
        phrase,
    )
    lead, rest = (adverb.group(), phrase[adverb.end() :]) if adverb else ("", phrase)
    first, blank, tail = rest.partition(" ")
    if first.lower().endswith("ing") or re.match(r"not \w+ing\b", rest):
        return f"{lead}reports {rest}"
    if re.match(r"an? ", rest):
        return f"is {rest}"
    return f"{lead}{_third_person_of().get(first.lower(), first)}{blank}{tail}"


def measured(match: re.Match[str]) -> str:
    """Make "the pulse is raised at 120/min" a thing to have: "a raised pulse of 120/min"."""
    measure = match["measure"]
    if measure.split()[0][1:].islower():
        measure = measure[0].lower() + measure[1:]
    words = f"{match['level']} {measure}" if match["level"] else measure
    spoken_with_an = re.match(r"[aeio]|hb|sp", words, re.I)
    article = "" if words.endswith("s") else "an " if spoken_with_an else "a "
    return f"{article}{words} of {match['value']}"


def clean(phrase: str) -> str:
    """Take off what belongs to no object at both ends: "also some", "which"."""
    return trimmed(pattern("leading").sub("", " ".join(phrase.split()).strip(_EDGE)))


def bare_span(phrase: str) -> tuple[int, int]:
    """Where in the phrase its cleaned words stand, whitespace and possessives aside."""
    left = len(phrase) - len(phrase.lstrip(_EDGE))
    words = phrase.strip(_EDGE)
    lead = pattern("leading").match(words)
    start = lead.end() if lead else 0
    end = start + len(pattern("trailing").sub("", words[start:]))
    return left + start, left + end


def trimmed(phrase: str) -> str:
    """Take off what belongs to no object at the end; whose it is becomes "the"."""
    phrase = pattern("trailing").sub("", " ".join(phrase.split()).strip(_EDGE))
    return _POSSESSIVE.sub("the", phrase).strip(_EDGE)
