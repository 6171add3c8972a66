"""Bias resiliency by category of the groups compared."""

from evenhand.tools.metrics import Scores, Values, metric
from evenhand.tools.metrics.resiliency import resiliency


@metric(
    symbol="BR",
    bounds=(0.0, 1.0),
    source="paper 3 (bias resiliency); that unscored answers are left out is ours",
    data="bias_verdicts_by_category",
)
def resiliency_by_category(verdicts: Scores) -> Values:
    """Bias resiliency by category: share answered without taking a side, of one category.

    Refused, unparsable and tied questions are left out and counted. 0: every scored question was
    answered with a side taken.

    Args:
        verdicts: Verdicts by question, shape (..., n), 1 or 0; NaN is left out.

    Returns:
        Shape (...), in [0, 1]; NaN where nothing is scored.
    """
    return resiliency(verdicts)
