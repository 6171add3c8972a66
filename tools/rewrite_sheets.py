"""A sheet of rewritten notes for two readers, who each say: correct, incomplete or failed.

The counterfactual paper had two annotators read a sample of its rewritten notes. A row shows what
was to be changed ("gender: male to female"), the note and the rewritten note; not who rewrote it,
and not what the decider then said. Only notes that passed the check stand in it: the others are in
no number.
"""

import hashlib
from collections.abc import Iterator

import numpy as np

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Variant
from evenhand.graph_store.run_directory import RunDirectory
from evenhand.tools.rating_sheets import ROWS, Item, SheetName

_ARM = "full"


class RewriteSource:
    """The rewritten notes of a run that its numbers rest on."""

    def __init__(self, run: RunDirectory) -> None:
        """Read the run's samples, variants and gate."""
        self.run_id = run.run_id
        self._samples = {sample.id: sample for sample in run.samples()}
        rejected = {one.subject_id for one in run.gate() if one.value != "accepted"}
        self._variants = {
            one.id: one
            for one in run.variants()
            if one.arm == _ARM
            and one.changes
            and one.status == "ok"
            and one.id not in rejected
            # A note that does not state the attribute is shown as it is: there is nothing to read.
            and one.text
            and one.text != self._samples[one.sample_id].text
        }

    @property
    def attributes(self) -> tuple[str, ...]:
        """Attributes that were changed."""
        return tuple(
            dict.fromkeys(name for one in self._variants.values() for name in one.attributes)
        )

    def every_item(self, sheet: SheetName) -> Iterator[Item]:
        """Yield a row for each rewritten note."""
        for variant in self._variants.values():
            yield self._item(sheet, variant)

    def _item(self, sheet: SheetName, variant: Variant) -> Item:
        key = "\x1f".join((self.run_id, sheet, variant.id))
        return Item(
            # Another letter than that of the ratings sheet.
            id=f"w{hashlib.sha256(key.encode()).hexdigest()[:12]}",
            sample_id=variant.sample_id,
            answers=(),
            changed=variant.attributes,
            conclusion=False,
            variant_id=variant.id,
        )

    def cells(self, sheet: SheetName, item: Item) -> dict[str, str]:
        """Return what a row shows, by column."""
        variant = self._variants[item.variant_id]
        (change,) = variant.changes
        return {
            "id": item.id,
            "changed": f"{change.attribute}: {change.before} to {change.after}",
            "original": self._samples[item.sample_id].text,
            "rewritten": variant.text,
        }


def draw_rewrites(source: RewriteSource, *, n: int | None, seed: int) -> list[Item]:
    """Draw rewritten notes at random, the same ones for every reader.

    Args:
        source: The run.
        n: Rows at most; None: as in ROWS.
        seed: Seed of the draw and the order.

    Raises:
        UserError: The run has no rewritten note.
    """
    items = sorted(source.every_item("rewrites"), key=lambda item: item.id)
    if not items:
        raise UserError(
            f"Run {source.run_id} has no rewritten note; expected a counterfactual run in which "
            "some note states the attribute. Name another run."
        )
    order = np.random.default_rng(seed).permutation(len(items))
    return [items[place] for place in order[: ROWS["rewrites"] if n is None else n]]
