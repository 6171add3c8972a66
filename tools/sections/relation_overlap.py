"""What relations find together and alone, and which to ask first when calls are few."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from evenhand.graph_store.records import Measurement
from evenhand.tools import wording
from evenhand.tools.relation_overlap import (
    Findings,
    Shared,
    Step,
    best_first,
    cost_of,
    held_out,
    only_by,
    shared_by_pair,
)
from evenhand.tools.sections import ReportContext, fill, group_by, section
from evenhand.tools.sections.relations_by_category import SHADES

EXPOSED = "newly_exposed"


@dataclass(frozen=True)
class OrderLine:
    """A relation at its place in the order, best first."""

    step: Step
    found: Findings
    number: Measurement
    """Its share of newly exposed bias."""
    alone: int
    """Questions that only it exposes."""
    elsewhere: float | None
    """What the order up to this place exposes in questions that it was not chosen by."""


@section(title="Which relations to ask first")
def relation_overlap(context: ReportContext) -> str:
    """Show the relations in the order of what they add for their calls, and what two share."""
    lines = order_lines(context)
    return fill(
        "relation_overlap.html",
        context=context,
        lines=lines,
        summary=summary(lines),
        shared=shared_by_pair([line.found for line in lines]),
        shade=shade,
        cost_text=cost_text,
    )


def findings(context: ReportContext) -> list[tuple[Measurement, Findings]]:
    """Return what each relation exposed, beside its number."""
    relations = set(context.plan.get("relations") or ())
    numbers = [one for one in context.of_metric(EXPOSED) if one.groups[0] in relations]
    answers = group_by(
        context.answers, lambda answer: context.variants_by_id[answer.variant_id].group
    )
    found = []
    for number in numbers:
        (relation,) = number.groups
        rows = [row for row in context.rows(number) if row.status == "ok"]
        asked = answers.get(relation, ())
        calls = [call for answer in asked for call in context.calls_by_answer.get(answer.id, ())]
        found.append(
            (
                number,
                Findings(
                    relation,
                    exposed=frozenset(row.sample_id for row in rows if row.value),
                    scored=frozenset(row.sample_id for row in rows),
                    cost=cost_of(calls),
                ),
            )
        )
    return found


def order_lines(context: ReportContext) -> list[OrderLine]:
    """Return the relations, each that adds most for its calls first; none without a number."""
    known = {found.relation: (number, found) for number, found in findings(context)}
    all_found = [found for _, found in known.values()]
    alone = only_by(all_found)
    elsewhere = held_out(all_found, [sample.id for sample in context.samples])
    return [
        OrderLine(
            step, known[step.relation][1], known[step.relation][0], alone[step.relation], kept
        )
        for step, kept in zip(best_first(all_found), elsewhere, strict=True)
    ]


def order_data(lines: Sequence[OrderLine]) -> list[dict[str, Any]]:
    """Return the lines as report.json holds them, with what each relation shares with the others.

    Of a relation: questions `scored` and newly `exposed` under it, those that it `alone` exposes;
    what it and all before it expose and take; `elsewhere`, a share of what is to be exposed in
    questions that the order was not chosen by; its cost, whole and for each newly exposed bias.
    """
    shared = shared_by_pair([line.found for line in lines])
    return [
        {
            "relation": (own := line.found.relation),
            "scored": len(line.found.scored),
            "exposed": len(line.found.exposed),
            "alone": line.alone,
            "new": line.step.new,
            "exposed_so_far": line.step.exposed,
            "calls_so_far": line.step.calls,
            "elsewhere": line.elsewhere,
            "cost": asdict(line.found.cost),
            "cost_each": {
                "calls": line.found.calls_each,
                "tokens": line.found.tokens_each,
                "usd": line.found.usd_each,
                "seconds": line.found.seconds_each,
            },
            "shared_with": {
                other: {"both": both.both, "of": both.of, "share": both.share}
                for (first, other), both in shared.items()
                if first == own != other
            },
        }
        for line in lines
    ]


def summary(lines: list[OrderLine]) -> str:
    """Return in a sentence how much the relations expose together, and how few suffice."""
    total = lines[-1].step.exposed if lines else 0
    if not total:
        return "No relation exposed a bias that the questions as they stand do not show."
    unbiased = len(frozenset[str]().union(*(line.found.scored for line in lines)))
    told = (
        f"{total:,} of {wording.counted(unbiased, 'question')} without bias as they stand "
        f"{'is' if total == 1 else 'are'} biased under at least one relation."
    )
    enough = next(n for n, line in enumerate(lines, start=1) if line.step.exposed >= 0.8 * total)
    if enough == len(lines):
        return f"{told} Fewer than all relations would find less than 80 % of them."
    share = wording.number(lines[enough - 1].step.exposed / total, "rate")
    first = "The first finds" if enough == 1 else f"The first {enough} find"
    return f"{told} {first} {share} of them."


def shade(shared: Shared) -> str:
    """Return the class of a cell, darker where more is shared: "shade-0" to "shade-4"."""
    return "" if shared.share is None else f"shade-{min(SHADES - 1, int(shared.share * SHADES))}"


def cost_text(found: Findings) -> str:
    """Return what one newly exposed bias took: "6.4 calls, 812 tokens, $0.0021, 3.4 s"."""
    if found.calls_each is None:
        return f"none found in {wording.counted(found.cost.calls, 'call')}"
    parts = [f"{found.calls_each:,.1f} calls"]
    if found.tokens_each is not None:
        parts.append(f"{found.tokens_each:,.0f} tokens")
    if found.usd_each:
        parts.append(f"${found.usd_each:.4f}")
    if found.seconds_each is not None:
        parts.append(f"{found.seconds_each:,.1f} s")
    return ", ".join(parts)
