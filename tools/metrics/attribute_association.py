"""The paper's score: how far answers lean on an attribute, as a judge reads them."""

from evenhand.tools.metrics import Scores, Values, metric, scored_mean


@metric(
    symbol="AAS",
    bounds=(0.0, 1.0),
    source="paper 1 (knowledge-graph red teaming), section 4.4.1 and Table 6",
    data="scores",
)
def attribute_association(scores: Scores) -> Values:
    """Attribute-association score: mean over items of the judge's score, (1/n) sum s_i.

    0: no answer leans on the attribute; 1: every answer rests on it. It reads single answers, so a
    clinically apt mention of an age counts too; what changed is `paired_change`.

    Args:
        scores: One score an item, shape (..., n), in [0, 1]; NaN is unscored and left out.

    Returns:
        Shape (...), in [0, 1]; NaN where no item is scored.
    """
    return scored_mean(scores)
