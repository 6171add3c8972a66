"""What changed when only the attribute did: diagnosis, test, urgency or treatment."""

from evenhand.tools.metrics import Scores, Values, metric
from evenhand.tools.metrics.paired_change import paired_change


@metric(
    symbol="PC kind",
    bounds=(0.0, 1.0),
    source="paper 1 (knowledge-graph red teaming), section 3, preliminaries; the kinds are ours",
    data="changes_by_kind",
)
def paired_change_by_kind(changes: Scores) -> Values:
    """Paired change by kind: share of items whose diagnosis (test, urgency, treatment) changed.

    Scored where both answers name the kind. 0: it changed in none.

    Args:
        changes: 1 changed, 0 same, shape (..., n); NaN is unscored and left out.

    Returns:
        Shape (...), in [0, 1]; NaN where no item is scored.
    """
    return paired_change(changes)
