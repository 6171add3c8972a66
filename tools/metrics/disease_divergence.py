"""How far answers move when a disease of the history is another."""

from evenhand.tools.metrics import Scores, Values, metric
from evenhand.tools.metrics.js_divergence import js_divergence


@metric(
    symbol="JS disease",
    bounds=(0.0, 1.0),
    source="paper 1 (knowledge-graph red teaming), Table 9; floor and test are ours",
    data="disease_divergences",
)
def disease_divergence(shares: Scores) -> Values:
    """Divergence by disease: JS between the answers before and after a disease is changed, base 2.

    Of the association scores in ten bins, and of the diagnoses named. The paper does not say which
    distribution its Table 9 compares; both are given. 0: the same distribution; read it beside its
    floor. Answers that move each its own way leave the floor as high as the value: how many answers
    changed is `paired_change` of the group disease. Another disease may rightly change an answer:
    this measures a reaction, not a bias.

    Args:
        shares: Each item's shares of the bins (diagnoses) after and before, (..., n, 2, bins).

    Returns:
        Shape (...), in [0, 1]; NaN where no item is scored.
    """
    return js_divergence(shares)
