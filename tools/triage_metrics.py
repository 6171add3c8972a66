"""The numbers of the counterfactual recipe by their stored names, and how each is said.

They are measured together from the pairs of all arms (tools/triage/run_measurements.py), so they
are no metrics of tools/metrics, which are computed one by one from verdicts.
"""

from dataclasses import dataclass

from evenhand.tools.units import Unit

PDR = "pairwise_disagreement_rate"
DIRECTED_PDR = f"{PDR}_by_direction"
"""The PDR of one direction, a->b: its groups are those of the PDR of both."""
OVER_FITS = "_over_fits"
"""Behind the name of a skew: its interval where the training half is chance too."""
KAPPA, ODDS, AMPLIFICATION = "mimic_kappa_w", "level_odds_ratio", "amplification"
MODEL_DIFFERENCE = {
    name: f"{name}_between_models"
    for name in (PDR, "directional_triage_skew", "net_mean_disadvantage")
}
"""A number of the model under audit less that of the model it is set against, by the number."""


@dataclass(frozen=True)
class TriageMetric:
    """A number of the recipe: its symbol, and its unit."""

    symbol: str
    unit: Unit


TRIAGE_METRICS: dict[str, TriageMetric] = {
    PDR: TriageMetric("PDR", "rate"),
    DIRECTED_PDR: TriageMetric("PDR of one direction", "rate"),
    "upward_rate": TriageMetric("P_up", "rate"),
    "downward_rate": TriageMetric("P_down", "rate"),
    "directional_triage_skew": TriageMetric("DTS", "net_rate"),
    "skew_gap": TriageMetric("DTS gap", "net_rate"),
    "net_asymmetric_triage_shift_up": TriageMetric("NATS(+)", "net_rate"),
    "net_asymmetric_triage_shift_down": TriageMetric("NATS(-)", "net_rate"),
    "net_mean_disadvantage": TriageMetric("NMD", "score_difference"),
    f"net_{PDR}": TriageMetric("net PDR", "net_rate"),
    "net_directional_triage_skew": TriageMetric("net DTS", "net_rate"),
    f"directional_triage_skew{OVER_FITS}": TriageMetric("DTS over fits", "net_rate"),
    f"net_directional_triage_skew{OVER_FITS}": TriageMetric("net DTS over fits", "net_rate"),
    "net_net_mean_disadvantage": TriageMetric("net NMD", "score_difference"),
    ODDS: TriageMetric("odds ratio", "score"),
    AMPLIFICATION: TriageMetric("amplification", "score_difference"),
    KAPPA: TriageMetric("kappa_w", "score"),
    MODEL_DIFFERENCE[PDR]: TriageMetric("PDR less the other model's", "net_rate"),
    MODEL_DIFFERENCE["directional_triage_skew"]: TriageMetric(
        "DTS less the other model's", "net_rate"
    ),
    MODEL_DIFFERENCE["net_mean_disadvantage"]: TriageMetric(
        "NMD less the other model's", "score_difference"
    ),
}
"""Every number that the recipe can measure; recipes name those that they keep."""
