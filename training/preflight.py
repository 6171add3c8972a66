"""What is checked before the first step of a fit, each fault in one sentence.

A training whose labels are masked, whose adapter has nothing to train, or whose notes state the
decision runs to its end and looks like success.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.graph_store.errors import UserError
from evenhand.training.language_examples import Layout, label_losses, on_device
from evenhand.training.levels import Levels
from evenhand.training.mimic_rows import MimicRows

if TYPE_CHECKING:
    from evenhand.training.language_examples import Example

LABEL_IN_PROMPT = "label_in_prompt"
_SCALE = (
    r"\b(?:esi|ktas|ctas|mts|ats|ccmu|french|acuity|triage|level|levels|category|urgency|priority"
    r"|niveau|tri|urgence|priorit[ée])\b"
)
_STATED_SHARE = 0.05
_COPIED_SHARE = 0.95
_LEAST_COPIED = 20


def leak_check(text: str, label: str) -> tuple[str, ...]:
    """Return ("label_in_prompt",) where a text states the label after a scale's name, else ().

    A level that merely occurs (a pulse of 4 beats, "4 days") is none.

    Example:
        >>> leak_check("Ankle sprain after fall. ESI: 4.", "4")
        ('label_in_prompt',)
        >>> leak_check("Ankle sprain 4 days ago.", "4")
        ()
    """
    said = (
        rf"{_SCALE}(?:\W{{1,3}}(?:level|score|category|niveau))?(?:\s*(?:is|was|est)\b)?\W{{0,3}}"
    )
    found = re.search(rf"{said}{re.escape(label)}(?![\w.,]*\d)(?!\w)", text, re.IGNORECASE)
    return (LABEL_IN_PROMPT,) if found else ()


def check_leaks(rows: MimicRows, levels: Levels, names: Sequence[str]) -> None:
    """Raise a UserError where the decided level can be read off what the model is shown.

    Args:
        rows: Visits of the training half.
        levels: What was decided, shape (n,).
        names: Of the levels.

    Raises:
        UserError: One note in twenty states the level, or a column holds it.
    """
    labels = [str(names[level]) for level in levels.tolist()]
    stated = [
        place
        for place, (text, label) in enumerate(zip(rows.texts, labels, strict=True))
        if leak_check(text, label)
    ]
    if len(stated) > _STATED_SHARE * len(rows):
        raise UserError(
            f"{len(stated)} of {len(rows)} notes state the decided level after a scale's name "
            f"(first: visit {stated[0] + 1} of the training half in the order of its content); a "
            "model would copy it: cut it out of the notes, as they were before triage."
        )
    columns = {
        **{name: [f"{v:g}" for v in values.tolist()] for name, values in rows.numbers.items()},
        **rows.categories,
    }
    for name, values in columns.items():
        same = sum(value == label for value, label in zip(values, labels, strict=True))
        if same >= max(_LEAST_COPIED, _COPIED_SHARE * len(rows)):
            raise UserError(
                f"Column {name!r} equals the decided level in {same} of {len(rows)} visits; take "
                "it out of the mapping: a model would copy it."
            )


@dataclass(frozen=True)
class Preflight:
    """What was found before the first step.

    Attributes:
        trainable: Numbers that are trained.
        parameters: Of the model.
        first_loss: Loss of a batch before any step, in nats, weighted as in a step.
        shortened: Prompts that were too long for the context.
    """

    trainable: int
    parameters: int
    first_loss: float
    shortened: int


def preflight(
    model: Any, examples: Sequence["Example"], *, batch: int, layout: Layout
) -> Preflight:
    """Try the first batch, the longest one, and count what would be trained.

    Args:
        model: With its adapter.
        examples: Of the training half.
        batch: Examples of a step.
        layout: Of a batch.

    Raises:
        UserError: No label is left to learn, nothing would be trained, or the loss is 0 or no
            number.
    """
    import torch

    trainable = sum(each.numel() for each in model.parameters() if each.requires_grad)
    if trainable == 0:
        raise UserError(
            "The adapter has nothing to train; name projections that the model has (--set targets)."
        )
    # The longest first: it shows whether memory suffices.
    tried = layout(sorted(examples, key=len)[-batch:])
    if len(set(tried["rows"].tolist())) < min(batch, len(examples)):
        raise UserError("Some examples have no label left; use a model with a longer context.")
    was_training = model.training
    model.eval()
    with torch.no_grad():
        placed = on_device(tried, model.device)
        loss = float((label_losses(model, placed) * placed["weights"]).mean())
    model.train(was_training)
    if not np.isfinite(loss) or loss == 0:
        raise UserError(
            f"The loss before the first step is {loss:g}; expected more than 0: the labels are "
            "masked, the weights damaged, or the model was trained on these examples already."
        )
    return Preflight(
        trainable,
        sum(each.numel() for each in model.parameters()),
        round(loss, 4),
        sum(example.cut > 0 for example in examples),
    )
