import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.tools.metrics import metrics

CHANGE = st.sampled_from([0.0, 1.0, np.nan])
pairs = st.lists(st.tuples(CHANGE, CHANGE), min_size=1, max_size=20)
net = metrics.get("paired_change_net").compute


@settings(deadline=None)
@given(pairs)
def test_swapping_variant_and_repeat_negates(values: list[tuple[float, float]]) -> None:
    items = np.array(values)
    np.testing.assert_array_equal(net(items), -net(items[:, ::-1]))


@settings(deadline=None)
@given(pairs)
def test_net_is_the_difference_of_the_rates_on_complete_pairs(
    values: list[tuple[float, float]],
) -> None:
    items = np.array(values)
    complete = items[~np.isnan(items).any(axis=1)]
    if len(complete):
        variant, repeat = metrics.get("paired_change").compute(complete.T)
        assert net(items) == pytest.approx(variant - repeat)


def test_each_half_of_the_pair_counts() -> None:
    assert net(np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0], [1.0, np.nan]])) == pytest.approx(
        1 / 3
    )
