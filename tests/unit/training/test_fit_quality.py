"""Numbers of fit, against scikit-learn's and by hand."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.training.fit_quality import (
    FitQuality,
    calibration_curve,
    confusion,
    fit_quality,
    precision_recall_f1,
    quadratic_kappa,
)
from evenhand.training.levels import Levels, Probabilities

LEVELS = ("1", "2", "3", "4")


def certain(mimicked: Levels) -> Probabilities:
    found: Probabilities = np.eye(len(LEVELS))[mimicked]
    return found


def limits(found: FitQuality) -> tuple[float, float, float]:
    assert found.kappa_w is not None
    assert found.kappa_w_low is not None
    assert found.kappa_w_high is not None
    return found.kappa_w_low, found.kappa_w, found.kappa_w_high


@given(st.integers(0, 10_000), st.integers(2, 60))
def test_as_scikit_learn_has_them(seed: int, n: int) -> None:
    from sklearn import metrics

    rng = np.random.default_rng(seed)
    decided, mimicked = rng.integers(0, 4, n), rng.integers(0, 4, n)
    found = fit_quality(decided, certain(mimicked), LEVELS, seed=0)
    averages: Any = metrics.precision_recall_fscore_support
    precision, recall, f1, _ = averages(decided, mimicked, average="weighted", zero_division=0)
    np.testing.assert_allclose((found.precision, found.recall, found.f1), (precision, recall, f1))
    if found.kappa_w is not None:
        kappa = metrics.cohen_kappa_score(decided, mimicked, labels=range(4), weights="quadratic")
        assert found.kappa_w == pytest.approx(kappa, abs=1e-12)


def test_kappa_by_hand_and_in_batches() -> None:
    # Decided 0 0 1 1, mimicked 0 1 1 1: 1 - (1 * 4) / (2 * 3 + 2 * 1) = 1/2.
    table = confusion(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), 2)
    assert float(quadratic_kappa(table)) == 0.5
    assert quadratic_kappa(np.stack([table, np.eye(2, dtype=int)])).tolist() == [0.5, 1.0]


def test_a_step_of_two_levels_weighs_four_times_as_much() -> None:
    near = np.array([[5, 1, 0], [0, 5, 0], [0, 0, 5]])
    far = np.array([[5, 0, 1], [0, 5, 0], [0, 0, 5]])
    assert quadratic_kappa(far) < quadratic_kappa(near) < 1


def test_a_model_that_gives_one_level_alone_has_no_kappa_and_no_interval_without_width() -> None:
    found = fit_quality(np.array([0, 1, 2, 1]), certain(np.ones(4, dtype=int)), LEVELS, seed=0)
    assert (found.kappa_w, found.kappa_w_low, found.kappa_w_high) == (None, None, None)
    assert found.not_estimable == "the model gives one level alone"
    assert found.flags == ("single_predicted_class",)


def test_one_level_on_both_sides_is_not_estimable() -> None:
    found = fit_quality(np.zeros(9, dtype=int), certain(np.zeros(9, dtype=int)), LEVELS, seed=0)
    assert found.kappa_w is None
    assert found.kappa_w_low is None
    assert found.not_estimable
    assert np.isnan(quadratic_kappa(np.zeros((4, 4), dtype=int)))


def test_a_level_that_the_mimic_never_gives_is_named() -> None:
    found = fit_quality(np.array([0, 1, 2]), certain(np.array([0, 1, 1])), LEVELS, seed=0)
    assert found.never_given == ("3",)
    precision, recall, _ = precision_recall_f1(np.array(found.confusion))
    assert np.isnan(precision[2])
    assert recall[2] == 0
    assert np.isnan(recall[3])


def test_the_interval_holds_the_value_and_narrows_with_n() -> None:
    rng = np.random.default_rng(0)
    decided = rng.integers(0, 4, 2_000)
    mimicked = np.where(rng.random(2_000) < 0.7, decided, rng.integers(0, 4, 2_000))
    wide = limits(fit_quality(decided[:100], certain(mimicked[:100]), LEVELS, seed=1))
    narrow = limits(fit_quality(decided, certain(mimicked), LEVELS, seed=1))
    for low, value, high in (wide, narrow):
        assert low < value < high
    assert narrow[2] - narrow[0] < (wide[2] - wide[0]) / 3


def test_calibration_by_hand() -> None:
    confidence = np.array([0.55, 0.6, 0.95, 0.95])
    bins = calibration_curve(confidence, np.array([True, False, True, True]))
    assert [(each.low, each.n, each.accuracy) for each in bins] == [(0.5, 2, 0.5), (0.9, 2, 1.0)]
    # |.5 - .575| * 2/4 + |1 - .95| * 2/4
    probabilities = np.zeros((4, 4))
    probabilities[:, 0], probabilities[:, 1] = confidence, 1 - confidence
    found = fit_quality(np.array([0, 1, 0, 0]), probabilities, LEVELS, seed=0)
    assert found.ece == pytest.approx(0.0625)


def test_a_calibrated_model_has_a_small_error() -> None:
    rng = np.random.default_rng(2)
    probabilities = rng.dirichlet(np.ones(4), 20_000)
    draws = (rng.random(20_000)[:, None] > probabilities.cumsum(axis=1)).sum(axis=1)
    assert fit_quality(np.minimum(draws, 3), probabilities, LEVELS, seed=0).ece < 0.02


def test_nothing_to_compare_is_a_fault() -> None:
    with pytest.raises(ValueError, match="0 decisions"):
        fit_quality(np.array([], dtype=int), np.zeros((0, 4)), LEVELS, seed=0)
