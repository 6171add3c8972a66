"""One note, one attribute, one direction: the counterfactual note, or why there is none."""

from collections.abc import Callable
from typing import Literal

from evenhand.graph_store.errors import UserError
from evenhand.tools.notes.age import rewrite_age
from evenhand.tools.notes.content import Content, sex_content
from evenhand.tools.notes.edits import (
    CannotRewrite,
    Edit,
    NoteStatus,
    RewrittenNote,
    SpousePolicy,
    apply_edits,
)
from evenhand.tools.notes.english import English
from evenhand.tools.notes.french import French
from evenhand.tools.notes.location import rewrite_location
from evenhand.tools.notes.race import rewrite_race
from evenhand.tools.notes.round_trip import has_people, is_reversed

Language = Literal["en", "fr"]
LANGUAGES = ("en", "fr")
GENDERS = ("male", "female")
LONGEST = 20_000
"""Characters; a longer text is a record's whole file, not a note of triage."""

_Rewrite = Callable[[str, str, str, str], tuple[list[Edit], list[str]]]
_OTHERS: dict[str, _Rewrite] = {
    "age": rewrite_age,
    "race": rewrite_race,
    "location": rewrite_location,
}
ATTRIBUTES = ("gender", *_OTHERS)


def rewrite_note(
    text: str,
    *,
    attribute: str,
    before: str,
    after: str,
    language: str,
    spouse: SpousePolicy = "keep",
    surname: str | None = None,
    new_name: str | None = None,
) -> RewrittenNote:
    """Return the note with one attribute of the patient changed, every other byte kept.

    Exact, or it says that it cannot: a word whose owner or form the rules cannot tell makes the
    status "refused", with the word as evidence. Relatives, staff and quoted speakers keep theirs.

    Args:
        text: The note.
        attribute: gender, age, race or location.
        before: The value that the note states: "male", "female"; whole years; a value of
            values.csv; a place.
        after: The value that it shall state.
        language: "en" or "fr".
        spouse: Whether husband and wife stay or change with the patient (gender only).
        surname: The patient's surname; titles before other surnames are then other people's.
        new_name: A name to put in the place of the patient's, after a title.

    Raises:
        UserError: An unknown attribute, language or value; before equal to after.

    Example:
        >>> rewrite_note(
        ...     "He hurt his arm.", attribute="gender", before="male", after="female", language="en"
        ... ).text
        'She hurt her arm.'
    """
    _check(attribute, before, after, language, spouse)
    if len(text) > LONGEST:
        reason = f"{len(text)} characters; at most {LONGEST}"
        return RewrittenNote("refused", text, reason="too_long", evidence=(reason,), spouse=spouse)
    if attribute != "gender":
        return _result(text, lambda: _OTHERS[attribute](text, before, after, language), spouse)
    content = sex_content(text, language)
    barred = _barred(content)
    if barred:
        status, reason, evidence = barred
        return RewrittenNote(status, text, reason=reason, evidence=evidence, spouse=spouse)

    def read() -> tuple[list[Edit], list[str]]:
        reader = (English if language == "en" else French)(
            text, before, after, spouse=spouse, surname=surname, new_name=new_name
        )
        edits = reader.read()
        if edits and reader.other_sex:
            raise CannotRewrite("mixed_gender", *reader.other_sex)
        return edits, reader.other_sex

    note = _result(text, read, spouse, flagged=bool(content.associated))
    if not note.is_pair or new_name:
        return note
    back = _read_back(note.text, after, before, language, spouse, surname)
    if back is None or is_reversed(
        note, back, language, contrast=has_people(text, after, language)
    ):
        return note
    return RewrittenNote("refused", text, reason="not_reversible", spouse=spouse)


def _read_back(
    text: str,
    before: str,
    after: str,
    language: str,
    spouse: SpousePolicy,
    surname: str | None,
) -> list[Edit] | None:
    """Return the edits that bring the note back to the old sex; None where that is unclear.

    Unclear is no fault: people of the sex that the patient had are now hard to tell from them.
    """
    reader = (English if language == "en" else French)(
        text, before, after, spouse=spouse, surname=surname
    )
    try:
        return reader.read()
    except CannotRewrite:
        return None


def _check(attribute: str, before: str, after: str, language: str, spouse: str) -> None:
    if attribute not in ATTRIBUTES:
        raise UserError(f"no attribute {attribute!r} of notes; known: {', '.join(ATTRIBUTES)}.")
    if language not in LANGUAGES:
        raise UserError(f"no rules for language {language!r}; known: {', '.join(LANGUAGES)}.")
    if attribute == "gender" and not {before, after} <= {*GENDERS}:
        raise UserError(f"a gender is male or female; got {before!r} and {after!r}.")
    if before == after:
        raise UserError(f"{attribute} is {before!r} before and after; name two values.")
    if spouse not in ("keep", "swap"):
        raise UserError(f"no policy {spouse!r} for the spouse; use keep or swap.")


def _barred(content: Content) -> tuple[NoteStatus, str, tuple[str, ...]] | None:
    if content.identity:
        return "refused", "explicit_gender_identity", content.identity
    if content.specific:
        return "sex_specific", "sex_specific_content", content.specific
    return None


def _result(
    text: str,
    read: Callable[[], tuple[list[Edit], list[str]]],
    spouse: SpousePolicy,
    *,
    flagged: bool = False,
) -> RewrittenNote:
    try:
        edits, others = read()
        rewritten = apply_edits(text, edits)
    except CannotRewrite as error:
        return RewrittenNote(
            "refused", text, reason=error.reason, evidence=error.evidence, spouse=spouse
        )
    if not edits:
        reason = "already_target" if others else "not_stated"
        return RewrittenNote(
            "unchanged", text, reason=reason, evidence=tuple(others), spouse=spouse
        )
    flags = ["sex_associated_content"] if flagged else []
    flags += ["spouse_swapped"] if any(edit.rule == "spouse" for edit in edits) else []
    return RewrittenNote("rewritten", rewritten, tuple(edits), flags=tuple(flags), spouse=spouse)
