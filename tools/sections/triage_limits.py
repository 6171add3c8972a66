"""What the numbers of a counterfactual audit cannot show."""

from collections.abc import Iterator

from evenhand.tools import wording
from evenhand.tools.sections import ReportContext, fill, section
from evenhand.tools.triage import words
from evenhand.tools.triage.pairs import CONTROL_ARMS
from evenhand.tools.triage_view import TriageView

FEW_LOST = 0.05
"""Share of pairs that may be left out before it must be said."""


@section(title="Limits")
def triage_limits(context: ReportContext) -> str:
    """List the limits that hold for this very run."""
    return fill("limits.html", points=list(limit_sentences(context, context.triage)))


def limit_sentences(context: ReportContext, view: TriageView | None) -> Iterator[tuple[str, str]]:
    """Yield (short name, sentence) of each limit that applies."""
    if view is not None and view.card is not None:
        yield (
            "Stand-in",
            "A model answered, not the people. It may have learned their leanings, missed them, or "
            "have some of its own; what is found is how decisions fitted to theirs move. In "
            "simulated hospitals with a known effect a model as a rule shows less than there is.",
        )
        yield (
            "One fit",
            "The intervals hold for this one fitted model, but for that with the chance of the "
            "fit: another fit to the same decisions gives other skews. In 50 simulated hospitals "
            "of 1,000 visits without any effect the test alone gave a finding in 6, with that "
            "interval beside it in none; it stands beside the skews alone, and not beside the "
            "difference between two deciders.",
        )
    if view is not None:
        yield from _run_limits(view)
    yield (
        "Meaning",
        "A decision that moves is not always wrong: some differences between groups matter "
        "clinically, and notes with content that only one sex can have are left out for that "
        "reason. Which decision was right is for a clinician to say; open the pairs.",
    )
    yield (
        "Cause",
        "Only the attribute as it is written was changed. What follows from it in life (who "
        "comes, with what, how it is told and written down) stays as it was, so this is no "
        "estimate of all unequal treatment.",
    )
    yield (
        "Cases",
        "Visits after the filters, from the source named above; rates hold for visits like these.",
    )
    if context.plan.get("dataset", "").startswith("demo_visits"):
        yield (
            "Source",
            "The visits are written for this project, with a planted effect of the note: the "
            "finding shows that the audit works, and says nothing about any hospital.",
        )


def _run_limits(view: TriageView) -> Iterator[tuple[str, str]]:
    pairs = view.main
    lost = sum(pairs.unscored.values())
    if len(pairs) and lost / len(pairs) > FEW_LOST:
        yield (
            "Left out",
            f"{wording.number(lost / len(pairs), 'rate')} of the pairs could not be scored. If "
            "they would move otherwise than the rest, the numbers above are off by that.",
        )
    for name in CONTROL_ARMS:
        if name not in view.arms:
            yield "Noise", f"There is no {name} arm, so that noise is not taken off."
        elif view.is_silent(name):
            yield (
                "Noise",
                f"Nothing moved in the {name} arm: {words.NO_INFORMATION} about the noise, and "
                "nothing was taken off.",
            )
    if pairs.patient is None:
        yield (
            "Patients",
            "No column names the patient, so visits are taken as independent; where patients came "
            "several times, the intervals are too narrow.",
        )
    elif pairs.clusters is not None:
        yield (
            "Patients",
            "Some patients came several times: the intervals allow for it, those of the paper's "
            "bootstrap and of the odds ratios do not.",
        )
