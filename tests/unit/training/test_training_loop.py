"""A training that is stopped anywhere goes on as if it had not been."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenhand.training.training_loop import Checkpoints, Phase, alone, train

PHASE = Phase("learning", steps=12, learning_rate=0.05, seed=3)


@pytest.fixture(autouse=True)
def _torch(need: Callable[[str, bool], None]) -> None:
    need("torch", find_spec("torch") is not None)


class Stopped(Exception):
    """Raised to stop a training."""


def trained(folder: Path | None, *, stop_at: int = 0) -> tuple[Any, list[float]]:
    """Train a small model with dropout; stop after some steps where that is asked."""
    import torch

    checkpoints = Checkpoints(folder)

    def loss_of(step: int, rng: np.random.Generator) -> Any:
        inputs = torch.from_numpy(rng.normal(size=(8, 4)).astype(np.float32))
        return (model(inputs) - inputs.sum(dim=1, keepdim=True)).square().mean()

    def on_step(done: int, steps: int, loss: float) -> None:
        if done == stop_at:
            raise Stopped

    with alone(1):
        torch.manual_seed(0)
        model = torch.nn.Sequential(
            torch.nn.Linear(4, 16), torch.nn.Dropout(0.2), torch.nn.Linear(16, 1)
        )
        train(model, PHASE, loss_of, checkpoints=checkpoints, on_step=on_step)
    return model.state_dict(), checkpoints.losses["learning"]


@pytest.mark.parametrize("stop_at", [1, 5, 11])
def test_the_loss_curve_and_the_weights_are_those_of_an_undisturbed_training(
    tmp_path: Path, stop_at: int
) -> None:
    import torch

    weights, losses = trained(None)
    assert len(losses) == PHASE.steps
    with pytest.raises(Stopped):
        trained(tmp_path, stop_at=stop_at)
    again, curve = trained(tmp_path)
    assert curve == losses
    assert all(torch.equal(weights[name], again[name]) for name in weights)
    assert losses[-1] < losses[0]


def test_a_damaged_checkpoint_begins_again(tmp_path: Path) -> None:
    with pytest.raises(Stopped):
        trained(tmp_path, stop_at=4)
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:-100])
    assert Checkpoints(tmp_path).phase is None
    assert trained(tmp_path)[1] == trained(None)[1]


def test_the_rate_rises_then_falls_to_nothing() -> None:
    phase = Phase("x", steps=100, learning_rate=1.0, warm_up=0.1)
    rates = [phase.rate(step) for step in range(100)]
    assert rates[9] == max(rates) == 1.0
    assert rates[0] == pytest.approx(0.1)
    assert 0 < rates[-1] < 0.02
    assert phase.draw(3) != phase.draw(4) != Phase("y", 100, 1.0).draw(4)


def test_the_random_generator_and_the_threads_are_left_as_they_were() -> None:
    import torch

    torch.manual_seed(7)
    before, threads = torch.get_rng_state(), torch.get_num_threads()
    trained(None)
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.get_num_threads() == threads
