"""Fine-tuning: a LoRA adapter that learns fair, definite and ordinary answers alike."""

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.agents.asking import usable_variants
from evenhand.agents.mending import Facts, Mending, MitigationSettings
from evenhand.agents.mitigation import mitigation
from evenhand.agents.mitigation_sides import ask_side, target_role
from evenhand.agents.plan import Plan
from evenhand.agents.prompt import fill_messages, read_prompt
from evenhand.agents.target import PROMPTS
from evenhand.graph_store.errors import UserError
from evenhand.tools.mitigation.train_set import Exchange, bias_train_set, kinds
from evenhand.tools.providers import ModelSettings, check_model
from evenhand.training.chat_tuning import FACTS, Lesson, tune, with_adapter_of
from evenhand.training.lent import FitProgress
from evenhand.training.lora_training import LoraTraining

if TYPE_CHECKING:
    from evenhand.training.language_models import LanguageModel

ADAPTER, TRAIN_FILE = "adapter", "train.jsonl"


def tunable_base(plan: Plan, settings: MitigationSettings) -> str:
    """Return what is tuned: the base that was named, else the run's target as torch loads it.

    Raises:
        UserError: The target's weights are not here.
    """
    if settings.base:
        return settings.base.removeprefix("torch/")
    role = plan.roles["target"]
    provider, _, name = role.model.partition("/")
    if provider == "local":
        return role.path or name or "local"
    if provider == "torch" and not role.path:
        return name
    raise UserError(
        f"{role.model} cannot be tuned here: its weights are not on this machine; name a model "
        "that can be with --base, such as local, or use --how few_shot."
    )


def _check(plan: Plan, settings: MitigationSettings) -> None:
    base = tunable_base(plan, settings)
    check_model(f"torch/{base}", ModelSettings())


@mitigation(check=_check)
async def fine_tune(work: Mending) -> Facts:
    """Train a LoRA adapter on the run's questions with fair answers, and ask before and after.

    Both sides are asked of the same weights in the same engine (torch), also where the audit asked
    them elsewhere. Resume: answers and a whole adapter that lie there are not made again.
    """
    exchanges = _train_set(work)
    role = target_role(work, f"torch/{tunable_base(work.plan, work.settings)}")
    work.tell(f"loading {role.model}")
    opened = await asyncio.to_thread(_open_base, role.model)
    from evenhand.agents.estimate import model_settings
    from evenhand.tools.providers.torch import chat_of

    settings = model_settings(role)
    before = chat_of(opened, settings)
    await ask_side(work, "before", before, role)
    await before.close()
    folder = work.folder / ADAPTER
    trained = await asyncio.to_thread(_adapted, work, opened, exchanges, folder)
    tuned = role.model_copy(update={"path": f"{work.folder.name}/{ADAPTER}"})
    after = chat_of(trained, settings, folder)
    await ask_side(work, "after", after, tuned)
    await after.close()
    return {
        "base": role.model,
        "adapter": ADAPTER,
        "audit_it": f"torch/{folder}",
        "train_set": kinds(exchanges),
        **json.loads((folder / FACTS).read_text("utf-8")),
    }


def lessons(exchanges: Sequence[Exchange]) -> list[Lesson]:
    """Return exchanges as a model is asked and should answer: in the prompt of the audit."""
    prompt = read_prompt(PROMPTS["direct"])
    return [
        Lesson(fill_messages(prompt, {"question": each.question}), each.answer)
        for each in exchanges
    ]


def _train_set(work: Mending) -> list[Exchange]:
    made = bias_train_set(
        work.run.samples(),
        usable_variants(work.run),
        work.split,
        work.instructions["train"],
        most=work.settings.train,
        seed=work.settings.seed,
    )
    text = "".join(each.model_dump_json() + "\n" for each in made)
    path = work.folder / TRAIN_FILE
    if not path.exists():
        path.write_text(text, "utf-8")
    elif path.read_text("utf-8") != text:
        raise UserError(
            f"{path} was made of other data than lie here now; give another --seed, or delete "
            f"{work.folder.name}."
        )
    return made


def _open_base(spec: str) -> "LanguageModel":
    from evenhand.tools.providers.torch import torch_base
    from evenhand.training.language_models import choose_device, open_language_model

    device, _ = choose_device("auto")
    return open_language_model(torch_base(spec.removeprefix("torch/")), device=device)


def _adapted(
    work: Mending, opened: "LanguageModel", exchanges: Sequence[Exchange], folder: Path
) -> "LanguageModel":
    """Return the model with the trained adapter on it; train it where there is none."""
    if folder.is_dir():
        return with_adapter_of(opened, folder)
    work.tell(f"training on {len(exchanges)} exchanges")
    made = tune(
        opened,
        lessons(exchanges),
        _training(work.settings),
        folder,
        on_progress=_told(work.tell),
    )
    return opened.with_model(made.model, merge=True)


def _training(settings: MitigationSettings) -> LoraTraining:
    return LoraTraining(
        rank=settings.rank,
        alpha=2 * settings.rank,
        dropout=0.1,
        targets=(),
        learning_rate=settings.learning_rate,
        weight_decay=0.0,
        warm_up=0.05,
        clip=1.0,
        epochs=settings.epochs,
        batch=settings.batch,
        accumulation=1,
        max_steps=None,
        seed=settings.seed,
    )


def _told(tell: Callable[[str], None]) -> Callable[[FitProgress], None]:
    last = [0.0]

    def told(at: FitProgress) -> None:
        now = time.monotonic()
        if now - last[0] >= 5 or at.step == at.steps:
            last[0] = now
            loss = "" if at.loss is None else f", loss {at.loss:.3f}"
            tell(f"step {at.step} of {at.steps}{loss}, {at.seconds_left:.0f} s left")

    return told
