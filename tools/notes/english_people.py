"""Other people in English notes, named by their work, and animals; the patient's own work."""

import re
import tomllib
from collections.abc import Iterator, Sequence
from importlib.resources import files

from evenhand.tools.notes.edits import CannotRewrite
from evenhand.tools.notes.words import Word

_WORDS: dict[str, str] = tomllib.loads(
    (files("evenhand.tools.notes") / "english_people.toml").read_text("utf-8")
)
STAFF = frozenset(_WORDS["staff"].split())
OTHERS = frozenset(_WORDS["others"].split())
ANIMALS = frozenset(_WORDS["animals"].split())
DEPENDENTS = frozenset(
    ("baby", "infant", "child", "kid", "newborn", "toddler", "twin", "grandchild")
)
_OWN_WORK = re.compile(
    r"(?:\d\W{0,3}(?:y\W?o\W?|years?|yrs?|[MF]\b)?(?:,\s(?!gp\b|dr\b|nurse\b))?[\w\s-]{0,25}"
    r"|\b(?:is|was|as|being|pt|patient|retired|former|ex|works as|restrained|unrestrained|belted"
    r"|seatbelted|seat-belted|helmeted|the)\s(?:(?:an?|the|now)\s)?(?:[\w-]+\s){0,2})$",
    re.IGNORECASE,
)
_RIDES = frozenset(
    ("driver", "passenger", "cyclist", "rider", "student", "player", "walker", "resident")
)
_SOMEONE = re.compile(
    r"(?:\bthe|\bother|\banother|\bhis|\bher|\btheir|\bby|\bwith|['\u2019]s)\s(?:\w+\s)?$", re.I
)
_SPEAKS = re.compile(
    r"\s*(?:\([^)]*\)\s*)?(?:also\s|then\s|has\s|had\s)?(?:reports?|reported|says?|said|states?"
    r"|stated"
    r"|notes?|noted|thinks?|found|called|calls|rang|phoned|saw|gave|brought|drove|witnessed|told"
    r"|tells"
    r"|asked|advised|came|noticed|heard|with (?:him|her|pt|patient)|at bedside|present"
    r"|in attendance"
    r"|visits|concerned|worried|is (?:worried|concerned|with)|accompan\w+|stayed|started"
    r"|performed)\b",
    re.IGNORECASE,
)


_NAMED = re.compile(
    rf"\b(?i:{'|'.join(sorted(STAFF | OTHERS))}|pc|sgt|sergeant|sister|nurse|uncle|aunt)\s"
    r"(?:(?i:called|named)\s)?(?P<name>[A-Z][a-z]{2,}(?:-[A-Z][a-z]+)?)\b"
)
_TOLD_BY = re.compile(
    r"(?:^|[.;\n]\s*)(?:(?:the|an?|his|her|their|one|another)\s)?(?P<who>[a-z]{3,})\s(?:then\s|also\s"
    r"|has\s|had\s)?(?:says|said|states|stated|reports|reported|called|phoned|rang|thinks|thought"
    r"|witnessed|brought|drove|pulled|carried|heard|saw|told us|is worried|is concerned|was worried"
    r"|stayed|started CPR|did CPR|gave)\b",
    re.IGNORECASE,
)
_TELLS_BUT_IS_NONE = frozenset(
    (
        *("patient", "she", "who", "they", "that", "which", "note", "notes", "letter", "records"),
        *("scan", "ecg", "xray", "film", "report", "chart", "card", "form", "sheet", "handover"),
        *("triage", "family", "crew", "ems", "staff", "everyone", "nobody", "police", "male"),
        *("female", "man", "woman", "boy", "girl", "lady", "gentleman", "this", "bloods", "pain"),
        *("and", "but", "also", "then", "paracetamol", "morphine", "nebs", "driver", "passenger"),
        *("cyclist", "rider", "student", "pedestrian", "ambulance", "guy", "lad", "lass", "gent"),
        *("lady", "baby", "infant", "child", "toddler", "teenager", "teen", "adult", "resident"),
    )
)


def named_people(text: str, words: Sequence[Word]) -> Iterator[Word]:
    """Yield where somebody else is called by name: "Lucy left" after "paramedic Lucy"."""
    names = {match["name"] for match in _NAMED.finditer(text)}
    for word in words:
        before = text[: word.start]
        if word.text in names and not (_OWN_SURNAME.search(before) or _NAMED_HERE.search(before)):
            yield word


_NAMED_HERE = re.compile(
    rf"\b(?:{'|'.join(sorted(STAFF | OTHERS))}|pc|sgt|sergeant|called|named)\.?\s$", re.IGNORECASE
)
_OWN_SURNAME = re.compile(r"\b(?:Mr|Mrs|Ms|Miss)\.?\s(?:[A-Z][\w'\u2019-]+\s)*$")


def people_by_deed(text: str, words: Sequence[Word]) -> Iterator[Word]:
    """Yield a sentence's first word that reports or acts as another person does: "Warden says".

    The words of no list, that is; "CT says" and "letter states" name no person.
    """
    starts = {
        match.start("who")
        for match in _TOLD_BY.finditer(text)
        if match["who"].lower() not in _TELLS_BUT_IS_NONE and not match["who"].isupper()
    }
    yield from (word for word in words if word.start in starts)


def unsexed_people(text: str, words: Sequence[Word]) -> Iterator[Word]:
    """Yield the words for other people, and animals, that do not tell a sex.

    "Restrained driver" and "34-year-old nurse" are the patient, save where the word speaks or acts
    ("driver states").
    """
    for word in words:
        low = word.low
        if low in DEPENDENTS:
            dependent = rf"\b(?:his|her|their)\s(?:\w+\s)?{low}\b"
            if re.search(dependent, text[: word.end], re.IGNORECASE):
                yield word
            continue
        if low == "ex" and re.match(r"(?!-|\s?smoker)", text[word.end :]):
            if re.search(r"\b(?:his|her)\s$", text[: word.start], re.IGNORECASE):
                yield word
            continue
        if low not in STAFF and low not in OTHERS and low not in ANIMALS:
            continue
        before = text[max(0, word.start - 45) : word.start]
        if low == "dr" or _SPEAKS.match(text, word.end):
            yield word
            continue
        own = _OWN_WORK.search(re.split(r"[.;\n]\s", before)[-1])
        if own and not _SOMEONE.search(before) and low not in ANIMALS:
            continue
        if low in _RIDES and not _SOMEONE.search(before):
            continue
        yield word


_ANIMAL = re.compile(rf"[ -](?:[\w-]+ ){{0,2}}(?:{'|'.join(sorted(ANIMALS))})\b", re.IGNORECASE)
_ANOTHERS = re.compile(
    r"(?:['\u2019]s?\s|\b(?:his|their|my|one|two|three|four|other|another|unknown|unidentified)\s)"
    r"(?:[\w-]+\s)?$",
    re.IGNORECASE,
)
_HER_OWN = re.compile(r"\bher\s(?:[\w-]+\s)?$", re.IGNORECASE)
_ROLE_IS_OWN = re.compile(
    r"(?:^|[.\n:;(]\s*|\d\W{0,3}(?:y\W?o\W?|years?|yrs?)?(?:[ -]old)?\W{0,2}(?:[MF]\b\W{0,2})?"
    r"(?:[\w-]+\s){0,2}|\b(?:is|was|as|being|pt|patient|former|retired|ex|occupation)\W{1,2}"
    r"(?:(?:an?|the|now|off-duty)\s)?(?:[\w-]+\s){0,2}|,\s(?:an?\s|retired\s)(?:[\w-]+\s)?)$",
    re.IGNORECASE,
)


_STAFF_NEXT = re.compile(
    rf"\s(?:[\w-]+\s)?(?:{'|'.join(sorted(STAFF))})\b(?!,?\s(?:aged\s)?\d)", re.IGNORECASE
)
_OF_PERSON = re.compile(
    rf"\b(?:{'|'.join(sorted(STAFF | OTHERS | ANIMALS))}|passer-by|passers-by)"
    r"(?:\s?\(\s?(?:an?\s)?|,\san?\s)$|\bsource(?:\s\w+)?\s(?:is|was)\s(?:an?\s)?$",
    re.IGNORECASE,
)


def of_another(before: str, rest: str) -> bool:
    """Tell "her female Labrador", "a male medic" and "interpreter (male)" from the patient's."""
    if _ANIMAL.match(rest):
        return True
    if not re.search(r"\d\W{0,3}\w*\W{0,2}$", before[-12:]) and (
        _STAFF_NEXT.match(rest) or _OF_PERSON.search(before[-40:])
    ):
        return True
    if re.match(r"\s(?:pt|patient|infant|child|baby|newborn|neonate)\b", rest, re.IGNORECASE):
        return False
    return bool(_ANOTHERS.search(before) or _HER_OWN.search(before))


def is_own_role(text: str, word: Word) -> bool:
    """Tell the patient's work ("Waitress, 22", "works as a waiter") from "found by a policeman".

    Raises:
        CannotRewrite: It could be either.
    """
    before = text[max(0, word.start - 60) : word.start]
    if _SPEAKS.match(text, word.end):
        return False
    if re.search(
        r"\b(?:by|with|from|against|to|saw|told|and)\s(?:an?\s|the\s|two\s)?(?:\w+\s)?$", before
    ):
        return False
    if re.search(r"\b(?:his|her|their)\s(?:\w+\s)?$", before, re.IGNORECASE):
        return False
    opens = re.search(r"(?:^|[.\n]\s*)(?:an?|the|this)\s(?:[\w-]+\s)?$", before, re.IGNORECASE)
    aged = re.match(r",?\s(?:of\s|aged\s)?\d", text[word.end :])
    if _ROLE_IS_OWN.search(before) or (opens and aged):
        return True
    raise CannotRewrite("unclear_role", word.text)


def is_alternative(text: str, word: Word) -> bool:
    """Tell "he/she" and "his or her", which mean anybody."""
    return bool(
        re.search(
            r"\b(?:he|him|his|she|her|s)\s?(?:/|\sor\s)\s?$", text[: word.start], re.IGNORECASE
        )
        or re.match(
            r"\s?(?:/|\sor\s)\s?(?:he|him|his|she|hers?)\b", text[word.end :], re.IGNORECASE
        )
    )


def without_s(word: Word) -> Word:
    """Return "he" of "hes" typed without its apostrophe; other words as they are."""
    if word.low not in ("hes", "shes") or (word.text.isupper() and word.low == "hes"):
        return word
    return Word(word.start, word.end - 1, word.text[:-1], word.sentence)


def called_as(text: str, word: Word) -> str | None:
    """Return the sex of a title right after the word: "Friend, Mr. Dask", "Teacher (Mrs Hale)"."""
    match = re.match(
        r",?\s\(?(?:a\s)?(Mr|Mister|Mrs|Ms|Miss|male|female)\b", text[word.end :], re.IGNORECASE
    )
    if not match:
        return None
    return "male" if match[1].lower() in ("mr", "mister", "male") else "female"
