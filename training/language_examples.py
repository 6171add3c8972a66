"""Visits as examples for a causal language model: the label is what comes next, and only it counts.

A batch is laid as one sequence in which the common beginning of its prompts stands once: with an
instruction of 130 tokens before notes of 80, less than half of the tokens are left to compute.
"""

import inspect
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evenhand.graph_store.errors import UserError
from evenhand.training.label_tokens import TokenIds

if TYPE_CHECKING:
    import torch

log = logging.getLogger(__name__)

Batch: TypeAlias = "dict[str, torch.Tensor]"
Layout: TypeAlias = "Callable[[Sequence[Example]], Batch]"
IGNORED = -100
"""What torch's cross entropy leaves out."""
_BATCHES_SORTED = 50
"""Batches within which examples are put in the order of their lengths."""

_AGREE = 1e-3
"""Nats: two layouts of the same examples differ by rounding only."""


@dataclass(frozen=True)
class Example:
    """One visit with its label.

    Attributes:
        prompt: Token ids, cut where they were too many.
        label: Token ids that follow.
        weight: What its nats count in the loss.
        cut: Tokens that were left out of the prompt.
    """

    prompt: TokenIds
    label: TokenIds
    weight: float = 1.0
    cut: int = 0

    def __len__(self) -> int:
        """Return the number of tokens."""
        return len(self.prompt) + len(self.label)


def build_example(
    prompt: Sequence[int], label: Sequence[int], longest: int, *, weight: float = 1.0
) -> Example:
    """Return prompt and label as they fit into a context, the label whole.

    Of a prompt that is too long the middle is left out, which is the note's: the instruction
    before it and the columns and the cue behind it stay.

    Args:
        prompt: Token ids.
        label: Token ids, at least one.
        longest: Tokens of both together, at most.
        weight: What it counts.

    Raises:
        UserError: Nothing of the prompt would be left.
    """
    room = longest - len(label)
    if room < 2 or not label:
        raise UserError(
            f"A label of {len(label)} tokens and its prompt do not fit into {longest}; "
            "use a model with a longer context, or shorter labels."
        )
    cut = max(0, len(prompt) - room)
    kept = tuple(prompt)
    if cut:
        kept = (*prompt[: room - room // 2], *prompt[len(prompt) - room // 2 :])
    return Example(kept, tuple(label), weight, cut)


def make_labels(
    ids: NDArray[np.int64], mask: NDArray[np.int64], asked: NDArray[np.bool_] | None = None
) -> NDArray[np.int64]:
    """Return what the loss compares with: the ids, and -100 where nothing is asked.

    Padding is known by the mask and not by its id: where the end token pads, the real ends of
    answers still count, or a model would never learn to stop.

    Args:
        ids: Token ids, shape (batch, longest).
        mask: 1 where there is a token, 0 where there is padding, likewise.
        asked: Of the tokens, those that count; None: all.
    """
    counts = mask.astype(bool) if asked is None else mask.astype(bool) & asked
    labels: NDArray[np.int64] = np.where(counts, ids, IGNORED)
    return labels


def packed_batch(examples: Sequence[Example]) -> Batch:
    """Lay a batch as one sequence: what all prompts begin with once, then each one's own tail.

    A token sees what stands before it in its own example alone, at the place it has there, so the
    loss is that of the examples one by one, and the instruction is computed once a batch.

    Returns:
        input_ids, position_ids: (1, T); attention_mask: (1, 1, T, T), 0 where a token is seen and
        the least number where not; places, targets, rows: of each label token where it is
        predicted, its id, and whose it is; weights: (batch,).
    """
    import torch

    stem = min(
        _shared([example.prompt for example in examples]),
        *(len(example.prompt) - 1 for example in examples),
    )
    # The last label token predicts nothing, so it is not laid out.
    tails = [(*each.prompt[stem:], *each.label[:-1]) for each in examples]
    ids = [*examples[0].prompt[:stem], *(token for tail in tails for token in tail)]
    whose = np.repeat(np.arange(len(tails) + 1), [stem, *map(len, tails)])
    depth = np.concatenate([np.arange(stem), *(stem + np.arange(len(tail)) for tail in tails)])
    before = np.tri(len(ids), dtype=bool)
    seen = before & ((whose[None, :] == whose[:, None]) | (whose[None, :] == 0))
    mask = torch.zeros((1, 1, len(ids), len(ids)))
    mask.masked_fill_(torch.from_numpy(~seen), torch.finfo(torch.float32).min)
    ends = stem + np.cumsum([len(tail) for tail in tails])
    return {
        "input_ids": torch.tensor([ids]),
        "position_ids": torch.from_numpy(depth[None].astype(np.int64)),
        "attention_mask": mask,
        "places": torch.from_numpy(
            np.concatenate(
                [np.arange(end - len(e.label), end) for end, e in zip(ends, examples, strict=True)]
            )
        ),
        "targets": torch.tensor([token for each in examples for token in each.label]),
        "rows": torch.from_numpy(
            np.repeat(np.arange(len(examples)), [len(e.label) for e in examples])
        ),
        "weights": torch.tensor([each.weight for each in examples], dtype=torch.float32),
    }


def padded_batch(examples: Sequence[Example], pad: int) -> Batch:
    """Lay a batch in rows, padded on the right, for a model that takes no masks of its own.

    Returns:
        As packed_batch, with input_ids, position_ids and attention_mask (batch, longest), and
        places in the rows laid end to end.
    """
    import torch

    longest = max(map(len, examples))
    ids = np.full((len(examples), longest), pad, dtype=np.int64)
    mask = np.zeros_like(ids)
    asked = np.zeros(ids.shape, dtype=bool)
    for row, example in enumerate(examples):
        ids[row, : len(example)] = (*example.prompt, *example.label)
        mask[row, : len(example)] = 1
        asked[row, len(example.prompt) : len(example)] = True
    labels = make_labels(ids, mask, asked)
    rows, columns = np.nonzero(labels != IGNORED)
    return {
        "input_ids": torch.from_numpy(ids),
        "position_ids": torch.arange(longest)[None].expand(len(examples), -1),
        "attention_mask": torch.from_numpy(mask),
        # A token is predicted by the one before it.
        "places": torch.from_numpy(rows * longest + columns - 1),
        "targets": torch.from_numpy(labels[rows, columns]),
        "rows": torch.from_numpy(rows),
        "weights": torch.tensor([each.weight for each in examples], dtype=torch.float32),
    }


def training_order(
    lengths: Sequence[int], *, batch: int, epochs: int, most_batches: int | None, seed: int
) -> NDArray[np.int64]:
    """Deal the examples of a whole training, drawn anew each epoch, neighbours of similar length.

    The order of all epochs is made at once: a training that is taken up again skips what it has
    seen, and needs no state of a sampler.

    Args:
        lengths: Tokens of each example, shape (n,).
        batch: Examples of a step.
        epochs: Passes over all of them.
        most_batches: Steps at most; None: all.
        seed: Of the draw, >= 0.

    Returns:
        Places of the examples; each run of `batch` is a step's. Shape (at most n * epochs,).
    """
    rng = np.random.default_rng([seed, 3])
    known = np.asarray(lengths)
    drawn = np.concatenate([rng.permutation(len(known)) for _ in range(epochs)])
    if most_batches is not None:
        drawn = drawn[: most_batches * batch]
    whole = len(drawn) - len(drawn) % batch
    dealt = []
    for start in range(0, whole, batch * _BATCHES_SORTED):
        some = drawn[start : min(start + batch * _BATCHES_SORTED, whole)]
        batches = some[np.argsort(known[some], kind="stable")].reshape(-1, batch)
        dealt.append(rng.permutation(batches).ravel())
    # The last step may have fewer, and is the last.
    return np.concatenate([*dealt, drawn[whole:]]).astype(np.int64)


def label_losses(model: Any, batch: Batch) -> "torch.Tensor":
    """Return -log p(label | prompt) of each example of a batch, in nats, shape (batch,).

    Args:
        model: Causal language model of transformers, with an adapter or without.
        batch: Packed or padded.
    """
    import torch

    accepts = _accepted(model)
    names = [name for name in ("input_ids", "attention_mask", "position_ids") if name in accepts]
    given: dict[str, Any] = {name: batch[name] for name in names}
    places = batch["places"]
    if batch["input_ids"].shape[0] == 1 and "logits_to_keep" in accepts:
        # The vocabulary is the largest matrix: it is multiplied where a label is predicted.
        logits = model(**given, logits_to_keep=places, use_cache=False).logits[0]
    else:
        logits = model(**given, use_cache=False).logits.flatten(0, 1)[places]
    each = torch.nn.functional.cross_entropy(logits.float(), batch["targets"], reduction="none")
    return torch.zeros_like(batch["weights"]).index_add(0, batch["rows"], each)


def choose_layout(model: Any, examples: Sequence[Example], pad: int) -> Layout:
    """Return how batches are laid: packed where the model takes its masks, else padded.

    That is tried, not looked up: a few examples are computed both ways, in evaluation mode.
    """
    import torch

    padded = partial(padded_batch, pad=pad)
    few = list(examples[:3])
    with torch.no_grad():
        expected = label_losses(model, on_device(padded(few), model.device))
        try:
            found = label_losses(model, on_device(packed_batch(few), model.device))
        except (RuntimeError, TypeError, ValueError, AttributeError, IndexError) as error:
            log.info("batches are padded: the model takes no masks of its own (%s)", error)
            return padded
    agree = bool(torch.isclose(found, expected, atol=_AGREE, rtol=_AGREE).all())
    return packed_batch if agree else padded


def on_device(batch: Batch, device: Any) -> Batch:
    """Return the batch on a device."""
    return {name: each.to(device) for name, each in batch.items()}


def _accepted(model: Any) -> frozenset[str]:
    """Return what the forward of a model takes, below its adapter."""
    base = model.get_base_model() if hasattr(model, "get_base_model") else model
    return frozenset(inspect.signature(base.forward).parameters)


def _shared(prompts: Sequence[TokenIds]) -> int:
    """Return how many ids all prompts begin with."""
    first, last = min(prompts), max(prompts)
    return next(
        (k for k, (a, b) in enumerate(zip(first, last, strict=False)) if a != b),
        min(map(len, prompts)),
    )
