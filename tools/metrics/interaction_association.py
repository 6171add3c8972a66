"""Do answers lean on attributes changed together more than on each alone?"""

from evenhand.tools.metrics import Scores, Values, metric
from evenhand.tools.metrics.interaction import interaction


@metric(
    symbol="I AAS",
    bounds=(-3.0, 3.0),
    source="ours: interaction contrast of paper 1's association score",
    data="score_interactions",
)
def interaction_association(parts: Scores) -> Values:
    """Interaction of scores: mean over items of together - sum of each alone + (k - 1) base.

    In the dimension of the intersection (age+gender: age_gender). 0: the score moves by what each
    alone moves it.

    Args:
        parts: Scores of an item (together, base, each alone), shape (..., n, 2 + k), in [0, 1].

    Returns:
        Shape (...), in [-k, k]; NaN where no item is complete.
    """
    return interaction(parts)
