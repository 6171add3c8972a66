"""A clinical text -> the triples of its patient: spaCy's facts and the rule filter.

Paper 1, section 3.1 and appendix A.1: E' = {e in E | matches(e, P)}. E are the phrases of the text,
P the patterns of extraction.toml: a cue opens a segment ("reports", "lives in", "denies"), the
segment's members that match the cue's words are kept, under the predicates of recipe kg. Both
counts are reported, as in the paper's Table 4.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from evenhand.graph_store.records import Sample, Triple, child_id
from evenhand.tools.entities import canonical_key
from evenhand.tools.facts import Fact, FactExtraction, extract_facts, language
from evenhand.tools.phrases import (
    alternatives,
    compiled,
    is_condition,
    is_finding,
    list_items,
    pattern,
    patterns,
    sentences,
    whole_words,
)

if TYPE_CHECKING:
    from spacy.tokens import Doc

__all__ = [
    "Extraction",
    "Fact",
    "FactExtraction",
    "extract_all",
    "extract_facts",
    "extract_triples",
]

Mode = Literal["list", "family", "place", "phrase"]

_EDGE = " \"'“”.,:;-"
_POSSESSIVE = re.compile(r"\b(?:his|her|their|my|our)\b(?=\s+\w)", re.I)
_BE = re.compile(r"^(?:is|are|am|was|known|were)\s+", re.I)
_LONGEST_FINDING = 16
_LONGEST_UNKNOWN = 8
_SMALL = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    "nineteen",
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


@dataclass(frozen=True)
class Extraction:
    """Triples of one sample, and the two counts of the paper's Table 4.

    `n_spacy` counts the facts that spaCy alone finds, `n_filtered` the triples after the rules.
    """

    triples: tuple[Triple, ...]
    n_spacy: int
    n_filtered: int


@dataclass(frozen=True)
class Cue:
    """What opens a segment: a pattern of extraction.toml and how its segment is read."""

    predicate: str
    mode: Mode
    any: bool
    pattern: re.Pattern[str]


@dataclass(frozen=True)
class _Found:
    start: int
    subject: str
    predicate: str
    object: str


def extract_triples(sample: Sample) -> Extraction:
    """Extract the triples of a sample's patient in text order, each once.

    Predicates as in recipe kg; the subject is "patient", or the relative of a family_has. Objects
    have the text's wording and case, leading articles included, with three exceptions: has_age
    ("28", "8 months") and has_gender ("male", "female", also from the pronouns where no noun says
    it) are canonical; possessive pronouns become "the", so that a changed gender leaves no trace;
    a has_exposure is a verb phrase in the third person ("owns domestic animals").

    In a person's own question the patient is who is ill: "My son has a fever" is about the son.
    Questions ("Do I have malaria?") state nothing but place, age and gender.

    Ids: child_id(sample.id, "t", position, subject, predicate, object); origin "rules".
    """
    return extract_all([sample])[0]


def extract_all(samples: Sequence[Sample]) -> list[Extraction]:
    """Extract from many samples; see extract_triples. The model is loaded once."""
    return [_extraction(sample) for sample in samples]


def _extraction(sample: Sample) -> Extraction:
    facts = extract_facts(sample.text)
    found = sorted(read_patient(sample.text), key=lambda item: item.start)
    triples: list[Triple] = []
    seen: set[tuple[str, str, str]] = set()
    for item in found:
        keys = (canonical_key(item.subject), canonical_key(item.object))
        if not keys[1] or (keys[0], item.predicate, keys[1]) in seen:
            continue
        seen.add((keys[0], item.predicate, keys[1]))
        triples.append(
            Triple(
                id=child_id(
                    sample.id, "t", len(triples), item.subject, item.predicate, item.object
                ),
                source_id=sample.id,
                subject=item.subject,
                predicate=item.predicate,
                object=item.object,
                subject_key=keys[0],
                object_key=keys[1],
                hop=0,
                origin="rules",
            )
        )
    return Extraction(tuple(triples), len(facts.triples), len(triples))


# --- the patient ------------------------------------------------------------------------------


def read_patient(text: str) -> Iterator[_Found]:
    """Read all statements about the patient of a text, in no order."""
    relative = _patient_relative(text)
    yield from _age(text)
    yield from _gender(text, relative)
    for start, sentence in sentences(text):
        yield from _sentence(start, sentence, relative)


def _patient_relative(text: str) -> str | None:
    """The relative who is the patient of a person's own question, None where it is the speaker."""
    if re.search(r"\bpatient\b", text, re.I) or pattern("somebody_else").search(text):
        return None
    mine = re.search(rf"\bmy (?:[\w-]+ ){{0,5}}?(?P<who>{alternatives('relatives')})\b", text, re.I)
    speaker = pattern("first_person").search(text)
    if mine is None or (speaker and speaker.start() < mine.start()):
        return None
    return mine["who"].lower()


def _age(text: str) -> Iterator[_Found]:
    for match in pattern("age").finditer(text):
        before = text[max(0, match.start() - 25) : match.start()]
        if re.search(
            r"\b(?:father|mother|brother|sister|husband|wife)\b(?:\W+\w+){0,2}\W*$", before
        ):
            continue
        number = match["aged"] or match["short"] or _digits(match["n"])
        unit = (match["unit"] or "years").lower()
        months = unit[0] in "mwd"
        unit = unit.rstrip("s") + ("" if number == "1" else "s")
        yield _Found(match.start(), "patient", "has_age", f"{number} {unit}" if months else number)
        return


def _digits(word: str) -> str:
    if word.isdigit():
        return word
    first, *rest = re.split(r"[- ]", word.lower())
    if first in _SMALL:
        return str(_SMALL.index(first))
    return str(10 * (_TENS.index(first) + 2) + (_SMALL.index(rest[0]) if rest else 0))


def _gender(text: str, relative: str | None) -> Iterator[_Found]:
    """By the noun beside the age, the patient's own noun, else by pronouns of one gender alone."""
    age = pattern("age").search(text)
    if age and age["short"]:
        yield _Found(
            age.end(), "patient", "has_gender", "male" if age.group()[-1] == "M" else "female"
        )
        return
    if age:
        near = text[age.end() : age.end() + 45].split(".")[0]
        before = text[max(0, age.start() - 30) : age.start()]
        for window, offset in ((near, age.end()), (before, max(0, age.start() - 30))):
            if noun := _gender_noun(window, offset):
                yield noun
                return
    else:
        noun = _gender_noun(text[:80], 0) if relative is None else None
        if noun and not re.search(
            r"\b(?:mother|father|brother|sister|son|daughter|wife|husband)\b", text[:80], re.I
        ):
            yield noun
            return
    if relative and (noun := _gender_noun(relative, text.lower().find(relative))):
        yield noun
        return
    pronouns = [
        (m.start(), m.group().lower())
        for m in re.finditer(r"\b(?:he|she|his|her|him|hers)\b", text, re.I)
    ]
    sexes = {"male" if word.startswith("hi") or word == "he" else "female" for _, word in pronouns}
    if len(sexes) == 1:
        yield _Found(pronouns[0][0], "patient", "has_gender", sexes.pop())


def _gender_noun(window: str, offset: int) -> _Found | None:
    female, male = whole_words("female").search(window), whole_words("male").search(window)
    first = min((m for m in (female, male) if m), key=lambda m: m.start(), default=None)
    if first is None:
        return None
    return _Found(
        offset + first.start(), "patient", "has_gender", "female" if first is female else "male"
    )


# --- one sentence -----------------------------------------------------------------------------


@cache
def _cues() -> tuple[Cue, ...]:
    return tuple(
        Cue(row["predicate"], row["mode"], row.get("any", False), compiled(row["pattern"]))
        for row in patterns()["cue"]
    )


def _weak() -> Cue:
    return _cues()[-1]


def _segments(sentence: str) -> list[tuple[Cue, re.Match[str], int]]:
    """Return the cues of a sentence with the end of what each governs.

    Where two overlap the earlier one holds; of two at one place the longer, then the first in the
    file. The last cue of the file, plain "has" and "is", gives way to every other.
    """
    marks = [
        (match.start(), -match.end(), order, cue, match)
        for order, cue in enumerate(_cues())
        for match in cue.pattern.finditer(sentence)
        if match.end() > match.start()
    ]
    marks.sort(key=lambda mark: mark[:3])
    kept: list[tuple[Cue, re.Match[str]]] = []
    for _, _, _, cue, match in marks:
        if cue.predicate == "has_exposure" and not pattern("clause_start").search(
            sentence[: match.start()]
        ):
            continue
        if kept and match.start() < kept[-1][1].end():
            if kept[-1][0] is not _weak() or cue is _weak():
                continue
            kept.pop()
        kept.append((cue, match))
    segments = []
    for i, (cue, match) in enumerate(kept):
        stop = kept[i + 1][1].start() if i + 1 < len(kept) else len(sentence)
        semicolon = sentence.find(";", match.end(), stop)
        segments.append((cue, match, semicolon if semicolon >= 0 else stop))
    return segments


def _sentence(start: int, sentence: str, relative: str | None) -> Iterator[_Found]:
    """Read one sentence; of a question only the part before it asks, and the places."""
    asks = sentence.rstrip(" \"'").endswith("?")
    tail = pattern("asking").search(sentence) if asks else None
    stated = (tail.start() if tail else 0) if asks else len(sentence)
    states = list(pattern("state").finditer(sentence[:stated]))
    symptomatic = [(state.start(), stated) for state in states]
    for state in states:
        words = f"{state['state']} {state['part']}"
        yield _Found(start + state.start(), "patient", "has_symptom", words)
    for cue, match, stop in _segments(sentence):
        # A helper who asks tells of her own work, not the patient's; a suspicion is no fact.
        if cue.predicate == "has_exposure" and pattern("somebody_else").search(sentence):
            continue
        if pattern("suspicion").search(sentence[: match.start()]):
            continue
        place = cue.mode == "place"
        if not place and match.start() >= stated:
            continue
        cut = sentence[: stop if place else min(stop, stated)]
        for found in _segment(cue, match, cut, relative):
            if any(state.start() <= found.start < state.end() for state in states):
                continue
            yield _Found(start + found.start, found.subject, found.predicate, found.object)
            if found.predicate in ("has_symptom", "has_finding"):
                symptomatic.append((match.start(), stop))
    for match in pattern("duration").finditer(sentence, 0, stated):
        lasted = re.search(r"\blast(?:ed|ing|s)\W*$", sentence[: match.start()])
        # A duration before its symptoms is left out: in order, it would go to those before it.
        spoken = any(left <= match.start() < right for left, right in symptomatic)
        if (lasted or spoken) and (duration := _duration(match)):
            yield _Found(start + match.start(), "patient", "for_duration", duration)


def _duration(match: re.Match[str]) -> str | None:
    if match["since"] or match["past"]:
        return str(match["since"] or match["past"])
    span = match["span"]
    if (
        match["ago"]
        or match["lead"]
        or span.endswith("history")
        or not span.startswith(("a ", "an "))
    ):
        return span.removesuffix(" history").removesuffix(" ago").strip()
    return None


def _segment(
    cue: Cue, match: re.Match[str], sentence: str, relative: str | None
) -> Iterator[_Found]:
    """Read what a cue governs, from its match to the end of the (already cut) sentence."""
    if cue.mode == "place":
        place = sentence[match.end() :]
        end = pattern("place_end").search(place)
        name = _clean(place[: end.start()] if end else place)
        if pattern("is_place").search(name):
            yield _Found(match.start(), "patient", cue.predicate, name)
        if end and end.group() == ",":  # "58M from Davao, increased thirst, weight loss"
            yield from _members(_weak(), match, sentence, "patient", match.end() + end.end())
    elif cue.mode == "phrase":
        yield from _phrase(cue, match, sentence)
    elif cue.mode == "family":
        who = (match["owned"] or match["relative"] or "family member").lower()
        # "brought in by her father with diarrhoea" tells of the child.
        bringer = sentence[: match.start()].rstrip().endswith(" by")
        the_child = who in ("child", "baby") or bringer
        is_patient = who == relative or (the_child and match["owned"] is None)
        if is_patient:
            predicate = "has_history" if "diagnosed" in match.group() else "has_symptom"
            cue = Cue(predicate, "list", True, cue.pattern)
        yield from _members(cue, match, sentence, "patient" if is_patient else who)
    else:
        yield from _members(cue, match, sentence, "patient")


def _phrase(cue: Cue, match: re.Match[str], sentence: str) -> Iterator[_Found]:
    if cue.predicate == "has_exposure":
        phrase = sentence[match.start() :]
        end = pattern("phrase_end").search(phrase, match.end() - match.start())
        phrase = _third_person(_trimmed(phrase[: end.start()] if end else phrase))
    else:
        phrase = _BE.sub("", _clean(match.group()))
        phrase = _nouns().get(phrase.lower(), phrase)
        phrase = (
            f"is {phrase}" if phrase.endswith(("pregnant", "feeding", "postpartum")) else phrase
        )
    if phrase:
        yield _Found(match.start(), "patient", cue.predicate, phrase)


def _members(
    cue: Cue, match: re.Match[str], sentence: str, subject: str, begin: int | None = None
) -> Iterator[_Found]:
    """Read the list that a cue governs, from `begin` or the end of the cue on."""
    begin = match.end() if begin is None else begin
    segment = sentence[begin:]
    for left, right in list_items(segment):
        item = segment[left:right]
        end = pattern("list_end").search(item)
        name = _clean(item[: end.start()] if end else item)
        predicate = _predicate(cue, match.group().lower(), name)
        if predicate:
            yield _Found(begin + left, subject, predicate, _nouns().get(name.lower(), name))
        elif cue.predicate == "denies":
            return


def _predicate(cue: Cue, said: str, name: str) -> str | None:
    """The matching of appendix A.1: the predicate of a member under its cue, None: filtered out."""
    if not re.search(r"[^\W\d_]{2}", name) or whole_words("body").fullmatch(name):
        return None
    finding, condition = is_finding(name), is_condition(name)
    short = len(name.split()) <= _LONGEST_UNKNOWN and not pattern("not_a_finding").search(name)
    plain = short or (finding and len(name.split()) <= _LONGEST_FINDING)
    unknown = cue.any and short and _is_noun_phrase(name)
    match cue.predicate:
        case "has_symptom" if said.startswith("ha") and re.fullmatch(r"\w+ed", name):
            return None  # "has ulcerated": a verb without its subject
        case "has_symptom" if condition and not finding and "of" not in said.split():
            return "has_history" if plain else None
        case "has_symptom":
            return "has_symptom" if plain and (finding or condition or unknown) else None
        case "family_has":
            return "family_has" if plain or condition else None
        case "denies" if said.startswith("without"):
            return "denies" if finding and plain else None
        case "takes_medication":
            return (
                "takes_medication"
                if not pattern("person").search(name) and len(name.split()) <= _LONGEST_UNKNOWN
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


@cache
def _parsed(name: str) -> "Doc":
    return language()(name)


@cache
def _nouns() -> dict[str, str]:
    nouns: dict[str, str] = patterns()["nouns"]
    return nouns


@cache
def _third_person_of() -> dict[str, str]:
    verbs: dict[str, str] = patterns()["third_person"]
    return verbs


def _third_person(phrase: str) -> str:
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


def _clean(phrase: str) -> str:
    return _trimmed(pattern("leading").sub("", " ".join(phrase.split()).strip(_EDGE)))


def _trimmed(phrase: str) -> str:
    phrase = pattern("trailing").sub("", " ".join(phrase.split()).strip(_EDGE))
    return _POSSESSIVE.sub("the", phrase).strip(_EDGE)
