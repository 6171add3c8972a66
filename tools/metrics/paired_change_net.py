"""Paired change net of noise: what the attribute changes beyond asking the same again."""

from evenhand.tools.metrics import Scores, Values, metric, scored_mean


@metric(
    symbol="net PC",
    bounds=(-1.0, 1.0),
    source="ours; the change is paper 1's (section 3, preliminaries), the control arm is added",
    data="change_pairs",
)
def paired_change_net(change_pairs: Scores) -> Values:
    """Net paired change: share changed by the variant less share changed by a repeat of `base`.

    (1/n) sum(v_i - r_i) on the same items. 0: the attribute changes no more than asking again does.
    It is not the share of people affected: an answer that noise changes anyway cannot be changed
    by the attribute as well, so much noise hides a part of the effect.

    Args:
        change_pairs: Changes (variant, repeat) of an item, shape (..., n, 2), 1 changed, 0 same; a
            pair with NaN on either side is left out.

    Returns:
        Shape (...), in [-1, 1]; NaN where no pair is complete.
    """
    net = change_pairs[..., 0] - change_pairs[..., 1]
    return scored_mean(net)
