import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.tools.statistics.divergence import bin_index, js_divergence, paired_divergence

histograms = st.lists(st.integers(0, 20), min_size=10, max_size=10).filter(any)


@settings(deadline=None)
@given(histograms, histograms)
def test_bounded_and_alike_in_both_directions(p: list[int], q: list[int]) -> None:
    one = float(js_divergence(p, q))
    assert -1e-12 <= one <= 1 + 1e-12
    assert one == pytest.approx(float(js_divergence(q, p)), abs=1e-12)
    assert float(js_divergence(p, p)) == pytest.approx(0, abs=1e-12)


def test_nothing_in_common_is_one_and_nothing_at_all_is_nan() -> None:
    assert float(js_divergence([4, 0], [0, 9])) == 1
    assert np.isnan(js_divergence([0, 0], [0, 9]))


def test_tenths_fall_into_their_own_bin_or_as_published() -> None:
    tenths = np.arange(11) / 10
    assert list(bin_index(tenths)) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9]
    assert list(bin_index(tenths, as_published=True)) == [0, 1, 2, 2, 4, 5, 5, 6, 8, 9, 9]


@settings(max_examples=10, deadline=None)
@given(st.integers(40, 80), st.integers(0, 9))
def test_from_40_items_on_there_is_an_interval(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    made = paired_divergence(rng.random(n), rng.random(n) ** 3, seed=seed)
    assert made.low is not None
    assert made.high is not None
    assert 0 <= made.low <= made.high
    assert made.floor_mean is not None
    assert made.floor_high is not None
    assert 0 < made.floor_mean < made.floor_high


def test_swapped_arms_have_one_divergence_and_order_does_not_matter() -> None:
    rng = np.random.default_rng(0)
    one, other = rng.random(30), rng.random(30) ** 2
    made = paired_divergence(one, other)
    assert made.value == pytest.approx(paired_divergence(other, one).value)
    assert made.value == pytest.approx(paired_divergence(one[::-1], other[::-1]).value)
    assert made.interval_reason == "n_below_40"


def test_unscored_pairs_are_left_out_and_counted() -> None:
    made = paired_divergence([0.1, np.nan, 0.3], [0.1, 0.2, np.nan])
    assert (made.n, made.n_unscored, made.value) == (1, 2, 0)
    nothing = paired_divergence([np.nan], [0.2])
    assert (nothing.status, nothing.reason_code) == ("not_estimable", "all_unscored")
    assert paired_divergence([], []).reason_code == "n_zero"


def test_no_difference_raises_no_alarms_beyond_the_level() -> None:
    rng = np.random.default_rng(6)
    audits = rng.choice([0.05, 0.15, 0.35, 0.75], (120, 2, 20), p=[0.6, 0.2, 0.1, 0.1])
    p = [paired_divergence(*audit, seed=seed).p or 0 for seed, audit in enumerate(audits)]
    assert np.mean(np.array(p) <= 0.05) <= 0.11
