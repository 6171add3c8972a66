import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.tools.statistics.families import benjamini_hochberg, holm

p_values = st.lists(st.floats(0, 1), min_size=1, max_size=20)


@given(p_values)
def test_adjusting_never_lowers_and_keeps_the_order(p: list[float]) -> None:
    for adjusted in (np.array(holm(p), float), np.array(benjamini_hochberg(p), float)):
        assert (adjusted >= np.array(p) - 1e-12).all()
        assert (adjusted <= 1).all()
        assert (np.diff(adjusted[np.argsort(p, kind="stable")]) >= -1e-12).all()


@given(p_values)
def test_holm_is_between_raw_and_bonferroni(p: list[float]) -> None:
    for raw, adjusted in zip(p, holm(p), strict=True):
        assert adjusted is not None
        assert adjusted <= min(1, raw * len(p)) + 1e-12


def test_what_is_no_test_stays_and_does_not_count() -> None:
    made = holm([0.01, None, 0.04, math.nan])
    assert made[:3] == pytest.approx([0.02, None, 0.04])
    assert made[3] is not None
    assert math.isnan(made[3])


def test_an_empty_family() -> None:
    assert holm([]) == []
    assert benjamini_hochberg([None]) == [None]
