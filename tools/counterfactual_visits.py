"""One visit in every arm: as it is and as another group, and the placebo beside it.

full changes the attribute's column and the note, text_only the note (the column is dropped from
both sides), tabular_only the column (the note is dropped from both sides). placebo rewrites the
note there and back and changes one field that should not matter. All arms are made of the same
visits: what cannot be shown in an arm is a variant with a status, never left out silently.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.graph_store.records import Change, Sample, Scalar, ShownArm, Variant, child_id
from evenhand.tools.finetune import shown_columns
from evenhand.tools.gate import ACCEPTED, GateVerdict
from evenhand.tools.notes import RewrittenNote
from evenhand.tools.notes.content import sex_content
from evenhand.tools.notes.edits import SpousePolicy
from evenhand.tools.notes.gate import check_note, still_says

PAIR_ARMS: tuple[ShownArm, ...] = ("full", "text_only", "tabular_only")
"""Arms whose pairs differ in the attribute."""
NOT_STATED, CALL_FAILED = "not_stated", "call_failed"
Rewrite = Callable[[str, str, str], RewrittenNote]
"""(text, before, after) -> the note, or why there is none."""


@dataclass(frozen=True)
class Showing:
    """How visits are shown.

    Attributes:
        attribute: What is changed.
        groups: Its compared values, the reference first.
        arms: Which arms are made, of PAIR_ARMS.
        language: Of the notes.
        spouse: Whether husband and wife stay or change with the patient.
        made_by: Who rewrites notes: "rules", or a model.
        maker: What the rewriting depends on besides, for the ids (a hash of the prompt).
    """

    attribute: str
    groups: tuple[str, ...]
    arms: tuple[ShownArm, ...] = PAIR_ARMS
    language: str = "en"
    spouse: SpousePolicy = "keep"
    made_by: str = "rules"
    maker: str = ""

    def targets(self, sample: Sample) -> tuple[str, ...]:
        """Return the groups that a visit is shown as, besides its patient's own."""
        return tuple(group for group in self.groups if group != sample.attributes[self.attribute])


def original_id(sample: Sample, arm: ShownArm) -> str:
    """Return the id of a visit as it is, in an arm."""
    return child_id(sample.id, "v", PAIR_ARMS.index(arm), arm, "original")


def counterfactual_id(sample: Sample, showing: Showing, arm: ShownArm, target: str) -> str:
    """Return the id of a visit as another group, in an arm."""
    place = len(PAIR_ARMS) * (1 + showing.targets(sample).index(target)) + PAIR_ARMS.index(arm)
    own = sample.attributes[showing.attribute]
    return child_id(sample.id, "v", place, arm, own, target, *_maker(showing))


def placebo_id(sample: Sample, showing: Showing) -> str:
    """Return the id of a visit's placebo."""
    place = len(PAIR_ARMS) * (1 + len(showing.targets(sample)))
    return child_id(sample.id, "v", place, "placebo", *_maker(showing))


def _maker(showing: Showing) -> tuple[str, ...]:
    return (showing.attribute, showing.spouse, showing.made_by, showing.maker)


def originals(sample: Sample, showing: Showing) -> list[Variant]:
    """Return the visit as it is, once in each arm, less what the arm drops."""
    return [
        Variant(
            id=original_id(sample, arm),
            sample_id=sample.id,
            arm=arm,
            text="" if arm == "tabular_only" else sample.text,
            columns=_columns(sample, showing, arm, sample.attributes[showing.attribute]),
            made_by="source",
        )
        for arm in showing.arms
    ]


def counterfactuals(
    sample: Sample, showing: Showing, target: str, note: RewrittenNote
) -> list[Variant]:
    """Return the visit as another group, once in each arm.

    Args:
        sample: The visit.
        showing: How visits are shown.
        target: The other group.
        note: Its note, rewritten from the patient's own group to that one.

    Returns:
        Variants with status ok; skipped where the note cannot be rewritten; unchanged in text_only
        where the note does not state the attribute, so that nothing would differ.
    """
    own = sample.attributes[showing.attribute]
    return [
        _counterfactual(
            sample,
            showing,
            arm,
            Change(attribute=showing.attribute, before=own, after=target),
            note,
        )
        for arm in showing.arms
    ]


def _counterfactual(
    sample: Sample, showing: Showing, arm: ShownArm, change: Change, note: RewrittenNote
) -> Variant:
    made = Variant(
        id=counterfactual_id(sample, showing, arm, change.after),
        sample_id=sample.id,
        arm=arm,
        changes=(change,),
        text="" if arm == "tabular_only" else note.text,
        columns=_columns(sample, showing, arm, change.after),
        made_by=showing.made_by if note.is_pair and arm != "tabular_only" else "rules",
    )
    if arm == "tabular_only":
        return made
    stopped = note_fault(note)
    if stopped is not None:
        failed = stopped == f"refused:{CALL_FAILED}"
        status = "error" if failed else "skipped"
        return made.model_copy(update={"status": status, "reason": stopped, "text": ""})
    if arm == "text_only" and not note.is_pair:
        return made.model_copy(update={"status": "unchanged", "reason": NOT_STATED})
    return made


def note_fault(note: RewrittenNote) -> str | None:
    """Return why a visit has no counterfactual note, as "code:detail"; None where it has one.

    A note that does not state the attribute is its own counterfactual.
    """
    if note.is_pair or (note.status == "unchanged" and note.reason == NOT_STATED):
        return None
    if note.status == "unchanged":
        return note.reason or "unchanged"
    return f"{note.status}:{note.reason}" if note.reason else note.status


def placebo(
    sample: Sample,
    showing: Showing,
    there: RewrittenNote,
    rewrite_back: RewrittenNote | None,
    irrelevant: Change | None,
) -> Variant:
    """Return the visit with nothing changed that should matter.

    Args:
        sample: The visit.
        showing: How visits are shown.
        there: Its note, rewritten to another group.
        rewrite_back: That note, rewritten back; None where `there` changed nothing.
        irrelevant: A field that should not matter, before and after; None where none is declared.
    """
    columns = _columns(sample, showing, "full", sample.attributes[showing.attribute])
    if irrelevant is not None:
        columns[irrelevant.attribute] = _typed(columns[irrelevant.attribute], irrelevant.after)
    stopped = note_fault(there)
    if stopped is None and rewrite_back is not None and not rewrite_back.is_pair:
        stopped = f"refused_back:{rewrite_back.reason}"
    return Variant(
        id=placebo_id(sample, showing),
        status="ok" if stopped is None else "skipped",
        reason=stopped,
        sample_id=sample.id,
        arm="placebo",
        changes=() if irrelevant is None else (irrelevant,),
        text="" if stopped else sample.text if rewrite_back is None else rewrite_back.text,
        columns=columns,
        made_by=showing.made_by if rewrite_back is not None else "rules",
    )


def _typed(before: Scalar, after: str) -> Scalar:
    return after if before is None or isinstance(before, str | bool) else float(after)


def irrelevant_change(
    sample: Sample, column: str | None, known: Sequence[Scalar], seed: int
) -> Change | None:
    """Draw another visit's value for a field that should not matter.

    Args:
        sample: The visit; one in which the field is missing keeps it so.
        column: The field; None where none is declared.
        known: Recorded values of the audit half, in order.
        seed: Of the draw, >= 0; each visit has its own.

    Returns:
        None where there is no other value.
    """
    own = None if column is None else sample.columns.get(column)
    others = [value for value in known if value != own]
    if column is None or own is None or not others:
        return None
    rng = np.random.default_rng([seed, sample.position])
    return Change(attribute=column, before=str(own), after=str(others[rng.integers(len(others))]))


def check_variant(
    original: Variant, variant: Variant, showing: Showing
) -> tuple[GateVerdict, tuple[str, ...]]:
    """Tell whether nothing but the declared change was made, and what a reader should know of it.

    The columns may differ in the changed attribute alone, the note by forms of the attribute alone
    (tools/notes/gate.py). A placebo's note is not compared: what is left of rewriting it there and
    back is the noise that it is there to show.

    Args:
        original: The visit as it is, in the same arm (full for the placebo).
        variant: The changed visit, status ok.
        showing: How visits are shown.

    Returns:
        The verdict, and flags such as "sex_associated_content".
    """
    names = {*original.columns, *variant.columns}
    differ = {n for n in names if original.columns.get(n) != variant.columns.get(n)}
    declared = {change.attribute for change in variant.changes}
    allowed = set() if variant.arm == "text_only" else declared
    if differ != allowed:
        wrong = ", ".join(sorted(differ ^ allowed))
        return GateVerdict(False, "other_change", f"columns: {wrong}"), ()
    if variant.arm in ("placebo", "tabular_only"):
        return ACCEPTED, ()
    (change,) = variant.changes
    if variant.text == original.text:
        # Left as it was because it does not state the attribute: then it may not.
        said = still_says(variant.text, showing.attribute, change.before or "", showing.language)
        if said is None:
            return ACCEPTED, ()
        reason = f"the note was left as it is and says {said!r}"
        return GateVerdict(False, "not_changed", reason), ()
    verdict = check_note(
        original.text,
        variant.text,
        showing.attribute,
        change.before or "",
        change.after,
        showing.language,
    )
    associated = (
        showing.attribute == "gender" and sex_content(original.text, showing.language).associated
    )
    return verdict, ("sex_associated_content",) if associated else ()


def _columns(sample: Sample, showing: Showing, arm: ShownArm, group: str) -> dict[str, Scalar]:
    columns: dict[str, Scalar] = {**shown_columns(sample), showing.attribute: group}
    if arm == "text_only":
        del columns[showing.attribute]
    return columns


def rewrite_by_rules(sample: Sample, showing: Showing, rewrite: Rewrite) -> list[Variant]:
    """Return all variants of a visit but the placebo, its note rewritten by a function."""
    made = originals(sample, showing)
    own = sample.attributes[showing.attribute]
    for target in showing.targets(sample):
        made += counterfactuals(sample, showing, target, rewrite(sample.text, own, target))
    return made


def round_trip(
    sample: Sample, showing: Showing, rewrite: Rewrite, irrelevant: Change | None
) -> Variant:
    """Return the placebo of a visit, its note rewritten there and back by a function."""
    own, target = sample.attributes[showing.attribute], showing.targets(sample)[0]
    there = rewrite(sample.text, own, target)
    back = rewrite(there.text, target, own) if there.is_pair else None
    return placebo(sample, showing, there, back, irrelevant)


def known_values(samples: Sequence[Sample], column: str | None) -> list[Scalar]:
    """Return the recorded values of a column, in order."""
    if column is None:
        return []
    values = (sample.columns.get(column) for sample in samples)
    return [value for value in values if value is not None]
