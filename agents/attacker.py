"""Attacker: chooses new values for the patient's attributes and puts them into `base`.

Arms are isolated: one attribute at a time and the declared intersections, everything else byte for
byte as in `base`. A sample draws each attribute's value once, so the arm of an intersection holds
the same values as the arms of its single attributes (which the interaction contrast needs).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.agents import rewriter
from evenhand.agents.asking import Counts, ask, by_status, triples_by_source, usable
from evenhand.agents.generator import maker_hash
from evenhand.agents.prompt import Messages, fill_messages, read_prompt
from evenhand.agents.state import AuditContext
from evenhand.graph_store.records import Change, Sample, Variant, child_id
from evenhand.tools.attributes import NoValue, attributes
from evenhand.tools.calls import call_seed

PROMPT = "attacker.isolate.en"


@dataclass(frozen=True)
class Attack:
    """What is to be changed in one base text; `reason` says why nothing can be."""

    id: str
    base: Variant
    group: tuple[str, ...]
    changes: tuple[Change, ...]
    reason: str | None = None


def plan_attacks(context: AuditContext, sample: Sample, base: Variant) -> list[Attack]:
    """Return an attack for each attribute and intersection of the plan, with its values drawn."""
    plan = context.plan
    drawn = {name: _draw(sample, base, name, plan.seed) for name in _named_attributes(context)}
    groups = [(name,) for name in plan.attributes] + list(plan.intersections)
    return [_attack(context, base, i, group, drawn) for i, group in enumerate(groups, start=1)]


def _named_attributes(context: AuditContext) -> list[str]:
    together = [name for group in context.plan.intersections for name in group]
    return list(dict.fromkeys([*context.plan.attributes, *together]))


def _draw(sample: Sample, base: Variant, name: str, seed: int) -> Change | str:
    attribute = attributes.get(name)
    before = attribute.value(base.text)
    if before is None:
        return f"not_stated:{name}"
    rng = np.random.default_rng(call_seed(seed, f"{base.sample_id}/{name}", 0))
    try:
        # The source may say more than the base ("heavy periods"): both limit who is possible.
        whole = f"{base.text}\n{sample.text}"
        return Change(attribute=name, before=before, after=attribute.draw(whole, rng))
    except NoValue as error:
        return f"no_value:{name}: {error}"


def _attack(
    context: AuditContext,
    base: Variant,
    position: int,
    group: tuple[str, ...],
    drawn: dict[str, Change | str],
) -> Attack:
    maker = context.plan.roles["attacker"].model
    changes = tuple(c for name in group if isinstance(c := drawn[name], Change))
    reasons = [r for name in group if isinstance(r := drawn[name], str)]
    asked = [f"{change.attribute}={change.after}" for change in changes]
    identity = child_id(
        base.sample_id, "v", position, base.id, *group, *asked, maker, maker_hash(maker, PROMPT)
    )
    return Attack(identity, base, group, changes, reasons[0] if reasons else None)


def skipped(context: AuditContext, attack: Attack) -> Variant:
    """Return the record of an attack that cannot be made: counted, never asked."""
    declared = tuple(Change(attribute=name, before=None, after="") for name in attack.group)
    return _variant(context, attack, "", status="skipped", changes=declared)


def variant_by_rules(context: AuditContext, attack: Attack) -> Variant:
    """Replace the values in the base text, attribute by attribute."""
    text = attack.base.text
    for change in attack.changes:
        text = attributes.get(change.attribute).replace(text, change.after)
    return variant_from_reply(context, attack, text)


def variant_messages(attack: Attack) -> Messages:
    """Return the prompt that asks a model for the same change."""
    wanted = "; ".join(f"{c.attribute} from {c.before} to {c.after}" for c in attack.changes)
    return fill_messages(read_prompt(PROMPT), {"changes": wanted, "text": attack.base.text})


def variant_from_reply(context: AuditContext, attack: Attack, text: str) -> Variant:
    """Take a text as the variant; the gate decides whether only the change was made."""
    text = text.strip()
    status = "error" if not text else "unchanged" if text == attack.base.text else "ok"
    return _variant(context, attack, text, status=status, changes=attack.changes)


def _variant(
    context: AuditContext,
    attack: Attack,
    text: str,
    *,
    status: str,
    changes: Sequence[Change],
) -> Variant:
    return Variant.model_validate(
        {
            "id": attack.id,
            "status": status,
            "reason": attack.reason or ("empty_reply" if status == "error" else None),
            "sample_id": attack.base.sample_id,
            "arm": "isolated",
            "changes": tuple(changes),
            "text": text,
            "made_by": context.plan.roles["attacker"].model,
        }
    )


async def perturb(context: AuditContext) -> Counts:
    """Attacker and Rewriter: isolated variants and the placebo; appends to variants.jsonl."""
    known = context.run.ids("variants")
    bases = [v for v in context.run.variants() if v.arm == "base" and v.status == "ok"]
    await _make_attacks(context, bases, known)
    if "placebo" in context.plan.controls:
        await _make_placebos(context, bases, known)
    return by_status(v for v in context.run.variants() if v.arm != "base")


async def _make_attacks(context: AuditContext, bases: list[Variant], known: set[str]) -> None:
    samples = {sample.id: sample for sample in usable(context)}
    attacks = [a for base in bases for a in plan_attacks(context, samples[base.sample_id], base)]
    attacks = [attack for attack in attacks if attack.id not in known]
    impossible = [skipped(context, attack) for attack in attacks if attack.reason]
    context.run.append("variants", impossible)
    possible = {attack.id: attack for attack in attacks if not attack.reason}
    if context.callers["attacker"] is None:
        made = [variant_by_rules(context, attack) for attack in possible.values()]
        context.run.append("variants", made)
        return
    asked = [(key, variant_messages(attack)) for key, attack in possible.items()]
    async for key, reply in ask(context, "attacker", asked):
        text = reply.text if reply.status == "ok" else ""
        variant = variant_from_reply(context, possible[key], text)
        context.run.append("variants", [variant])


async def _make_placebos(context: AuditContext, bases: list[Variant], known: set[str]) -> None:
    position = 1 + len(context.plan.attributes) + len(context.plan.intersections)
    by_id = {rewriter.placebo_id(context, base, position): base for base in bases}
    missing = {key: base for key, base in by_id.items() if key not in known}
    if context.callers["rewriter"] is None:
        triples = triples_by_source(context)
        made = [
            rewriter.placebo_by_rules(context, base, position, triples[base.sample_id])
            for base in missing.values()
        ]
        context.run.append("variants", made)
        return
    asked = [(key, rewriter.placebo_messages(base)) for key, base in missing.items()]
    async for key, reply in ask(context, "rewriter", asked):
        text = reply.text if reply.status == "ok" else ""
        variant = rewriter.placebo_from_reply(context, missing[key], position, text)
        context.run.append("variants", [variant])
