"""A RoBERTa-style encoder from random weights: masked words first, then levels."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evenhand.training.encoder_tokens import (
    END,
    MASK,
    PAD,
    SPECIAL,
    START,
    TokenIds,
    encode,
    epoch_batches,
    padded,
    train_tokenizer,
)
from evenhand.training.levels import ClassWeights, Levels, level_weights
from evenhand.training.training_loop import Checkpoints, Phase, alone, train

if TYPE_CHECKING:
    import torch
    from tokenizers import Tokenizer

PRETRAINING, TRAINING = "pretraining", "training"
_BESIDE_TEXT = PAD + 1
"""Positions that RoBERTa never uses: it counts from the number of <pad> on."""
_KEPT, _DRAWN = 0.1, 0.1
"""Of the tokens asked for: shares that are shown as they are, and as any token (BERT's)."""


@dataclass(frozen=True)
class EncoderSettings:
    """What the trainings read of ScratchEncoderSettings, where the meaning is documented."""

    vocabulary: int
    least: int
    masked: float
    pretraining_epochs: int
    pretraining_rate: float
    epochs: int
    rate: float
    batch: int
    threads: int
    class_weights: ClassWeights | None


@dataclass(frozen=True)
class EncoderShape:
    """What an encoder is before it has learned anything.

    Attributes:
        positions: Of the longest text, RoBERTa's two unused ones included.
        layers: Of the encoder.
        heads: Of attention.
        width: Of a token's vector.
        dropout: In training.
        levels: That the head tells apart.
        tokens: Of the vocabulary; 0 before it is learned.
    """

    positions: int
    layers: int
    heads: int
    width: int
    dropout: float
    levels: int
    tokens: int = 0

    @property
    def longest(self) -> int:
        """Tokens of the longest text."""
        return self.positions - _BESIDE_TEXT

    def as_dict(self) -> dict[str, Any]:
        """Return the fields by name."""
        return asdict(self)


@dataclass(frozen=True)
class TrainedEncoder:
    """An encoder after both trainings.

    Attributes:
        shape: With its vocabulary.
        tokenizer: Its words.
        model: With the head.
        losses: Stage -> loss of each step, in nats a masked token, then a visit.
        shortened: Training texts that were too long.
        device: What it was trained on.
    """

    shape: EncoderShape
    tokenizer: "Tokenizer"
    model: "torch.nn.Module"
    losses: Mapping[str, Sequence[float]]
    shortened: int
    device: str


def encoder_config(shape: EncoderShape) -> Any:
    """Return transformers' description of the encoder."""
    from transformers import RobertaConfig

    config: Any = RobertaConfig  # its fields are not all named in its signature
    return config(
        vocab_size=shape.tokens,
        max_position_embeddings=shape.positions,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        hidden_size=shape.width,
        intermediate_size=4 * shape.width,
        hidden_dropout_prob=shape.dropout,
        attention_probs_dropout_prob=shape.dropout,
        type_vocab_size=1,
        num_labels=shape.levels,
        bos_token_id=START,
        pad_token_id=PAD,
        eos_token_id=END,
    )


def classifier(shape: EncoderShape) -> "torch.nn.Module":
    """Return the encoder with a head over levels, weights drawn."""
    from transformers import RobertaForSequenceClassification

    model: torch.nn.Module = RobertaForSequenceClassification(encoder_config(shape))
    return model


def train_encoder(
    texts: Sequence[str],
    levels: Levels,
    shape: EncoderShape,
    settings: EncoderSettings,
    *,
    seed: int,
    work: Path | None,
    on_step: Callable[[str, int, int, float], None],
) -> TrainedEncoder:
    """Learn a vocabulary, masked words and levels of texts; the same for the same arguments.

    Args:
        texts: Shape (n,).
        levels: Places among the levels that occur, shape (n,).
        shape: Of the encoder, its vocabulary not known yet.
        settings: Of the trainings.
        seed: Of weights, masks, batches and dropout.
        work: Folder of the checkpoints of this very training; None for none.
        on_step: Told (stage, steps done, all steps, loss) after each step; may raise to stop.
    """
    import torch

    tokenizer = train_tokenizer(texts, size=settings.vocabulary, least=settings.least)
    shape = replace(shape, tokens=tokenizer.get_vocab_size())
    ids, shortened = encode(tokenizer, texts, shape.longest)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    checkpoints = Checkpoints(work)
    with alone(settings.threads):
        torch.manual_seed(seed)
        model: Any = classifier(shape).to(device)
        if checkpoints.phase != TRAINING:
            batches = _Batches(ids, settings.batch, settings.pretraining_epochs, PRETRAINING, seed)
            reader = _pretrained(batches, shape, settings, device, checkpoints, on_step)
            model.roberta.load_state_dict(reader.state_dict())
        batches = _Batches(ids, settings.batch, settings.epochs, TRAINING, seed)
        _train(model, batches, levels, settings, device, checkpoints, on_step)
    return TrainedEncoder(shape, tokenizer, model, checkpoints.losses, shortened, device)


class _Batches:
    """The texts of each step: every epoch deals all of them, in an order of its own."""

    def __init__(
        self, ids: Sequence[TokenIds], size: int, epochs: int, stage: str, seed: int
    ) -> None:
        self._ids = ids
        self._lengths = [len(one) for one in ids]
        self._size = size
        self._draws = Phase(f"{stage}, batches", 0, 0.0, seed=seed)
        self._an_epoch = -(-len(ids) // size)
        self._dealt: tuple[int, list[NDArray[np.int64]]] = (-1, [])
        self.seed = seed
        self.steps = epochs * self._an_epoch

    def of(self, step: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return which texts a step reads, shape (batch,), and their tokens, (batch, longest)."""
        epoch, place = divmod(step, self._an_epoch)
        if self._dealt[0] != epoch:
            rng = np.random.default_rng(self._draws.draw(epoch))
            self._dealt = (epoch, epoch_batches(self._lengths, self._size, rng))
        places = self._dealt[1][place]
        return places, padded([self._ids[each] for each in places])


def _pretrained(
    batches: _Batches,
    shape: EncoderShape,
    settings: EncoderSettings,
    device: str,
    checkpoints: Checkpoints,
    on_step: Callable[[str, int, int, float], None],
) -> "torch.nn.Module":
    """Learn to guess hidden tokens; return the encoder without the head that guesses."""
    import torch
    from transformers import RobertaForMaskedLM

    model: Any = RobertaForMaskedLM(encoder_config(shape))
    model.to(device)

    def loss_of(step: int, rng: np.random.Generator) -> "torch.Tensor":
        _, ids = batches.of(step)
        shown, asked = hide(ids, shape.tokens, settings.masked, rng)
        inputs = torch.from_numpy(shown).to(device)
        hidden = model.roberta(input_ids=inputs, attention_mask=inputs != PAD).last_hidden_state
        # The vocabulary is the largest matrix: only hidden places are multiplied by it.
        places = torch.from_numpy(asked).to(device)
        wanted = torch.from_numpy(ids).to(device)[places]
        return torch.nn.functional.cross_entropy(model.lm_head(hidden[places]), wanted)

    phase = Phase(PRETRAINING, batches.steps, settings.pretraining_rate, seed=batches.seed)
    train(model, phase, loss_of, checkpoints=checkpoints, on_step=partial(on_step, PRETRAINING))
    reader: torch.nn.Module = model.roberta
    return reader


def _train(
    model: "torch.nn.Module",
    batches: _Batches,
    levels: Levels,
    settings: EncoderSettings,
    device: str,
    checkpoints: Checkpoints,
    on_step: Callable[[str, int, int, float], None],
) -> None:
    import torch

    n_levels = int(levels.max()) + 1
    weights = level_weights(levels, n_levels, settings.class_weights)
    weight = torch.tensor(weights, dtype=torch.float32, device=device)

    def loss_of(step: int, rng: np.random.Generator) -> "torch.Tensor":
        places, ids = batches.of(step)
        inputs = torch.from_numpy(ids).to(device)
        wanted = torch.from_numpy(levels[places]).to(device)
        logits = model(input_ids=inputs, attention_mask=inputs != PAD).logits
        each = torch.nn.functional.cross_entropy(logits, wanted, reduction="none")
        # Not the library's weighted mean: a batch of rare levels alone would count like any.
        return (each * weight[wanted]).mean()

    phase = Phase(TRAINING, batches.steps, settings.rate, seed=batches.seed)
    train(model, phase, loss_of, checkpoints=checkpoints, on_step=partial(on_step, TRAINING))


def hide(
    ids: NDArray[np.int64], tokens: int, share: float, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Hide a share of the tokens behind <mask>, or another token, for the encoder to guess.

    Args:
        ids: Padded texts, shape (batch, longest).
        tokens: Of the vocabulary.
        share: Of the tokens that are asked for, in (0, 1); at least one of each text.
        rng: Of the draw.

    Returns:
        The tokens as shown, and which are asked for; specials never are. Of those asked for 8 in
        10 are <mask>, 1 is any token, 1 stays as it is.
    """
    words = ids >= len(SPECIAL)
    draws = np.where(words, rng.random(ids.shape), 2.0)
    asked = (draws < share) | ((draws == draws.min(axis=1, keepdims=True)) & words)
    how = rng.random(ids.shape)
    other = rng.integers(len(SPECIAL), tokens, ids.shape)
    shown = np.where(asked & (how >= _KEPT + _DRAWN), MASK, ids)
    shown = np.where(asked & (how < _DRAWN), other, shown)
    return shown, asked
