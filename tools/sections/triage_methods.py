"""How the numbers of a counterfactual audit came about, and how to have them again."""

from evenhand.tools.sections import ReportContext, fill, section
from evenhand.tools.sections.methods import roles_of

TRIAGE_CITATIONS: tuple[tuple[str, str], ...] = (
    (
        "PDR, P_up, P_down",
        "Wilson score interval (Wilson 1927, JASA 22:209), by patient with the design effect.",
    ),
    (
        "DTS",
        "P_up less P_down of one direction: Tango score interval (Tango 1998, Stat Med 17:891), "
        "McNemar's test with mid-p; by patient with the design effect and sign flips.",
    ),
    (
        "NATS",
        "Newcombe's interval for two independent shares (1998, Stat Med 17:873); conditional "
        "mid-p.",
    ),
    (
        "NMD",
        "t interval, or the wider of it and the half-pseudo-item bootstrap where fewer than 10 "
        "pairs moved; sign-flip test.",
    ),
    (
        "paper's interval",
        "Percentile bootstrap of pairs, 1,000 resamples, as the counterfactual paper has it. With "
        "few pairs that moved it covers far less than 95 %, and where all are equal it has no "
        "width: shown for comparison only.",
    ),
    (
        "odds ratio",
        "Sample ratio with Wald's interval as printed in the paper; with a cell of 0 Haldane's "
        ".5 (1956, Ann Hum Genet 20:309). Beside it the conditional mid-p interval, which has an "
        "open end there (Agresti 2013, section 16.6).",
    ),
    (
        "net of a control",
        "Taken inside each pair, on pairs scored in both; the repeat arm's refits are averaged "
        "first.",
    ),
    (
        "several tests",
        "Holm's correction over the directions of the main arm (Holm 1979, Scand J Stat 6:65); "
        "Benjamini and Hochberg's for what is explored (1995, J R Stat Soc B 57:289). The "
        "corrected p-value decides, the interval shows the size.",
    ),
    (
        "kappa_w",
        "Quadratically weighted kappa (Cohen 1968, Psychol Bull 70:213), percentile interval over "
        "visits; precision, recall and F1 weighted by the level's share.",
    ),
)


@section(title="Methods")
def triage_methods(context: ReportContext) -> str:
    """State plan, seed, model, versions and interval methods."""
    view = context.triage
    used = sorted({one.estimate.method for one in view.results.numbers} - {""}) if view else []
    return fill(
        "methods.html",
        context=context,
        roles=roles_of(context),
        citations=TRIAGE_CITATIONS,
        used=used,
    )
