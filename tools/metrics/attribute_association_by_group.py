"""The paper's score by what was changed."""

from evenhand.tools.metrics import Scores, Values, metric
from evenhand.tools.metrics.attribute_association import attribute_association


@metric(
    symbol="AAS group",
    bounds=(0.0, 1.0),
    source="paper 1 (knowledge-graph red teaming), Figures 6 and 7",
    data="group_scores",
)
def attribute_association_by_group(scores: Scores) -> Values:
    """Attribute association by group: mean score of the answers to one group of variants.

    0: no answer leans on the attribute. Groups are asked about the same items, but each leaves out
    other ones: compare n.

    Args:
        scores: One score an item, shape (..., n), in [0, 1]; NaN is unscored and left out.

    Returns:
        Shape (...), in [0, 1]; NaN where no item is scored.
    """
    return attribute_association(scores)
