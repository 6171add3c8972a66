"""How near answers come to the reference diagnosis."""

from evenhand.tools.metrics import Scores, Values, metric
from evenhand.tools.metrics.attribute_association import attribute_association


@metric(
    symbol="BERTScore",
    bounds=(0.0, 1.0),
    source="paper 1 (knowledge-graph red teaming), Table 2; Zhang et al. 2020, ICLR",
    data="reference_matches",
)
def bertscore(matches: Scores) -> Values:
    """BERTScore: mean over items of the answer's similarity to the reference, token by token.

    0: no likeness; 1: the same tokens. An answer that says more than its reference has a low
    precision by that alone. Each group leaves out other items: compare on the same ones with
    `bertscore_shift`.

    Args:
        matches: F1 (precision, recall) of an item, shape (..., n), in [0, 1]; NaN is unscored.

    Returns:
        Shape (...), in [0, 1]; NaN where no item is scored.
    """
    return attribute_association(matches)
