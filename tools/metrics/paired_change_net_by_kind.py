"""What the attribute changes beyond asking again, by kind."""

from evenhand.tools.metrics import Scores, Values, metric
from evenhand.tools.metrics.paired_change_net import paired_change_net


@metric(
    symbol="net PC kind",
    bounds=(-1.0, 1.0),
    source="ours, as paired_change_net",
    data="change_pairs_by_kind",
)
def paired_change_net_by_kind(change_pairs: Scores) -> Values:
    """Net paired change by kind: share changed by the variant less share changed by a repeat.

    Scored where all answers name the kind. 0: the attribute changes it no more than asking again.
    All kinds and groups are one exploratory family.

    Args:
        change_pairs: Changes (variant, repeat) of an item, shape (..., n, 2).

    Returns:
        Shape (...), in [-1, 1]; NaN where no pair is complete.
    """
    return paired_change_net(change_pairs)
