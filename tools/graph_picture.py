"""A sample with one changed fact, read from a graph and drawn."""

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.rows import ChangedAnswer, JudgementRow, TripleRow
from evenhand.graph_store.store import GraphStore
from evenhand.tools.attributes import attributes
from evenhand.tools.plots.graph import ChangedGraph, Edge, Side, changed_graph
from evenhand.tools.wording import short_arm

PAIRED_CHANGE = "paired_change"


def draw_change(
    store: GraphStore,
    sample_id: str,
    *,
    run: str,
    attribute: str | None = None,
    arm: str = "multi_hop",
) -> str:
    """Draw a sample's facts, one changed attribute, and what both answers infer from them.

    Args:
        store: The graph.
        sample_id: The sample.
        run: The run.
        attribute: The changed attribute; None: the first with which the answer changed, else the
            first that was changed.
        arm: The way of asking; triples are stated in multi_hop answers alone.

    Returns:
        SVG text.

    Raises:
        UserError: No such sample, or no answer to a variant that changes this attribute alone.
    """
    found = store.lineage(sample_id, run)
    if found is None or found.sample is None:
        raise UserError(f"No sample {sample_id!r} in run {run}; expected the whole id of one.")
    name, row = _changed(store, sample_id, run, attribute, arm)
    verdict = _paired(row)
    # A first answer always has the base's beside it; without a verdict there is nothing to show.
    against = (verdict.against_id if verdict else None) or ""
    predicate = attributes.get(name).predicate
    facts = [triple for triple in found.triples if triple.predicate != predicate]
    before = row.before or "(not stated)"
    return changed_graph(
        ChangedGraph(
            title=f"{found.sample.name}: only the patient's {name} was changed",
            facts=tuple(map(_edge, facts)),
            changed=predicate,
            base=Side(before, "as stated", _edges(store, against, run)),
            variant=Side(row.after, "changed", _edges(store, row.answer_id or "", run)),
            verdict=_said(verdict, arm),
            moved=verdict is not None and verdict.value == 1,
        )
    )


def _changed(
    store: GraphStore, sample_id: str, run: str, attribute: str | None, arm: str
) -> tuple[str, ChangedAnswer]:
    names = [attributes.get(attribute).name] if attribute else attributes.names()
    rows = [
        (name, row)
        for name in names
        for row in store.variants_changing_only(sample_id, name, run=run)
        if row.arm == arm and row.repeat == 0
    ]
    if not rows:
        wanted = attribute or "one attribute"
        raise UserError(
            f"Sample {sample_id} has no {arm} answer to a variant that changes {wanted} alone in "
            f"run {run}; expected an attribute and a way of asking that the run asked."
        )
    moved = [(name, row) for name, row in rows if (v := _paired(row)) and v.value == 1]
    return (moved or rows)[0]


def _paired(row: ChangedAnswer) -> JudgementRow | None:
    paired = (verdict for verdict in row.verdicts if verdict.rubric == PAIRED_CHANGE)
    return next((verdict for verdict in paired if verdict.dimension in (None, "any")), None)


def _said(verdict: JudgementRow | None, arm: str) -> str:
    way = short_arm(arm)
    if verdict is None:
        return f"Not judged ({way})."
    if verdict.value is None:
        return f"Not comparable ({way}): {verdict.reason or verdict.reason_code or verdict.status}."
    if verdict.value == 1:
        reason = (verdict.reason or "").replace(" -> ", " \N{RIGHTWARDS ARROW} ")
        return f"The answer changed ({way}): {reason}"
    return f"The answer stayed the same ({way})."


def _edges(store: GraphStore, answer_id: str, run: str) -> tuple[Edge, ...]:
    return tuple(map(_edge, store.triples_of(answer_id, run=run))) if answer_id else ()


def _edge(triple: TripleRow) -> Edge:
    return Edge(triple.id, triple.subject, triple.predicate, triple.object, triple.hop)
