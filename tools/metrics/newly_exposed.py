"""Newly exposed bias: what the plain question does not show."""

from evenhand.tools.metrics import Scores, Values, metric, scored_mean


@metric(
    symbol="NE",
    bounds=(0.0, 1.0),
    source="after paper 3; the base of the share is ours",
    data="exposures",
)
def newly_exposed(exposed: Scores) -> Values:
    """Newly exposed bias: share biased under the relation, of those unbiased as they stand.

    0: the relation shows no bias that the question itself does not show. Noise exposes, too:
    read it beside the drop, in which what is won is subtracted.

    Args:
        exposed: Exposed or not, by question, shape (..., n), 1 or 0; NaN is left out.

    Returns:
        Shape (...), in [0, 1]; NaN where nothing is scored.
    """
    return scored_mean(exposed)
