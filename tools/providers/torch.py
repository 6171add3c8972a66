"""Models of transformers in this process, an adapter on them where one is named: chat by torch."""

import asyncio
import hashlib
import importlib.metadata
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.graph_store.errors import UserError
from evenhand.tools.completions import CallFailed, Completion, Prompt
from evenhand.tools.providers import ModelSettings, OpenModel, completion_model, provider
from evenhand.tools.providers.local import embedded_weights

if TYPE_CHECKING:
    from evenhand.training.language_models import LanguageModel
    from evenhand.training.lent import TorchBase

TOGETHER = {"cpu": 16, "cuda": 128}
"""Prompts that are answered in one batch, at most."""
LOCAL = "local"
_ADAPTER = "adapter_config.json"


@provider(
    form="torch/<local, folder, adapter's folder or Hugging Face id>",
    packages=("torch", "transformers"),
    check=lambda settings: _check(settings),
    host=lambda settings: None if _is_here(settings) else "huggingface.co",
    in_process=True,
)
async def torch(settings: ModelSettings) -> OpenModel:
    """A causal language model of transformers, in this process, on the CPU or on CUDA.

    A folder with an adapter_config.json is a LoRA adapter: it is put on the base that it names.
    `path` names an adapter's folder too, for a base that is named itself. A schema is not enforced.
    """
    return await asyncio.to_thread(_open, settings)


def adapter_of(settings: ModelSettings) -> tuple[str, Path | None]:
    """Return the base's name, and the adapter's folder where there is one.

    Raises:
        UserError: The adapter does not say on what it was trained.
    """
    if settings.path:
        return settings.name, Path(settings.path).expanduser()
    folder = Path(settings.name).expanduser()
    if not (folder / _ADAPTER).is_file():
        return settings.name, None
    return _base_of(folder), folder


def _base_of(folder: Path) -> str:
    try:
        named = json.loads((folder / _ADAPTER).read_text("utf-8"))["base_model_name_or_path"]
    except (ValueError, KeyError, TypeError):
        named = None
    if not isinstance(named, str) or not named:
        raise UserError(
            f"{folder} does not say on which model it was trained; expected "
            f'"base_model_name_or_path" in its {_ADAPTER}.'
        )
    return named


def _open(settings: ModelSettings) -> OpenModel:
    from evenhand.training.language_models import choose_device, open_language_model

    name, adapter = adapter_of(settings)
    device, _ = choose_device("auto")
    opened = open_language_model(torch_base(name), device=device, adapter=adapter)
    return chat_of(opened, settings, adapter)


def chat_of(
    opened: "LanguageModel", settings: ModelSettings, adapter: Path | None = None
) -> OpenModel:
    """Return a model that is loaded already as one that can be called.

    Args:
        opened: Model, its adapter merged into it, and tokenizer.
        settings: How it is asked.
        adapter: Folder of the adapter that is on it.
    """
    from evenhand.training.generation import REPEAT_PENALTY

    together = settings.slots or TOGETHER[opened.device.partition(":")[0]]
    batches = Batches(opened, together)
    versions = {name: importlib.metadata.version(name) for name in ("torch", "transformers")}
    identity = {
        "model": opened.base.name,
        "digest": opened.base.digest,
        "adapter": adapter_digest(adapter),
        "engine": ", ".join(f"{name} {number}" for name, number in versions.items()),
        "device": opened.device,
        "repeat_penalty": str(REPEAT_PENALTY),
    }
    return completion_model(
        "torch",
        settings,
        batches.complete,
        identity=identity,
        max_in_flight=together,
        close=batches.close,
    )


@dataclass(frozen=True)
class _Waiting:
    prompt: Prompt
    answer: "asyncio.Future[Completion]"


class Batches:
    """Answers what is asked at the same time in one batch, one batch after the other.

    Args:
        opened: Model and tokenizer.
        together: Prompts of a batch, at most.
    """

    def __init__(self, opened: "LanguageModel", together: int) -> None:
        """Nothing is computed yet."""
        self._opened, self._together = opened, together
        self._waiting: list[_Waiting] = []
        self._worker: asyncio.Task[None] | None = None

    async def complete(self, prompt: Prompt) -> Completion:
        """Return the answer to one prompt.

        Raises:
            CallFailed: It is longer than the model's context, or no memory is left.
        """
        asked = _Waiting(prompt, asyncio.get_running_loop().create_future())
        self._waiting.append(asked)
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())
        return await asked.answer

    async def close(self) -> None:
        """Drop what waits; a batch that is being computed ends first."""
        self._waiting.clear()
        if self._worker is not None:
            await asyncio.gather(self._worker, return_exceptions=True)

    async def _work(self) -> None:
        while self._waiting:
            # A turn of the loop: who was just answered may ask again, and comes into this batch.
            await asyncio.sleep(0.01)
            batch, self._waiting = (
                self._waiting[: self._together],
                self._waiting[self._together :],
            )
            try:
                made = await asyncio.to_thread(self._answers, [one.prompt for one in batch])
            except Exception as error:
                made = [error] * len(batch)
            for one, result in zip(batch, made, strict=True):
                if one.answer.done():
                    continue
                if isinstance(result, Exception):
                    one.answer.set_exception(result)
                else:
                    one.answer.set_result(result)

    def _answers(self, prompts: Sequence[Prompt]) -> "list[Completion | Exception]":
        from evenhand.training.generation import Draw, encode_turns, generate
        from evenhand.training.language_models import is_out_of_memory

        encoded = [encode_turns(self._opened, prompt.messages) for prompt in prompts]
        room = [self._room(len(ids)) for ids in encoded]
        fits = [place for place, left in enumerate(room) if left > 0]
        made: list[Completion | Exception] = [
            CallFailed(f"the prompt has {len(ids)} tokens, more than the model reads")
            for ids in encoded
        ]
        if not fits:
            return made
        draws = [
            Draw(p.temperature, min(p.max_tokens, room[place]), p.seed or 0)
            for place, p in ((place, prompts[place]) for place in fits)
        ]
        try:
            answers = generate(self._opened, [encoded[place] for place in fits], draws)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            failed = CallFailed(
                f"no memory is left for {len(fits)} answers at once; ask fewer (--max-in-flight)"
            )
            return [failed for _ in prompts]
        for place, answer in zip(fits, answers, strict=True):
            ended = "stop" if answer.ended else "length"
            made[place] = Completion(answer.text, ended, len(encoded[place]), answer.tokens)
        return made

    def _room(self, asked: int) -> int:
        config = self._opened.model.config.get_text_config()
        context = getattr(config, "max_position_embeddings", None)
        return (1 << 20) if context is None else int(context) - asked


def _check(settings: ModelSettings) -> None:
    if settings.path and not (Path(settings.path).expanduser() / _ADAPTER).is_file():
        raise UserError(
            f"{settings.path} holds no {_ADAPTER}; expected the folder of a LoRA adapter."
        )
    name, _ = adapter_of(settings)
    folder = Path(name).expanduser()
    if folder.is_dir():
        torch_base(name)


def _is_here(settings: ModelSettings) -> bool:
    return is_here(adapter_of(settings)[0])


def torch_base(name: str, revision: str | None = None) -> "TorchBase":
    """Return what to load for a name: "local" (the embedded model), a folder, or a Hub id.

    Raises:
        UserError: A folder without a model in it.
    """
    from evenhand.training.lent import TorchBase

    if name == LOCAL:
        path = embedded_weights()
        return TorchBase(name, str(path.parent), path.name, None, _sha256(path))
    folder = Path(name).expanduser()
    if folder.is_dir():
        if not (folder / "config.json").is_file():
            raise UserError(
                f"{name} holds no config.json; expected the folder of a model of transformers."
            )
        return TorchBase(name, str(folder), None, None, _folder_digest(folder))
    if folder.suffix == ".gguf" and folder.is_file():
        return TorchBase(name, str(folder.parent), folder.name, None, _sha256(folder))
    return TorchBase(name, name, None, revision, revision or "")


def is_here(name: str) -> bool:
    """Say whether a model's weights are a file or folder here, or the embedded ones."""
    return name == LOCAL or Path(name).expanduser().exists()


def _sha256(path: Path) -> str:
    return _digest_of(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=32)
def _digest_of(path: Path, changed: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _folder_digest(folder: Path) -> str:
    files = sorted([*folder.glob("*.safetensors"), folder / "config.json"])
    joined = "".join(_sha256(path) for path in files)
    return hashlib.sha256(joined.encode()).hexdigest()


def adapter_digest(adapter: str | Path | None) -> str:
    """Return the SHA-256 of a LoRA adapter's weights and configuration; "" without one."""
    if not adapter:
        return ""
    folder = Path(adapter).expanduser()
    files = sorted([*folder.glob("*.safetensors"), *folder.glob("adapter_config.json")])
    return hashlib.sha256("".join(_sha256(path) for path in files).encode()).hexdigest()
