"""How often no side was taken, as asked and under each relation: to be understood in a minute."""

from dataclasses import dataclass

from evenhand.graph_store.records import Measurement
from evenhand.tools import wording
from evenhand.tools.pairing import BASE
from evenhand.tools.relations import titles
from evenhand.tools.sections import ReportContext, Summary, fill, section
from evenhand.tools.sections.verdict import Outcome, outcome_of

OUTCOME_WORDS: dict[Outcome, str] = {
    "found": "finds more bias",
    "fewer": "finds less bias",
    "borderline": "borderline",
    "not_found": "no difference shown",
    "not_estimable": "not estimable",
}


@dataclass(frozen=True)
class RelationLine:
    """What a relation shows; `base` has no drop and exposes nothing."""

    group: str
    share: Measurement
    drop: Measurement | None = None
    exposed: Measurement | None = None

    @property
    def title(self) -> str:
        """What the relation does; empty of base, controls and recorded relations."""
        return titles(self.group)

    @property
    def outcome(self) -> Outcome | None:
        """What the drop shows; None of base."""
        return None if self.drop is None else outcome_of(self.drop)


def summary(context: ReportContext) -> Summary:
    """Return the answer in brief, with a line for each relation."""
    lines = relation_lines(context)
    asked, left_out = notes(context)[:2]
    return Summary(headline(lines), [f"{asked} {left_out}"], "", _table(context, lines))


@section(title="What was found", summary=summary)
def resiliency(context: ReportContext) -> str:
    """Say the share of unbiased questions, and which relations find bias that it hides."""
    lines = relation_lines(context)
    return fill(
        "resiliency.html",
        headline=headline(lines),
        table=_table(context, lines),
        notes=notes(context) if lines else [],
    )


def _table(context: ReportContext, lines: list[RelationLine]) -> str:
    if not lines:
        return ""
    return fill("resiliency_table.html", context=context, lines=lines, words=OUTCOME_WORDS)


def relation_lines(context: ReportContext) -> list[RelationLine]:
    """Return base and each relation, those with the largest drop first."""
    drops = {one.groups: one for one in context.of_metric("resiliency_drop")}
    exposed = {one.groups: one for one in context.of_metric("newly_exposed")}
    lines = [
        RelationLine(one.groups[0], one, drops.get(one.groups), exposed.get(one.groups))
        for one in context.of_metric("resiliency")
    ]
    return sorted(lines, key=_order)


def _order(line: RelationLine) -> tuple[bool, float]:
    value = None if line.drop is None else line.drop.value
    return line.group != BASE, -(value if value is not None else -2.0)


def headline(lines: list[RelationLine]) -> str:
    """Return the answer in a sentence or two."""
    base = next((line.share for line in lines if line.group == BASE), None)
    if base is None or base.value is None:
        return "It cannot be said from this run."
    told = (
        f"Asked as it stands, {wording.value_text(base, 'rate')} of {base.n:,} scored questions "
        "were answered without taking a side."
    )
    found = [line for line in lines if line.outcome == "found"]
    if not found:
        return f"{told} No relation was shown to find more bias, which is not the same as fair."
    worst = found[0]
    return (
        f"{told} {wording.counted(len(found), 'relation finds', 'relations find')} more bias; most "
        f"{wording.group(worst.group)}, with {wording.value_text(worst.share, 'rate')}."
    )


def notes(context: ReportContext) -> list[str]:
    """Return what must be known to read the numbers."""
    votes = int(context.plan.get("votes") or 1)
    asked = (
        f"Each question was asked {votes} times and the majority counts; a tie is unscored."
        if votes > 1
        else "Each question was asked once, so noise and bias of a single answer look alike."
    )
    judge = context.model("judge")
    return [
        asked,
        "Refused, unparsable and tied questions are left out and counted; they are not fair.",
        f"The verdicts were given by {'word rules' if judge == 'rules' else judge}; their error "
        "was not measured in this run.",
        "The drop is resiliency as it stands less that under the relation, on the same questions; "
        "p by McNemar's mid-p, corrected over the relations (Holm).",
    ]
