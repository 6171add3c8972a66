import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.tools.statistics import intervals
from evenhand.tools.statistics.estimate import Estimate, is_borderline

Pairs = tuple[int, int, int]
NEVER = 1e-9


@st.composite
def pairs(draw: st.DrawFn) -> Pairs:
    """(up, down, n) with n >= 1."""
    up, down, same = (draw(st.integers(0, 60)) for _ in range(3))
    return up, down, max(1, up + down + same)


scores = st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.5, 0.9, 1.0, np.nan]), max_size=30)


def limits(estimate: Estimate) -> tuple[float, float]:
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.low, estimate.high


@settings(deadline=None)
@given(pairs())
def test_tango_holds_its_estimate_and_is_never_a_point(counts: Pairs) -> None:
    up, down, n = counts
    low, high = limits(intervals.paired_difference(up, down, n))
    assert -1 <= low <= (up - down) / n + NEVER
    assert (up - down) / n - NEVER <= high <= 1
    assert high - low > 0.01


@settings(deadline=None)
@given(pairs())
def test_swapped_arms_negate_a_paired_difference(counts: Pairs) -> None:
    up, down, n = counts
    one, other = intervals.paired_difference(up, down, n), intervals.paired_difference(down, up, n)
    assert one.value == -(other.value or 0)
    assert limits(one) == pytest.approx([-limit for limit in reversed(limits(other))], abs=1e-12)
    assert one.p == other.p


@settings(max_examples=30, deadline=None)
@given(st.lists(pairs(), min_size=1, max_size=8))
def test_a_batch_of_tango_limits_equals_one_by_one(batch: list[Pairs]) -> None:
    up, down, n = np.array(batch).T
    low, high = intervals.tango_limits(up, down, n)
    alone = [limits(intervals.paired_difference(*one)) for one in batch]
    assert list(zip(low, high, strict=True)) == alone


@settings(max_examples=20, deadline=None)
@given(scores, st.randoms())
def test_the_order_of_items_does_not_matter(values: list[float], random: object) -> None:
    shuffled = list(values)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = intervals.bounded_mean(values), intervals.bounded_mean(shuffled)
    assert (one.low, one.high, one.n) == (other.low, other.high, other.n)
    changes = np.array(values) - 0.2
    moved, moved_again = intervals.mean_change(changes), intervals.mean_change(changes[::-1])
    assert moved.p == moved_again.p
    assert moved.value == pytest.approx(moved_again.value)


@settings(max_examples=30, deadline=None)
@given(scores)
def test_a_mean_is_never_a_point_and_says_why_it_is_missing(values: list[float]) -> None:
    made = intervals.bounded_mean(values)
    unscored = int(np.isnan(values).sum())
    assert made.n_unscored == unscored
    if made.n:
        low, high = limits(made)
        assert 0 <= low < high <= 1
    else:
        assert made.reason_code == ("all_unscored" if unscored else "n_zero")
        assert made.value is None


def test_equal_differences_have_a_width() -> None:
    made = intervals.mean_change([0.3] * 12)
    low, high = limits(made)
    assert high - low > 0.05
    assert made.flags == ("all_equal",)
    assert made.method == intervals.WIDER


def test_float_noise_is_no_change() -> None:
    made = intervals.paired_mean([0.1 + 0.2] * 20, [0.3] * 20)
    assert made.flags == ("all_equal", "few_changed")
    assert made.p == 1


def test_arms_of_different_length_are_a_fault() -> None:
    with pytest.raises(ValueError, match="one shape"):
        intervals.paired_mean([0.1], [0.1, 0.2])


def test_borderline_is_a_test_and_an_interval_that_disagree() -> None:
    assert is_borderline(-0.01, 0.2, 0.04)
    assert is_borderline(0.01, 0.2, 0.06)
    assert not is_borderline(0.01, 0.2, 0.04)
    assert not is_borderline(-0.01, 0.2, 0.06)


def test_worst_case_without_a_scored_pair() -> None:
    made = intervals.missing_bounds(0, 0, 0, 10)
    assert (made.complete_case, made.low, made.high) == (None, -1, 1)


def test_tango_covers_as_it_says() -> None:
    """4,000 audits of 40 pairs, 9 in 40 changed, a true difference of 12.5 points."""
    rng = np.random.default_rng(1)
    up, down, _ = rng.multinomial(40, [0.175, 0.05, 0.775], size=4000).T
    low, high = intervals.tango_limits(up, down, 40)
    assert 0.935 <= ((low <= 0.125) & (high >= 0.125)).mean() <= 0.975


def test_half_pseudo_covers_where_scores_are_heaped() -> None:
    """1,000 audits of 20 items that mostly score 0; t covers 83 to 95 % there."""
    rng = np.random.default_rng(2)
    scale, shares = np.array([0.0, 0.2, 0.5, 1.0]), [0.7, 0.15, 0.1, 0.05]
    truth = float(scale @ shares)
    held = 0
    for audit in rng.choice(scale, (1000, 20), p=shares):
        low, high = intervals.half_pseudo_limits(audit, low=0, high=1, seed=3, draws=1000)
        held += low <= truth <= high
    assert 915 <= held <= 985
