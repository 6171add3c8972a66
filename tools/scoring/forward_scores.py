"""How a model of transformers can be asked: on one prefix tree, or in padded batches.

Whether an architecture takes tree masks is tried, not looked up in a list: a small tree is scored
both ways when the model is opened, and the tree is used only if the two agree.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evenhand.graph_store.errors import UserError
from evenhand.tools.scoring import LabelScores, LogProbs, Work
from evenhand.tools.scoring.forward_passes import ForwardPasses
from evenhand.tools.scoring.fused_decoder import FusedDecoder, FusedPasses
from evenhand.tools.scoring.prefix_tree import build_tree
from evenhand.tools.scoring.products import HalvedProducts, PlainProducts, Products
from evenhand.tools.scoring.tree_scores import (
    StartPasses,
    asked_tokens,
    label_log_probs,
    tree_scores,
)
from evenhand.training.label_tokens import TokenIds
from evenhand.training.language_models import is_out_of_memory

if TYPE_CHECKING:
    import torch

Method = Literal[
    "prefix tree, fused layers, products by halves",
    "prefix tree, fused layers",
    "prefix tree",
    "padded batches",
]
CPU_BUDGET, FUSED_BUDGET, CUDA_BUDGET = 256, 2048, 4096
"""Tokens of a pass: a CPU is at its peak with few, and attention grows with them, unless it goes by
blocks; a GPU wants many."""
TOO_LONG = "too_long"
_AGREE, _AGREE_HALF = 1e-3, 0.25
"""Nats between a tree and its branches alone, in whole and in half precision."""
_PROBE_BUDGET = 4
"""Tokens of a pass when a model is tried: few, so that a path is kept between passes."""
_FUSED_BYTES = 2 << 30
"""Weights up to this are laid out a second time."""
_REFUSALS = (RuntimeError, TypeError, ValueError, AttributeError, IndexError, KeyError)


@dataclass(frozen=True)
class ReadyModel:
    """A model, and how it is asked.

    Attributes:
        model: Causal language model of transformers, in evaluation mode.
        method: How.
        start: Begins the passes of a tree; None in padded batches.
        context: Tokens that it reads at most; None where it does not say.
        window: Tokens that its layers see back, where that is less than all.
        says: A sentence where it is not the prefix tree.
    """

    model: Any
    method: Method
    start: StartPasses | None
    context: int | None
    window: int | None
    says: str = ""


def ready_model(model: Any) -> ReadyModel:
    """Try how a model can be asked; a second or less.

    Raises:
        UserError: There is no memory left.
    """
    config = model.config.get_text_config()
    context, window = getattr(config, "max_position_embeddings", None), _window(config)
    alone = _probe(None, model)
    for method, starter in _STARTERS.items():
        start = _tried(starter, model)
        if start is not None and _agree(start, model, alone):
            says = f"Prompts of more than {window} tokens go in padded batches: its layers see no "
            says = f"{says}further back." if window else ""
            return ReadyModel(model, method, start, context, window, says)
    says = (
        f"Scores {config.model_type} in padded batches, each different prompt once, and not on a "
        "prefix tree: this architecture does not take masks of four dimensions as they are meant."
    )
    return ReadyModel(model, "padded batches", None, context, window, says)


def score_tokens(
    ready: ReadyModel,
    prompts: Sequence[TokenIds],
    labels: Sequence[TokenIds],
    *,
    token_budget: int = 0,
) -> Iterator[LabelScores]:
    """Score labels after prompts; yields prompts as they are done, each exactly once.

    Args:
        ready: The model.
        prompts: Token ids, shape (n,) of sequences, none empty.
        labels: Token ids, shape (L,) of sequences, none empty.
        token_budget: Tokens of one pass; 0: what suits the device.

    Raises:
        UserError: There is no memory left.
    """
    budget = token_budget or _usual_budget(ready)
    room = (ready.context or 1 << 62) - max(map(len, labels)) + 1
    fits = [place for place, prompt in enumerate(prompts) if len(prompt) <= room]
    if len(fits) < len(prompts):
        long = np.array(sorted(set(range(len(prompts))) - set(fits)), dtype=np.int64)
        yield LabelScores(long, np.full((len(long), len(labels)), np.nan), (TOO_LONG,) * len(long))
    if not fits:
        return
    places, lengths = np.array(fits, dtype=np.int64), tuple(map(len, labels))
    try:
        for part in _parts(ready, [prompts[place] for place in fits], labels, budget):
            yield replace(part, places=places[part.places], label_lengths=lengths)
    except (RuntimeError, MemoryError) as error:
        if is_out_of_memory(error):
            raise no_memory_left(ready.model, budget) from None
        raise


def _usual_budget(ready: ReadyModel) -> int:
    if ready.model.device.type == "cuda":
        return CUDA_BUDGET
    return FUSED_BUDGET if "fused" in ready.method else CPU_BUDGET


def _parts(
    ready: ReadyModel, prompts: Sequence[TokenIds], labels: Sequence[TokenIds], budget: int
) -> Iterator[LabelScores]:
    longest = max(map(len, prompts)) + max(map(len, labels))
    if ready.start is None or (ready.window is not None and longest > ready.window):
        return padded_scores(ready.model, prompts, labels, token_budget=budget)
    return tree_scores(ready.start, prompts, labels, token_budget=budget)


def padded_scores(
    model: Any, prompts: Sequence[TokenIds], labels: Sequence[TokenIds], *, token_budget: int
) -> Iterator[LabelScores]:
    """Score labels after prompts in padded batches, equal prompts once; see `tree_scores`.

    Padding stands after a prompt, where a causal model cannot see it.
    """
    asked = asked_tokens(prompts, labels)
    distinct = sorted(set(prompts), key=lambda ids: (len(ids), ids))
    owners: dict[TokenIds, list[int]] = {}
    for place, prompt in enumerate(prompts):
        owners.setdefault(prompt, []).append(place)
    start = 0
    while start < len(distinct):
        stop = start + 1
        # Sorted by length, so the next one is the longest of the batch.
        while (
            stop < len(distinct)
            and len(distinct[stop]) * asked.beginnings * (stop + 1 - start) <= token_budget
        ):
            stop += 1
        batch = distinct[start:stop]
        own = asked_tokens(batch, labels)
        found = label_log_probs(own, _padded_table(model, own.sequences, own.tokens))
        places = np.array([p for prompt in batch for p in owners[prompt]], dtype=np.int64)
        rows = [row for row, prompt in enumerate(batch) for _ in owners[prompt]]
        width = max(map(len, own.sequences))
        work = Work(
            sum(len(prompts[place]) for place in places),
            len(build_tree(own.sequences)),
            width * len(own.sequences),
        )
        yield LabelScores(places, found[rows], ("ok",) * len(places), work)
        start = stop


def no_memory_left(model: Any, budget: int) -> UserError:
    """Return the sentence for a pass that found no memory."""
    device = model.device
    return UserError(
        f"There is no memory left on {device} for passes of {budget} tokens; give a smaller "
        "--token-budget, a smaller model, or a device with more memory. What is scored is kept."
    )


def last_places(mask: "torch.Tensor") -> "torch.Tensor":
    """Return the place of each row's last token, on whichever side its padding stands, (n,)."""
    import torch

    places = torch.arange(mask.shape[1], device=mask.device)
    return torch.where(mask.bool(), places, -1).amax(dim=1)


def _padded_table(model: Any, sequences: Sequence[TokenIds], tokens: Any) -> LogProbs:
    """Return log-probabilities of tokens after each sequence, shape (n, U)."""
    import torch

    width = max(map(len, sequences))
    ids = torch.zeros((len(sequences), width), dtype=torch.long)
    mask = torch.zeros((len(sequences), width), dtype=torch.long)
    for row, own in enumerate(sequences):
        ids[row, : len(own)] = torch.tensor(own)
        mask[row, : len(own)] = 1
    last = last_places(mask)
    wanted, places = torch.unique(last, return_inverse=True)
    with torch.inference_mode():
        logits = model(
            input_ids=ids.to(model.device),
            attention_mask=mask.to(model.device),
            use_cache=False,
            logits_to_keep=wanted.to(model.device),
        ).logits
        own_logits = logits[torch.arange(len(sequences)), places.to(logits.device)]
        found = torch.log_softmax(own_logits.float(), dim=-1)
        table: LogProbs = found[:, torch.from_numpy(tokens).to(found.device)].double().cpu().numpy()
    return table


def _fused(model: Any, products: Products) -> StartPasses:
    weights = sum(part.numel() * part.element_size() for part in model.parameters())
    if model.device.type != "cpu" or weights > _FUSED_BYTES:
        # On a GPU, and in large models, matrix products are nearly all there is.
        raise NotImplementedError
    decoder = FusedDecoder(model, products)
    return lambda tree: FusedPasses(decoder, tree)


def _halved(model: Any) -> StartPasses:
    if str(model.dtype) != "torch.float32":
        raise NotImplementedError
    return _fused(model, HalvedProducts())


def _plain(model: Any) -> StartPasses:
    return lambda tree: ForwardPasses(model, tree)


_STARTERS: dict[Method, Callable[[Any], StartPasses]] = {
    "prefix tree, fused layers, products by halves": _halved,
    "prefix tree, fused layers": lambda model: _fused(model, PlainProducts()),
    "prefix tree": _plain,
}


def _tried(starter: Callable[[Any], StartPasses], model: Any) -> StartPasses | None:
    try:
        return starter(model)
    except (NotImplementedError, AttributeError):
        return None


def _agree(start: StartPasses, model: Any, alone: LogProbs) -> bool:
    """Return whether a tree of branches gives what each branch alone gives."""
    try:
        found = _probe(start, model)
    except _REFUSALS as error:
        if is_out_of_memory(error):
            raise no_memory_left(model, _PROBE_BUDGET) from None
        return False
    exact = str(model.dtype) in ("torch.float32", "torch.float64")
    return bool(np.abs(found - alone).max() <= (_AGREE if exact else _AGREE_HALF))


def _probe(start: StartPasses | None, model: Any) -> LogProbs:
    """Score a small tree of branches; None: each branch alone."""
    vocabulary = int(model.config.get_text_config().vocab_size)
    some = [(7 * step + 3) % vocabulary for step in range(12)]
    prompts = [tuple(some[:5] + tail) for tail in (some[5:8], some[8:11], some[6:7])]
    labels = [(some[1],), (some[2], some[3])]
    found = np.full((len(prompts), len(labels)), np.nan)
    parts = (
        padded_scores(model, prompts, labels, token_budget=1)
        if start is None
        else tree_scores(start, prompts, labels, token_budget=_PROBE_BUDGET)
    )
    for part in parts:
        found[part.places] = part.log_probs
    return found


def _window(config: Any) -> int | None:
    """Return how far back layers see, where that is less than everything."""
    window = getattr(config, "sliding_window", None)
    kinds = getattr(config, "layer_types", None)
    used = getattr(config, "use_sliding_window", True)
    if kinds is not None:
        used = any("sliding" in kind or "chunked" in kind for kind in kinds)
    return int(window) if window and used else None
