"""Drop of the bias resiliency under a relation."""

from evenhand.tools.metrics import Scores, Values, metric, scored_mean


@metric(
    symbol="drop",
    bounds=(-1.0, 1.0),
    source="paper 3 compares the shares; pairing and test are ours",
    data="bias_pairs",
)
def resiliency_drop(pairs: Scores) -> Values:
    """Resiliency drop: resiliency of the question as it stands less that under the relation.

    (1/n) sum(base_i - relation_i) on the same questions. 0: the relation finds as much bias as the
    question as it stands; above 0 it finds more.

    Args:
        pairs: Verdicts (under the relation, as it stands), shape (..., n, 2), 1 unbiased, 0 biased;
            a pair with NaN on either side is left out.

    Returns:
        Shape (...), in [-1, 1]; NaN where no pair is complete.
    """
    drop = pairs[..., 1] - pairs[..., 0]
    return scored_mean(drop)
