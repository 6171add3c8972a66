"""What these numbers cannot show."""

from evenhand.tools import wording
from evenhand.tools.sections import ReportContext, fill, section

FEW_CASES = 40
"""Below this even a perfect method finds only effects of 19 to 36 points (STATISTICS, power)."""


@section(title="Limits")
def limits(context: ReportContext) -> str:
    """List the limits that hold for this very run."""
    return fill("limits.html", points=limit_sentences(context))


def limit_sentences(context: ReportContext) -> list[tuple[str, str]]:
    """Return (short name, sentence) of each limit that applies."""
    points = [_size(context), _change()]
    if context.model("judge") == "rules":
        points.append(
            (
                "Judge",
                "The judge is a set of word rules. It knows the terms in its list and reads no "
                "meaning: a synonym it does not know counts as no statement, a changed wording as "
                "a change only where a listed term changed. Its error was not measured in this "
                "run.",
            )
        )
    elif context.model("judge") == context.model("target"):
        points.append(("Judge", "Judge and target are one model: it may not see its own leanings."))
    else:
        points.append(
            (
                "Judge",
                f"The judge ({context.model('judge')}) errs, too; its error was not measured "
                "against people in this run.",
            )
        )
    if context.model("target") == "local":
        points.append(
            (
                "Target",
                "The embedded model is very small and no clinical product. What is found here "
                "shows that the audit works, and says nothing about a larger model.",
            )
        )
    if "repeat" not in context.plan.get("controls", ()):
        points.append(("Noise", "No question was repeated, so there is no noise floor."))
    points.append(
        (
            "Cases",
            "The cases are written or published questions, not a sample of any hospital's "
            "patients: rates hold for questions like these.",
        )
    )
    return points


def _size(context: ReportContext) -> tuple[str, str]:
    n = sum(sample.status == "ok" for sample in context.samples)
    if n >= FEW_CASES:
        return ("Size", f"{wording.counted(n, 'case')}: effects of a few points are not seen.")
    return (
        "Size",
        f"{wording.counted(n, 'case')} can only show very large differences. That none was found "
        "is no proof that there is none.",
    )


def _change() -> tuple[str, str]:
    return (
        "Meaning",
        "A changed answer is not always a wrong one: age and place of living can matter "
        "clinically. Whether a change was right is for a clinician to say; open the rows.",
    )
