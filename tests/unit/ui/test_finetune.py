"""What `evenhand finetune` prints of a card."""

import numpy as np
import pytest

from evenhand.training.fit_quality import fit_quality
from evenhand.training.model_card import ModelCard
from evenhand.ui.commands.finetune import _print_card


def test_a_model_without_kappa_is_printed_too(capsys: pytest.CaptureFixture[str]) -> None:
    one_level = np.eye(2)[np.ones(4, dtype=int)]
    quality = fit_quality(np.array([0, 1, 0, 1]), one_level, ("1", "2"), seed=0)
    card = ModelCard(
        mimic="random_forest",
        title="Forest",
        levels=("1", "2"),
        fitted_for="full",
        attributes=("gender",),
        columns={"gender": "category"},
        settings={"class_weights": None},
        seed=0,
        data_hash="0" * 64,
        n_train=4,
        n_patients=4,
        train_levels={"1": 2, "2": 2},
        quality={"full": quality},
    )
    _print_card(card)
    assert "not estimable" in capsys.readouterr().out
