"""What a French word that agrees is said of: the patient, another person, or a thing."""

from evenhand.tools.notes.edits import CannotRewrite
from evenhand.tools.notes.french_openings import (
    by_person,
    is_kept_watch,
    masculine_of,
    none_fits,
    opening_owner,
    said_of_patient,
)
from evenhand.tools.notes.french_patterns import ANIMALS
from evenhand.tools.notes.french_reading import Owner, Sentence, Token
from evenhand.tools.notes.french_subjects import first_named, subject
from evenhand.tools.notes.french_words import (
    ADVERBS,
    BEFORE_NOUNS,
    DONE_TO_PATIENTS,
    GROUPS,
    NOTIFIED,
    OF_ANIMALS,
    PREPOSITIONS,
    SPEECH,
    UNITS,
    agreement,
    thing_gender,
    with_accents,
)

SPEAKS = frozenset(("parle", "parlait", "comprend", "comprenait", "lit", "parlent"))
_STATES_OF_THINGS = frozenset(("position", "tabagisme", "alcoolisme", "éthylisme", "station"))
_FOLLOW_UPS = frozenset(
    (
        "cardio",
        "médical",
        "neuro",
        "pneumo",
        "psy",
        "diabéto",
        "gynéco",
        "ophtalmo",
        "régulier",
        "irrégulier",
        "interrompu",
    )
)
_TIMES = frozenset(("soir", "matin", "nuit", "jour", "jours", "heures", "semaine", "ans", "midi"))
_OF_SMALL_THINGS = frozenset(
    ("enfoncé", "avalé", "retiré", "enlevé", "ingéré", "inhalé", "jeté", "cassé")
)


def owner_of(sentence: Sentence, index: int, sex: str) -> Owner | None:
    """Return what a word that agrees is said of.

    Args:
        sentence: The sentence, its words before `index` with owners.
        index: The place of the word.
        sex: The gender of the word's form, the patient's own.

    Raises:
        CannotRewrite: It could be said of the patient and of something else.
    """
    token = sentence.tokens[index]
    entry = agreement(token.low, predicative=True)
    kind = entry[2] if entry else "open"
    masculine = with_accents(entry[0]) if entry else token.low
    if index and masculine == "seul" and sentence.tokens[index - 1].low in ("tout", "toute"):
        return subject(sentence, index - 1, sex)
    place = _before(sentence, index)
    if kind == "person":
        while place is not None and place >= 0 and sentence.tokens[place].low in BEFORE_NOUNS:
            place = place - 1 if place else None
    if place is None:
        if kind != "thing" and index and sentence.tokens[index - 1].low in ("ans", "mois"):
            return "patient"
        return opening_owner(sentence, index, kind, masculine, sex)
    previous = sentence.tokens[place]
    joined = _is_joined(sentence, place, index)
    conjunction = any(
        each.low in ("et", "ou", "mais", "ni") for each in sentence.tokens[place + 1 : index]
    )
    if conjunction and previous.work != "agrees":
        return _after_conjunction(sentence, index, place, kind, masculine, sex)
    if previous.work == "agrees" and kind == "person" and joined and not conjunction:
        have = _have_before(sentence, place)
        if have and sentence.tokens[have - 1].low == "l" and previous.owner == "patient":
            return "patient"  # "l'ont retrouvé conscient"
        if have is not None:
            return subject(sentence, have, sex)
    if previous.work == "agrees" and previous.owner:
        inherits = previous.owner == "patient" or conjunction or not token.is_clause_start
        if inherits and not (previous.owner == "thing" and kind == "person"):
            return (
                _after_thing(sentence, index, kind) if previous.owner == "thing" else previous.owner
            )
    if not joined:
        return _after_break(sentence, index, place, kind, masculine, sex)
    if previous.low == "été" and place and sentence.tokens[place - 1].work == "have":
        return subject(sentence, place - 1, sex)
    if previous.work == "be":
        return subject(sentence, place, sex)
    if previous.work == "have":
        return _after_have(sentence, index, place, sex)
    if previous.work == "verb" and previous.low in SPEAKS:
        return "thing"  # "ne parle pas français"
    if previous.work == "verb":
        return _after_verb(sentence, place, kind)
    if previous.work in ("person", "noun"):
        return _after_noun(sentence, index, place, kind, sex)
    return _after_function(sentence, index, place, kind)


def _head_of_segment(sentence: Sentence, index: int) -> Token | None:
    """Return the first noun of the stretch that a word stands in."""
    number = sentence.tokens[index].segment
    return next(
        (each for each in sentence.segment(number) if each.work in ("person", "noun")), None
    )


def _have_before(sentence: Sentence, place: int) -> int | None:
    """Return the place of the "a" of "a dormi"; None where the word is no such participle."""
    place -= 1
    while place >= 0 and sentence.tokens[place].work == "adverb":
        place -= 1
    return place if place >= 0 and sentence.tokens[place].work == "have" else None


def _before(sentence: Sentence, index: int) -> int | None:
    """Return the place of the word that decides: adverbs, ages and "et" are passed over."""
    place = index - 1
    while place >= 0:
        token = sentence.tokens[place]
        low = token.low
        if low == "moitié" and place and sentence.tokens[place - 1].low == "à":
            place -= 2
        elif (
            token.work == "adverb"
            or low in ADVERBS
            or low in ("et", "ou", "ni", "mais", "puis", "ne", "n")
            or (low == "un" and sentence.next_low(place) == "peu")
        ):
            place -= 1
        elif (
            low in UNITS and place and sentence.tokens[place - 1].low in ("de", "d", "depuis", "à")
        ):
            place -= 2
        elif (
            low in ("masculin", "féminin")
            and place >= 2
            and sentence.tokens[place - 1].low == "sexe"
        ):
            place -= 3
        elif low in UNITS or low in ("y", "environ"):
            place -= 1
        else:
            return place
    return None


def _is_joined(sentence: Sentence, place: int, index: int) -> bool:
    """Whether no comma or other mark stands between two words."""
    tokens = sentence.tokens
    gap = sentence.text[tokens[place].word.end : tokens[index].word.start]
    return not any(mark in gap for mark in ",:()+;/\u2013\u2014\u2022>") and " - " not in gap


def _after_break(
    sentence: Sentence, index: int, place: int, kind: str, masculine: str, sex: str
) -> Owner | None:
    """After a comma: an apposition to the patient, or more about the last noun."""
    previous = sentence.tokens[place]
    if kind == "thing" and masculine == "douloureux" and previous.low in _TIMES:
        if any(each.owner == "patient" for each in sentence.tokens[:index]):
            return "patient"
        raise CannotRewrite("ambiguous_agreement", sentence.tokens[index].word.text)
    if kind == "thing" or (masculine == "suivi" and sentence.next_low(index) in _FOLLOW_UPS):
        return "thing"
    if previous.owner == "patient" and previous.work in ("person", "agrees"):
        return "patient"
    _refuse_after_who(sentence, index, sex)
    aged = sentence.tokens[index - 1].low in ("ans", "mois")
    if aged and any(each.owner == "patient" for each in sentence.tokens[:index]):
        return "patient"
    last = _last_noun(sentence, place)
    if last is not None and last.low in ANIMALS and sentence.tokens[index].low in OF_ANIMALS:
        return "other"
    if last is not None and last.low in GROUPS and kind == "person":
        return "patient"
    if last is not None and last.owner == "other" and last.gender == sex:
        head = first_named(sentence, sentence.segment(last.segment))
        if head == "other" and _is_first_noun(sentence, last):
            return "other"
        raise CannotRewrite("ambiguous_agreement", sentence.tokens[index].word.text, last.word.text)
    if (
        kind == "person"
        or said_of_patient(sentence, index, masculine)
        or (masculine != "connu" and is_kept_watch(sentence, index, masculine))
        or by_person(sentence, index)
    ):
        return "patient"
    if last is None:
        return opening_owner(sentence, index, kind, masculine, sex)
    if none_fits(sentence.tokens[: place + 1], sex):
        return "patient"
    raise CannotRewrite("ambiguous_agreement", sentence.tokens[index].word.text, last.word.text)


def _refuse_after_who(sentence: Sentence, index: int, sex: str) -> None:
    """Refuse "le chauffeur, qui est resté, très choqué": the driver, or the patient?"""
    tokens = sentence.tokens[:index]
    others = [
        place
        for place, each in enumerate(tokens)
        if each.work == "person"
        and each.owner == "other"
        and each.gender in (None, sex)
        and each.low not in GROUPS
    ]
    if not others:
        return
    later = tokens[others[-1] + 1 :]
    if any(each.low == "qui" for each in later) and not any(
        each.owner == "patient" for each in later if each.work in ("person", "function")
    ):
        raise CannotRewrite(
            "ambiguous_agreement", sentence.tokens[index].word.text, tokens[others[-1]].word.text
        )


def _after_conjunction(
    sentence: Sentence, index: int, place: int, kind: str, masculine: str, sex: str
) -> Owner | None:
    """After "et": one more word beside the last one that agrees in the same gender."""
    for token in reversed(sentence.tokens[: place + 1]):
        if token.work == "noun" and thing_gender(token.low) in (None, sex):
            break  # it could be said of this thing
        if token.work == "agrees" and token.gender == sex and token.owner:
            if kind == "thing" or (token.owner == "thing" and kind == "person"):
                break
            return token.owner
    return _after_break(sentence, index, place, kind, masculine, sex)


def _last_noun(sentence: Sentence, place: int) -> Token | None:
    for token in reversed(sentence.tokens[: place + 1]):
        if token.work in ("person", "noun") and token.low not in UNITS:
            return token
    return None


def _is_first_noun(sentence: Sentence, noun: Token) -> bool:
    nouns = [
        token
        for token in sentence.segment(noun.segment)
        if token.work in ("person", "noun") and token.low not in UNITS
    ]
    before = [token for token in sentence.tokens if token.word.start < noun.word.start]
    return (
        bool(nouns)
        and nouns[0] is noun
        and not (before and any(token.low in PREPOSITIONS for token in before[-2:]))
    )


def _after_have(sentence: Sentence, index: int, place: int, sex: str) -> Owner | None:
    """A participle after avoir agrees with the object before it ("l'a adressée") alone."""
    tokens = sentence.tokens
    if place and tokens[place - 1].low == "l" and "'" in _quote(sentence.gap(place)):
        who = place - 2
        while who >= 0 and tokens[who].low in ("ne", "n"):
            who -= 1
        if who >= 0 and tokens[who].low in ("il", "elle") and tokens[who].owner == "patient":
            return "thing"  # "elle l'a passée sous l'eau": the hand
        token = tokens[index]
        entry = agreement(token.low, predicative=True)
        if masculine_of(entry) in _OF_SMALL_THINGS and not none_fits(
            [*sentence.earlier, *tokens[:place]], sex
        ):
            return "thing"
        sure = entry is not None and (entry[2] == "person" or entry[0] in DONE_TO_PATIENTS)
        if not sure and not none_fits([*sentence.earlier, *tokens[:place]], sex):
            raise CannotRewrite("ambiguous_agreement", token.word.text)
        return "patient"
    return "thing"


def _quote(gap: str) -> str:
    return gap.replace("\u2019", "'")


def _after_verb(sentence: Sentence, place: int, kind: str) -> Owner | None:
    if kind == "thing":
        return "thing"
    before = sentence.tokens[place - 1] if place else None
    if before is not None and before.low in ("le", "la", "l"):
        return "patient"
    return subject(sentence, place)


def _after_noun(sentence: Sentence, index: int, place: int, kind: str, sex: str) -> Owner | None:
    noun = sentence.tokens[place]
    if noun.low == "fois":
        return "patient"
    named = any(each.owner == "patient" for each in sentence.tokens[:place])
    old = masculine_of(agreement(sentence.tokens[index].low)) == "âgé"
    if noun.low == "personne" and old and named:
        return "thing"  # "personne âgée" keeps its gender, whoever it is
    governed = any(each.low in PREPOSITIONS for each in sentence.tokens[max(0, place - 2) : place])
    if noun.work == "person" and noun.owner == "patient" and kind == "thing" and not governed:
        return "patient"  # "Mme X très douloureuse"
    if kind == "thing":
        return "thing"
    if sentence.tokens[index].low in NOTIFIED:
        head = _head_of_segment(sentence, index)
        if head is not None and head.owner == "other":
            return "other"
    if noun.owner in ("patient", "other"):
        if noun.owner == "other" and noun.gender not in (None, sex):
            if kind == "person":
                return "patient"
            raise CannotRewrite(
                "ambiguous_agreement", sentence.tokens[index].word.text, noun.word.text
            )
        return noun.owner
    if noun.low in _STATES_OF_THINGS or (
        noun.low in SPEECH and thing_gender(noun.low) in (None, sex)
    ):
        return "thing"
    if kind == "person" and thing_gender(noun.low) in (None, sex):
        word = sentence.tokens[index].word.text
        raise CannotRewrite("ambiguous_agreement", word, noun.word.text)
    return _after_thing(sentence, index, kind)


def _after_thing(sentence: Sentence, index: int, kind: str) -> Owner | None:
    """Right after the noun of a thing: what only a person can be is the patient's."""
    if kind != "person":
        return "thing"
    if any(token.owner == "patient" for token in sentence.tokens[:index]):
        return "patient"
    first = sentence.tokens[0]
    if first.work in ("noun",) and not first.low.isdigit():
        raise CannotRewrite("ambiguous_agreement", sentence.tokens[index].word.text)
    return "patient"


def _after_function(sentence: Sentence, index: int, place: int, kind: str) -> Owner | None:
    """After a determiner or preposition it is a noun or stands before one ("une petite plaie")."""
    previous = sentence.tokens[place]
    if previous.low in ("comme", "que") and kind == "person":
        return "patient"
    if previous.low in ("s", "se"):
        return subject(sentence, place)
    follows = sentence.tokens[index + 1] if index + 1 < len(sentence.tokens) else None
    if kind == "person" and previous.low in ("un", "une", "le", "la", "cet", "cette", "ce"):
        if follows is not None and follows.work == "noun" and sentence.gap(index + 1) == " ":
            return "thing"
        before = sentence.tokens[place - 1] if place else None
        if before is not None and before.work == "be":
            return subject(sentence, place - 1)
        return "thing"
    if previous.low in ("il", "elle") and kind == "person":
        return previous.owner
    return "thing"
