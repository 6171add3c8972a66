"""An encoder that has read nothing but the training half: its own words, then the levels.

The counterfactual paper sets it against a pretrained model on the same pairs (its sections 2.5 and
3.5): what moves an encoder without any other reading comes from the decisions, not from the web.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Scalar
from evenhand.training.encoder_tokens import encode, equal_lengths, load_tokenizer
from evenhand.training.encoder_training import (
    PRETRAINING,
    EncoderSettings,
    EncoderShape,
    TrainedEncoder,
    encoder_config,
    train_encoder,
)
from evenhand.training.lent import TEMPLATE_FILE, FitProgress, Lent, Renderer, needed
from evenhand.training.levels import Probabilities
from evenhand.training.mimic_rows import Decisions, MimicRows
from evenhand.training.mimics import MimicSettings, mimic

if TYPE_CHECKING:
    import torch
    from tokenizers import Tokenizer

_FACTS, _WEIGHTS, _WORDS = "encoder.json", "model.safetensors", "tokenizer.json"
_TOKENS_AT_ONCE = 16_384
_AGAIN = "fit the mimic again"
_TRAINED = tuple(each.name for each in fields(EncoderSettings))


class ScratchEncoderSettings(MimicSettings):
    """Settings of the encoder and of both its trainings.

    The counterfactual paper (section 5.1) has a vocabulary of at most 52,000 byte-level tokens that
    occur twice, RoBERTa's special tokens, 1,024 positions, 12 layers of 12 heads and a dropout of
    .1, on some 72,000 visits and a GPU. Vocabulary, positions and dropout are its; layers, heads
    and width are ours, for hundreds of visits on a CPU in minutes, and so is what it does not
    state: masked share, epochs of the pretraining, rates, batches. For the paper's size: 12
    layers, 12 heads, width 768.

    Attributes:
        vocabulary: Tokens at most.
        least: Times that a pair of tokens must occur to become one.
        positions: Of the longest text, in tokens; of a longer one the middle is left out.
        layers: Of the encoder.
        heads: Of attention; they share the width.
        width: Of a token's vector; the inner layers are four times as wide.
        dropout: Of hidden values and attention, in training.
        masked: Share of the tokens that the pretraining hides and asks for (RoBERTa's .15).
        pretraining_epochs: Passes over the texts.
        pretraining_rate: Highest learning rate of the pretraining.
        epochs: Passes over the levelled texts (the paper stops when the loss is stable).
        rate: Highest learning rate of that.
        batch: Texts in a step.
        threads: Of a CPU in the fit; another number is another model in the last digits.
    """

    vocabulary: int = 52_000
    least: int = 2
    positions: int = 1_024
    layers: int = 2
    heads: int = 4
    width: int = 128
    dropout: float = 0.1
    masked: float = 0.15
    pretraining_epochs: int = 10
    pretraining_rate: float = 1e-3
    epochs: int = 10
    rate: float = 1e-3
    batch: int = 16
    threads: int = 1

    def cpu_seconds(self, visits: int, asked: int) -> float | None:
        """Of the usual size, as read on demo_visits, 150 and 450 visits; else not known."""
        usual = type(self).model_fields
        if any(getattr(self, name) != usual[name].default for name in ("layers", "width")):
            return None
        return 5 + 0.0045 * visits * (self.pretraining_epochs + self.epochs) + 0.01 * asked


@dataclass(frozen=True)
class _Facts:
    """What a saved encoder knows besides weights and vocabulary."""

    n_levels: int
    present: tuple[int, ...]
    kinds: tuple[tuple[str, str], ...]
    chosen: dict[str, Scalar]
    shape: EncoderShape
    losses: dict[str, list[float]]


@mimic(
    "scratch_encoder",
    title="Encoder trained from scratch: masked words of the training half, then its levels",
    settings=ScratchEncoderSettings,
    needs=("renderer",),
    packages=("torch", "transformers", "tokenizers"),
    exact_versions=False,
)
class ScratchEncoder:
    """Asked in double precision: a visit's level does not depend on its company in a batch."""

    def __init__(
        self, facts: _Facts, tokenizer: "Tokenizer", model: "torch.nn.Module", renderer: Renderer
    ) -> None:
        """Keep the fitted parts and what renders."""
        self._facts = facts
        self._tokenizer = tokenizer
        self._model = model
        self._renderer = renderer
        self.n_levels = facts.n_levels
        self.chosen: Mapping[str, Scalar] = facts.chosen

    @classmethod
    def fit(
        cls,
        decisions: Decisions,
        settings: ScratchEncoderSettings,
        *,
        n_levels: int,
        seed: int,
        lent: Lent,
        n_jobs: int = 1,
        work: Path | None = None,
    ) -> "ScratchEncoder":
        """Learn words, then masked words, then levels; see the contract."""
        renderer = needed(lent.renderer, "renderer")
        present, levels = np.unique(decisions.levels, return_inverse=True)
        shape = EncoderShape(
            positions=settings.positions,
            layers=settings.layers,
            heads=settings.heads,
            width=settings.width,
            dropout=settings.dropout,
            levels=len(present),
        )
        trained = train_encoder(
            renderer.render(decisions.rows),
            levels,
            shape,
            EncoderSettings(**{each: getattr(settings, each) for each in _TRAINED}),
            seed=seed,
            work=work,
            on_step=_reporter(lent.on_progress, len(decisions), settings),
        )
        facts = _Facts(
            n_levels,
            tuple(present.tolist()),
            tuple(decisions.rows.kinds.items()),
            _chosen(trained),
            trained.shape,
            {stage: list(losses) for stage, losses in trained.losses.items()},
        )
        return cls(facts, trained.tokenizer, trained.model, renderer)

    def predict_probabilities(self, rows: MimicRows) -> Probabilities:
        """Return the softmax of the head over the levels that were met, shape (n, L)."""
        if tuple(rows.kinds.items()) != self._facts.kinds:
            raise ValueError(
                f"columns {list(rows.kinds)} differ from those of the fit: "
                f"{[name for name, _ in self._facts.kinds]}"
            )
        found = np.zeros((len(rows), self.n_levels))
        texts = self._renderer.render(rows)
        different = list(dict.fromkeys(texts))
        places = {text: place for place, text in enumerate(different)}
        if different:
            shares = self._shares(different)
            found[:, list(self._facts.present)] = shares[[places[text] for text in texts]]
        return found

    def _shares(self, texts: Sequence[str]) -> Probabilities:
        import torch

        ids, _ = encode(self._tokenizer, texts, self._facts.shape.longest)
        found = np.zeros((len(texts), len(self._facts.present)))
        model = self._model.double().eval()
        device = next(model.parameters()).device
        with torch.inference_mode():
            for some in equal_lengths([len(one) for one in ids], _TOKENS_AT_ONCE):
                batch = torch.from_numpy(np.stack([ids[place] for place in some])).to(device)
                logits = model(input_ids=batch).logits
                found[some] = torch.softmax(logits, dim=-1).cpu().numpy()
        return found

    def save(self, folder: Path) -> None:
        """Write weights and config as transformers reads them, the words, and our own facts."""
        from safetensors.torch import save_file

        weights = {name: each.float() for name, each in self._model.state_dict().items()}
        save_file(weights, folder / _WEIGHTS, metadata={"format": "pt"})
        encoder_config(self._facts.shape).to_json_file(str(folder / "config.json"), use_diff=False)
        self._tokenizer.save(str(folder / _WORDS))
        (folder / TEMPLATE_FILE).write_text(self._renderer.template, "utf-8")
        facts = {
            "n_levels": self.n_levels,
            "present": self._facts.present,
            "kinds": self._facts.kinds,
            "chosen": self._facts.chosen,
            "shape": self._facts.shape.as_dict(),
            "losses": self._facts.losses,
        }
        (folder / _FACTS).write_text(json.dumps(facts, indent=2) + "\n", "utf-8")

    @classmethod
    def load(cls, folder: Path, lent: Lent) -> "ScratchEncoder":
        """Read a saved encoder; see the contract."""
        renderer = needed(lent.renderer, "renderer")
        facts = _read_facts(folder / _FACTS)
        return cls(
            facts, load_tokenizer(folder / _WORDS), _read_model(folder / _WEIGHTS, facts), renderer
        )


def _chosen(trained: TrainedEncoder) -> dict[str, Scalar]:
    """Return what came out of the fit, for a reader of the card; losses of the last tenth."""
    return {
        "tokens": trained.shape.tokens,
        "parameters": sum(each.numel() for each in trained.model.parameters()),
        **{
            f"{stage}_loss": round(float(np.mean(losses[-max(1, len(losses) // 10) :])), 4)
            for stage, losses in trained.losses.items()
        },
        "shortened": trained.shortened,
        "device": trained.device,
    }


def _reporter(
    told: Callable[[FitProgress], None], visits: int, settings: ScratchEncoderSettings
) -> Callable[[str, int, int, float], None]:
    """Return what turns a step into progress, with its rate since this process began the stage."""
    began: dict[str, tuple[float, int]] = {}

    def on_step(stage: str, done: int, steps: int, loss: float) -> None:
        now = time.monotonic()
        at, before = began.setdefault(stage, (now, done))
        epochs = settings.pretraining_epochs if stage == PRETRAINING else settings.epochs
        rate = (done - before) / (now - at) if now > at else 0.0
        told(
            FitProgress(
                stage=stage,
                step=done,
                steps=steps,
                loss=loss,
                examples_per_second=rate * visits * epochs / steps,
                seconds_left=(steps - done) / rate if rate else 0.0,
            )
        )

    return on_step


def _read_facts(path: Path) -> _Facts:
    try:
        kept: dict[str, Any] = json.loads(path.read_text("utf-8"))
        return _Facts(
            n_levels=int(kept["n_levels"]),
            present=tuple(map(int, kept["present"])),
            kinds=tuple((str(name), str(kind)) for name, kind in kept["kinds"]),
            chosen=dict(kept["chosen"]),
            shape=EncoderShape(**kept["shape"]),
            losses={
                str(stage): list(map(float, kept["losses"][stage])) for stage in kept["losses"]
            },
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path}: no saved encoder ({type(error).__name__}); {_AGAIN}.") from error


def _read_model(path: Path, facts: _Facts) -> "torch.nn.Module":
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    from evenhand.training.encoder_training import classifier

    model = classifier(facts.shape)
    try:
        model.load_state_dict(load_file(path))
    except (SafetensorError, OSError, RuntimeError) as error:
        raise UserError(
            f"{path}: these weights cannot be read ({type(error).__name__}); {_AGAIN}."
        ) from error
    return model
