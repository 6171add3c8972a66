"""The rewriter that is a chat model: messages with seven exemplars, and the note in its reply.

The exemplars are our own (few_shot.en.txt, few_shot.fr.txt). The reply is taken out of what the
model says around it and passes the gate like any other note; what the gate rejects is "refused".
"""

import difflib
import re
from functools import cache
from importlib.resources import files

from evenhand.graph_store.errors import UserError
from evenhand.tools.notes.edits import Edit, RewrittenNote
from evenhand.tools.notes.gate import check_note
from evenhand.tools.word_diff import word_diff

Messages = tuple[tuple[str, str], ...]
"""(role, text) pairs, role one of system, user, assistant."""

_HEADING = re.compile(r"^### (system|user|assistant)\n", re.MULTILINE)
_TAG = re.compile(r"<(?=\\*\s*/?\s*note\b)", re.IGNORECASE)
_IN_TAG = re.compile(r"<note>\n?(.*?)\n?</note>", re.DOTALL | re.IGNORECASE)
_IN_FENCE = re.compile(r"```[^\n`]*\n(.*?)\n?```", re.DOTALL)
_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)
_SAME_ENOUGH = 0.5
_VALUES = {
    "en": {"male": "male", "female": "female"},
    "fr": {"male": "masculin", "female": "féminin"},
}


def few_shot_messages(text: str, *, before: str, after: str, language: str) -> Messages:
    """Return the messages that ask a chat model to change the patient's gender.

    Args:
        text: The note, untrusted: a closing tag in it cannot end the part it stands in.
        before: "male" or "female".
        after: The other one.
        language: "en" or "fr".
    """
    words = _VALUES.get(language)
    if words is None:
        raise UserError(f"no exemplars for language {language!r}; known: {', '.join(_VALUES)}.")
    asked = f"{words[before]} -> {words[after]}\n<note>\n{_TAG.sub(_broken, text)}\n</note>"
    return (*_exemplars(language), ("user", asked))


def _broken(match: re.Match[str]) -> str:
    return match[0] + "\\"


@cache
def _exemplars(language: str) -> Messages:
    raw = (files("evenhand.tools.notes") / f"few_shot.{language}.txt").read_text("utf-8")
    parts = _HEADING.split(raw)
    return tuple((parts[i], parts[i + 1].strip()) for i in range(1, len(parts), 2))


def extract_rewrite(original: str, reply: str) -> str | None:
    """Return the note that a reply holds, without what stands around it; None where it holds none.

    What stands between tags, else between fences, else a paragraph or the whole of it, whichever
    is nearest to the original in its words; blanks at both ends are the original's.
    """
    reply = _THOUGHT.sub("", reply)
    paragraphs = [part for part in re.split(r"\n\s*\n", reply) if part.strip()]
    whole = [reply] if "\n\n" in original.strip() else [*paragraphs, reply]
    best = next(
        (
            nearest
            for candidates in (_IN_TAG.findall(reply), _IN_FENCE.findall(reply), whole)
            for nearest in (_nearest(original, candidates),)
            if nearest is not None
        ),
        None,
    )
    if best is None:
        return None
    lead = original[: len(original) - len(original.lstrip())]
    trail = original[len(original.rstrip()) :]
    return lead + best.strip().replace("<\\", "<") + trail


def _nearest(original: str, candidates: list[str]) -> str | None:
    """Return the candidate most like the original; None where none is like it."""
    best = max(candidates, key=lambda candidate: _likeness(original, candidate), default="")
    return best if _likeness(original, best) >= _SAME_ENOUGH else None


def _likeness(original: str, candidate: str) -> float:
    """Return how alike two texts are in their words, 0 to 1."""
    matcher = difflib.SequenceMatcher(None, original.split(), candidate.split(), autojunk=False)
    return matcher.ratio()


def read_reply(
    original: str, reply: str, *, before: str, after: str, language: str
) -> RewrittenNote:
    """Return the gated note of a chat model's reply.

    refused: the reply holds no note ("no_note"), or the gate rejects it, with its reason code.
    unchanged: the note came back as it was.
    """
    text = extract_rewrite(original, reply)
    if text is None:
        return RewrittenNote("refused", original, reason="no_note")
    if text == original:
        return RewrittenNote("unchanged", original, reason="not_stated")
    verdict = check_note(original, text, "gender", before, after, language)
    if not verdict.accepted:
        sexed = verdict.reason_code == "impossible_patient"
        return RewrittenNote(
            "sex_specific" if sexed else "refused",
            original,
            reason="sex_specific_content" if sexed else verdict.reason_code,
            evidence=verdict.evidence,
        )
    return RewrittenNote("rewritten", text, tuple(_edits(original, text)))


def _edits(original: str, text: str) -> list[Edit]:
    edits: list[Edit] = []
    place, gone = 0, ""
    for piece in word_diff(original, text):
        if piece.kind == "added":
            start = place - len(gone)
            edits.append(Edit(start, place, gone, piece.text, "few_shot"))
            gone = ""
            continue
        if gone:
            edits.append(Edit(place - len(gone), place, gone, "", "few_shot"))
        gone = piece.text if piece.kind == "removed" else ""
        place += len(piece.text)
    if gone:
        edits.append(Edit(place - len(gone), place, gone, "", "few_shot"))
    return edits
