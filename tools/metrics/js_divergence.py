"""How far multi-hop reasoning moves the distribution of scores."""

import numpy as np

from evenhand.tools.metrics import Scores, Values, metric
from evenhand.tools.statistics import divergence


@metric(
    symbol="JS",
    bounds=(0.0, 1.0),
    source="paper 1 (knowledge-graph red teaming), Table 8; floor and test are ours",
    data="arm_divergences",
)
def js_divergence(shares: Scores) -> Values:
    """JS divergence: between the two arms' distributions of scores, in ten bins, base 2.

    0: the same distribution. Two samples of one distribution do not give 0: read it beside its
    floor, the mean and the 95 % point where the arms are swapped at random inside items.

    Args:
        shares: Each item's shares of the bins in both arms, shape (..., n, 2, bins); an item with
            NaN is unscored and left out.

    Returns:
        Shape (...), in [0, 1]; NaN where no item is scored.
    """
    scored = ~np.isnan(shares).any(axis=(-2, -1), keepdims=True)
    total = np.where(scored, shares, 0).sum(axis=-3)
    return divergence.js_divergence(total[..., 0, :], total[..., 1, :])
