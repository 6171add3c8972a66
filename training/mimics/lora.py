"""A pretrained language model, tuned by LoRA so that the decided level is the next token."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Scalar
from evenhand.training.adapter_files import CONFIG, WEIGHTS, Adapter, adapter_of
from evenhand.training.label_tokens import Encoded, TokenIds, encode_prompts
from evenhand.training.language_examples import Example, build_example
from evenhand.training.language_models import (
    LanguageModel,
    choose_device,
    four_bit_here,
    open_language_model,
)
from evenhand.training.lent import TEMPLATE_FILE, Lent, Renderer, Scorer, needed
from evenhand.training.levels import Probabilities, level_weights
from evenhand.training.lora_training import LoraTraining, TrainedAdapter, train_adapter
from evenhand.training.mimic_rows import Decisions, MimicRows
from evenhand.training.mimics import MimicSettings, mimic
from evenhand.training.preflight import check_leaks

_FACTS = "lora.json"
_AGAIN = "fit the mimic again"


class LoraSettings(MimicSettings):
    """Settings of the adapter and its training.

    Rank, alpha, dropout, projections and 4 bits are the counterfactual paper's (Methods; it
    trains 3 to 5 epochs, until the loss is stable); what it does not state is ours.

    Attributes:
        base: The pretrained model: "local" (the embedded one), a folder, or a Hugging Face id.
        rank: Of the adapter's matrices (r).
        alpha: The adapter counts alpha / rank.
        dropout: Before the adapter, in training.
        targets: Projections with an adapter; () for all of attention and MLP.
        learning_rate: Highest; it rises in the warm-up and falls to 0 in a line.
        weight_decay: Of AdamW.
        warm_up: Share of the steps in which the rate rises.
        clip: Norm of the gradient, at most.
        epochs: Passes over the training half.
        batch: Visits at once.
        accumulation: Batches of a step.
        max_steps: Steps, at most; None: all of the epochs.
        longest: Tokens of a prompt with its label, at most; None: the model's context. Of a longer
            prompt the middle is left out.
        four_bit: Keep the base's weights in 4 bits (nf4) on CUDA; on a CPU they are plain.
        chat: Chat form of the prompts; None: where the model has a template.
    """

    base: str = "local"
    rank: int = 16
    alpha: int = 32
    dropout: float = 0.1
    targets: tuple[str, ...] = ()
    learning_rate: float = 1e-3
    weight_decay: float = 0.0
    warm_up: float = 0.05
    clip: float = 1.0
    epochs: int = 3
    batch: int = 8
    accumulation: int = 1
    max_steps: int | None = None
    longest: int | None = None
    four_bit: bool = True
    chat: bool | None = None

    def cpu_seconds(self, visits: int, asked: int) -> float | None:
        """Of the embedded model, as bench/results/mimics.md has it; of others it is not known."""
        if self.base != "local":
            return None
        shown = visits * self.epochs
        if self.max_steps is not None:
            shown = min(shown, self.max_steps * self.batch * self.accumulation)
        return 0.5 * shown + 0.1 * asked

    def training(self, seed: int) -> LoraTraining:
        """Return what the training reads."""
        names = LoraTraining.__dataclass_fields__.keys() & type(self).model_fields.keys()
        return LoraTraining(seed=seed, **{name: getattr(self, name) for name in names})


@dataclass(frozen=True)
class _Facts:
    """What a saved adapter knows besides its weights.

    Attributes:
        n_levels: L.
        present: Levels that were met in training.
        kinds: Columns of the fit.
        base_digest: Of the base it was trained on.
        longest: Tokens of prompt and label, at most.
        chat: As in the settings.
        four_bit: Whether the base was in 4 bits.
        losses: Points of the curve, (step, loss).
        chosen: For the card.
    """

    n_levels: int
    present: tuple[int, ...]
    kinds: tuple[tuple[str, str], ...]
    base_digest: str
    longest: int
    chat: bool | None
    four_bit: bool
    losses: tuple[tuple[int, float], ...]
    chosen: dict[str, Scalar]


@mimic(
    "lora",
    title="Pretrained language model, tuned by LoRA: the level is the next token",
    settings=LoraSettings,
    needs=("renderer", "scorer", "base"),
    packages=("torch", "transformers", "peft", "accelerate"),
    exact_versions=False,
)
class Lora:
    """Scored by the lent scorer; for that, the adapter is merged into the base's weights."""

    def __init__(self, facts: _Facts, adapter: Adapter, opened: LanguageModel, lent: Lent) -> None:
        """Keep the fitted parts and what renders and scores."""
        self._facts = facts
        self._adapter = adapter
        self._opened = opened
        self._renderer: Renderer = needed(lent.renderer, "renderer")
        self._score: Scorer = needed(lent.scorer, "scorer")
        self.n_levels = facts.n_levels
        self.chosen: Mapping[str, Scalar] = facts.chosen

    @classmethod
    def fit(
        cls,
        decisions: Decisions,
        settings: LoraSettings,
        *,
        n_levels: int,
        seed: int,
        lent: Lent,
        n_jobs: int = 1,
        work: Path | None = None,
    ) -> "Lora":
        """Train an adapter; see the contract."""
        base = needed(lent.base, "base")
        renderer = needed(lent.renderer, "renderer")
        check_leaks(decisions.rows, decisions.levels, renderer.labels)
        device, said = choose_device("auto")
        four_bit, plain = four_bit_here(base, device, wished=settings.four_bit)
        opened = open_language_model(base, device=device, four_bit=four_bit)
        longest = _longest(opened, settings.longest)
        encoded = _encoded(opened, renderer, decisions.rows, settings.chat)
        weights = level_weights(decisions.levels, n_levels, settings.class_weights)
        examples = [
            build_example(prompt, encoded.labels.ids[level], longest, weight=float(weights[level]))
            for prompt, level in zip(encoded.prompts, decisions.levels.tolist(), strict=True)
        ]
        trained = train_adapter(
            opened.model,
            examples,
            settings.training(seed),
            pad=opened.pad,
            work=work,
            on_progress=lent.on_progress,
        )
        facts = _Facts(
            n_levels=n_levels,
            present=tuple(np.unique(decisions.levels).tolist()),
            kinds=tuple(decisions.rows.kinds.items()),
            base_digest=base.digest,
            longest=longest,
            chat=settings.chat,
            four_bit=four_bit,
            losses=trained.losses,
            chosen=_chosen(trained, examples, f"{said} {plain}".strip()),
        )
        adapter = adapter_of(trained.model, opened)
        return cls(facts, adapter, opened.with_model(trained.model, merge=not four_bit), lent)

    def predict_probabilities(self, rows: MimicRows) -> Probabilities:
        """Return the label's probabilities over the levels that were met, shape (n, L).

        Raises:
            ValueError: The columns are not those of the fit.
        """
        facts = self._facts
        if tuple(rows.kinds.items()) != facts.kinds:
            raise ValueError(
                f"columns {list(rows.kinds)} differ from those of the fit: "
                f"{[name for name, _ in facts.kinds]}"
            )
        found = np.zeros((len(rows), self.n_levels))
        if len(rows) == 0:
            return found
        encoded = _encoded(self._opened, self._renderer, rows, facts.chat)
        labels = [encoded.labels.ids[level] for level in facts.present]
        room = max(map(len, labels))
        prompts: list[TokenIds] = [
            build_example(prompt, (0,) * room, facts.longest).prompt for prompt in encoded.prompts
        ]
        scores = self._score(self._opened.model, prompts, labels)
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        found[:, list(facts.present)] = shares / shares.sum(axis=1, keepdims=True)
        return found

    def save(self, folder: Path) -> None:
        """Write the adapter as peft and vLLM read it, tokenizer, template and our own facts."""
        self._adapter.save(folder)
        self._opened.hub_tokenizer.save_pretrained(str(folder))
        (folder / TEMPLATE_FILE).write_text(self._renderer.template, "utf-8")
        (folder / _FACTS).write_text(json.dumps(vars(self._facts), indent=2) + "\n", "utf-8")

    @classmethod
    def load(cls, folder: Path, lent: Lent) -> "Lora":
        """Read a saved adapter and put it on the lent base; see the contract."""
        base = needed(lent.base, "base")
        facts = _read_facts(folder / _FACTS)
        adapter = _read_adapter(folder)
        if facts.base_digest != base.digest:
            raise UserError(
                f"{folder} was fitted on other weights than those of {base.name!r} here; give the "
                f"model it was fitted on, or {_AGAIN}."
            )
        device, _ = choose_device("auto")
        four_bit, _ = four_bit_here(base, device, wished=facts.four_bit)
        opened = open_language_model(base, device=device, four_bit=four_bit, adapter=folder)
        return cls(facts, adapter, opened, lent)


def _encoded(
    opened: LanguageModel, renderer: Renderer, rows: MimicRows, chat: bool | None
) -> Encoded:
    """Return prompts and labels as ids, the same way for training and for scoring."""
    return encode_prompts(
        opened.tokenizer, renderer.render(rows), renderer.labels, chat=chat, cue=renderer.cue
    )


def _longest(opened: LanguageModel, wished: int | None) -> int:
    context = getattr(opened.model.config.get_text_config(), "max_position_embeddings", None)
    if wished is None:
        return context or 1 << 20
    if context is not None and wished > context:
        raise UserError(
            f"{opened.base.name!r} reads {context} tokens at most; {wished} were asked for."
        )
    return wished


def _chosen(trained: TrainedAdapter, examples: Sequence[Example], said: str) -> dict[str, Scalar]:
    """Return what came out of the fit, for a reader of the card; the loss of the last tenth."""
    losses = [loss for _, loss in trained.losses]
    last = losses[-max(1, len(losses) // 10) :]
    return {
        "steps": trained.steps,
        "first_loss": trained.found.first_loss,
        "last_loss": round(float(np.mean(last)), 4),
        "trainable": trained.found.trainable,
        "projections": ", ".join(trained.targets),
        "tokens_a_visit": round(float(np.mean([len(example) for example in examples])), 1),
        "shortened": trained.found.shortened,
        "device": said,
    }


def _read_facts(path: Path) -> _Facts:
    try:
        kept: dict[str, Any] = json.loads(path.read_text("utf-8"))
        return _Facts(
            n_levels=int(kept["n_levels"]),
            present=tuple(map(int, kept["present"])),
            kinds=tuple((str(name), str(kind)) for name, kind in kept["kinds"]),
            base_digest=str(kept["base_digest"]),
            longest=int(kept["longest"]),
            chat=None if kept["chat"] is None else bool(kept["chat"]),
            four_bit=bool(kept["four_bit"]),
            losses=tuple((int(step), float(loss)) for step, loss in kept["losses"]),
            chosen=dict(kept["chosen"]),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path}: no saved adapter ({type(error).__name__}); {_AGAIN}.") from error


def _read_adapter(folder: Path) -> Adapter:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        config = json.loads((folder / CONFIG).read_text("utf-8"))
        return Adapter(config, load_file(folder / WEIGHTS))
    except (SafetensorError, OSError, ValueError) as error:
        raise UserError(
            f"{folder}: this adapter cannot be read ({type(error).__name__}); {_AGAIN}."
        ) from error
