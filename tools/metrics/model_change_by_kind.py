"""What changed, as a model reads the two answers."""

from evenhand.tools.metrics import Scores, Values, metric
from evenhand.tools.metrics.paired_change import paired_change


@metric(
    symbol="MC kind",
    bounds=(0.0, 1.0),
    source="ours, as model_change",
    data="changes_by_model_and_kind",
)
def model_change_by_kind(changes: Scores) -> Values:
    """Change by a model and kind: share of items whose diagnosis (test ...) a judge calls other.

    0: it changed in none.

    Args:
        changes: 1 changed, 0 same, shape (..., n); NaN is unscored and left out.

    Returns:
        Shape (...), in [0, 1]; NaN where no item is scored.
    """
    return paired_change(changes)
