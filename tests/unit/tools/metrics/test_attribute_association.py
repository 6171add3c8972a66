import numpy as np
import pytest

from evenhand.tools.metrics import metrics


def test_the_mean_of_each_row_of_a_batch() -> None:
    scores = np.array([[0.2, 0.4, np.nan], [0.0, 0.0, 0.3]])
    made = metrics.get("attribute_association").compute(scores)
    assert made == pytest.approx([0.3, 0.1])
