"""Which matrices of a model get an adapter, by the model's own names."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from evenhand.graph_store.errors import UserError

_HEADS = re.compile(r"head|^score$|classif|^embed|^wte$|^wpe$|router|^gate$")
"""Output heads, embeddings and routers: no projection of attention or MLP."""


def resolve_lora_targets(
    module_names: Iterable[str], requested: Sequence[str] | None = None
) -> tuple[str, ...]:
    """Return the last parts of the names of the matrices that get an adapter.

    Each family of models names its projections in its own way; asked for another family's, an
    adapter would be put nowhere.

    Args:
        module_names: Names of the model's linear modules, such as "model.layers.0.mlp.up_proj".
        requested: Last parts that the user names; None: all projections of attention and MLP.

    Raises:
        UserError: A requested one is not there, or nothing is left.

    Example:
        >>> resolve_lora_targets(["h.0.attn.c_attn", "h.0.mlp.c_fc", "lm_head"])
        ('c_attn', 'c_fc')
    """
    last = (name.rpartition(".")[2] for name in module_names)
    candidates = tuple(dict.fromkeys(name for name in last if not _HEADS.search(name.lower())))
    if not candidates:
        raise UserError("The model has no projections of attention or MLP; name another model.")
    unknown = [name for name in requested or () if name not in candidates]
    if unknown:
        raise UserError(
            f"The model has no projection {unknown[0]!r}; expected some of {', '.join(candidates)}."
        )
    return tuple(requested) if requested else candidates


def linear_names(model: Any) -> list[str]:
    """Return the names of a model's linear modules, quantised ones too, without its output head."""
    import torch
    from transformers.pytorch_utils import Conv1D

    head = model.get_output_embeddings()
    return [
        name
        for name, module in model.named_modules()
        if isinstance(module, torch.nn.Linear | Conv1D) and module is not head
    ]
