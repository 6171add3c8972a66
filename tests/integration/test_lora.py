"""The adapter's fit: killed and taken up again, kept, and what cannot be fitted or loaded."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenhand.graph_store.errors import RunStopped, UserError
from evenhand.tools.scoring.torch import torch_base
from evenhand.training.fitting import FitPlan, fit_mimic, load_mimic
from evenhand.training.lent import FitProgress, Lent
from evenhand.training.lora_training import last_checkpoint
from evenhand.training.mimic_rows import Decisions
from evenhand.training.mimics.lora import LoraSettings

MakeDecisions = Callable[..., Decisions]
STEPS = 40
TRAINS = f'''
"""python - BASE WORK RESULT: train, saying each step; a checkpoint after every step."""
import json, sys
from pathlib import Path
from evenhand.tools.scoring.torch import torch_base
from evenhand.training.language_examples import build_example
from evenhand.training.language_models import open_language_model
from evenhand.training.lora_training import LoraTraining, train_adapter

base, work, result = sys.argv[1:]
examples = [build_example((1, 5, *range(7, 9 + n % 5)), (9 + n % 3,), 40) for n in range(30)]
training = LoraTraining(
    rank=4, alpha=8, dropout=0.2, targets=(), learning_rate=5e-3, weight_decay=0.01, warm_up=0.1,
    clip=1.0, epochs=20, batch=3, accumulation=2, max_steps={STEPS}, seed=3, checkpoint_seconds=0.0,
)
trained = train_adapter(
    open_language_model(torch_base(base)).model, examples, training, pad=0, work=Path(work),
    on_progress=lambda at: print(at.step, flush=True),
)
total = sum(float(each.detach().double().abs().sum()) for each in trained.model.parameters())
Path(result).write_text(json.dumps([trained.losses, total, trained.first_step]))
'''


def start(base: Path, work: Path, result: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", TRAINS, str(base), str(work), str(result)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def test_killed_in_mid_training_the_loss_goes_on_as_if_undisturbed(
    make_tiny_model: Callable[..., Path], tmp_path: Path
) -> None:
    base = make_tiny_model()
    whole = start(base, tmp_path / "whole", tmp_path / "whole.json")
    assert whole.wait(timeout=300) == 0
    for until in ("7", "23"):
        killed = start(base, tmp_path / "killed", tmp_path / "killed.json")
        assert killed.stdout is not None
        while killed.stdout.readline().strip() != until:
            assert killed.poll() is None
        os.kill(killed.pid, signal.SIGKILL)
        killed.communicate()
        assert not (tmp_path / "killed.json").exists()
    # A kill in the middle of writing: the newest is torn, the one before it is taken.
    newest = last_checkpoint(tmp_path / "killed")
    assert newest is not None
    (newest[0] / "trainer_state.json").write_text("{")
    resumed = start(base, tmp_path / "killed", tmp_path / "killed.json")
    assert resumed.wait(timeout=300) == 0
    losses, total, first = json.loads((tmp_path / "killed.json").read_text())
    expected, expected_total, _ = json.loads((tmp_path / "whole.json").read_text())
    assert first >= 20
    assert [step for step, _ in losses] == list(range(1, STEPS + 1))
    assert losses == expected
    assert total == expected_total
    assert expected[-1][1] < expected[0][1] / 2, "it learns"


@pytest.fixture
def plan(make_decisions: MakeDecisions) -> FitPlan:
    settings = LoraSettings(epochs=1, batch=16, learning_rate=4e-3, max_steps=4)
    return FitPlan(
        "lora", make_decisions(64), make_decisions(30, seed=1, first=500), ("1", "2", "3", "4"),
        ("gender",), seed=4, settings=settings,
    )  # fmt: skip


def test_stopped_on_request_it_goes_on_from_a_checkpoint_and_leaves_an_adapter_alone(
    plan: FitPlan, tiny_lent: Lent, tmp_path: Path
) -> None:
    def stop(at: FitProgress) -> None:
        if at.step == 2:
            raise RunStopped("enough")

    with pytest.raises(RunStopped):
        fit_mimic(plan, tmp_path / "m", replace(tiny_lent, on_progress=stop))
    assert [path.name[:8] for path in tmp_path.iterdir()] == [".work-m-"]
    seen: list[FitProgress] = []
    fitted = fit_mimic(plan, tmp_path / "m", replace(tiny_lent, on_progress=seen.append))
    assert [at.step for at in seen] == [3, 4]
    assert all(at.loss and at.examples_per_second > 0 for at in seen)
    assert seen[-1].seconds_left == 0
    whole = fit_mimic(plan, tmp_path / "whole", tiny_lent)
    assert plan.audit is not None
    np.testing.assert_array_equal(
        fitted.mimic.predict_probabilities(plan.audit.rows),
        whole.mimic.predict_probabilities(plan.audit.rows),
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m", "whole"]
    # No pickle stays: checkpoints have some.
    assert {path.suffix for path in (tmp_path / "m").iterdir()} == {".safetensors", ".json", ".txt"}
    config = json.loads((tmp_path / "m" / "adapter_config.json").read_text())
    assert tiny_lent.base is not None
    assert config["base_model_name_or_path"] == tiny_lent.base.path
    assert (config["r"], config["lora_alpha"], config["lora_dropout"]) == (16, 32, 0.1)
    assert len(config["target_modules"]) == 7
    assert (tmp_path / "m" / "template.txt").read_text() == "short"
    assert fitted.card.lent == {"renderer": "short-1", "base": tiny_lent.base.name}


def test_a_rare_level_counts_more_where_levels_are_balanced(
    plan: FitPlan, tiny_lent: Lent, tmp_path: Path
) -> None:
    plain = fit_mimic(plan, tmp_path / "plain", tiny_lent)
    even = plan.settings.model_copy(update={"class_weights": "balanced"}) if plan.settings else None
    balanced = fit_mimic(replace(plan, settings=even), tmp_path / "even", tiny_lent)
    rare = int(np.argmin(np.bincount(plan.train.levels)))
    shares = [
        each.mimic.predict_probabilities(plan.train.rows)[:, rare].mean()
        for each in (plain, balanced)
    ]
    assert shares[0] < shares[1]


def test_another_base_or_template_is_one_sentence(
    plan: FitPlan, tiny_lent: Lent, make_tiny_model: Callable[..., Path], tmp_path: Path
) -> None:
    fit_mimic(plan, tmp_path / "m", tiny_lent)
    assert tiny_lent.base is not None
    assert tiny_lent.renderer is not None
    other = torch_base(str(make_tiny_model(seed=1)))
    with pytest.raises(UserError, match="was fitted on base"):
        load_mimic(tmp_path / "m", replace(tiny_lent, base=other))
    swapped = replace(other, name=tiny_lent.base.name)
    with pytest.raises(UserError, match="other weights than those of"):
        load_mimic(tmp_path / "m", replace(tiny_lent, base=swapped))
    template = replace(tiny_lent.renderer, name="short-2")
    with pytest.raises(UserError, match="was fitted on renderer 'short-1'"):
        load_mimic(tmp_path / "m", replace(tiny_lent, renderer=template))
    with pytest.raises(UserError, match="needs a pretrained model"):
        load_mimic(tmp_path / "m", replace(tiny_lent, base=None))


def broken(folder: Path, part: str) -> Path:
    weights = folder / "model.safetensors"
    if part == "weights":
        weights.write_bytes(weights.read_bytes()[:-1000])
    else:
        for path in folder.glob("tokenizer*"):
            path.unlink()
    return folder


@pytest.mark.parametrize(
    ("part", "said"), [("weights", "cannot be loaded"), ("tokenizer", "has no tokenizer")]
)
def test_a_base_that_is_not_whole_is_one_sentence_and_leaves_nothing(
    plan: FitPlan,
    tiny_lent: Lent,
    make_tiny_model: Callable[..., Path],
    tmp_path: Path,
    part: str,
    said: str,
) -> None:
    base = shutil.copytree(make_tiny_model(), tmp_path / "base")
    lent = replace(tiny_lent, base=torch_base(str(broken(base, part))))
    with pytest.raises(UserError, match=said):
        fit_mimic(plan, tmp_path / "m", lent)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["base"]


def test_prompts_longer_than_the_context_are_cut_in_the_middle_and_counted(
    plan: FitPlan, tiny_lent: Lent, tmp_path: Path
) -> None:
    settings: Any = plan.settings
    short = replace(plan, settings=settings.model_copy(update={"longest": 12}))
    fitted = fit_mimic(short, tmp_path / "m", tiny_lent)
    assert fitted.card.chosen["shortened"] == 64
    assert plan.audit is not None
    assert np.isfinite(fitted.mimic.predict_probabilities(plan.audit.rows)).all()
    too_long = replace(plan, settings=settings.model_copy(update={"longest": 513}))
    with pytest.raises(UserError, match="reads 512 tokens at most"):
        fit_mimic(too_long, tmp_path / "n", tiny_lent)
