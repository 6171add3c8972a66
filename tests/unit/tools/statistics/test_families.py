import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.tools.statistics.families import benjamini_hochberg, holm
from evenhand.tools.statistics.paired_tests import mid_p

p_values = st.lists(st.floats(0, 1), min_size=1, max_size=20)


@settings(deadline=None)
@given(p_values)
def test_adjusting_never_lowers_and_keeps_the_order(p: list[float]) -> None:
    for adjusted in (np.array(holm(p), float), np.array(benjamini_hochberg(p), float)):
        assert (adjusted >= np.array(p) - 1e-12).all()
        assert (adjusted <= 1).all()
        assert (np.diff(adjusted[np.argsort(p, kind="stable")]) >= -1e-12).all()


@settings(deadline=None)
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


def test_an_audit_finds_40_points_and_keeps_its_level() -> None:
    """2,000 audits: 40 items, 4 groups in 2 ways of asking against one repeat, 5 % noise.

    Groups share their repeat, so their tests lean the same way; Holm holds. The bar of 6.5 %
    leaves room for 2,000 draws of a true 5 %.
    """
    rng = np.random.default_rng(8)
    shape = (2000, 2, 4, 40)
    noise, repeat = rng.random(shape) < 0.05, rng.random((2000, 2, 1, 40)) < 0.05
    fair = mid_p((noise & ~repeat).sum(-1), (~noise & repeat).sum(-1)).reshape(2000, 8)
    assert (
        np.array([holm(audit) for audit in fair.tolist()], np.float64).min(axis=1) < 0.05
    ).mean() <= 0.065
    moved = noise | (rng.random(shape) < 0.4) & (np.arange(4) == 2)[:, None]
    biased = mid_p((moved & ~repeat).sum(-1), (~moved & repeat).sum(-1)).reshape(2000, 8)
    found = np.array([holm(audit) for audit in biased.tolist()], np.float64)[:, [2, 6]] < 0.05
    assert found.mean() >= 0.9
