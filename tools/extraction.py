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
    is_condition,
    is_finding,
    list_items,
    patterns,
    sentences,
    whole_words,
)

if TYPE_CHECKING:
    from spacy.tokens import Doc

__all__ = ["Extraction", "Fact", "FactExtraction", "extract_all", "extract_facts", "extract_triples"]

Mode = Literal["list", "family", "place", "phrase"]

_AGE = re.compile(
    r"\b(?P<n>\d{1,3}|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ]"
    r"(?:one|two|three|four|five|six|seven|eight|nine))?|one|two|three|four|five|six|seven|eight|"
    r"nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen)[- ]?"
    r"(?P<unit>years?|yrs?|y|months?|weeks?|days?)[- ]?(?:old|of age|o\b)(?![- ]?(?:wound|injury))"
    r"|\b(?:aged?|age is) (?P<aged>\d{1,3})\b(?! ?(?:mg|weeks))",
    re.I,
)
_DURATION = re.compile(
    r"\b(?:(?P<lead>for|over|during|in)\s+)?(?:(?P<past>the (?:past|last|previous) (?:(?:\d+|{n}) )?(?:hour|day|night|week|month|year)s?)"
    r"|(?P<past2>past (?:\d+|{n}) (?:hour|day|week|month|year)s?)"
    r"|(?P<span>(?:(?:about|over|around|almost|nearly|more than|at least|approximately) )?(?:\d+|{n})(?:[- ](?:or|to) (?:\d+|{n}))?[- ](?:hour|day|night|week|month|year)s?\b(?! ?[- ]?old)(?P<ago> ago)?(?: history)?)"
    r"|(?P<since>since (?:yesterday|birth|childhood|last \w+|this morning|(?:the )?\w+day)|on and off for the past \w+))".replace(
        "{n}", "one|two|three|four|five|six|seven|eight|nine|ten|twelve|several|a few|few|a couple of|a|an"
    ),
    re.I,
)
_POSSESSIVE = re.compile(r"\b(?:his|her|their|my|our)\b(?=\s+\w)", re.I)
_EDGE = " \"'“”.,:;-"
_LEADING = re.compile(
    r"^(?:(?:also|and|or|then|now|being|be|been|having|has|have|had|with|of|to|from|any|some|a lot of|lots of|"
    r"just|really|currently|recent|having had|he|she|they|it|the following|that|because of|both|is|are|was|"
    r"mostly|mainly|sometimes|as well as|often|presents?|showing|feeling(?= of)|getting)\b[\s:,]*)+",
    re.I,
)
_TRAILING = re.compile(
    r"(?:[\s,.;:-]+|\s+(?:and|or|but|also|with|as|of|in|at|from|who|which|that|he|she|they|is|are|has|have|"
    r"had|was|to|regularly|frequently|usually|often|recently|currently|then|now|the|on them|too|i|his|her|their))+$",
    re.I,
)
_PLACE_END = re.compile(
    r"\s+(?:but|where|who|which|when|while|for|since|because|with|alone|together|after|before|last|"
    r"this|so|during|until|as a|near where|had|has|have|please|\d+ (?:days?|weeks?|months?|years?)|"
    r"(?:two|three|four|five|six|a few|several) (?:days?|weeks?|months?|years?)|"
    r"(?:a|one) (?:day|week|month|year)|recently|and(?! [A-Z]| adobe)|i|he|she|they|we|can|is|are)\b"
    r"|,(?! ?[A-Z]| in | near | southeast| north| south| east| west)|[.;?!(]",
)
_PHRASE_END = re.compile(
    r"[.;?!]|,(?!\s*(?:[A-Z]|goats|chickens|sheep|pigs|cattle|outdoor))|\s+(?:but|who|which|so|because|around the same|and (?:has|have|is|are|was|does|did|"
    r"lives?|reports?|reported|indicated|mention\w*|refers?|says?|said|notes?|now|my|never|not|denies|"
    r"takes?|i|he|she|they)|he|she|they|i)\b",
    re.I,
)
_NOT_A_FINDING = re.compile(
    r"\b(?:patients?|condition|information|management|clinic|hospital|doctors?|emergency department|"
    r"additional|treatment|medicine|diagnos\w+|questions?|infant who|years?[- ]old|months?[- ]old|"
    r"trip|family|mother|father|same|time|risk|symptoms?$)\b",
    re.I,
)
# A verb such as "works" opens a phrase only where a clause can begin: not in "a poultry farm in".
_CLAUSE_START = re.compile(
    r"(?:^|[,;:(]|\b(?:and|or|but|he|she|they|i|we|who|that|which|also|patient|has|have|had|is|are|was|"
    r"now|of|reports?|reported|mentions?|mentioned|indicated|said|man|woman|boy|girl|male|female|"
    r"son|daughter|brother|sister|child|family|friend|where|old|up|while|after|usually|from)\b)\W*$",
    re.I,
)
_FIRST_PERSON = re.compile(r"\bI(?:'m|’m| am| have| had| feel| got| was| bought|'ve)\b")  # noqa: RUF001
_SOMEBODY_ELSE = re.compile(r"\b(?:assessing|seeing|treating|examining|caring for|my wards?)\b", re.I)
_STATE = re.compile(
    rf"\b(?:my|his|her|their|both of (?:my|his|her)|the|patient's) "
    rf"(?P<part>(?:(?:lower|upper|left|right) )?(?:{alternatives('body')})(?: and (?:{alternatives('body')}))?) (?:has |have |is |are |was |were )+"
    r"(?:now |also |really |become |became |gotten )*(?P<state>(?:very |really |so )?(?:swollen|swelling|yellow|red|hard|big|stiff|numb|weak|"
    r"itchy|sore|painful|blurry|tender|bleeding|burning|hot|cold|dry))\b",
    re.I,
)
_THIRD_PERSON = {
    "am": "is", "are": "is", "have": "has", "do": "does", "own": "owns", "keep": "keeps", "raise": "raises",
    "eat": "eats", "drink": "drinks", "fetch": "fetches", "swim": "swims", "bathe": "bathes", "smoke": "smokes",
    "work": "works", "farm": "farms", "attend": "attends", "play": "plays", "handle": "handles",
    "sleep": "sleeps", "hike": "hikes", "share": "shares", "ride": "rides", "lift": "lifts", "use": "uses",
    "spend": "spends", "herd": "herds", "buy": "buys", "consume": "consumes", "camp": "camps", "hunt": "hunts",
}  # fmt: skip


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
        yield from _sentence(start, sentence, relative, text)


def _patient_relative(text: str) -> str | None:
    """The relative who is the patient of a person's own question, None where it is the speaker."""
    if re.search(r"\bpatient\b", text, re.I) or _SOMEBODY_ELSE.search(text):
        return None
    mine = re.search(rf"\bmy (?:[\w-]+ ){{0,5}}?(?P<who>{alternatives('relatives')})\b", text, re.I)
    speaker = _FIRST_PERSON.search(text)
    if mine is None or (speaker and speaker.start() < mine.start()):
        return None
    return mine["who"].lower()


def _age(text: str) -> Iterator[_Found]:
    for match in _AGE.finditer(text):
        before = text[max(0, match.start() - 25) : match.start()]
        if re.search(r"\b(?:father|mother|brother|sister|husband|wife)\b(?:\W+\w+){0,2}\W*$", before):
            continue
        number = match["aged"] or _digits(match["n"])
        unit = (match["unit"] or "years").lower()
        months = unit[0] in "mwd"
        unit = unit.rstrip("s") + ("" if number == "1" else "s")
        yield _Found(match.start(), "patient", "has_age", f"{number} {unit}" if months else number)
        return


def _digits(word: str) -> str:
    if word.isdigit():
        return word
    small = (
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen"
    ).split()
    tens = "twenty thirty forty fifty sixty seventy eighty ninety".split()
    first, *rest = re.split(r"[- ]", word.lower())
    if first in small:
        return str(small.index(first))
    return str(10 * (tens.index(first) + 2) + (small.index(rest[0]) if rest else 0))


def _gender(text: str, relative: str | None) -> Iterator[_Found]:
    """By the noun beside the age, the patient's own noun, else by pronouns of one gender alone."""
    age = _AGE.search(text)
    if age:
        near = text[age.end() : age.end() + 45].split(".")[0]
        before = text[max(0, age.start() - 30) : age.start()]
        for window, offset in ((near, age.end()), (before, max(0, age.start() - 30))):
            if noun := _gender_noun(window, offset):
                yield noun
                return
    else:
        noun = _gender_noun(text[:80], 0) if relative is None else None
        if noun and not re.search(r"\b(?:mother|father|brother|sister|son|daughter|wife|husband)\b", text[:80], re.I):
            yield noun
            return
    if relative and (noun := _gender_noun(relative, text.lower().find(relative))):
        yield noun
        return
    pronouns = [(m.start(), m.group().lower()) for m in re.finditer(r"\b(?:he|she|his|her|him|hers)\b", text, re.I)]
    sexes = {"male" if word.startswith("hi") or word == "he" else "female" for _, word in pronouns}
    if len(sexes) == 1:
        yield _Found(pronouns[0][0], "patient", "has_gender", sexes.pop())


def _gender_noun(window: str, offset: int) -> _Found | None:
    female, male = whole_words("female").search(window), whole_words("male").search(window)
    first = min((m for m in (female, male) if m), key=lambda m: m.start(), default=None)
    if first is None:
        return None
    return _Found(offset + first.start(), "patient", "has_gender", "female" if first is female else "male")


# --- one sentence -----------------------------------------------------------------------------


@cache
def _cues() -> tuple[Cue, ...]:
    fill = {"{relatives}": alternatives("relatives"), "{numbers}": alternatives("numbers")}
    cues = []
    for row in patterns()["cue"]:
        pattern = row["pattern"]
        for name, value in fill.items():
            pattern = pattern.replace(name, value)
        cues.append(Cue(row["predicate"], row["mode"], row.get("any", False), re.compile(pattern, re.I)))
    return tuple(cues)


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
        if cue.predicate == "has_exposure" and not _CLAUSE_START.search(sentence[: match.start()]):
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


def _sentence(start: int, sentence: str, relative: str | None, text: str) -> Iterator[_Found]:
    asks = sentence.rstrip(" \"'").endswith("?")
    symptomatic: list[tuple[int, int]] = []
    for cue, match, stop in _segments(sentence):
        if asks and cue.predicate not in ("lives_in", "travelled_to"):
            continue
        found = list(_segment(cue, match, sentence, stop, relative))
        yield from (_Found(start + f.start, f.subject, f.predicate, f.object) for f in found)
        if cue.predicate in ("has_symptom", "denies", "has_finding"):
            symptomatic.append((match.start(), stop))
    if asks:
        return
    for state in _STATE.finditer(sentence):
        part = state["part"]
        symptomatic.append((state.start(), len(sentence)))
        yield _Found(start + state.start(), "patient", "has_symptom", f"{state['state']} {part}")
    for match in _DURATION.finditer(sentence):
        if any(left <= match.start() < right for left, right in symptomatic) or (
            re.search(r"\blast(?:ed|ing)\W*$", sentence[: match.start()])
        ):
            if duration := _duration(match):
                yield _Found(start + match.start(), "patient", "for_duration", duration)


def _duration(match: re.Match[str]) -> str | None:
    if match["since"] or match["past"]:
        return match["since"] or match["past"]
    if match["past2"]:
        return match["past2"]
    span = match["span"]
    if match["ago"] or match["lead"] or span.endswith("history") or not span.startswith(("a ", "an ")):
        return span.removesuffix(" history").removesuffix(" ago").strip()
    return None


def _segment(
    cue: Cue, match: re.Match[str], sentence: str, stop: int, relative: str | None
) -> Iterator[_Found]:
    if cue.mode == "place":
        place = sentence[match.end() : stop]
        end = _PLACE_END.search(place)
        name = _clean(place[: end.start()] if end else place)
        if name and re.search(r"[A-Z]|\b(?:village|camp|home|area|town|city|country|farm|forest)", name):
            yield _Found(match.start(), "patient", cue.predicate, name)
    elif cue.mode == "phrase":
        yield from _phrase(cue, match, sentence, stop)
    elif cue.mode == "family":
        who = (match["owned"] or match["relative"] or "family member").lower()
        if who == relative or (who in ("child", "baby") and "family history" not in match.group()):
            cue = _weak()
            yield from _members(cue, match.end(), sentence[match.end() : stop], "patient")
        else:
            yield from _members(cue, match.end(), sentence[match.end() : stop], who)
    else:
        yield from _members(cue, match.end(), sentence[match.end() : stop], "patient")


def _weak() -> Cue:
    return _cues()[-1]


def _phrase(cue: Cue, match: re.Match[str], sentence: str, stop: int) -> Iterator[_Found]:
    if cue.predicate == "has_exposure":
        phrase = sentence[match.start() : stop]
        head = match.end() - match.start()
        end = _PHRASE_END.search(phrase, head)
        phrase = _trimmed(phrase[: end.start()] if end else phrase)
        phrase = _third_person(phrase)
        if _SOMEBODY_ELSE.search(sentence):
            return
    else:
        phrase = _clean(match.group())
        phrase = re.sub(r"^(?:is|are|am|was|known|were)\s+", "", phrase)
    if phrase:
        yield _Found(match.start(), "patient", cue.predicate, phrase)


def _members(cue: Cue, offset: int, segment: str, subject: str) -> Iterator[_Found]:
    for left, right in list_items(segment):
        item = segment[left:right]
        end = _list_end().search(item)
        if end:
            item = item[: end.start()]
        name = _clean(item)
        predicate = _predicate(cue, name)
        if predicate:
            yield _Found(offset + left, subject, predicate, name)
        if cue.predicate == "denies" and not predicate:
            return


@cache
def _list_end() -> re.Pattern[str]:
    return re.compile("".join(patterns()["words"]["list_ends"].split("\n")), re.I)


def _predicate(cue: Cue, name: str) -> str | None:
    """The matching of appendix A.1: the predicate of a member under its cue, None: filtered out."""
    if not re.search(r"[^\W\d_]{2}", name):
        return None
    finding, condition = is_finding(name), is_condition(name)
    plain = len(name.split()) <= 8 and not _NOT_A_FINDING.search(name)
    if cue.predicate == "has_symptom":
        if finding and plain:
            return "has_symptom"
        if condition and plain:
            return "has_history"
        return "has_symptom" if cue.any and plain and _is_noun_phrase(name) else None
    if cue.predicate == "family_has":
        return "family_has" if plain or finding or condition else None
    return cue.predicate if finding or condition or (cue.any and plain and _is_noun_phrase(name)) else None


def _is_noun_phrase(name: str) -> bool:
    """Whether spaCy reads the phrase as one about a thing, not a person, place, time or verb."""
    doc: Doc = _parsed(name)
    root = next((token for token in doc if token.dep_ == "ROOT"), None)
    if root is None or root.pos_ not in ("NOUN", "PROPN", "ADJ"):
        return False
    return not any(entity.label_ in ("GPE", "DATE", "TIME", "LOC", "CARDINAL") for entity in doc.ents)


@cache
def _parsed(name: str) -> "Doc":
    return language()(name)


def _third_person(phrase: str) -> str:
    """Make "the patient ..." a sentence: owns, is a farmer, reports eating raw fish."""
    adverb = re.match(r"(?:(?:usually|regularly|frequently|often|sometimes|recently|also|currently|now|as) )+", phrase)
    lead, rest = (adverb.group(), phrase[adverb.end() :]) if adverb else ("", phrase)
    first, blank, tail = rest.partition(" ")
    if first.lower().endswith("ing") or re.match(r"not \w+ing\b", rest):
        return f"{lead}reports {rest}"
    if re.match(r"an? ", rest):
        return f"is {rest}"
    return f"{lead}{_THIRD_PERSON.get(first.lower(), first)}{blank}{tail}"


def _clean(phrase: str) -> str:
    return _trimmed(_LEADING.sub("", " ".join(phrase.split()).strip(_EDGE)))


def _trimmed(phrase: str) -> str:
    phrase = _TRAILING.sub("", " ".join(phrase.split()).strip(_EDGE))
    return _POSSESSIVE.sub("the", phrase).strip(_EDGE)
