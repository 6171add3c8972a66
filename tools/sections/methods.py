"""How the numbers came about, and how to have them again."""

from evenhand.tools.sections import ReportContext, fill, section

CITATIONS: tuple[tuple[str, str], ...] = (
    (
        "net change rate",
        "Tango score interval for paired differences (Tango 1998, Stat Med 17:891); McNemar's "
        "test with mid-p (Fagerland, Lydersen, Laake 2013, BMC Med Res Methodol 13:91).",
    ),
    ("change rate", "Wilson score interval (Wilson 1927, JASA 22:209)."),
    (
        "mean score",
        "Bayesian bootstrap with half a pseudo-item at each end of the scale (after Rubin 1981, "
        "Ann Stat 9:130), 10,000 draws, fixed seed.",
    ),
    (
        "difference of scores",
        "t interval, or the wider of it and the half-pseudo-item bootstrap where fewer than 10 "
        "items changed; sign-flip permutation test.",
    ),
    (
        "divergence",
        "Jensen-Shannon, base 2, ten bins. Floor and p from 999 random swaps of both arms inside "
        "cases; no interval below 40 cases.",
    ),
    (
        "several tests",
        "Holm's correction within the family that the audit asks about (Holm 1979, Scand J Stat "
        "6:65); Benjamini and Hochberg's where it explores (1995, J R Stat Soc B 57:289). The "
        "corrected p-value decides, the interval shows the size.",
    ),
    (
        "least effect",
        "Exact power of the mid-p test at 90 %, with the discordance of the repeat arm (after "
        "Connor 1987, Biometrics 43:207).",
    ),
)


@section(title="Methods")
def methods(context: ReportContext) -> str:
    """State plan, seed, models, prompts, versions and interval methods."""
    used = sorted({one.method for one in context.measurements if one.method})
    return fill(
        "methods.html",
        context=context,
        roles=roles_of(context),
        citations=CITATIONS,
        used=used,
    )


def roles_of(context: ReportContext) -> list[tuple[str, str, str, str]]:
    """Return (role, model, how it was asked, what really answered)."""
    lines = []
    for role, settings in context.plan.get("roles", {}).items():
        model = str(settings.get("model", ""))
        asked = (
            "deterministic"
            if model == "rules"
            else f"temperature {settings.get('temperature', 0):g}, "
            f"at most {settings.get('max_tokens', 0):,} tokens"
        )
        identity = context.manifest.models.get(role, {})
        known = ", ".join(f"{name} {value}" for name, value in identity.items())
        lines.append((role, model, asked, known))
    return lines
