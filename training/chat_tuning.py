"""A LoRA adapter that is trained on exchanges: what a model is asked, and what it should answer."""

import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from evenhand.graph_store.errors import UserError
from evenhand.training.adapter_files import adapter_of
from evenhand.training.generation import Turns, encode_turns
from evenhand.training.language_examples import Example, build_example
from evenhand.training.language_models import LanguageModel, quiet_peft
from evenhand.training.lent import FitProgress
from evenhand.training.lora_training import LoraTraining, TrainedAdapter, train_adapter

FACTS = "training.json"


@dataclass(frozen=True)
class Lesson:
    """A conversation up to where the model answers, and the answer to be learned."""

    turns: Turns
    answer: str


def encode_lessons(opened: LanguageModel, lessons: Sequence[Lesson]) -> list[Example]:
    """Return lessons as examples; each answer counts the same, however long, and has its end.

    Raises:
        UserError: An answer does not fit into the model's context, or cannot be ended.
    """
    if opened.tokenizer.end is None:
        raise UserError(
            f"{opened.base.name!r} has no token that ends an answer, so it cannot learn to stop; "
            "use a chat model."
        )
    context = getattr(opened.model.config.get_text_config(), "max_position_embeddings", None)
    answers = opened.tokenizer.encode([lesson.answer for lesson in lessons])
    ended = [(*ids, opened.tokenizer.end) for ids in answers]
    return [
        build_example(
            encode_turns(opened, lesson.turns),
            ids,
            int(context or 1 << 20),
            weight=1 / len(ids),
        )
        for lesson, ids in zip(lessons, ended, strict=True)
    ]


def tune(
    opened: LanguageModel,
    lessons: Sequence[Lesson],
    training: LoraTraining,
    folder: Path,
    *,
    on_progress: Callable[[FitProgress], None],
) -> TrainedAdapter:
    """Train an adapter and keep it in a folder, as peft and vLLM read it, with its facts.

    A training that was killed goes on at its last checkpoint, with the same losses. The folder
    appears when all is in it. The model of `opened` gets the adapter.

    Args:
        opened: Base and tokenizer.
        lessons: What is learned.
        training: How.
        folder: Of the adapter; its parent exists.
        on_progress: Told at each point of the loss curve; may raise to stop.

    Raises:
        UserError: As in `train_adapter` and `encode_lessons`.
    """
    began = time.monotonic()
    examples = encode_lessons(opened, lessons)
    work = folder.parent / f".work-{folder.name}"
    trained = train_adapter(
        opened.model, examples, training, pad=opened.pad, work=work, on_progress=on_progress
    )
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as nearby:
        new = Path(nearby) / folder.name
        new.mkdir()
        adapter_of(trained.model, opened).save(new)
        opened.hub_tokenizer.save_pretrained(str(new))
        facts = {
            "steps": trained.steps,
            "trainable": trained.found.trainable,
            "first_loss": trained.found.first_loss,
            "losses": [[step, round(loss, 4)] for step, loss in trained.losses],
            "seconds": round(time.monotonic() - began, 1),
        }
        (new / FACTS).write_text(json.dumps(facts) + "\n", "utf-8")
        os.replace(new, folder)
    shutil.rmtree(work, ignore_errors=True)
    return trained


def with_adapter_of(opened: LanguageModel, folder: Path) -> LanguageModel:
    """Return a model with a kept adapter merged into it; the model of `opened` is changed."""
    from peft import PeftModel

    with quiet_peft():
        adapted = PeftModel.from_pretrained(opened.model, str(folder))
    return opened.with_model(adapted, merge=True)
