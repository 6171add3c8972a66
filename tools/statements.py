"""What a clinical text states of its patient, sentence by sentence: the rule filter's reading.

Of a question only the part before it asks is read, and the places; a suspicion states nothing.
"""

import re
from collections.abc import Iterator, Sequence

from evenhand.tools.attributes import attributes
from evenhand.tools.cues import (
    Cue,
    ends_in_or,
    goes_on_denied,
    is_denied,
    is_of_a_part,
    may_go_on,
    segments,
    weak_cue,
)
from evenhand.tools.patient_identity import (
    Patient,
    Statement,
    patient_relative,
    read_age,
    read_gender,
)
from evenhand.tools.phrases import is_finding, list_items, pattern, sentences
from evenhand.tools.sentence_parse import is_cut, whole_members
from evenhand.tools.sentences import article, is_state
from evenhand.tools.triple_objects import (
    bare_span,
    clean,
    measured,
    nouns,
    predicate_of,
    third_person,
    trimmed,
)

_BE = re.compile(r"^(?:is|are|am|was|known|were)\s+", re.I)
# The duration is a triple of its own: "4 days of constipation".
_OF_A_TIME = re.compile(
    r"^(?:\d+|one|two|three|four|five|several) (?:hour|day|week|month|year)s? of (?=\w)", re.I
)
_POINT_IN_TIME = re.compile(r"['\u2019]? (?:after|before|prior|later|of gestation|gestation)\b")
_LASTS = re.compile(r"^\w+ed\b.*\b(?:for|over) (?:the (?:past|last)|\d+)\b")
_BARE_VERB = re.compile(
    r"reports \w+"
    r"|ate|drank|slept|bought|attended|played|handled|consumed|shared|received"
    r"|(?:eat|sleep|share|keep|raise|play|ride|attend|handle|use|buy|spend|consume|receive)s"
)


def read_patient(text: str) -> Iterator[Statement]:
    """Read all statements about the patient of a text, in no order."""
    relative = patient_relative(text)
    yield from read_age(text)
    gender = next(read_gender(text, relative), None)
    if gender:
        yield gender
    who = Patient(relative, gender.object if gender else None)
    for race in attributes.get("race").find(text)[:1]:
        yield Statement(race.start, "patient", "has_race", race.value)
    for start, sentence in sentences(text):
        if pattern("about_no_patient").search(sentence) or (
            who.other_pronouns and re.match(rf"(?:{who.other_pronouns})\b", sentence, re.I)
        ):
            continue  # "He" where she is the patient
        about_relative = pattern("of_a_relative").match(sentence)
        for found in _sentence(start, sentence, who):
            if not about_relative or found.predicate == "family_has":
                yield found


def _sentence(start: int, sentence: str, who: Patient) -> Iterator[Statement]:
    """Read one sentence; of a question only the part before it asks, and the places."""
    stated = _stated(sentence)
    states = list(pattern("state").finditer(sentence[:stated]))
    symptomatic = [(state.start(), stated) for state in states]
    for state in states:
        words = f"{state['state']} {state['part']}"
        if re.match(r"(?:left|right)\b.*(?<!s)(?<!feet)$", state["part"]):
            words = f"{article(words)} {words}"
        yield Statement(start + state.start(), "patient", "has_symptom", words)
    for cue, match, stop in _telling(sentence):
        place = cue.mode == "place"
        if not place and match.start() >= stated:
            continue
        lasting = match.groupdict().get("lasting")
        for found in _segment(
            cue, match, sentence[: stop if place else min(stop, stated)], who, sentence
        ):
            if any(state.start() <= found.start < state.end() for state in states):
                continue
            yield Statement(start + found.start, found.subject, found.predicate, found.object)
            if found.predicate in ("has_symptom", "has_finding") and not lasting:
                symptomatic.append((match.start(), stop))
            if found.predicate == "has_symptom" and lasting:
                # "a 2-day history of fever and cough": behind the last of them.
                yield Statement(start + stop - 1, "patient", "for_duration", _plural(lasting))
    for place_in_sentence, duration in _durations(sentence[:stated], symptomatic):
        yield Statement(start + place_in_sentence, "patient", "for_duration", duration)


def _stated(sentence: str) -> int:
    """Where the part of a sentence ends that states; what follows asks."""
    if not sentence.rstrip(" \"'").endswith("?"):
        return len(sentence)
    tail = pattern("asking").search(sentence)
    return tail.start() if tail else 0


def _telling(sentence: str) -> Iterator[tuple[Cue, re.Match[str], int]]:
    """Yield the segments that tell of the patient."""
    previous: Cue | None = None
    for segment in segments(sentence):
        cue, match, _ = segment
        before = sentence[: match.start()]
        # "refuses all treatment, including radiation", "without signs of stroke or signs of pain".
        example = pattern("example").match(match.group()) and not may_go_on(previous)
        # A helper who asks tells of her own work, not the patient's; a suspicion is no fact.
        helper = cue.predicate == "has_exposure" and pattern("somebody_else").search(sentence)
        of_a_part = cue is weak_cue() and is_of_a_part(match, sentence)
        denied_too = previous and previous.predicate == "denies" and ends_in_or(before)
        if example or denied_too:
            continue
        earlier, previous = previous, cue
        if helper or of_a_part or _is_said_aside(cue, match, before):
            continue
        if is_denied(cue, match, sentence) or goes_on_denied(earlier, match, before):
            continue
        yield segment


def _is_said_aside(cue: Cue, match: re.Match[str], before: str) -> bool:
    """Whether a cue tells of a suspicion, a moment, another person or what is avoided."""
    said = match.group().lower()
    if pattern("suspicion").search(before):
        return True
    if said.startswith("negative") or (said.startswith("present") and cue.predicate != "denies"):
        # "Ultrasound is negative for appendicitis", "has previously presented with pneumonia".
        return pattern("not_now").search(before) is not None
    if cue is weak_cue():
        of_it = re.search(r"\bit (?:\w+ly )?$", before, re.I)  # a mole, a hand, not the patient
        return bool(of_it or pattern("aside").search(before))
    if cue.predicate == "takes_medication":
        return pattern("recommended").search(before) is not None
    if cue.predicate == "has_finding" and match.group().lower().endswith("to be"):
        return pattern("subject").search(before) is None  # "Her mucosa is noted to be dry"
    if cue.predicate == "has_history":
        return pattern("other_person").search(before) is not None
    return cue.predicate == "has_exposure" and pattern("avoided").search(before) is not None


def _durations(stated: str, symptomatic: Sequence[tuple[int, int]]) -> Iterator[tuple[int, str]]:
    """Yield the durations of symptoms, with their places.

    One before its symptoms is left out: in order, it would go to those before it. "2 hours after
    birth" and "after 4 days" say when, not how long.
    """
    for match in pattern("duration").finditer(stated):
        before = stated[: match.start()]
        lasted = re.search(r"\blast(?:ed|ing|s)\W*$", before)
        spoken = any(left <= match.start() < right for left, right in symptomatic)
        if match["ago"] and re.search(r"\bhad\b", before) and not pattern("began").search(before):
            continue  # "had an episode of vomiting two days ago": when, not how long
        when = not match["lead"] and _POINT_IN_TIME.match(stated, match.end())
        if when or before.endswith("after ") or pattern("lasting").match(stated, match.start()):
            continue
        if (lasted or spoken) and (duration := _duration(match)):
            yield match.start(), duration


def _plural(lasting: str) -> str:
    """Make "a 3-week" a duration: "3 weeks"; "a week" stays."""
    count, unit = re.split(r"[- ]", re.sub(r"^(?:an?|the) (?=\d)", "", lasting.lower()))[-2:]
    one = count in ("1", "one", "a", "an")
    return f"{count} {unit if one or unit.endswith('s') else f'{unit}s'}"


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
    cue: Cue, match: re.Match[str], sentence: str, who: Patient, whole: str
) -> Iterator[Statement]:
    """Read what a cue governs, from its match to the end of the (already cut) sentence."""
    if cue.mode == "place":
        place = sentence[match.end() :]
        end = pattern("place_end").search(place)
        name = clean(place[: end.start()] if end else place)
        if pattern("is_place").search(name) and name.lower() != "home":
            yield Statement(match.start(), "patient", cue.predicate, name)
        if end and end.group() == ",":  # "58M from Davao, increased thirst, weight loss"
            yield from _members(
                weak_cue(), match, sentence, "patient", whole, match.end() + end.end()
            )
    elif cue.mode == "phrase":
        yield from _phrase(cue, match, sentence)
    elif cue.mode == "family":
        if who.other_pronouns and re.match(rf"(?:{who.other_pronouns})\b", match.group(), re.I):
            return  # "her husband says that his wife": the patient herself
        if pattern("of_their_child").search(sentence[: match.end()]):
            return  # parents speak of the patient
        person = (match["owned"] or match["relative"] or "family member").lower()
        # "brought in by her father with diarrhoea" tells of the child.
        bringer = re.search(r" (?:by|with)$", sentence[: match.start()].rstrip())
        the_child = person in ("child", "baby") or bringer
        is_patient = person == who.relative or (the_child and match["owned"] is None)
        if is_patient:
            predicate = "has_history" if "diagnosed" in match.group() else "has_symptom"
            cue = Cue(predicate, "list", True, cue.pattern)
        yield from _members(cue, match, sentence, "patient" if is_patient else person, whole)
    elif not _is_over(cue, match, sentence):
        yield from _members(cue, match, sentence, "patient", whole)


def _phrase(cue: Cue, match: re.Match[str], sentence: str) -> Iterator[Statement]:
    if cue.predicate == "has_exposure":
        phrase = sentence[match.start() :]
        end = pattern("phrase_end").search(phrase, match.end() - match.start())
        phrase = third_person(trimmed(phrase[: end.start()] if end else phrase))
        if pattern("somebody").search(phrase) or pattern("not_done").search(phrase):
            return  # "after he bathed the child": not the child
        if re.search(r"\b(?:has|have) $", sentence[: match.start()]) and _LASTS.search(phrase):
            phrase = f"has {phrase}"
    elif cue.predicate == "has_finding":
        phrase = measured(match)
    else:
        phrase = _BE.sub("", clean(match.group()))
        phrase = nouns().get(phrase.lower(), phrase)
        if phrase.startswith("born"):
            phrase = f"was {phrase}"
        phrase = (
            f"is {phrase}"
            if phrase.endswith(("pregnant", "feeding", "postpartum", "menopausal"))
            else phrase
        )
    # "sweating while eating": the bare act says nothing of the patient.
    if phrase and not _BARE_VERB.fullmatch(phrase):
        yield Statement(match.start(), "patient", cue.predicate, phrase)


def _members(
    cue: Cue,
    match: re.Match[str],
    sentence: str,
    subject: str,
    whole: str,
    begin: int | None = None,
) -> Iterator[Statement]:
    """Read the list that a cue governs, from `begin` or the end of the cue on."""
    begin = match.end() if begin is None else begin
    segment = sentence[begin:]
    aside = 0
    for left, right in whole_members(whole, begin, list_items(segment)):
        if aside and "," not in segment[aside:left]:
            continue  # "after a gastroscopy and colonoscopy": still when, not what
        item = segment[left:right]
        end = pattern("list_end").search(item)
        aside = right if end and re.match(r"(?:after|while) \w+ing\b", item[end.start() :]) else 0
        name = clean(item[: end.start()] if end else item)
        if match.group().lower().endswith("to be") and not is_state(name):
            continue  # "is found to be able to walk"
        if name.lower() in ("normal", "unremarkable") and cue.predicate == "has_finding":
            return  # "results are normal and": the next has a verb of its own
        if re.match(r"descri", match.group(), re.I) and re.match(
            r"\W*(?:(?:the|his|her|these|this) [\w ]*|it )as\b", item
        ):
            return  # "describes the lesions as painless and itchy"
        if cue.predicate == "has_finding" and re.match(
            r"(?:positive for|negative|no)\b", name, re.I
        ):
            return  # "positive for ketones and glucose", "no bruises or scars": one member, not two
        if end and end.group().lower() in ("resolved", "improved", "subsided"):
            if not name:
                return  # "has improved and his tremor has resolved": the next has a verb, too
            continue
        if re.search(r"\bto\s*$", item):
            continue  # "an urge to" have: cut by the next cue
        if (
            cue.predicate == "has_finding"
            and end
            and end.group() == "that"
            and not is_finding(name)
        ):
            continue  # "red blood cells that appear round": the cells are none
        inner = bare_span(item[: end.start()] if end else item)
        if is_cut(whole, begin + left + inner[0], begin + left + inner[1], begin):
            continue
        predicate = predicate_of(cue, match.group().lower(), name)
        if cue.predicate == "family_has" and not predicate and name:
            return  # "her parents have observed fever and bloody stools": the child's
        if predicate == "family_has":
            name = _with_verb(match.group(), name)
        if predicate == "has_symptom":
            name = _OF_A_TIME.sub("", name)
        if predicate:
            yield Statement(begin + left, subject, predicate, nouns().get(name.lower(), name))
        elif cue.predicate == "denies":
            return
        if end and end.group().lower() == "but":
            return  # "takes aspirin, but he lost his job and insurance"


def _is_over(cue: Cue, match: re.Match[str], sentence: str) -> bool:
    """Whether a segment tells of the past alone, or of cells: "had a cough two weeks ago"."""
    said = match.group().lower()
    if said.startswith("without"):
        return pattern("sample").search(sentence) is not None
    if cue.predicate not in ("has_symptom", "has_finding"):
        return False
    if cue.predicate == "has_finding" and pattern("tissue").search(sentence):
        return True
    ago = re.search(r"\bago\b\W*(?:he|she|the patient) had$", sentence[: match.end()], re.I)
    past = said.endswith("had") and re.search(r"\bago\b", sentence[match.end() :])
    if past and not pattern("began").search(sentence):
        return True
    return bool(ago or pattern("over").search(sentence, match.end()))


def _with_verb(said: str, name: str) -> str:
    """Keep what is past: the mother who "died of gout" has it no more."""
    verb = pattern("family_verb").search(said)
    return f"{verb.group()} {name}" if verb else name
