"""How often an answer breaks what its relation declares."""

from evenhand.tools.metrics import Scores, Values, metric, scored_mean


@metric(
    symbol="OV",
    bounds=(0.0, 1.0),
    source="metamorphic testing (Chen et al. 1998); output relations: tools/relations",
    data="output_violations",
)
def output_violations(violations: Scores) -> Values:
    """Violations of the output relation: share of pairs whose answers do not agree.

    A pair is a question as it stands and under a relation, both scored. Broken: no side was taken
    and now one is, another group is favoured, or a side that was taken no longer is (unless the
    question now claims the reverse, which may be denied). 0: all answers agree.

    Args:
        violations: By pair, shape (..., n), 1 broken, 0 as declared; NaN is left out.

    Returns:
        Shape (...), in [0, 1]; NaN where no pair is scored.
    """
    return scored_mean(violations)
