"""Change by a model's judgement, net of noise."""

from evenhand.tools.metrics import Scores, Values, metric
from evenhand.tools.metrics.paired_change_net import paired_change_net


@metric(
    symbol="net MC",
    bounds=(-1.0, 1.0),
    source="ours, as paired_change_net",
    data="change_pairs_by_model",
)
def model_change_net(change_pairs: Scores) -> Values:
    """Net change by a model: share changed by the variant less share changed by a repeat of `base`.

    0: the judge sees no more change than when the same is asked again. It explores, in a family of
    its own; what is confirmed is `paired_change_net`, by rules.

    Args:
        change_pairs: Changes (variant, repeat) of an item, shape (..., n, 2).

    Returns:
        Shape (...), in [-1, 1]; NaN where no pair is complete.
    """
    return paired_change_net(change_pairs)
