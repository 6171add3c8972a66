"""What could not be scored, by way of asking and status: counted, never taken for fair."""

from collections import Counter
from collections.abc import Iterable

from evenhand.graph_store.records import Variant
from evenhand.tools import wording
from evenhand.tools.sections import ReportContext, fill, group_by, section
from evenhand.tools.verdicts import counts_as_verdict

ANSWER_STATUSES = ("ok", "refused", "truncated", "empty", "error")
MOST_REASONS = 30


@section(title="What could not be scored")
def unscored(context: ReportContext) -> str:
    """Count questions that were not asked, answers and verdicts that could not be used."""
    return fill(
        "unscored.html",
        context=context,
        answers=_answers(context),
        statuses=ANSWER_STATUSES,
        variants=_variants(context),
        verdicts=_verdicts(context),
        reasons=_reasons(context),
        most=MOST_REASONS,
    )


def _answers(context: ReportContext) -> list[tuple[str, Counter[str]]]:
    by_arm = group_by(context.answers, lambda answer: answer.arm)
    return [(wording.arm(arm), count(a.status for a in some)) for arm, some in by_arm.items()]


def _variants(context: ReportContext) -> list[tuple[str, Counter[str]]]:
    by_group = group_by(context.variants, lambda variant: variant.group)
    return [
        (wording.group(name), count(_fate(context, one) for one in some))
        for name, some in by_group.items()
    ]


def _fate(context: ReportContext, variant: Variant) -> str:
    return "rejected" if variant.id in context.rejections else variant.status


def _verdicts(context: ReportContext) -> list[tuple[str, Counter[str]]]:
    counted = [j for j in context.judgements if counts_as_verdict(j.rubric, j.reason_code)]
    by_rubric = group_by(counted, lambda one: f"{one.rubric.replace('_', ' ')}, judge {one.judge}")
    return [(name, count(one.status for one in some)) for name, some in by_rubric.items()]


def _reasons(context: ReportContext) -> list[tuple[str, str, str]]:
    """Return (sample, what, why) of the questions that were not asked."""
    found = []
    for variant in context.variants:
        fate = _fate(context, variant)
        if fate == "ok":
            continue
        rejection = context.rejections.get(variant.id)
        why = rejection.reason or rejection.reason_code if rejection else variant.reason
        found.append(
            (
                variant.sample_id,
                f"{wording.group(variant.group)}: {wording.status(fate)}",
                wording.why(why),
            )
        )
    return found


def count(names: Iterable[str]) -> Counter[str]:
    """Count names; a name that does not occur counts 0."""
    return Counter(names)
