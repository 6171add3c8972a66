"""What a rewriter hands back: the note, each edit with its rule, or why there is none."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

NoteStatus = Literal["rewritten", "unchanged", "refused", "sex_specific"]
SpousePolicy = Literal["keep", "swap"]
"""keep: husband and wife stay as the note has them; swap: they change with the patient."""


@dataclass(frozen=True)
class Edit:
    """text[start:end] of the source, which is `before`, becomes `after`; `rule` says why."""

    start: int
    end: int
    before: str
    after: str
    rule: str


@dataclass(frozen=True)
class RewrittenNote:
    """A counterfactual note, or why there is none.

    Attributes:
        status: rewritten; unchanged (the note does not state the attribute's value, or states the
            other one: reason "not_stated", "already_target"); refused (it states it, and cannot be
            rewritten for certain); sex_specific (it says what only one sex can have).
        text: The new text; the source as it was unless status is "rewritten".
        edits: In the order of the text; empty unless status is "rewritten".
        reason: A code to count by; None where the note was rewritten.
        evidence: The words of the source that led to the reason.
        flags: What a reader should know of a rewritten note, such as "sex_associated_content".
        spouse: The policy that was used.
    """

    status: NoteStatus
    text: str
    edits: tuple[Edit, ...] = ()
    reason: str | None = None
    evidence: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    spouse: SpousePolicy = "keep"

    @property
    def is_pair(self) -> bool:
        """Whether source and text are a counterfactual pair."""
        return self.status == "rewritten"

    def moved(self, start: int, end: int) -> tuple[int, int]:
        """Return where text[start:end] of the source lies now; a span in no edit keeps its words.

        Example:
            >>> edit = Edit(0, 2, "He", "She", "pronoun")
            >>> RewrittenNote("rewritten", "She is", (edit,)).moved(3, 5)
            (4, 6)
        """
        return self._moved(start), self._moved(end)

    def _moved(self, place: int) -> int:
        return place + sum(
            len(edit.after) - len(edit.before) for edit in self.edits if edit.end <= place
        )


class CannotRewrite(Exception):
    """The note states the attribute and cannot be rewritten for certain."""

    def __init__(self, reason: str, *evidence: str) -> None:
        """Keep a code to count by and the words that led to it."""
        super().__init__(reason)
        self.reason = reason
        self.evidence = evidence


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Return the text with every edit made, each at its place in the source.

    What two rules change in the same way is changed once.

    Raises:
        CannotRewrite: Two edits overlap: rules read the same words differently.
    """
    pieces: list[str] = []
    done = 0
    wanted = {(edit.start, edit.end, edit.after): edit for edit in edits}
    for edit in sorted(wanted.values(), key=lambda each: each.start):
        if edit.start < done:
            raise CannotRewrite("rules_disagree", edit.before)
        pieces += [text[done : edit.start], edit.after]
        done = edit.end
    return "".join([*pieces, text[done:]])
