"""A rewritten note read back: each word that was changed must be brought back as it was.

A word that the way back does not know as the patient's was hardly the patient's. A few pairs are
lossy by nature: Mrs, Miss and Ms all become Mr. What the way back changes besides is no fault: the
people of the sex that the patient now has are no longer told apart from the patient.
"""

import re
from collections.abc import Sequence

from evenhand.tools.notes.edits import Edit, RewrittenNote, apply_edits

_LOSSY = {
    "en": (
        (r"\b(?:mrs|miss|ms)\b\.?", "ms"),
        (r"\b(?:mr|mister)\b\.?", "mr"),
        (r"\b(?:lady|woman|gal|lass)\b", "woman"),
        (r"\b(?:gentleman|man|guy|lad|gent|bloke|chap)\b", "man"),
        (r"\b(?:stepmum|stepmom)\b", "stepmum"),
        (r"\b(?:mom|mum|mommy|mummy|mother|mama|gran|granny|nan|nana|nanna|grandma)\b", "mother"),
        (r"\b(?:bachelorette|spinster)\b", "spinster"),
        (r"\b(?:dad|daddy|father|papa|grand?dad|grandpa|grandpop)\b", "father"),
        (r"\b(?:hubby|husband)\b", "husband"),
        (r"\bf?emlae?\b|\bfe?mal?e?\b", "female"),
    ),
    "fr": (
        (r"\b(?:mme|mlle|madame|mademoiselle|dame)\b\.?", "mme"),
        (r"\b(?:mr\b|m(?=\.)|monsieur\b)\.?", "mr"),
        (r"\b(?:femme|fille|fillette)\b", "femme"),
        (r"\b(?:homme|garçon|garçonnet)\b", "homme"),
        (r"\b[hm]\b", "h"),
        ("\u2019", "'"),
    ),
}


_PEOPLE = {
    (
        "en",
        "male",
    ): r"he|him|his|son|father|dad|brother|husband|boyfriend|grandfather|uncle|mr|man|boy|male",
    (
        "en",
        "female",
    ): r"she|her|daughter|mother|mom|mum|sister|wife|girlfriend|grandmother|aunt|woman"
    r"|girl|female|mrs|ms",
    ("fr", "male"): r"il|fils|père|papa|frère|mari|copain|compagnon|oncle|homme|garçon|voisin|ami",
    (
        "fr",
        "female",
    ): r"elle|fille|mère|maman|sœur|soeur|femme|épouse|copine|compagne|tante|voisine|amie",
}


def has_people(text: str, sex: str, language: str) -> bool:
    """Whether a note names anybody of a sex, who is the other one than the patient's."""
    return bool(re.search(rf"\b(?:{_PEOPLE[language, sex]})\b", text, re.IGNORECASE))


def is_reversed(
    note: RewrittenNote, back: Sequence[Edit], language: str, *, contrast: bool
) -> bool:
    """Whether the edits that lead back undo each of the note's edits.

    Args:
        note: A rewritten note.
        back: The edits of its text to the old sex.
        language: "en" or "fr".
        contrast: Whether the source names people of the other sex: what told them apart from the
            patient's pronouns is then lost on the way back, and pronouns are not looked at.
    """
    changed = [
        edit
        for edit in note.edits
        if edit.rule != "agreement_object" and not (contrast and edit.rule == "pronoun")
    ]
    spans = [
        (start, start + len(edit.after))
        for edit in changed
        for start in [note.moved(edit.start, edit.start)[0]]
    ]
    undone = [
        edit for edit in back if any(edit.start < end and start < edit.end for start, end in spans)
    ]
    source = apply_edits(note.text, undone)
    original = _source(note, changed)
    return source == original or _plain(source, language) == _plain(original, language)


def _source(note: RewrittenNote, changed: Sequence[Edit]) -> str:
    undo = [
        Edit(start, start + len(edit.after), edit.after, edit.before, edit.rule)
        for edit in changed
        for start in [note.moved(edit.start, edit.start)[0]]
    ]
    return apply_edits(note.text, undo)


def _plain(text: str, language: str) -> str:
    text = text.lower()
    for pattern, word in _LOSSY[language]:
        text = re.sub(pattern, word, text)
    return text
