"""Two groups of other items: interval, test and floor."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.tools.statistics.divergence import bin_index, histogram, js_divergence
from evenhand.tools.statistics.independent import independent_divergence, mean_difference

SCORES = st.lists(st.integers(0, 10).map(lambda x: x / 10), min_size=2, max_size=15)


@given(SCORES, SCORES)
def test_the_interval_holds_the_difference_and_never_has_zero_width(
    first: list[float], second: list[float]
) -> None:
    made = mean_difference(first, second)
    assert made.value == pytest.approx(np.mean(first) - np.mean(second))
    assert made.low is not None
    assert made.high is not None
    assert -1 <= made.low <= (made.value or 0) <= made.high <= 1
    assert made.high - made.low > 0.01
    assert made.p is not None
    assert 0 < made.p <= 1


@given(SCORES, SCORES)
def test_swapping_the_groups_turns_the_sign(first: list[float], second: list[float]) -> None:
    there, back = mean_difference(first, second), mean_difference(second, first)
    assert there.value == pytest.approx(-(back.value or 0))


def test_no_difference_is_not_found_and_a_large_one_is() -> None:
    rng = np.random.default_rng(0)
    same = [
        mean_difference(rng.choice([0, 0.2, 0.9], 20), rng.choice([0, 0.2, 0.9], 20), seed=i).p
        for i in range(60)
    ]
    assert sum(p is not None and p <= 0.05 for p in same) <= 8
    far = mean_difference(rng.uniform(0.5, 1, 20), rng.uniform(0, 0.5, 20))
    assert far.p is not None
    assert far.p < 0.001
    assert far.low is not None
    assert far.low > 0


def test_groups_at_the_two_ends_of_the_scale_are_covered() -> None:
    """The half-pseudo-item bootstrap alone is drawn to 0 there, and covers 88 % at n = 10."""
    rng = np.random.default_rng(1)
    high, low = ([0.7, 0.8, 0.9, 1.0], [0.2, 0.4, 0.3, 0.1]), ([0, 0.1, 0.2], [0.3, 0.5, 0.2])
    truth = float(np.dot(*high) - np.dot(*low))
    hits = 0
    for seed in range(150):
        made = mean_difference(
            rng.choice(high[0], 10, p=high[1]), rng.choice(low[0], 10, p=low[1]), seed=seed
        )
        hits += (made.low or 0) <= truth <= (made.high or 0)
    assert hits >= 138


def test_an_empty_group_is_not_estimable() -> None:
    for made in (
        mean_difference([], [0.1]),
        mean_difference([np.nan], [0.1]),
        independent_divergence([0.1], [np.nan]),
    ):
        assert (made.status, made.reason_code) == ("not_estimable", "group_empty")
        assert made.value is None


def test_a_divergence_is_that_of_the_histograms_and_equal_groups_are_no_news() -> None:
    rng = np.random.default_rng(2)
    first, second = rng.random(20), rng.random(30)
    expected = js_divergence(histogram(bin_index(first)), histogram(bin_index(second)))
    made = independent_divergence(first, second)
    assert made.value == pytest.approx(float(expected))
    assert made.n == 50
    assert made.p is not None
    assert made.p > 0.05
    apart = independent_divergence(first / 10, 0.9 + first / 10)
    assert (apart.value, apart.p) == (1.0, 0.001)
    assert apart.low is None
