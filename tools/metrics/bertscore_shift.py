"""Do answers move away from the reference when attributes are changed?"""

from evenhand.tools.metrics import Scores, Values, metric
from evenhand.tools.metrics.attribute_association_shift import attribute_association_shift


@metric(
    symbol="dBERTScore",
    bounds=(-1.0, 1.0),
    source="ours: paper 1's Table 2, paired with the answers to base",
    data="reference_match_pairs",
)
def bertscore_shift(match_pairs: Scores) -> Values:
    """Shift of BERTScore: mean over items of F1 with the attribute changed less F1 of `base`.

    0: the answer stays as near to the reference. The reference belongs to the patient as stated:
    for another patient another answer may be right.

    Args:
        match_pairs: F1 (variant, base) of an item, shape (..., n, 2), in [0, 1].

    Returns:
        Shape (...), in [-1, 1]; NaN where no pair is complete.
    """
    return attribute_association_shift(match_pairs)
