"""What every registered mimic keeps to, whoever wrote it."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import evenhand.training.mimics as folder
from evenhand.graph_store.errors import UserError
from evenhand.training.lent import Embedder, Lent
from evenhand.training.levels import likeliest_levels
from evenhand.training.mimic_rows import ARMS, Decisions, MimicRows
from evenhand.training.mimics import Mimic, mimics

MakeDecisions = Callable[..., Decisions]
N_LEVELS = 4
"""One more than the made-up visits have: a level that nobody was given is a level all the same."""

SETTINGS: dict[str, dict[str, Any]] = {
    "lora": {"epochs": 10, "learning_rate": 4e-3, "batch": 16, "dropout": 0.0}
}
"""Where the defaults are for larger models than these tests have."""
ROUNDING = {"lora": 1e-5}
"""What is computed in single precision; the rest is exact to 1e-12."""

A_MIMIC = '''
"""A mimic that somebody dropped into the folder."""

from evenhand.training.mimics import MimicSettings, mimic
from evenhand.training.mimics.random_forest import RandomForest


@mimic("dropped", title="A forest by another name", settings=MimicSettings)
class Dropped(RandomForest):
    """As it is."""
'''


def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    """Eight numbers a word, summed: as an encoder, a function of the text alone."""
    found = np.zeros((len(texts), 8), dtype=np.float32)
    for place, text in enumerate(texts):
        for word in text.lower().split():
            seed = int.from_bytes(
                hashlib.sha256(word.encode("utf-8", "replace")).digest()[:4], "big"
            )
            found[place] += np.random.default_rng(seed).normal(size=8)
    return found


@pytest.fixture(scope="module")
def lent(tiny_lent: Lent) -> Lent:
    return replace(tiny_lent, embedder=Embedder("words", embed))


Fit = Callable[..., Mimic]


@pytest.fixture(scope="module")
def fit(lent: Lent) -> Fit:
    def fitted(name: str, decisions: Decisions, seed: int = 0, n_jobs: int = 1) -> Mimic:
        kind = mimics.get(name)
        return kind.model.fit(
            decisions.in_order(),
            kind.settings.model_validate(SETTINGS.get(name, {})),
            n_levels=N_LEVELS,
            seed=seed,
            lent=lent,
            n_jobs=n_jobs,
            work=None,
        )

    return fitted


@pytest.fixture(scope="module")
def train(make_decisions: MakeDecisions) -> Decisions:
    return make_decisions(240)


@pytest.fixture(scope="module")
def rows(make_decisions: MakeDecisions) -> MimicRows:
    return make_decisions(40, seed=1, first=1000).rows


@pytest.fixture(scope="module", params=mimics.names())
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def mimic(name: str, train: Decisions, fit: Fit) -> Mimic:
    return fit(name, train)


def strange(rows: MimicRows) -> MimicRows:
    """The same columns with values that no fit has met."""
    return MimicRows(
        tuple("" if place % 2 else "\udcff 咳嗽 🩺" for place in range(len(rows))),
        {name: np.full(len(rows), 1e12) for name in rows.numbers},
        {name: ("never met",) * len(rows) for name in rows.categories},
    )


@pytest.mark.parametrize("arm", ARMS)
def test_probabilities_are_shares_that_sum_to_1(mimic: Mimic, rows: MimicRows, arm: Any) -> None:
    for asked in (rows.shown_in(arm, ["gender"]), strange(rows)):
        found = mimic.predict_probabilities(asked)
        assert found.shape == (len(rows), N_LEVELS)
        assert found.min() >= 0
        np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-12)


def test_a_level_that_nobody_was_given_has_probability_0(mimic: Mimic, rows: MimicRows) -> None:
    assert mimic.n_levels == N_LEVELS
    assert not mimic.predict_probabilities(rows)[:, 3].any()


def test_it_has_learned_what_note_and_columns_say(mimic: Mimic, train: Decisions) -> None:
    hits = likeliest_levels(mimic.predict_probabilities(train.rows)) == train.levels
    most = np.bincount(train.levels).max() / len(train)
    assert hits.mean() > most + 0.25


def test_a_batch_equals_one_by_one_in_any_order(name: str, mimic: Mimic, rows: MimicRows) -> None:
    batch = mimic.predict_probabilities(rows)
    order = np.random.default_rng(5).permutation(len(rows))
    moved = mimic.predict_probabilities(rows.take(order))
    alone = [mimic.predict_probabilities(rows.take([place]))[0] for place in range(len(rows))]
    atol = ROUNDING.get(name, 1e-12)
    np.testing.assert_allclose(moved, batch[order], atol=atol)
    np.testing.assert_allclose(alone, batch, atol=atol)
    assert np.array_equal(likeliest_levels(np.array(alone)), likeliest_levels(batch))


def test_no_rows_are_no_probabilities(mimic: Mimic, rows: MimicRows) -> None:
    assert mimic.predict_probabilities(rows.take([])).shape == (0, N_LEVELS)


def test_the_same_visits_in_another_order_on_more_threads_are_the_same_model(
    name: str, mimic: Mimic, train: Decisions, rows: MimicRows, fit: Fit
) -> None:
    order = np.random.default_rng(3).permutation(len(train))
    again = fit(name, train.take(order), n_jobs=2)
    assert again.chosen == mimic.chosen
    np.testing.assert_array_equal(
        again.predict_probabilities(rows), mimic.predict_probabilities(rows)
    )


def test_another_seed_is_another_model(
    name: str, mimic: Mimic, train: Decisions, rows: MimicRows, fit: Fit
) -> None:
    other = fit(name, train, seed=1).predict_probabilities(rows)
    assert not np.array_equal(other, mimic.predict_probabilities(rows))


def test_text_only_cannot_tell_the_attribute_from_its_column(mimic: Mimic, rows: MimicRows) -> None:
    swapped = replace(rows, categories={"gender": tuple(reversed(rows.categories["gender"]))})
    one, other = (
        mimic.predict_probabilities(each.shown_in("text_only", ["gender"]))
        for each in (rows, swapped)
    )
    np.testing.assert_array_equal(one, other)
    assert not np.array_equal(one, mimic.predict_probabilities(rows))


@pytest.mark.parametrize("arm", ["text_only", "tabular_only"])
def test_it_can_be_fitted_to_what_an_arm_shows(
    name: str, train: Decisions, rows: MimicRows, arm: Any, fit: Fit
) -> None:
    own = fit(name, train.shown_in(arm, ["gender"]))
    found = own.predict_probabilities(rows.shown_in(arm, ["gender"]))
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-12)


def test_other_columns_than_those_of_the_fit_are_a_fault(mimic: Mimic, rows: MimicRows) -> None:
    with pytest.raises(ValueError, match="columns"):
        mimic.predict_probabilities(replace(rows, numbers={}))


def test_saved_and_loaded_it_answers_the_same(
    name: str, mimic: Mimic, rows: MimicRows, tmp_path: Path, lent: Lent
) -> None:
    mimic.save(tmp_path)
    loaded = mimics.get(name).model.load(tmp_path, lent)
    assert loaded.chosen == mimic.chosen
    np.testing.assert_array_equal(
        loaded.predict_probabilities(rows), mimic.predict_probabilities(rows)
    )
    assert not [path for path in tmp_path.iterdir() if b"cpickle" in path.read_bytes().lower()]


def test_a_damaged_or_missing_file_is_one_sentence(
    name: str, mimic: Mimic, tmp_path: Path, lent: Lent
) -> None:
    model = mimics.get(name).model
    with pytest.raises(UserError, match="fit the mimic again"):
        model.load(tmp_path, lent)
    mimic.save(tmp_path)
    for path in tmp_path.iterdir():
        path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(UserError, match="fit the mimic again"):
        model.load(tmp_path, lent)


def test_a_reader_is_told_what_it_is(name: str) -> None:
    kind = mimics.get(name)
    assert len(kind.title) > 20
    assert kind.settings().class_weights is None
    assert "Attributes:" in (kind.settings.__doc__ or "")


def test_a_dropped_file_is_picked_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dropped.py").write_text(A_MIMIC)
    monkeypatch.setattr(folder, "__path__", [*folder.__path__, str(tmp_path)])
    try:
        assert "dropped" in mimics.names()
    finally:
        mimics.forget("dropped")


def test_an_unknown_name_lists_the_valid_ones_nearest_first() -> None:
    with pytest.raises(UserError, match="expected one of: random_forest"):
        mimics.get("random_forst")
