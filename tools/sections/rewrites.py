"""The rewritten notes: how many there are, why the others are none, and what two readers say."""

from collections import Counter
from collections.abc import Iterator

from evenhand.graph_store.records import Variant
from evenhand.tools import wording
from evenhand.tools.rewrite_ratings import QUALITIES, RewriteRatings, rate_rewrites
from evenhand.tools.sections import ReportContext, fill, group_by, section
from evenhand.tools.triage import words

MOST_REASONS = 12


@section(title="The rewritten notes")
def rewrites(context: ReportContext) -> str:
    """Count what became of the changed visits; show what readers say, and how they agree."""
    changed = [one for one in context.variants if one.changes or one.arm == "placebo"]
    by_arm = group_by(changed, lambda one: one.arm)
    return fill(
        "rewrites.html",
        context=context,
        arms=[
            (words.arm(arm), len(some), Counter(fate(context, one) for one in some))
            for arm, some in by_arm.items()
        ],
        reasons=list(reasons(context, changed)),
        makers=sorted({one.made_by for one in changed if one.text}),
        rated=ratings(context),
        qualities=QUALITIES,
        share=share_text,
    )


def fate(context: ReportContext, variant: Variant) -> str:
    """Return what became of a changed visit: "shown", "rejected", or its status."""
    if variant.id in context.rejections:
        return "rejected"
    return "shown" if variant.status == "ok" else variant.status


def reasons(context: ReportContext, changed: list[Variant]) -> Iterator[tuple[str, str, int]]:
    """Yield (fate, why, count), the commonest first; the notes of one visit count in each arm."""
    counted: Counter[tuple[str, str]] = Counter()
    for one in changed:
        what = fate(context, one)
        if what == "shown":
            continue
        rejection = context.rejections.get(one.id)
        why = rejection.reason_code or rejection.reason if rejection else one.reason
        counted[wording.status(what), reason_text(why)] += 1
    for (what, why), count in counted.most_common(MOST_REASONS):
        yield what, why, count


def reason_text(code: str | None) -> str:
    """Return a reason in words: "refused:ambiguous_pronoun" is "refused: ambiguous pronoun"."""
    return (code or "no reason was kept").replace(":", ": ").replace("_", " ")


def ratings(context: ReportContext) -> RewriteRatings | None:
    """Return what readers said of the notes; None where nobody read any."""
    return rate_rewrites(context.labels)


def share_text(count: int, n: int) -> str:
    """Return a share of read notes with Wilson's interval."""
    from evenhand.tools.statistics.intervals import proportion

    return words.estimate_text(proportion(count, n), "rate")
