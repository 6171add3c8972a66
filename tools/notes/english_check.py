"""A last check of an English rewriting, apart from the rules: is every mark of the old sex read?

It knows wide lists of what can mark a sex and nothing of who is meant. A mark that the rules have
neither changed nor kept for a reason makes the note refused, and so does a change of what can only
be another's.
"""

import re
from collections.abc import Collection, Sequence

from evenhand.tools.notes.edits import CannotRewrite, Edit
from evenhand.tools.notes.english_families import COMPOUNDS, without_counterpart

_MARKS = {
    "male": re.compile(
        r"\b(?:male|man|boy|lad|gent|gentleman|guy|bloke|chap|fella"
        r"|fellow(?!\s?-?up)"
        r"|mr|mister|sir|master(?=\s[A-Z])|he|hes|him|his|himself|son|father|dad|daddy|grandad"
        r"|grand(?:father|pa|son)|brother|husband|hubby|uncle|nephew|widower|bachelor|waiter"
        r"|\w+(?<!wo)(?<!hu)(?<!ger)man(?<!human)(?<!german)(?<!roman)(?<!norman)(?<!ottoman))\b",
        re.IGNORECASE,
    ),
    "female": re.compile(
        r"\b(?:female|woman|girl|lass|lady|gal|mrs|ms|miss(?=\\.?\\s[A-Z])|madam"
        r"|ma'am"
        r"|she|shes|her|hers|herself|daughter|mother|mom|mum|mummy|mommy|gran|granny|nan|nana"
        r"|grand(?:mother|ma|daughter)|sister|wife|aunt(?:ie)?|niece|widow|spinster|housewife|nun"
        r"|\w+(?:ess(?<=waitress)|woman|trix)|actress|hostess|stewardess|heiress|bride)\b",
        re.IGNORECASE,
    ),
}
_SEVERAL = {
    "male": re.compile(r"\W*(?:\w+\s){0,2}(?:men|boys|males|lads|gentlemen)\b", re.IGNORECASE),
    "female": re.compile(r"\W*(?:\w+\s){0,2}(?:women|girls|females|ladies)\b", re.IGNORECASE),
}
"""A note that opens with several people of that sex: who is the patient?"""
_LETTER = {
    "male": re.compile(
        r"(?<![A-Za-z'\u2019.\u00b0/&+])(?:\d+\s?(?:y/?o?|yr|mo?)?)?(?P<l>M)(?![\w'\u2019/&+]|\.\w)"
    ),
    "female": re.compile(
        r"(?<![A-Za-z'\u2019.\u00b0/&+])(?:\d+\s?(?:y/?o?|yr|mo?)?)?(?P<l>F)(?![\w'\u2019/&+]|\.\w)"
    ),
}
_UNIT_BEFORE = re.compile(
    r"(?:\d[.,]\d+|\b(?:1[0-9]{2}|9\d|8[0-9]|\d{4,})|[TtCc]emp\W{0,3}\d+|\bT\W?\d+)\s?\u00b0?$"
)
_AGE_NEAR = re.compile(
    r"(?:\d\s?|\d\s?(?:yo|y/?o|y\.o\.?|yrs?|years?(?:[ -]old)?|mo"
    r"|months?(?:[ -]old)?)\b[^.;\n\d]{0,25})"
    r"[\s,(/-]{0,3}$",
    re.IGNORECASE,
)
_NOT_PEOPLE = re.compile(r"\s*(?:bundle\b|-?Purkinje)")
_OTHERS_THING = re.compile(
    r"\s(?:nurse|officer|doctor|dog|cat|puppy|horse|colleague|friend|bystander|driver|paramedic)\b",
    re.IGNORECASE,
)


def check_complete(text: str, edits: Sequence[Edit], before: str, read: Collection[int]) -> None:
    """Refuse a note with a mark of the old sex that no rule has read.

    Args:
        text: The source.
        edits: What the rules would change.
        before: The patient's sex in the source.
        read: Where the rules have read a mark: changed it, or kept it for a reason.

    Raises:
        CannotRewrite: A mark is unread, or a change is not the patient's.
    """
    for match in _MARKS[before].finditer(text):
        word = match[0]
        if match.start() in read or any(e.start <= match.start() < e.end for e in edits):
            continue
        if len(word) > 1 and word.isupper() and not text.isupper() and len(word) < 4:
            continue  # HE, MS, MAN of a drug chart: judged by the rules for abbreviations
        if word.lower() == "ms" and word != "Ms":
            continue
        if word[0].isupper() and len(word) > 4 and _SURNAME.search(text[: match.start()]):
            continue  # "Mr Chapman"
        if word == "His" and _NOT_PEOPLE.match(text, match.end()):
            continue
        raise CannotRewrite("unread_word", word)
    sexes = without_counterpart()
    for match in re.finditer(r"[^\W\d_]+(?:[-'\u2019][^\W\d_]+)*", text):
        low = match[0].lower().replace("\u2019", "'")
        done = match.start() in read or any(e.start <= match.start() < e.end for e in edits)
        if sexes.get(low) == before and not done and not _is_name(text, match):
            raise CannotRewrite("unread_word", match[0])
        if (
            low in ("lady", "woman", "man", "gentleman")
            and any(e.start == match.start() for e in edits)
            and text[: match.start()].rstrip(" -").lower().rpartition(" ")[2] in COMPOUNDS
        ):
            raise CannotRewrite("compound", text[max(0, match.start() - 10) : match.end()])
    several = _SEVERAL[before].match(text)
    if several:
        raise CannotRewrite("unread_word", several[0])
    for match in _LETTER[before].finditer(text):
        place = match.start("l")
        if place in read:
            continue
        earlier = text[:place]
        if _UNIT_BEFORE.search(earlier):
            continue
        if place < 3 or (_AGE_NEAR.search(earlier[-45:]) and not _is_measure(text, place)):
            raise CannotRewrite("unread_letter", text[max(0, place - 10) : place + 1])
    if re.match(rf"\W*(?:pt\W+)?{before[0]}\s?,?\s?\d{{1,3}}\b", text) and not edits:
        raise CannotRewrite("unread_letter", text[:6])
    start = re.match(
        r"\W*(?:pt\W+)?\d{1,3}\s?(?P<l>[mf])\b(?!\s(?:ago|run|fall|from|height|away))", text
    )
    if start and start["l"] == before[0] and start.start("l") not in read:
        raise CannotRewrite("unread_letter", start[0])
    for edit in edits:
        if edit.before.lower() in ("male", "female") and _OTHERS_THING.match(text, edit.end):
            aged = re.search(r"\d[\w\s/.-]{0,14}$", text[: edit.start])
            if not aged:
                raise CannotRewrite("others_word", text[edit.start : edit.end + 12])


_SURNAME = re.compile(r"(?:\b(?:Mrs?|Ms|Miss|Dr|Prof|St)\.?|[A-Z][a-z]+)\s$")


def _is_name(text: str, match: re.Match[str]) -> bool:
    """Tell surnames and places ("Dr Earl", "King Street") from "a lord"."""
    named = _SURNAME.search(text[: match.start()])
    place = re.match(r"['\u2019]?s?\s(?:[A-Z]|ward|hospital|college)", text[match.end() :])
    return match[0][0].isupper() and bool(named or place)


def _is_measure(text: str, place: int) -> bool:
    """Tell 5 M IU, a 16 F catheter and 4 M of height from a sex beside an age."""
    return bool(
        re.match(
            r"\s*(?:IU|units?|cath\w*|foley|sheath|stent|introducer|HCl|NaCl)\b",
            text[place + 1 :],
            re.I,
        )
        or re.search(
            r"\b(?:ht|height|temp|T|fever|of|to|at|approx|about|from|fell)\W{0,2}\d+\s?$",
            text[:place],
            re.I,
        )
    )
