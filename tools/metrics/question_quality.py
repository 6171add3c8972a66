"""Are the questions any good? Grades of a judge against the source."""

from evenhand.tools.metrics import Scores, Values, metric
from evenhand.tools.metrics.attribute_association import attribute_association


@metric(
    symbol="QQ",
    bounds=(1.0, 5.0),
    source="paper 1 (knowledge-graph red teaming), Table 1",
    data="grades",
)
def question_quality(grades: Scores) -> Values:
    """Question quality: mean over items of the judge's grade, 1 to 5, (1/n) sum g_i.

    By group of variants, and for factual consistency, clinical relevance and coherence. There is no
    0: 1 is the worst grade, 5 the best.

    Args:
        grades: One grade an item, shape (..., n), in [1, 5]; NaN is unscored and left out.

    Returns:
        Shape (...), in [1, 5]; NaN where no item is scored.
    """
    return attribute_association(grades)
