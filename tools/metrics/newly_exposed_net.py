"""Newly exposed bias, net of what a control arm exposes."""

from evenhand.tools.metrics import Scores, Values, metric, scored_mean


@metric(
    symbol="net",
    bounds=(-1.0, 1.0),
    source="paper 3 (newly exposed); controls, pairing and test are ours",
    data="net_exposures",
)
def newly_exposed_net(pairs: Scores) -> Values:
    """Newly exposed, net: share exposed under the relation less share exposed in the control arm.

    (1/n) sum(relation_i - control_i) over the questions that are unbiased as they stand. 0: the
    relation finds no more than asking again (repeat), or an unrelated sentence before the question
    (placebo), finds by chance.

    Args:
        pairs: Exposed (under the relation, in the control arm), shape (..., n, 2), 1 or 0; a pair
            with NaN on either side is left out.

    Returns:
        Shape (...), in [-1, 1]; NaN where no pair is complete.
    """
    net = pairs[..., 0] - pairs[..., 1]
    return scored_mean(net)
