"""Agreement beyond chance: bounds, symmetry, clusters, and what has no interval."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from evenhand.tools.statistics.agreement import (
    alpha_of,
    disagreement,
    kappa,
    kappa_of,
    kappa_table,
    krippendorff,
    share_at_least,
)

ratings = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=3, max_size=40)
CLASSES = (1, 2, 3, 4, 5)


def leave_one_out(pairs: list[tuple[int, int]]) -> list[float]:
    weight = disagreement(5, "quadratic")
    found = []
    for place in range(len(pairs)):
        table = np.zeros((5, 5))
        for one, two in pairs[:place] + pairs[place + 1 :]:
            table[one - 1, two - 1] += 1
        found.append(float(kappa_of(table, weight)))
    return found


@settings(max_examples=50)
@given(ratings)
def test_the_standard_error_is_that_of_leaving_one_out(pairs: list[tuple[int, int]]) -> None:
    a, b = np.array(pairs).T
    made = kappa(a, b, weights="quadratic", classes=CLASSES)
    if made.status == "ok":
        each = np.array(leave_one_out(pairs))
        n = len(pairs)
        assert made.se == pytest.approx(np.sqrt((n - 1) * each.var()))
        assert made.low is not None
        assert made.high is not None
        assert made.value is not None
        assert made.low < made.value < made.high <= 1


@settings(max_examples=50)
@given(ratings)
def test_who_is_first_does_not_matter(pairs: list[tuple[int, int]]) -> None:
    a, b = np.array(pairs).T
    assert kappa(a, b, classes=CLASSES).value == kappa(b, a, classes=CLASSES).value
    one, two = (krippendorff(both, scale="ordinal").value for both in ([a, b], [b, a]))
    assert one == (None if two is None else pytest.approx(two))


def test_a_batch_equals_one_by_one() -> None:
    rng = np.random.default_rng(0)
    tables = rng.integers(0, 9, (7, 4, 4))
    weight = disagreement(4, "linear")
    assert list(kappa_of(tables, weight)) == [float(kappa_of(one, weight)) for one in tables]
    pairs = tables + tables.swapaxes(1, 2)
    together = alpha_of(pairs, range(4), "ordinal")
    assert list(together) == [float(alpha_of(one, range(4), "ordinal")) for one in pairs]


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        ([], [], "n_zero"),
        ([np.nan, 1], [2, np.nan], "n_zero"),
        ([1], [2], "n_below_2"),
        ([3, 3, 3], [3, 3, 3], "single_class"),
        ([1, 2, 2], [1, 2, 2], "no_disagreement_seen"),
        ([3, 3, 3, 3], [1, 2, 3, 4], "no_spread"),
        ([1, 1, 1, 1], [1, 1, 1, 2], "one_of_a_class"),
    ],
)
def test_without_an_interval_it_says_why(a: list[float], b: list[float], reason: str) -> None:
    made = kappa(a, b, classes=CLASSES)
    assert (made.status, made.reason_code) == ("not_estimable", reason)
    assert made.low is made.high is None


def test_answers_of_one_patient_are_left_out_together() -> None:
    a, b = np.tile([1, 2, 3, 4, 2, 5], 4), np.tile([1, 3, 3, 4, 1, 5], 4)
    units = [str(place) for place in range(6)] * 4
    alone, together = kappa(a, b), kappa(a, b, units=units)
    assert together.value == alone.value
    assert together.n == 6
    assert (together.high or 0) - (together.low or 0) > 1.5 * ((alone.high or 0) - (alone.low or 0))


def test_the_interval_holds_the_truth() -> None:
    """1,000 audits of 40 items, kappa .5: the interval covers at least 92 % (STATISTICS 6)."""
    rng = np.random.default_rng(1)
    cells = np.array([[0.375, 0.125], [0.125, 0.375]])
    hits = 0
    for table in rng.multinomial(40, cells.ravel(), 1000).reshape(-1, 2, 2):
        made = kappa_table(table)
        hits += made.low is not None and made.high is not None and made.low <= 0.5 <= made.high
    assert hits >= 920


def test_missing_ratings_are_no_disagreement() -> None:
    nan = float("nan")
    with_gap = krippendorff(np.array([[1, 2, 3, 1, nan], [1, 2, 3, 2, 5], [nan] * 5]))
    without = krippendorff([[1, 2, 3, 1], [1, 2, 3, 2]])
    assert with_gap.value == pytest.approx(without.value)
    assert with_gap.n == 4


@given(st.integers(0, 30), st.integers(1, 30))
def test_one_sided_p_is_the_upper_tail(x: int, n: int) -> None:
    x = min(x, n)
    made = share_at_least(x, n)
    assert made.p == pytest.approx(float(binom.sf(x - 1, n, 0.5)))
    assert made.value == x / n


def test_no_choice_is_no_share() -> None:
    made = share_at_least(0, 0)
    assert (made.status, made.reason_code, made.p) == ("not_estimable", "n_zero", None)
