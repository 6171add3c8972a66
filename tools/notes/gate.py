"""The validity gate of a rewritten note: did only the patient's attribute change, and all of it?

It knows nothing of who rewrote: it compares both texts word by word. Each stretch that differs
must be forms of the declared attribute, from the old value to the new one; everything else, blanks
and line breaks included, must be the same bytes; and the old value must be gone.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from evenhand.tools.gate import GateVerdict, ReasonCode
from evenhand.tools.notes.content import sex_content
from evenhand.tools.notes.gate_forms import (
    article_changed,
    gender_pair,
    race_words,
    relative_changed,
    stage_pair,
)
from evenhand.tools.notes.gate_people import opens_as, others_changed, two_in_one
from evenhand.tools.word_diff import Piece, word_diff

_NEGATION = re.compile(
    r"\b(?:no|not|never|none|nor|without|denie[sd]|deny|denying|absent|negative|free|cannot"
    r"|pas|non|sans|aucune?|jamais|ni|nie|négatif|négative|absence)\b",
    re.IGNORECASE,
)
_LEFT_LETTER = {
    "male": re.compile(
        r"\b(?:sex|gender|sexe)\s*[:=]\s*(?:M|male|masculin|homme)\b", re.IGNORECASE
    ),
    "female": re.compile(
        r"\b(?:sex|gender|sexe)\s*[:=]\s*(?:F|female|féminin|femme)\b", re.IGNORECASE
    ),
}
_LEFT_PATIENT = {
    "male": re.compile(
        r"\b(?:le|du|au|un|ce) patient\b|\b\d+-year-old (?:man|male|boy)\b", re.IGNORECASE
    ),
    "female": re.compile(
        r"\b(?:la|une|cette) patiente\b|\b\d+-year-old (?:woman|female|girl)\b", re.IGNORECASE
    ),
}
_PRONOUNS = {
    ("en", "male"): re.compile(r"\b(?:[Hh]e|[Hh]im|[Hh]imself|[Hh]is)\b(?! bundle|-Purkinje)"),
    ("en", "female"): re.compile(r"\b(?:[Ss]he|[Hh]er|[Hh]ers|[Hh]erself)\b"),
    ("fr", "male"): re.compile(
        r"\b[Ii]l\b(?!\s+(?:n['\u2019]|ne\s)?\s*(?:y\b|s['\u2019]agi|existe|faut|fallait"
        r"|est\s(?:à\snoter"
        r"|noté|possible|probable|\d)|semble\sque|persiste|convient|pleut|neige|fait"
        r"|a\sété\s(?:décidé"
        r"|noté|mis)))"
    ),
    ("fr", "female"): re.compile(r"\b[Ee]lle\b"),
}
_PEOPLE = {
    "male": r"father|dad|brother|son|uncle|nephew|grand(?:father|son|pa)|husband|boyfriend|man|boy"
    r"|gentleman|step(?:father|son|brother)|fiancé|père|frère|fils|oncle|neveu|mari|époux|conjoint"
    r"|compagnon|ami|voisin|homme|garçon|médecin|infirmier|copain|Mr|M",
    "female": r"mother|mom|mum|sister|daughter|aunt|niece|grand(?:mother|daughter|ma)|wife"
    r"|girlfriend|woman|girl|lady|step(?:mother|daughter|sister)|fiancée|mère|s\u0153ur|soeur|fille"
    r"|tante|nièce|femme|épouse|conjointe|compagne|amie|voisine|infirmière|copine|Ms|Mrs|Mme",
}
_ANYONE = (
    r"partner|friend|neighbou?r|roommate|cousin|doctor|physician|nurse|Dr|GP|PCP|boss|colleague"
    r"|coach|teacher|tutor|officer|police|carer|caregiver|driver|bystander|jogger|lifeguard"
    r"|manager|guard|worker|medic|paramedic|therapist|dentist|owner|passenger|client|customer"
    r"|landlord|chef"
    r"|cardiologue|dentiste|entraîneur|secouriste|neurologue|psychiatre|conducteur|conductrice"
    r"|gardien\w*|interne"
    r"|agente?|témoin|directeur|directrice|collègue|chef"
)
_THING_NOUN = re.compile(r"\b(?:la|une|sa|cette|douleur|[Ff]ièvre|[Tt]oux|[Pp]laie)\b")
_SHOWN_CHARACTERS = 60


@dataclass(frozen=True)
class NoteVerdict(GateVerdict):
    """A verdict with the words of both texts that led to it."""

    evidence: tuple[str, ...] = ()


def check_note(
    original: str, rewritten: str, attribute: str, before: str, after: str, language: str
) -> NoteVerdict:
    """Accept a rewritten note that differs in the patient's attribute alone.

    The reason codes, in the order in which they are looked for: empty; not_changed (the texts are
    equal, or words of the old value are left); whitespace, negation_changed, number_changed,
    other_change (what else differs); wrong_value (it changes the other way); impossible_patient
    (gender: the note says what only one sex can have).

    Args:
        original: The note as it was.
        rewritten: The counterfactual note.
        attribute: gender, age, race or location.
        before: The declared value of the original.
        after: The declared value of the rewritten note.
        language: "en" or "fr".
    """
    if not rewritten.strip():
        return _rejected("empty", "the note has no text")
    if original == rewritten:
        return _rejected("not_changed", "both texts are equal")
    if original.split() == rewritten.split():
        return _rejected("whitespace", "blanks or line breaks differ")
    allowed = _allowed(attribute, before, after, language)
    for gone, come in _stretches(word_diff(original, rewritten)):
        if not allowed(gone, come):
            return _fault(gone, come, allowed)
        relative = relative_changed(gone, original) if attribute == "gender" else None
        if relative:
            return _rejected("other_change", f"a relative changed: {relative!r}", relative)
    if _blanks(original) != _blanks(rewritten) and language == "en" and attribute != "location":
        return _rejected("whitespace", "blanks or line breaks differ")
    left = _left(original, rewritten, attribute, before, language)
    if left:
        return _rejected("not_changed", f"{attribute} is still {before}: {left!r}", left)
    if attribute == "gender":
        others = others_changed(original, rewritten, language) or two_in_one(
            original, rewritten, language
        )
        if others:
            return _rejected("other_change", f"could be another's: {others!r}", others)
        specific = sex_content(original, language).specific
        if specific:
            said = ", ".join(specific)
            return _rejected("impossible_patient", f"{said} in a {after} patient", *specific)
    return NoteVerdict(accepted=True)


def _rejected(code: ReasonCode, reason: str, *evidence: str) -> NoteVerdict:
    return NoteVerdict(False, code, reason, evidence)


_Allowed = Callable[[str, str], bool]


def _allowed(attribute: str, before: str, after: str, language: str) -> _Allowed:
    """Return what tells whether a stretch may differ."""
    if attribute == "gender":
        return lambda gone, come: gender_pair(gone, come, before, language)
    if attribute == "age":
        return lambda gone, come: (
            (gone == before and come == after)
            or (
                (gone[: len(before)], come[: len(after)]) == (before, after)
                and gone[len(before) :] == come[len(after) :] != ""
                and not gone[len(before)].isdigit()
            )
            or article_changed(gone, come)
            or stage_pair(gone, come)
            or (
                gone.split()[-1:] == [before]
                and come.split()[-1:] == [after]
                and article_changed(gone.split()[0], come.split()[0])
            )
        )
    if attribute == "race":
        old, new = race_words(before), race_words(after)
        return lambda gone, come: (
            article_changed(gone, come)
            or (_bare(gone) <= old | {"a", "an"} and _bare(come) <= new | {"a", "an"})
        )
    old, new = _bare(before) | {"d", "de"}, _bare(after) | {"d", "de"}
    return lambda gone, come: _bare(gone) <= old and _bare(come) <= new


def _bare(words: str) -> set[str]:
    return set(re.findall(r"\w+", words.lower()))


def _stretches(pieces: list[Piece]) -> Iterator[tuple[str, str]]:
    """Yield (removed, added), neighbours that only a blank divides as one."""
    gone = come = pending = ""
    for piece in pieces:
        if piece.kind == "same":
            if (gone or come) and re.fullmatch(r"[ '\u2019]", piece.text):
                pending += piece.text
                continue
            if gone or come:
                yield gone, come
            gone = come = pending = ""
        elif piece.kind == "removed":
            gone, come, pending = gone + pending + piece.text, come + pending, ""
        else:
            gone, come, pending = gone + pending, come + pending + piece.text, ""
    if gone or come:
        yield gone, come


def _fault(gone: str, come: str, allowed: _Allowed) -> NoteVerdict:
    words = tuple(re.findall(r"[\w.,]*\w", f"{gone} {come}"))
    reason = f"removed {_shown(gone)}, added {_shown(come)}"
    if "".join(gone.split()) == "".join(come.split()):
        return _rejected("whitespace", "blanks or line breaks differ", *words)
    if allowed(come, gone):
        return _rejected("wrong_value", reason, *words)
    if _found(_NEGATION, gone) != _found(_NEGATION, come):
        return _rejected("negation_changed", reason, *words)
    if re.findall(r"\d+", gone) != re.findall(r"\d+", come):
        return _rejected("number_changed", reason, *words)
    return _rejected("other_change", reason, *words)


def _shown(words: str) -> str:
    words = words.strip()
    cut = f"{words[:_SHOWN_CHARACTERS]}..." if len(words) > _SHOWN_CHARACTERS else words
    return repr(cut) if cut else "nothing"


def _found(pattern: re.Pattern[str], text: str) -> list[str]:
    return sorted(match.lower() for match in pattern.findall(text))


def _blanks(text: str) -> list[str]:
    return re.findall(r"\s+", text)


def still_says(text: str, attribute: str, value: str, language: str) -> str | None:
    """Return a word by which a note says the attribute's value of the patient; None without one.

    For notes that a rewriter left as they were because they do not state it.
    """
    return _left(text, text, attribute, value, language)


def _left(original: str, rewritten: str, attribute: str, before: str, language: str) -> str | None:
    """Return a word of the old value that is still said of the patient."""
    if attribute != "gender":
        return None
    opened = opens_as(rewritten, before, language)
    if opened:
        return opened
    for pattern in (_LEFT_LETTER[before], _LEFT_PATIENT[before]):
        match = pattern.search(rewritten)
        if match:
            return match[0]
    match = _PRONOUNS[language, before].search(rewritten)
    if not match:
        return None
    if re.search(rf"\b(?:{_PEOPLE[before]}|{_ANYONE})\b", rewritten, re.IGNORECASE):
        return None
    if language == "fr" and before == "female" and _THING_NOUN.search(original):
        return None
    quoted = re.search(r"[\"\u201c\u00ab][^\"\u201d\u00bb]*" + re.escape(match[0]), rewritten)
    return None if quoted else match[0]
