"""A sheet of changed questions for a hand audit of the semantic filter.

A row shows the question as it stands and as a relation made it, and asks of the reader what the
filter decided: does it still make the same comparison? What the filter said is not shown. Half of
the rows were rejected, as far as there are so many.
"""

import hashlib
from collections.abc import Iterator

import numpy as np

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Variant
from evenhand.graph_store.run_directory import RunDirectory
from evenhand.tools.rating_sheets import ROWS, Item, SheetName

_BY_FORM = ("empty", "not_changed")
"""Rejected without a look at what is asked: there is nothing to read."""


class QuestionSource:
    """The questions of a run that relations changed, accepted or rejected by what they ask."""

    def __init__(self, run: RunDirectory) -> None:
        """Read the run's samples, variants and gate."""
        self.run_id = run.run_id
        variants = run.variants()
        self._bases = {one.sample_id: one.text for one in variants if one.arm == "base"}
        decided = {one.subject_id: one for one in run.gate()}
        self._variants = {
            one.id: one
            for one in variants
            if one.arm == "relation"
            and one.id in decided
            and decided[one.id].reason_code not in _BY_FORM
        }
        self.accepted = {key: decided[key].value == "accepted" for key in self._variants}

    @property
    def attributes(self) -> tuple[str, ...]:
        """Attributes that were changed: none, relations change questions."""
        return ()

    def every_item(self, sheet: SheetName) -> Iterator[Item]:
        """Yield a row for each changed question."""
        for variant in self._variants.values():
            yield self._item(sheet, variant)

    def _item(self, sheet: SheetName, variant: Variant) -> Item:
        key = "\x1f".join((self.run_id, sheet, variant.id))
        return Item(
            id=f"q{hashlib.sha256(key.encode()).hexdigest()[:12]}",
            sample_id=variant.sample_id,
            answers=(),
            changed=(),
            conclusion=False,
            variant_id=variant.id,
        )

    def cells(self, sheet: SheetName, item: Item) -> dict[str, str]:
        """Return what a row shows, by column."""
        variant = self._variants[item.variant_id]
        return {"id": item.id, "original": self._bases[item.sample_id], "changed": variant.text}


def draw_questions(source: QuestionSource, *, n: int | None, seed: int) -> list[Item]:
    """Draw changed questions at random, half of them rejected as far as there are so many.

    Args:
        source: The run.
        n: Rows at most; None: as in ROWS.
        seed: Seed of the draw and the order; the same for every reader.

    Raises:
        UserError: The run has no changed question.
    """
    wanted = ROWS["questions"] if n is None else n
    items = sorted(source.every_item("questions"), key=lambda item: item.id)
    if not items:
        raise UserError(
            f"Run {source.run_id} has no question changed by a relation; expected a metamorphic "
            "run that passed its gate. Name another run."
        )
    rng = np.random.default_rng(seed)
    mixed = [items[place] for place in rng.permutation(len(items))]
    rejected = [item for item in mixed if not source.accepted[item.variant_id]]
    accepted = [item for item in mixed if source.accepted[item.variant_id]]
    half = max(wanted // 2, wanted - len(accepted))
    drawn = rejected[:half]
    drawn += accepted[: wanted - len(drawn)]
    return [drawn[place] for place in rng.permutation(len(drawn))]
