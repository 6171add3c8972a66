"""What the semantic filter let pass and turned away, by relation, and what readers say of it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from evenhand.graph_store.records import Judgement, Variant
from evenhand.tools.filter_audit import audit_filter
from evenhand.tools.sections import ReportContext, fill, group_by, section
from evenhand.tools.semantic_filter import COMPARISON, FILTER


@dataclass(frozen=True)
class FilterLine:
    """The questions of one relation at the gate."""

    group: str
    made: int
    accepted: int
    rejected: Counter[str]
    """By reason code."""
    similarities: tuple[float, ...]
    judged: Counter[str]
    """What the judge said: kept, changed, or the status of no verdict."""

    @property
    def similarity(self) -> str:
        """Median and lowest similarity to the base question; "" where none was measured."""
        if not self.similarities:
            return ""
        return f"{median(self.similarities):.2f} ({min(self.similarities):.2f})"


@section(title="Questions that were let through")
def relation_filter(context: ReportContext) -> str:
    """Count what passed and what did not, by relation and reason, beside similarity and judge."""
    lines = filter_lines(context)
    accepted = {one.subject_id: one.value == "accepted" for one in context.gate}
    return fill(
        "relation_filter.html",
        lines=lines,
        judged=any(line.judged for line in lines),
        judge=context.model("judge"),
        audits=audit_filter(context.labels, accepted),
    )


def filter_lines(context: ReportContext) -> list[FilterLine]:
    """Return a line for each relation of which questions were made, in their order."""
    decided = {one.subject_id: one for one in context.gate}
    evidence = group_by(context.gate_evidence, lambda one: one.subject_id)
    made = [one for one in context.variants if one.arm == "relation" and one.id in decided]
    return [
        _line(group, some, [decided[one.id] for one in some], _of(evidence, some))
        for group, some in group_by(made, lambda one: one.group).items()
    ]


def _of(evidence: dict[str, list[Judgement]], some: Sequence[Variant]) -> list[Judgement]:
    return [found for one in some for found in evidence.get(one.id, ())]


def _line(
    group: str, some: Sequence[Variant], gate: Sequence[Judgement], evidence: Sequence[Judgement]
) -> FilterLine:
    said = [one for one in evidence if one.rubric == COMPARISON]
    return FilterLine(
        group=group,
        made=len(some),
        accepted=sum(one.value == "accepted" for one in gate),
        rejected=Counter(one.reason_code or "" for one in gate if one.value == "rejected"),
        similarities=tuple(one.number for one in evidence if one.rubric == FILTER),
        judged=Counter(str(one.value) if one.status == "ok" else one.status for one in said),
    )
