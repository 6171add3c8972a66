"""A Llama-shaped decoder over the passes of a prefix tree, with a fifth of the operations.

The weights are those of a model of transformers, laid out for it once: queries, keys and values
are one matrix, gate and up projection another, norms are folded into what follows them. With 2
cores and a small model a pass of transformers spends a third of its time outside matrix products;
here it is a tenth. Which models have this shape is tried (see forward_scores), not looked up.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.tools.scoring import LogProbs
from evenhand.tools.scoring.forward_passes import additive_mask, asked_log_probs
from evenhand.tools.scoring.packing import Pass, visible
from evenhand.tools.scoring.prefix_tree import Ints, PrefixTree

if TYPE_CHECKING:
    import torch

_LAYER_PARTS = frozenset({"input_layernorm", "post_attention_layernorm", "self_attn", "mlp"})
_ATTENTION_PARTS = frozenset({"q_proj", "k_proj", "v_proj", "o_proj"})
_MLP_PARTS = frozenset({"gate_proj", "up_proj", "down_proj", "act_fn"})


class _Product:
    """A matrix that rows of states are multiplied with.

    MKL lays a matrix out anew at each product with some rows, which costs a quarter of the time;
    for a number of rows that comes again it is laid out once.

    Args:
        weight: Shape (out, in).
        bias: Shape (out,).
    """

    def __init__(self, weight: "torch.Tensor", bias: "torch.Tensor | None" = None) -> None:
        self.weight, self.bias = weight, bias
        self._packed: torch.Tensor | None = None
        self._rows = 0

    def pack(self, rows: int) -> None:
        """Lay the matrix out for products with so many rows."""
        import torch

        self._packed = torch.ops.mkl._mkl_reorder_linear_weight(self.weight, rows)
        self._rows = rows

    def __call__(self, states: "torch.Tensor") -> "torch.Tensor":
        """Return the product, shape (rows, out)."""
        import torch

        if self._packed is not None and len(states) == self._rows:
            made: torch.Tensor = torch.ops.mkl._mkl_linear(
                states, self._packed, self.weight, self.bias, self._rows
            )
            return made
        return torch.nn.functional.linear(states, self.weight, self.bias)


@dataclass(frozen=True)
class _Layer:
    """Weights as they are multiplied: a row of states from the left."""

    states: _Product
    """To queries, keys and values: (h * d + 2 * g * d, width)."""
    out: _Product
    gate_up: _Product
    down: _Product

    def pack(self, rows: int) -> None:
        for product in (self.states, self.out, self.gate_up, self.down):
            product.pack(rows)


class FusedDecoder:
    """The weights of a decoder.

    Args:
        model: Causal language model of transformers.

    Raises:
        NotImplementedError: It has not the shape of Llama.
    """

    def __init__(self, model: Any) -> None:
        """Lay out copies of the layers' weights."""
        import torch

        decoder = model.get_decoder()
        first = decoder.layers[0]
        if not _is_llama(first):
            raise NotImplementedError("no Llama-shaped decoder")
        self.width = int(first.self_attn.head_dim)
        self.heads = int(first.self_attn.q_proj.out_features) // self.width
        self.groups = int(first.self_attn.k_proj.out_features) // self.width
        self.scaling = float(first.self_attn.scaling)
        self.epsilon = float(first.input_layernorm.variance_epsilon)
        self.embed, self.rotary, self.norm = decoder.embed_tokens, decoder.rotary_emb, decoder.norm
        self.head = model.get_output_embeddings()
        self.device, self.dtype = model.device, model.dtype
        with torch.inference_mode():
            self.layers = [self._layer(layer) for layer in decoder.layers]
        self._packs = self.dtype == torch.float32 and torch.backends.mkl.is_available()
        self._last_rows = self._packed_rows = 0

    def _layer(self, layer: Any) -> _Layer:
        import torch

        attention, mlp = layer.self_attn, layer.mlp
        parts = (attention.q_proj, attention.k_proj, attention.v_proj)
        # The two halves of each head by turns: a pair is then one complex number, and turning it
        # by its position one multiplication. Products of queries and keys stay the same.
        turned = (self.heads + self.groups) * self.width
        order = torch.arange(turned, device=self.device).view(-1, 2, self.width // 2)
        order = torch.cat(
            [
                order.transpose(1, 2).reshape(-1),
                torch.arange(turned, turned + self.groups * self.width, device=self.device),
            ]
        )
        bias = None
        if attention.q_proj.bias is not None:
            bias = torch.cat([part.bias for part in parts])[order]
        gate_up = torch.cat([mlp.gate_proj.weight, mlp.up_proj.weight])
        states = torch.cat([part.weight for part in parts])[order] * layer.input_layernorm.weight
        return _Layer(
            states=_Product(states, bias),
            out=_Product(attention.o_proj.weight),
            gate_up=_Product(gate_up * layer.post_attention_layernorm.weight),
            down=_Product(mlp.down_proj.weight),
        )

    def expect(self, rows: int) -> None:
        """Be told of a pass of so many rows; the second of a size in a row lays weights out for it.

        It needs MKL: on other machines, and in half precision, products stay as they are.
        """
        import torch

        if rows == self._last_rows != self._packed_rows and self._packs:
            with torch.inference_mode():
                for layer in self.layers:
                    layer.pack(rows)
            self._packed_rows = rows
        self._last_rows = rows


class FusedPasses:
    """The passes of one tree, one after the other, with the path's keys and values between.

    Args:
        decoder: The weights.
        tree: Whose passes these are.
    """

    def __init__(self, decoder: FusedDecoder, tree: PrefixTree) -> None:
        """Start with an empty path."""
        import torch

        self._decoder, self._tree = decoder, tree
        shape = (len(decoder.layers), 2, decoder.groups, 0, decoder.width)
        self._path = torch.empty(shape, dtype=decoder.dtype, device=decoder.device)

    def run(self, one: Pass, ends: Ints, tokens: Ints) -> LogProbs:
        """Compute a pass; return log-probabilities of `tokens` at the ends in it, (k, U)."""
        import torch

        decoder, tree = self._decoder, self._tree
        with torch.inference_mode():
            ids = torch.from_numpy(tree.tokens[one.start : one.stop]).to(decoder.device)
            places = torch.from_numpy(tree.depths[one.start : one.stop]).to(decoder.device)
            rows = torch.from_numpy(ends - one.start).to(decoder.device)
            mask = additive_mask(visible(tree, one), decoder.dtype, decoder.device)
            decoder.expect(len(one))
            states = self._layers(ids, places, mask[0, 0], rows)
            self._path = self._path.index_select(3, torch.from_numpy(one.kept).to(decoder.device))
            logits = decoder.head(decoder.norm(states))
            return asked_log_probs(logits, tokens)

    def _layers(
        self,
        ids: "torch.Tensor",
        places: "torch.Tensor",
        mask: "torch.Tensor",
        ends: "torch.Tensor",
    ) -> "torch.Tensor":
        """Return the last layer's states at the ends, shape (k, width of the model)."""
        import torch

        decoder = self._decoder
        heads, groups, width = decoder.heads, decoder.groups, decoder.width
        path, n = self._path.shape[3], len(ids)
        known = self._path.new_empty((*self._path.shape[:3], path + n, width))
        known[:, :, :, :path] = self._path
        states = decoder.embed(ids)
        cosine, sine = decoder.rotary(states[None], places[None])
        turn = torch.complex(cosine[0, :, None, : width // 2], sine[0, :, None, : width // 2])
        for number, layer in enumerate(decoder.layers):
            mixed = layer.states(_normed(states, decoder.epsilon))
            pairs = mixed[:, : (heads + groups) * width].view(n, heads + groups, width // 2, 2)
            turned = torch.view_as_real(torch.view_as_complex(pairs) * turn).view(n, -1, width)
            keys, values = known[number, 0], known[number, 1]
            keys[:, path:] = turned[:, heads:].transpose(0, 1)
            values[:, path:] = (
                mixed[:, (heads + groups) * width :].view(n, groups, width).transpose(0, 1)
            )
            queries = turned[:, :heads]
            if number == len(decoder.layers) - 1:
                # What the last layer makes of a token is asked only where a prompt ends.
                queries, states, mask = queries[ends], states[ends], mask[ends]
            seen = self._attend(queries, keys, values, mask)
            states.add_(layer.out(seen))
            gated = layer.gate_up(_normed(states, decoder.epsilon))
            half = gated.shape[1] // 2
            inner = torch.nn.functional.silu(gated[:, :half]).mul_(gated[:, half:])
            states.add_(layer.down(inner))
        self._path = known
        last: torch.Tensor = states
        return last

    def _attend(
        self,
        queries: "torch.Tensor",
        keys: "torch.Tensor",
        values: "torch.Tensor",
        mask: "torch.Tensor",
    ) -> "torch.Tensor":
        """Return what each query sees, shape (queries, heads * width)."""
        import torch

        n, heads, width = queries.shape
        groups = keys.shape[0]
        # Groups as the batch: heads of a group then share its keys without a copy of them.
        shared = (groups, heads // groups, keys.shape[1], width)
        seen = torch.nn.functional.scaled_dot_product_attention(
            queries.view(n, groups, heads // groups, width).permute(1, 2, 0, 3),
            keys[:, None].expand(shared),
            values[:, None].expand(shared),
            attn_mask=mask,
            scale=self._decoder.scaling,
        )
        return seen.permute(2, 0, 1, 3).reshape(n, heads * width)


def _normed(states: "torch.Tensor", epsilon: float) -> "torch.Tensor":
    """Return states by their root mean square; the weights of the norm stand in what follows."""
    import torch

    wide = torch.promote_types(states.dtype, torch.float32)
    size = torch.linalg.vector_norm(states, dim=-1, keepdim=True, dtype=wide)
    scale = size.square_().div_(states.shape[-1]).add_(epsilon).rsqrt_()
    normed: torch.Tensor = states * scale.to(states.dtype)
    return normed


def _is_llama(layer: Any) -> bool:
    parts = {name for name, _ in layer.named_children()}
    inside = (
        {name for name, _ in layer.self_attn.named_children()} if "self_attn" in parts else set()
    )
    mlp = {name for name, _ in layer.mlp.named_children()} if "mlp" in parts else set()
    return (
        parts == _LAYER_PARTS
        and inside == _ATTENTION_PARTS
        and mlp == _MLP_PARTS
        and type(layer.mlp.act_fn).__name__ in ("SiLU", "SiLUActivation")
        and layer.self_attn.o_proj.bias is None
        and all(part.bias is None for part in (layer.mlp.gate_proj, layer.mlp.down_proj))
    )
