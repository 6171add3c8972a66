"""Odds ratios against scipy, and the bootstrap over cells against resampled rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats.contingency import odds_ratio as scipy_odds_ratio

from evenhand.tools.statistics.bootstrap import bootstrap_difference, percentile, resample
from evenhand.tools.statistics.clusters import (
    clustered_difference,
    clustered_mean,
    clustered_proportion,
    flipped_sums,
)
from evenhand.tools.statistics.odds_ratios import HALDANE, odds_ratio
from evenhand.tools.statistics.paired_tests import sign_flips


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 40), min_size=4, max_size=4))
def test_conditional_numbers_are_scipys(cells: list[int]) -> None:
    table = np.reshape(cells, (2, 2))
    made = odds_ratio(table)
    if made.status == "not_estimable":
        assert 0 in (*table.sum(axis=0), *table.sum(axis=1))
        return
    theirs = scipy_odds_ratio(table, kind="conditional")
    assert made.conditional == pytest.approx(theirs.statistic, rel=1e-4)
    limits = theirs.confidence_interval()
    assert made.exact_limits == pytest.approx((limits.low, limits.high), rel=1e-3, abs=1e-9)
    assert made.mid_p_limits is not None
    assert made.mid_p_limits[0] >= limits.low - 1e-6
    assert (made.correction == HALDANE) == (0 in cells)


def test_an_empty_row_is_no_odds_ratio() -> None:
    assert odds_ratio([[0, 0], [3, 4]]).reason_code == "group_empty"
    with pytest.raises(ValueError, match="2 x 2"):
        odds_ratio([[1, -2], [3, 4]])


def test_pairs_stay_together_in_a_resample() -> None:
    made = bootstrap_difference([1, 2, 3, 4, 5], [2, 3, 4, 5, 6], seed=1)
    assert (made.value, made.low, made.high, made.flags) == (1.0, 1.0, 1.0, ("all_equal",))


def test_resamples_have_as_many_items_and_the_same_mean() -> None:
    counts = np.array([[40, 10], [0, 50]])
    drawn = resample(counts, seed=0, resamples=4_000)
    assert (drawn.sum(axis=(-2, -1)) == 100).all()
    assert (drawn[:, 1, 0] == 0).all()
    np.testing.assert_allclose(drawn.mean(axis=0), counts, atol=0.5)
    with pytest.raises(ValueError, match="at least one"):
        resample(np.zeros(3), seed=0)


def test_replicates_without_a_value_are_counted() -> None:
    made = percentile(0.5, np.array([np.nan, 0.4, 0.6]))
    assert (made.n_missing, made.resamples) == (1, 3)
    assert made.low is not None
    assert made.low >= 0.4
    assert percentile(np.nan, np.array([np.nan])).value is None


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=13))
def test_sums_flip_as_single_items_do(steps: list[int]) -> None:
    assert flipped_sums(steps) == sign_flips(steps)


def test_many_sums_flip_by_size() -> None:
    steps = np.repeat([1, -1, 2], [60, 40, 3])
    assert flipped_sums(steps) == pytest.approx(sign_flips(steps), abs=0.01)


def test_rows_of_a_patient_never_narrow_an_interval() -> None:
    values, patients = np.tile([1, 0, 0, -1, 1], 8), np.repeat(np.arange(20), 2)
    for made in (
        clustered_difference(values, patients),
        clustered_mean(values, patients),
        clustered_proportion(values > 0, patients),
    ):
        assert made.design_effect is not None
        assert made.design_effect >= 1
        assert made.low is not None
        assert made.high is not None
        assert made.high > made.low


def test_rows_that_cancel_out_in_each_patient_leave_a_width() -> None:
    made = clustered_mean([1, -1] * 15, np.repeat(np.arange(15), 2))
    assert made.low is not None
    assert made.low < 0


def test_one_patient_has_a_value_and_no_interval() -> None:
    made = clustered_mean([1, 0, 1], [7, 7, 7])
    assert (made.status, made.reason_code, made.low) == ("not_estimable", "one_cluster", None)
    assert made.value == pytest.approx(2 / 3)
    assert clustered_proportion([], []).reason_code == "n_zero"
