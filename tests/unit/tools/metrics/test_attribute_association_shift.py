import numpy as np
import pytest

from evenhand.tools.metrics import metrics


def test_only_complete_pairs_count() -> None:
    pairs = np.array([[0.6, 0.1], [0.2, 0.1], [np.nan, 0.9], [0.9, np.nan]])
    made = metrics.get("attribute_association_shift").compute(pairs)
    assert made == pytest.approx(0.3)
