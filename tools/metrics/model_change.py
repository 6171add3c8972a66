"""Did the answer change, as a model reads the two answers?"""

from evenhand.tools.metrics import Scores, Values, metric
from evenhand.tools.metrics.paired_change import paired_change


@metric(
    symbol="MC",
    bounds=(0.0, 1.0),
    source="ours: paper 1's definition of bias (section 3), judged pairwise with order swap",
    data="changes_by_model",
)
def model_change(changes: Scores) -> Values:
    """Change by a model: share of items whose answers a judge calls clinically different.

    Each pair is judged in both orders; a judge that contradicts itself gives a tie, which is
    unscored. 0: no answer changed. Beside `paired_change`, which compares by rules.

    Args:
        changes: 1 changed, 0 same, shape (..., n); NaN is unscored and left out.

    Returns:
        Shape (...), in [0, 1]; NaN where no item is scored.
    """
    return paired_change(changes)
