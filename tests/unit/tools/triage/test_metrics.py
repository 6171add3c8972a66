"""Formulas over counts: properties that hold for any pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evenhand.tools.statistics.estimate import Counts
from evenhand.tools.triage import metrics

TABLES = arrays(np.int64, (2, 4, 4), elements=st.integers(0, 30))


def rows_of(counts: Counts) -> tuple[Counts, Counts]:
    """One entry a pair, from the table."""
    first, second = np.nonzero(counts)
    times = counts[first, second]
    return np.repeat(first, times), np.repeat(second, times)


@given(TABLES)
def test_each_metric_is_its_definition_over_rows(tables: Counts) -> None:
    (a, b), (c, d) = (rows_of(table) for table in tables)
    with np.errstate(invalid="ignore"):
        by_rows = [
            np.mean(a != b) if a.size else np.nan,
            np.mean(b > a) if a.size else np.nan,
            np.mean(np.sign(b - a)) if a.size else np.nan,
            np.mean(d < c) - np.mean(b < a) if a.size and c.size else np.nan,
            np.mean([*(b - a), *(c - d)]) if a.size + c.size else np.nan,
        ]
    made = [
        metrics.pairwise_disagreement_rate(tables[0]),
        metrics.upward_rate(tables[0]),
        metrics.directional_triage_skew(tables[0]),
        metrics.net_asymmetric_triage_shift(tables[0], tables[1], "down"),
        metrics.net_mean_disadvantage(tables[0], tables[1]),
    ]
    np.testing.assert_allclose([float(one) for one in made], np.array(by_rows), atol=1e-12)


@given(TABLES)
def test_the_other_group_as_reference_turns_the_sign(tables: Counts) -> None:
    there, back = tables
    nmd = metrics.net_mean_disadvantage
    np.testing.assert_allclose(nmd(there, back), -nmd(back, there), atol=1e-12)


@given(TABLES)
def test_a_reversed_scale_turns_every_arrow(tables: Counts) -> None:
    there = tables[0]
    turned = there[::-1, ::-1]
    np.testing.assert_allclose(metrics.upward_rate(there), metrics.downward_rate(turned))


@given(TABLES)
def test_the_identity_holds_where_moves_are_of_one_level(tables: Counts) -> None:
    near = np.abs(np.subtract.outer(np.arange(4), np.arange(4))) <= 1
    there, back = tables * near
    assert metrics.identity_holds(there, back) in (True, None)
    if there.sum() and back.sum():
        assert metrics.identity_holds(there, back) is True


def test_the_identity_is_not_asked_of_larger_moves() -> None:
    there, back = np.zeros((2, 4, 4), np.int64)
    there[0, 3], back[1, 1] = 5, 5
    assert metrics.identity_holds(there, back) is None
    assert metrics.net_mean_disadvantage(there, back) == 1.5
    assert metrics.disadvantage_from_skews(there, back) == 0.5


@given(arrays(np.int64, (3, 2, 4, 4), elements=st.integers(0, 9)))
def test_a_batch_equals_one_by_one(batch: Counts) -> None:
    made = metrics.net_mean_disadvantage(batch[:, 0], batch[:, 1])
    alone = [metrics.net_mean_disadvantage(one[0], one[1]) for one in batch]
    np.testing.assert_array_equal(made, alone)


def test_nothing_is_nan_and_never_0(recwarn: pytest.WarningsRecorder) -> None:
    empty = np.zeros((4, 4), np.int64)
    assert np.isnan(metrics.pairwise_disagreement_rate(empty))
    assert np.isnan(metrics.net_mean_disadvantage(empty, empty))
    assert not recwarn.list


def test_impossible_input_is_refused() -> None:
    with pytest.raises(ValueError, match="levels 0 to 2"):
        metrics.pair_counts([0, 3], [0, 0], 3)
    with pytest.raises(ValueError, match=r"\(\.\.\., L, L\)"):
        metrics.directional_triage_skew(np.zeros((2, 3), np.int64))
