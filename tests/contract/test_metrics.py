"""What every registered metric keeps to, whoever wrote it."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evenhand.tools.metrics as folder
from evenhand.graph_store.errors import UserError
from evenhand.tools.data_kinds import data_kinds
from evenhand.tools.metrics import Metric, Scores, metrics

A_METRIC = '''
"""A metric that somebody dropped into the folder."""

from evenhand.tools.metrics import Scores, Values, metric


@metric(symbol="D", bounds=(0.0, 1.0), source="a test", data="changes")
def dropped(changes: Scores) -> Values:
    """Return the share of changed items, 0 where none changed."""
    return changes.mean(axis=-1)
'''


def drawn(metric: Metric, shape: tuple[int, ...], seed: int) -> Scores:
    """Items of a metric's kind of data."""
    return data_kinds.get(metric.data).example(np.random.default_rng(seed), shape)


@pytest.mark.parametrize("name", metrics.names())
@settings(max_examples=25, deadline=None)
@given(n=st.integers(0, 12), seed=st.integers(0, 999))
def test_in_bounds_or_nan(name: str, n: int, seed: int) -> None:
    metric = metrics.get(name)
    value = float(metric.compute(drawn(metric, (n,), seed)))
    low, high = metric.bounds
    assert np.isnan(value) or low <= value <= high


@pytest.mark.parametrize("name", metrics.names())
@settings(max_examples=25, deadline=None)
@given(n=st.integers(0, 12), seed=st.integers(0, 999))
def test_a_batch_equals_one_by_one(name: str, n: int, seed: int) -> None:
    metric = metrics.get(name)
    batch = drawn(metric, (3, 2, n), seed)
    alone = [[metric.compute(one) for one in rows] for rows in batch]
    np.testing.assert_array_equal(metric.compute(batch), alone)


@pytest.mark.parametrize("name", metrics.names())
def test_nothing_scored_is_nan_without_a_warning(
    name: str, recwarn: pytest.WarningsRecorder
) -> None:
    metric = metrics.get(name)
    empty = drawn(metric, (0,), 0)
    assert np.isnan(metric.compute(empty))
    assert np.isnan(metric.compute(np.full_like(drawn(metric, (4,), 0), np.nan)))
    assert not recwarn.list


@pytest.mark.parametrize("name", metrics.names())
def test_a_reader_is_told_what_it_is(name: str) -> None:
    metric = metrics.get(name)
    assert metric.symbol
    assert metric.source
    assert len(metric.title) > 20
    assert "0:" in (metric.compute.__doc__ or ""), "the docstring says what 0 means"


def test_a_dropped_file_is_picked_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dropped.py").write_text(A_METRIC)
    monkeypatch.setattr(folder, "__path__", [*folder.__path__, str(tmp_path)])
    try:
        assert "dropped" in metrics.names()
        assert float(metrics.get("dropped").compute(np.array([0.0, 1.0]))) == 0.5
    finally:
        metrics.forget("dropped")


def test_an_unknown_name_lists_the_valid_ones_nearest_first() -> None:
    with pytest.raises(UserError, match="expected one of: paired_change"):
        metrics.get("paired_chnge")
