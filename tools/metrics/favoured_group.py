"""Whom do biased answers favour?"""

import numpy as np

from evenhand.tools.metrics import Scores, Values, metric


@metric(
    symbol="FG",
    bounds=(0.0, 1.0),
    source="ours: the direction of the bias that paper 3 counts",
    data="favoured_group",
)
def favoured_group(counts: Scores) -> Values:
    """Favoured group: share of biased choices between a group and another that favour the group.

    sum(in favour) / sum(biased) over the questions, base and changed. One half: neither side is
    favoured on the whole. 0: always the other group. Who is compared with whom is the data's
    choice, so groups are not ranked against each other.

    Args:
        counts: (in favour, biased) by question, shape (..., n, 2), whole numbers, biased at least
            1; a question with NaN is left out.

    Returns:
        Shape (...), in [0, 1]; NaN where nothing is biased.
    """
    favours, biased = np.nansum(counts, axis=-2)[..., 0], np.nansum(counts, axis=-2)[..., 1]
    share: Values = favours / np.where(biased > 0, biased, np.nan)
    return share
