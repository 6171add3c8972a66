"""A LoRA adapter trained by transformers' Trainer, that goes on after a kill as if there was none.

The whole training is one pass over an order that is dealt at the start (`training_order`); a
checkpoint of the Trainer holds adapter, optimiser, schedule and random states, so that a fit that
is taken up again makes the same steps with the same losses.
"""

import contextlib
import json
import logging
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.graph_store.errors import UserError
from evenhand.training.language_examples import (
    Example,
    Layout,
    choose_layout,
    label_losses,
    training_order,
)
from evenhand.training.language_models import is_out_of_memory, quiet_peft
from evenhand.training.lent import FitProgress
from evenhand.training.lora_targets import linear_names, resolve_lora_targets
from evenhand.training.preflight import Preflight, preflight

log = logging.getLogger(__name__)

CHECKPOINT_SECONDS = 60.0
"""Between two checkpoints: what a kill costs."""
_CURVE = 1_000
"""Points of the loss curve, at most."""
_STATE = "trainer_state.json"


@dataclass(frozen=True)
class LoraTraining:
    """How an adapter is trained; the values are those of the settings of mimic/lora."""

    rank: int
    alpha: int
    dropout: float
    targets: tuple[str, ...]
    learning_rate: float
    weight_decay: float
    warm_up: float
    clip: float
    epochs: int
    batch: int
    accumulation: int
    max_steps: int | None
    seed: int
    checkpoint_seconds: float = CHECKPOINT_SECONDS


@dataclass(frozen=True)
class TrainedAdapter:
    """An adapter after its training.

    Attributes:
        model: PeftModel, in evaluation mode.
        targets: Projections that have a part in it.
        found: What the preflight found.
        losses: (step, mean loss of the steps since the last point, in nats a visit).
        first_step: Steps that an earlier process had made.
        steps: Of the whole training.
    """

    model: Any
    targets: tuple[str, ...]
    found: Preflight
    losses: tuple[tuple[int, float], ...]
    first_step: int
    steps: int


def with_adapter(model: Any, training: LoraTraining) -> tuple[Any, tuple[str, ...]]:
    """Return the model with a new adapter, and the projections that have a part in it.

    Raises:
        UserError: A requested projection is not there.
    """
    from peft import LoraConfig, get_peft_model

    targets = resolve_lora_targets(linear_names(model), training.targets or None)
    config = LoraConfig(
        r=training.rank,
        lora_alpha=training.alpha,
        lora_dropout=training.dropout,
        target_modules=list(targets),
        task_type="CAUSAL_LM",
    )
    with quiet_peft():
        adapted = get_peft_model(model, config)
    # With a name, every checkpoint would ask the Hub whether the vocabulary was changed.
    adapted.peft_config["default"].base_model_name_or_path = ""
    return adapted, targets


def train_adapter(
    model: Any,
    examples: Sequence[Example],
    training: LoraTraining,
    *,
    pad: int,
    work: Path | None,
    on_progress: Callable[[FitProgress], None],
) -> TrainedAdapter:
    """Train an adapter, from its start or from the last whole checkpoint.

    Args:
        model: Causal language model of transformers; it gets the adapter.
        examples: Of the training half.
        training: How.
        pad: Token id.
        work: Folder of checkpoints; None keeps none.
        on_progress: Told at each point of the loss curve; where it raises, a checkpoint is written
            first.

    Raises:
        UserError: As in `preflight`; no memory left; the loss is no number any more.
    """
    import torch

    places = training_order(
        [len(example) for example in examples],
        batch=training.batch * training.accumulation,
        epochs=training.epochs,
        most_batches=training.max_steps,
        seed=training.seed,
    )
    steps = -(-len(places) // (training.batch * training.accumulation))
    with _own_random_state(training.seed):
        try:
            adapted, targets = with_adapter(model, training)
            layout = choose_layout(adapted.eval(), examples, pad)
            found = preflight(adapted, examples, batch=training.batch, layout=layout)
            torch.manual_seed(training.seed)
            first, losses = _trained(
                adapted,
                [examples[place] for place in places],
                training,
                steps,
                layout,
                work,
                on_progress,
            )
        except (RuntimeError, MemoryError) as error:
            if is_out_of_memory(error):
                raise UserError(
                    f"There is no memory left to train with {training.batch} examples a step; use "
                    "--batch 1 with --accumulation, a smaller model, or a machine with more memory."
                ) from None
            raise
    adapted.eval()
    return TrainedAdapter(adapted, targets, found, losses, first, steps)


def last_checkpoint(work: Path | None) -> tuple[Path, int] | None:
    """Return the last whole checkpoint and its step; one torn by a kill is deleted."""
    if work is None or not work.is_dir():
        return None
    found = sorted(work.glob("checkpoint-*"), key=lambda path: -int(path.name.rpartition("-")[2]))
    for path in found:
        # The Trainer writes the state last.
        with contextlib.suppress(OSError, ValueError, KeyError):
            return path, int(json.loads((path / _STATE).read_text("utf-8"))["global_step"])
        log.warning("%s was torn by a kill; the one before it is taken", path.name)
        shutil.rmtree(path)
    return None


def _trained(
    model: Any,
    examples: Sequence[Example],
    training: LoraTraining,
    steps: int,
    layout: Layout,
    work: Path | None,
    on_progress: Callable[[FitProgress], None],
) -> tuple[int, tuple[tuple[int, float], ...]]:
    """Make the steps that are missing; return how many there were, and the loss curve."""
    from transformers import PrinterCallback, Trainer

    class LabelTrainer(Trainer):  # type: ignore[misc]
        """The loss of a visit counts by its weight."""

        def compute_loss(
            self,
            model: Any,
            inputs: Any,
            return_outputs: bool = False,
            num_items_in_batch: Any = None,
        ) -> Any:
            """Return the weighted mean of -log p(label | prompt)."""
            return (label_losses(model, inputs) * inputs["weights"]).mean()

    kept = last_checkpoint(work)
    if kept is not None and kept[1] >= steps:
        # Its Trainer would begin another epoch.
        _load_adapter(model, kept[0])
        return steps, _curve(json.loads((kept[0] / _STATE).read_text("utf-8"))["log_history"])
    follower = _follower(training, steps, work is not None, on_progress)
    # The Trainer wants a folder, even where it is to keep nothing.
    with tempfile.TemporaryDirectory() as nowhere:
        trainer = LabelTrainer(
            model=model,
            args=_arguments(training, steps, work or Path(nowhere), model.device.type),
            train_dataset=list(examples),
            data_collator=layout,
            callbacks=[follower],
        )
        trainer.loss_is_scaled_for_ga = False
        trainer.remove_callback(PrinterCallback)
        trainer.train(resume_from_checkpoint=str(kept[0]) if kept else None)
    if follower.raised is not None:
        raise follower.raised
    return kept[1] if kept else 0, _curve(trainer.state.log_history)


def _arguments(training: LoraTraining, steps: int, folder: Path, device: str) -> Any:
    from transformers import TrainingArguments

    return TrainingArguments(
        output_dir=str(folder),
        num_train_epochs=1,
        train_sampling_strategy="sequential",
        per_device_train_batch_size=training.batch,
        gradient_accumulation_steps=training.accumulation,
        learning_rate=training.learning_rate,
        weight_decay=training.weight_decay,
        warmup_steps=int(training.warm_up * steps),
        max_grad_norm=training.clip,
        seed=training.seed,
        use_cpu=device == "cpu",
        bf16=device == "cuda",
        dataloader_pin_memory=device == "cuda",
        logging_steps=max(1, steps // _CURVE),
        logging_nan_inf_filter=False,
        # The follower says when, by the clock.
        save_strategy="no",
        save_total_limit=2,
        remove_unused_columns=False,
        disable_tqdm=True,
        report_to="none",
    )


def _follower(
    training: LoraTraining,
    steps: int,
    keeps: bool,
    on_progress: Callable[[FitProgress], None],
) -> Any:
    """Return the Trainer's callback that reports, asks for checkpoints, and stops when told to."""
    from transformers import TrainerCallback

    class Follower(TrainerCallback):  # type: ignore[misc]
        """Checkpoints fall on points of the loss curve: the curve then goes on as it would."""

        raised: BaseException | None = None

        def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            """Begin to count."""
            self.began, self.first = time.monotonic(), state.global_step
            self.saved = self.began

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
            """Report a point of the curve."""
            if "loss" not in (logs or {}):
                return
            if not np.isfinite(logs["loss"]):
                raise UserError(
                    f"The loss is no number any more at step {state.global_step} of {steps}; fit "
                    f"with a lower learning rate than {training.learning_rate:g} (--lr)."
                )
            now, done = time.monotonic(), state.global_step
            rate = (done - self.first) / max(now - self.began, 1e-9)
            try:
                on_progress(
                    FitProgress(
                        stage="training",
                        step=done,
                        steps=steps,
                        loss=logs["loss"],
                        examples_per_second=rate * training.batch * training.accumulation,
                        seconds_left=(steps - done) / rate,
                    )
                )
            except Exception as error:
                self.raised, control.should_training_stop = error, True
            due = now - self.saved >= training.checkpoint_seconds
            if keeps and (due or self.raised or done == steps):
                control.should_save, self.saved = True, now

    return Follower()


def _load_adapter(model: Any, checkpoint: Path) -> None:
    from peft import set_peft_model_state_dict
    from safetensors.torch import load_file

    set_peft_model_state_dict(model, load_file(checkpoint / "adapter_model.safetensors"))


def _curve(history: Sequence[dict[str, Any]]) -> tuple[tuple[int, float], ...]:
    return tuple((int(each["step"]), float(each["loss"])) for each in history if "loss" in each)


@contextlib.contextmanager
def _own_random_state(seed: int) -> Iterator[None]:
    """Seed torch for a while; the generators that the Trainer seeds come back as they were."""
    import random

    import torch

    python, numbers = random.getstate(), np.random.get_state()
    devices = range(torch.cuda.device_count())
    try:
        with torch.random.fork_rng(devices=devices):
            torch.manual_seed(seed)
            yield
    finally:
        random.setstate(python)
        np.random.set_state(numbers)
