import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, permutation_test

from evenhand.tools.statistics.paired_tests import mcnemar, mid_p, sign_flips

counts = st.integers(0, 80)
differences = st.lists(st.sampled_from([-0.5, -0.25, 0.0, 0.25, 0.5, 1.0]), min_size=2, max_size=9)


@settings(deadline=None)
@given(counts, counts)
def test_exact_p_is_the_binomial_test(b: int, c: int) -> None:
    made = mcnemar(b, c)
    expected = binomtest(b, b + c).pvalue if b + c else 1.0
    assert made.p_exact == pytest.approx(expected, abs=1e-12)
    assert 0 < made.p_mid <= made.p_exact <= 1


@settings(deadline=None)
@given(st.lists(st.tuples(counts, counts), min_size=1, max_size=9))
def test_a_batch_equals_one_by_one(batch: list[tuple[int, int]]) -> None:
    b, c = np.array(batch).T
    assert list(mid_p(b, c)) == [mcnemar(*one).p_mid for one in batch]


@settings(max_examples=30, deadline=None)
@given(differences)
def test_all_swaps_give_scipys_p(values: list[float]) -> None:
    scipys = permutation_test(
        (np.array(values),), np.sum, permutation_type="samples", n_resamples=2**9
    )
    assert sign_flips(values) == pytest.approx(min(1.0, float(scipys.pvalue)), abs=1e-12)


def test_random_swaps_come_near_the_exact_p() -> None:
    values = np.array([0.1, 0.3, -0.1, 0.2, 0.2, -0.05, 0.1, 0.4, -0.2, 0.1, 0.15, 0.05, 0.02])
    exact = sign_flips(values, resamples=10_000)
    assert sign_flips(values, seed=1, resamples=8_000) == pytest.approx(exact, abs=0.01)


def test_swapping_the_arms_keeps_p() -> None:
    values = np.random.default_rng(0).normal(0.1, 1, 60)
    assert sign_flips(values, 5) == pytest.approx(sign_flips(-values, 5), abs=0.02)


def test_rounding_breaks_no_tie() -> None:
    assert sign_flips([-0.5, -0.5, 0.1, 0.1, 0.7, -0.1, 0.2]) == 1, "the sum is 0 but for rounding"
    assert sign_flips([0.1, 0.2, 0.3, -0.3]) == sign_flips([1, 2, 3, -3])


def test_nothing_moved_is_p_one() -> None:
    assert sign_flips([0.0, 0.0]) == 1


def test_sign_flips_hold_their_level() -> None:
    """600 audits of 30 pairs without a difference: at most 8.2 % alarms (a true 5 % test)."""
    rng = np.random.default_rng(4)
    audits = rng.choice([-0.4, -0.1, 0.0, 0.1, 0.4], (600, 30))
    alarms = np.mean([sign_flips(audit, seed, 999) <= 0.05 for seed, audit in enumerate(audits)])
    assert alarms <= 0.082
