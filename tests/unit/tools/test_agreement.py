"""A judge's 0 to 1 on a person's 1 to 5, and shares over patients."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.tools.agreement import agreement, equal_steps, quantile_map, share_over

scores = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.8, 1.0]), st.integers(1, 5)),
    min_size=1,
    max_size=40,
)


@given(scores)
def test_mapping_keeps_the_order_and_the_scale(pairs: list[tuple[float, int]]) -> None:
    judge, person = np.array(pairs).T
    mapped = quantile_map(judge, person)
    assert set(mapped) <= set(person)
    order = np.argsort(judge, kind="stable")
    assert (np.diff(mapped[order]) >= 0).all()


@given(st.permutations([1, 2, 2, 3, 4, 5, 5]))
def test_a_judge_of_the_same_order_agrees_wholly(person: list[int]) -> None:
    judge = [value**2 / 25 for value in person]
    assert list(quantile_map(judge, person)) == person


def test_equal_scores_get_the_middle_rating() -> None:
    assert set(quantile_map([0.1] * 5, [1, 2, 3, 4, 5])) == {3}


def test_rounding_splits_no_equal_scores() -> None:
    """.1 + .2 and .3 are one score: means of judges come out so."""
    assert len(set(quantile_map([0.1 + 0.2, 0.3], [1, 5]))) == 1


def test_the_unscored_stay_unscored() -> None:
    mapped = quantile_map([0.2, np.nan, 0.9], [2, 3, np.nan])
    assert mapped[0] == 2
    assert np.isnan(mapped[1:]).all()
    assert np.isnan(quantile_map([np.nan], [1])).all()


def test_equal_steps_cut_the_scale_into_five() -> None:
    assert list(equal_steps([0, 0.124, 0.125, 0.5, 0.874, 0.875, 1])) == [1, 1, 2, 3, 4, 5, 5]


def test_several_values_of_one_patient_count_once() -> None:
    alone = share_over([1, 0, 1, 1], ["a", "b", "c", "d"])
    assert (alone.method, alone.n, alone.value) == ("Wilson", 4, 0.75)
    several = share_over([1, 1, 1, 0], ["a", "a", "a", "b"])
    assert (several.n, several.value) == (2, 0.5)
    assert several.method != "Wilson"
    assert share_over([], []).reason_code == "n_zero"


def test_two_raters_side_by_side() -> None:
    made = agreement([1, 2, 3, 5, np.nan], [1, 2, 4, 5, 1], units=list("abcde"))
    assert (made.matches, made.rated) == (3, 4)
    assert made.exact.value == 0.75
    expected = 2.1875 + 2.5 + 0.25**2  # variances and squared difference of the means
    assert made.quadratic.value == pytest.approx(1 - 0.25 / expected)
    assert made.plain.value is not None
    assert made.plain.value < 1 - 0.25 / expected
