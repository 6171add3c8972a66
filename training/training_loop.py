"""A training loop whose every step depends on its number alone.

A kill costs no more than the steps since the last checkpoint, and the loss goes on as if nothing
had happened: order of the batches, masks and dropout are drawn from (seed, phase, step), so there
is no state of a random generator to keep. A checkpoint is one safetensors file, renamed into place:
weights, the optimiser's moments and the losses so far.
"""

import contextlib
import hashlib
import logging
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import torch

log = logging.getLogger(__name__)

_FILE = "checkpoint.safetensors"
_SECONDS_BETWEEN = 20.0
"""What a kill costs, at most, beside one step."""


@dataclass(frozen=True)
class Phase:
    """One part of a training.

    Attributes:
        name: What is learned, in words for a reader; part of every draw.
        steps: Of the optimiser.
        learning_rate: At its highest, after the warm-up; it falls to 0 in a line.
        weight_decay: Of AdamW.
        warm_up: Share of the steps in which the rate rises.
        clip: Norm of the gradient at most.
        seed: Of all draws.
    """

    name: str
    steps: int
    learning_rate: float
    weight_decay: float = 0.01
    warm_up: float = 0.06
    clip: float = 1.0
    seed: int = 0

    def rate(self, step: int) -> float:
        """Return the learning rate of a step, counted from 0."""
        rising = max(1, round(self.warm_up * self.steps))
        if step < rising:
            return self.learning_rate * (step + 1) / rising
        return self.learning_rate * (self.steps - step) / max(1, self.steps - rising)

    def draw(self, step: int) -> int:
        """Return the seed of a step."""
        named = f"{self.seed}\x1f{self.name}\x1f{step}".encode()
        return int.from_bytes(hashlib.sha256(named).digest()[:6], "big")


class Checkpoints:
    """Where a training is kept while it lasts.

    Args:
        folder: A folder of this very training's own; None keeps nothing.
    """

    def __init__(self, folder: Path | None) -> None:
        """Point at the folder; nothing is read yet."""
        self._folder = folder
        self._at = time.monotonic()
        self.losses: dict[str, list[float]] = {}
        """Phase -> loss of each step so far."""

    @property
    def phase(self) -> str | None:
        """Name of the phase in which the training was left; None where nothing is kept."""
        return None if (found := self._read()) is None else found[0]["phase"]

    def take_up(
        self, phase: Phase, model: "torch.nn.Module", optimizer: "torch.optim.Optimizer"
    ) -> int:
        """Load what is kept of a phase; return the next step, 0 where nothing is."""
        found = self._read()
        if found is None or found[0]["phase"] != phase.name:
            self.losses[phase.name] = []
            return 0
        facts, tensors = found
        model.load_state_dict(_under(tensors, "model."))
        moments: dict[int, dict[str, Any]] = {}
        for name, tensor in _under(tensors, "optimizer.").items():
            place, _, what = name.partition(".")
            moments.setdefault(int(place), {})[what] = tensor
        optimizer.load_state_dict({**optimizer.state_dict(), "state": moments})
        losses = _under(tensors, "losses.")
        self.losses = {name: each.tolist() for name, each in losses.items()}
        return int(facts["step"])

    def keep(
        self,
        phase: Phase,
        step: int,
        model: "torch.nn.Module",
        optimizer: "torch.optim.Optimizer",
        *,
        now: bool = False,
    ) -> None:
        """Write the training as it is before a step, whole or not at all.

        Args:
            phase: Where it is.
            step: The next one.
            model: Its weights.
            optimizer: Its moments.
            now: Also where the last time was a moment ago.
        """
        if self._folder is None or not (now or time.monotonic() - self._at >= _SECONDS_BETWEEN):
            return
        import torch
        from safetensors.torch import save_file

        self._folder.mkdir(parents=True, exist_ok=True)
        # Cloned: weights that are tied share memory, which the format does not allow.
        tensors = {f"model.{name}": each.clone() for name, each in model.state_dict().items()}
        for place, moments in optimizer.state_dict()["state"].items():
            for what, value in moments.items():
                tensors[f"optimizer.{place}.{what}"] = torch.as_tensor(value).clone()
        for name, losses in self.losses.items():
            tensors[f"losses.{name}"] = torch.tensor(losses, dtype=torch.float64)
        new = self._folder / f".{_FILE}.{os.getpid()}"
        save_file(tensors, new, metadata={"phase": phase.name, "step": str(step)})
        with new.open("rb") as written:
            os.fsync(written.fileno())
        new.replace(self._folder / _FILE)
        self._at = time.monotonic()

    def _read(self) -> tuple[dict[str, str], dict[str, "torch.Tensor"]] | None:
        """Read the file; None where there is none, or a damaged one."""
        if self._folder is None or not (path := self._folder / _FILE).is_file():
            return None
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(path, framework="pt") as file:
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
                return file.metadata() or {}, tensors
        except (SafetensorError, OSError) as error:
            log.warning("%s is damaged (%s); the training begins again", path, error)
            return None


def train(
    model: "torch.nn.Module",
    phase: Phase,
    loss_of: Callable[[int, np.random.Generator], "torch.Tensor"],
    *,
    checkpoints: Checkpoints,
    on_step: Callable[[int, int, float], None],
) -> None:
    """Train a model through one phase, from its start or from where it was left.

    Args:
        model: Its weights are changed.
        phase: Of the training.
        loss_of: (step, what to draw from) -> loss of the step, a scalar.
        checkpoints: Where it is kept; kept at once where on_step raises to stop.
        on_step: Told after every step: steps done, steps of the phase, loss.
    """
    import torch

    optimizer = torch.optim.AdamW(
        _groups(model, phase.weight_decay), lr=phase.learning_rate, foreach=True
    )
    first = checkpoints.take_up(phase, model, optimizer)
    losses = checkpoints.losses[phase.name]
    model.train()
    for step in range(first, phase.steps):
        torch.manual_seed(phase.draw(step))
        for group in optimizer.param_groups:
            group["lr"] = phase.rate(step)
        loss = loss_of(step, np.random.default_rng(phase.draw(step)))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), phase.clip)
        optimizer.step()
        losses.append(float(loss.detach()))
        try:
            on_step(step + 1, phase.steps, losses[-1])
        except BaseException:
            checkpoints.keep(phase, step + 1, model, optimizer, now=True)
            raise
        checkpoints.keep(phase, step + 1, model, optimizer)


@contextlib.contextmanager
def alone(threads: int) -> Iterator[None]:
    """Set torch's threads, and leave its random generator as it was.

    The last bit of a product depends on the number of threads, and a whole training on that bit.
    """
    import torch

    before = torch.get_num_threads()
    devices = range(torch.cuda.device_count())
    torch.set_num_threads(threads)
    try:
        with torch.random.fork_rng(devices=devices):
            yield
    finally:
        torch.set_num_threads(before)


def _groups(model: "torch.nn.Module", decay: float) -> list[dict[str, Any]]:
    """Decay matrices alone: biases and norms have no reason to be small."""
    known = [each for each in model.parameters() if each.requires_grad]
    return [
        {"params": [each for each in known if each.ndim > 1], "weight_decay": decay},
        {"params": [each for each in known if each.ndim <= 1], "weight_decay": 0.0},
    ]


def _under(tensors: dict[str, "torch.Tensor"], prefix: str) -> dict[str, "torch.Tensor"]:
    return {
        name.removeprefix(prefix): tensor
        for name, tensor in tensors.items()
        if name.startswith(prefix)
    }
