"""The passes of a prefix tree through a model of transformers as it is."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evenhand.tools.scoring import LogProbs
from evenhand.tools.scoring.packing import Pass, visible
from evenhand.tools.scoring.prefix_tree import Ints, PrefixTree

if TYPE_CHECKING:
    import torch


class ForwardPasses:
    """The forward passes of a tree, one after the other, with the path's keys and values between.

    Args:
        model: Causal language model that takes a mask of four dimensions.
        tree: Whose passes these are.
    """

    def __init__(self, model: Any, tree: PrefixTree) -> None:
        """Start with an empty path."""
        # Without the configuration: layers with a window would drop keys by their number.
        from transformers import DynamicCache

        self._model, self._tree = model, tree
        self._cache: Any = DynamicCache()

    def run(self, one: Pass, ends: Ints, tokens: Ints) -> LogProbs:
        """Compute a pass; return log-probabilities of `tokens` at the ends in it, (k, U)."""
        import torch

        tree, device = self._tree, self._model.device
        nodes = slice(one.start, one.stop)
        with torch.inference_mode():
            result = self._model(
                input_ids=torch.from_numpy(tree.tokens[nodes])[None].to(device),
                position_ids=torch.from_numpy(tree.depths[nodes])[None].to(device),
                attention_mask=additive_mask(visible(tree, one), self._model.dtype, device),
                cache=self._cache,
                use_cache=True,
                logits_to_keep=torch.from_numpy(ends - one.start).to(device),
            )
            self._keep(torch.from_numpy(one.kept).to(device))
            return asked_log_probs(result.logits[0], tokens)

    def _keep(self, kept: "torch.Tensor") -> None:
        for layer in self._cache.layers:
            layer.keys = layer.keys.index_select(2, kept)
            layer.values = layer.values.index_select(2, kept)


def additive_mask(seen: NDArray[np.bool_], dtype: "torch.dtype", device: Any) -> "torch.Tensor":
    """Return a mask to add to attention scores, shape (1, 1, nodes, path + nodes)."""
    import torch

    hidden = torch.from_numpy(~seen).to(device)
    mask = torch.zeros(hidden.shape, dtype=dtype, device=device)
    return mask.masked_fill_(hidden, torch.finfo(dtype).min)[None, None]


def asked_log_probs(logits: "torch.Tensor", tokens: Ints) -> LogProbs:
    """Return log-probabilities of some tokens, over the whole vocabulary, shape (k, U)."""
    import torch

    wide = torch.promote_types(logits.dtype, torch.float32)
    found = torch.log_softmax(logits.to(wide), dim=-1)
    asked: LogProbs = found[:, torch.from_numpy(tokens).to(found.device)].double().cpu().numpy()
    return asked
