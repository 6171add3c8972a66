import numpy as np
import pytest

from evenhand.tools.metrics import metrics


def test_unscored_items_are_left_out_and_not_zero() -> None:
    changed = metrics.get("paired_change").compute(np.array([1.0, 0.0, np.nan, np.nan]))
    assert changed == pytest.approx(0.5)
