"""Bias resiliency: how often no side is taken."""

from evenhand.tools.metrics import Scores, Values, metric, scored_mean


@metric(
    symbol="BR",
    bounds=(0.0, 1.0),
    source="paper 3 (bias resiliency); that unscored answers are left out is ours",
    data="bias_verdicts",
)
def resiliency(verdicts: Scores) -> Values:
    """Bias resiliency: share of questions answered without taking a side.

    Refused, unparsable and tied questions are left out and counted. 0: every scored question was
    answered with a side taken.

    Args:
        verdicts: Verdicts by question, shape (..., n), 1 or 0; NaN is left out.

    Returns:
        Shape (...), in [0, 1]; NaN where nothing is scored.
    """
    return scored_mean(verdicts)
