"""A Llama-shaped decoder over the passes of a prefix tree, with a fifth of the operations.

The weights are those of a model of transformers, laid out for it once: queries, keys and values
are one matrix, gate and up projection another, norms are folded into what follows them. With 2
cores and a small model a pass of transformers spends a third of its time outside matrix products.
Here products take all rows of a pass, so that weights are read once; what lies between them takes
rows by the part, so that they stay in the cache, in memory that is used again; and attention goes
by blocks of the tree that share little. Which models have this shape is tried (see
forward_scores), not looked up.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.tools.scoring import LogProbs
from evenhand.tools.scoring.forward_passes import additive_mask, asked_log_probs
from evenhand.tools.scoring.packing import Block, Pass, plan_blocks
from evenhand.tools.scoring.prefix_tree import Ints, PrefixTree
from evenhand.tools.scoring.products import Products

if TYPE_CHECKING:
    import torch

_LAYER_PARTS = frozenset({"input_layernorm", "post_attention_layernorm", "self_attn", "mlp"})
_ATTENTION_PARTS = frozenset({"q_proj", "k_proj", "v_proj", "o_proj"})
_MLP_PARTS = frozenset({"gate_proj", "up_proj", "down_proj", "act_fn"})
_BLOCK, _PART = 128, 256
"""Rows of a block of attention, and of what is done between products: a core's cache holds them."""


@dataclass(frozen=True)
class _Layer:
    """Weights as the way of multiplying wants them."""

    states: Any
    """To queries, keys and values: (h * d + 2 * g * d, width)."""
    bias: "torch.Tensor | None"
    """Of those."""
    out: Any
    gate_up: Any
    down: Any


class FusedDecoder:
    """The weights of a decoder.

    Args:
        model: Causal language model of transformers.
        products: How states and weights are multiplied.

    Raises:
        NotImplementedError: It has not the shape of Llama.
    """

    def __init__(self, model: Any, products: Products) -> None:
        """Lay out copies of the layers' weights."""
        import torch

        decoder = model.get_decoder()
        first = decoder.layers[0]
        if not _is_llama(first):
            raise NotImplementedError("no Llama-shaped decoder")
        self.width = int(first.self_attn.head_dim)
        self.heads = int(first.self_attn.q_proj.out_features) // self.width
        self.groups = int(first.self_attn.k_proj.out_features) // self.width
        self.inner = int(first.mlp.down_proj.in_features)
        self.scaling = float(first.self_attn.scaling)
        self.epsilon = float(first.input_layernorm.variance_epsilon)
        self.embed, self.rotary, self.norm = decoder.embed_tokens, decoder.rotary_emb, decoder.norm
        self.head = model.get_output_embeddings()
        self.device, self.dtype, self.products = model.device, model.dtype, products
        with torch.inference_mode():
            self.layers = [self._layer(layer) for layer in decoder.layers]

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
        weight = self.products.weight
        return _Layer(
            states=weight(states),
            bias=bias,
            out=weight(attention.o_proj.weight),
            gate_up=weight(gate_up * layer.post_attention_layernorm.weight),
            down=weight(mlp.down_proj.weight),
        )


class _Room:
    """Memory of a pass, used again by each layer and pass: fresh pages cost as much as the sums.

    Args:
        decoder: Whose passes.
        rows: Of the largest.
    """

    def __init__(self, decoder: FusedDecoder, rows: int) -> None:
        self.rows = rows
        like = decoder.embed.weight
        self._mixed_width = (decoder.heads + 2 * decoder.groups) * decoder.width
        self._mixed = like.new_empty((rows, self._mixed_width))
        self.gated = like.new_empty((rows, 2 * decoder.inner))
        widest = max(decoder.inner, decoder.heads * decoder.width, like.shape[1])
        self.wide = decoder.products.factor(rows, widest, like)

    def mixed(self, rows: int) -> "torch.Tensor":
        """Return room for queries, keys and values of a pass and its path."""
        if len(self._mixed) < rows:
            self._mixed = self._mixed.new_empty((rows, self._mixed_width))
        return self._mixed[:rows]

    @staticmethod
    def parts(rows: int) -> Iterator[slice]:
        """Yield the rows by the part."""
        for start in range(0, rows, _PART):
            yield slice(start, min(start + _PART, rows))


@dataclass(frozen=True)
class _Attention:
    """A block of attention: places of its queries in the pass, of its keys, and the mask."""

    queries: "torch.Tensor"
    keys: "torch.Tensor"
    mask: "torch.Tensor"

    @classmethod
    def of(cls, decoder: FusedDecoder, block: Block) -> "_Attention":
        import torch

        device = decoder.device
        queries = torch.arange(block.start, block.stop, device=device)
        keys = torch.from_numpy(block.keys).to(device)
        return cls(queries, keys, additive_mask(block.seen, decoder.dtype, device)[0, 0])

    def at(self, rows: "torch.Tensor") -> "_Attention":
        """Return the block with those of its queries only that are among `rows`, ascending."""
        import torch

        asked = torch.isin(self.queries, rows)
        return _Attention(self.queries[asked], self.keys, self.mask[asked])


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
        self._room = _Room(decoder, 0)
        shape = (len(decoder.layers), 0, 2 * decoder.groups * decoder.width)
        self._path = torch.empty(shape, dtype=decoder.dtype, device=decoder.device)

    def run(self, one: Pass, ends: Ints, tokens: Ints) -> LogProbs:
        """Compute a pass; return log-probabilities of `tokens` at the ends in it, (k, U)."""
        import torch

        decoder, tree = self._decoder, self._tree
        if self._room.rows < len(one):
            self._room = _Room(decoder, len(one))
        with torch.inference_mode():
            places = torch.from_numpy(tree.depths[one.start : one.stop]).to(decoder.device)
            states = decoder.embed(
                torch.from_numpy(tree.tokens[one.start : one.stop]).to(decoder.device)
            )
            cosine, sine = decoder.rotary(states[None], places[None])
            half = slice(decoder.width // 2)
            turn = torch.complex(cosine[0, :, None, half], sine[0, :, None, half])
            kept = torch.from_numpy(one.kept).to(decoder.device)
            blocks = [_Attention.of(decoder, each) for each in plan_blocks(tree, one, _BLOCK)]
            rows = torch.from_numpy(ends - one.start).to(decoder.device)
            paths = []
            for number, layer in enumerate(decoder.layers):
                mixed = self._mixed(number, layer, states, turn)
                paths.append(mixed[:, decoder.heads * decoder.width :].index_select(0, kept))
                if number == len(decoder.layers) - 1:
                    # What the last layer makes of a token is asked only where a prompt ends.
                    blocks = [at for each in blocks if len((at := each.at(rows)).queries)]
                    states = states[rows]
                self._attend(blocks, mixed, len(one.path))
                self._transform(layer, states)
            self._path = torch.stack(paths)
            return asked_log_probs(decoder.head(decoder.norm(states)), tokens)

    def _mixed(
        self, number: int, layer: _Layer, states: "torch.Tensor", turn: "torch.Tensor"
    ) -> "torch.Tensor":
        """Return queries, keys and values of the pass, behind keys and values of the path."""
        import torch

        decoder, room = self._decoder, self._room
        path, n = self._path[number], len(states)
        mixed = room.mixed(len(path) + n)
        own, queries = mixed[len(path) :], decoder.heads * decoder.width
        mixed[: len(path), queries:] = path
        for part in room.parts(n):
            room.wide.put(part.start, _normed(states[part], decoder.epsilon))
        room.wide.times(n, layer.states, own)
        for part in room.parts(n):
            some = own[part]
            if layer.bias is not None:
                some.add_(layer.bias)
            turned = some[:, : queries + decoder.groups * decoder.width]
            pairs = turned.view(len(some), -1, decoder.width // 2, 2)
            torch.view_as_complex(pairs).mul_(turn[part])
        return mixed

    def _attend(self, blocks: "Sequence[_Attention]", mixed: "torch.Tensor", path: int) -> None:
        """Put what each query sees where it is multiplied next."""
        import torch

        decoder = self._decoder
        heads, groups, width = decoder.heads, decoder.groups, decoder.width
        done = 0
        for one in blocks:
            n, k = len(one.queries), len(one.keys)
            known = mixed[:, heads * width :].index_select(0, one.keys).view(k, 2, groups, 1, width)
            # Groups as the batch: heads of a group then share its keys without a copy of them.
            keys, values = known.permute(1, 2, 3, 0, 4).expand(2, groups, heads // groups, k, width)
            queries = mixed[one.queries + path, : heads * width]
            seen = torch.nn.functional.scaled_dot_product_attention(
                queries.view(n, groups, heads // groups, width).permute(1, 2, 0, 3),
                keys,
                values,
                attn_mask=one.mask,
                scale=decoder.scaling,
            )
            self._room.wide.put(done, seen.permute(2, 0, 1, 3).reshape(n, heads * width))
            done += n

    def _transform(self, layer: _Layer, states: "torch.Tensor") -> None:
        """Add to the states what was seen, and what the perceptron makes of it."""
        import torch

        decoder, room, n = self._decoder, self._room, len(states)
        room.wide.times(n, layer.out, states, add=True)
        for part in room.parts(n):
            room.wide.put(part.start, _normed(states[part], decoder.epsilon))
        gated = room.gated[:n]
        room.wide.times(n, layer.gate_up, gated)
        for part in room.parts(n):
            gate, up = gated[part].chunk(2, dim=1)
            room.wide.put(part.start, torch.nn.functional.silu(gate).mul_(up))
        room.wide.times(n, layer.down, states, add=True)


def _normed(states: "torch.Tensor", epsilon: float) -> "torch.Tensor":
    """Return states by their root mean square; the weights of the norm stand in what follows."""
    import torch

    wide = torch.promote_types(states.dtype, torch.float32)
    size = torch.linalg.vector_norm(states, dim=-1, keepdim=True, dtype=wide)
    scale = size.square_().div_(states.shape[-1]).add_(epsilon).rsqrt_()
    normed: torch.Tensor = states * scale.to(states.dtype)
    return normed


def _is_llama(layer: Any) -> bool:
    import torch

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
        # An adapter that is not merged, or weights in 4 bits, have a `weight` that is not all.
        and all(
            isinstance(part, torch.nn.Linear)
            for block in (layer.self_attn, layer.mlp)
            for name, part in block.named_children()
            if name.endswith("_proj")
        )
    )
