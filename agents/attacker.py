"""Attacker: chooses new values for the patient's attributes and puts them into `base`.

Arms are isolated: one attribute at a time and the declared intersections, everything else byte for
byte as in `base`. A sample draws each attribute's values once; an intersection takes the first of
each, so that it shares them with the arms of its single attributes (which the interaction contrast
needs). What the source lacks is put in only where the plan says so, in an arm of its own.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evenhand.agents import rewriter
from evenhand.agents.asking import Counts, ask, by_status, triples_by_source, usable
from evenhand.agents.generator import maker_hash
from evenhand.agents.plan import Plan
from evenhand.agents.prompt import Messages, fill_messages, read_prompt
from evenhand.agents.state import AuditContext
from evenhand.graph_store.records import Change, Sample, ShownArm, Variant, child_id
from evenhand.tools.attributes import NoValue, attributes, draw_values
from evenhand.tools.calls import call_seed

PROMPT = "attacker.isolate.en"
_WRAPPED = re.compile(r"\s*(?:<text>\s*)?(.*?)\s*(?:</text>)?\s*", re.DOTALL)


@dataclass(frozen=True)
class Drawn:
    """The new values of one attribute for one sample; `reason` says why there are none."""

    how: Literal["swapped", "added", "not_stated"]
    """Swapped where the base text states the attribute, else added if the plan says so."""
    changes: tuple[Change, ...] = ()
    reason: str | None = None


@dataclass(frozen=True)
class Attack:
    """What is to be changed in one base text; `reason` says why nothing can be."""

    id: str
    base: Variant
    arm: ShownArm
    group: tuple[str, ...]
    changes: tuple[Change, ...]
    reason: str | None = None


def planned_variants(plan: Plan) -> int:
    """Return how many variants a sample gets at most, besides `base` and the placebo."""
    return sum(map(plan.draws_of, plan.groups))


def plan_attacks(context: AuditContext, sample: Sample, base: Variant) -> list[Attack]:
    """Return the attacks on a base text, with their values drawn.

    One for each value of an attribute, and one for each intersection. Where the base lacks an
    attribute of a group, the swap is an attack with reason "not_stated:..."; it is put in by an
    attack of arm "added", if it is one of `plan.added`.
    """
    drawn = draw_changes(context.plan, sample, base)
    made = [one for group in context.plan.groups for one in _of_group(group, drawn)]
    return [_attack(context, base, place, *one) for place, one in enumerate(made, start=1)]


def draw_changes(plan: Plan, sample: Sample, base: Variant) -> dict[str, Drawn]:
    """Draw the new values of each attribute of the plan, by name.

    A value must fit the source, and each patient that the attributes drawn before it make of the
    base: an intersection of possible changes is a possible patient, too.
    """
    drawn: dict[str, Drawn] = {}
    # The source may say more than the base ("heavy periods"): both limit who is possible.
    texts = [base.text, sample.text]
    for name in dict.fromkeys(name for group in plan.groups for name in group):
        drawn[name] = _draw(plan, base, name, texts)
        texts += [_changed(base.text, change) for change in drawn[name].changes]
    return drawn


def _draw(plan: Plan, base: Variant, name: str, texts: Sequence[str]) -> Drawn:
    attribute = attributes.get(name)
    before = attribute.value(base.text)
    if before is None and not plan.adds(name):
        return Drawn("not_stated", reason=f"not_stated:{name}")
    how: Literal["swapped", "added"] = "added" if before is None else "swapped"
    rng = np.random.default_rng(call_seed(plan.seed, f"{base.sample_id}/{name}", 0))
    try:
        values = draw_values(attribute, "\n".join(texts), rng, plan.draws_of((name,)))
        changes = tuple(Change(attribute=name, before=before, after=value) for value in values)
        _changed(base.text, changes[0])
    except NoValue as error:
        return Drawn(how, reason=f"no_value:{name}: {error}")
    return Drawn(how, changes)


_Made = tuple[ShownArm, tuple[str, ...], tuple[Change, ...], str | None]
"""Arm, group, changes, and why there are none."""


def _of_group(group: tuple[str, ...], drawn: dict[str, Drawn]) -> Iterator[_Made]:
    parts = [drawn[name] for name in group]
    lacking = [name for name in group if drawn[name].how != "swapped"]
    if lacking:
        yield "isolated", group, (), f"not_stated:{lacking[0]}"
    if lacking and all(drawn[name].how == "not_stated" for name in lacking):
        return
    arm: ShownArm = "added" if lacking else "isolated"
    reason = next((part.reason for part in parts if part.reason), None)
    if reason:
        yield arm, group, (), reason
    elif len(group) == 1:
        for change in parts[0].changes:
            yield arm, group, (change,), None
    else:
        yield arm, group, tuple(part.changes[0] for part in parts), None


def _attack(
    context: AuditContext,
    base: Variant,
    position: int,
    arm: ShownArm,
    group: tuple[str, ...],
    changes: tuple[Change, ...],
    reason: str | None,
) -> Attack:
    maker = context.plan.roles["attacker"].model
    asked = [f"{change.attribute}={change.after}" for change in changes]
    identity = child_id(
        base.sample_id,
        "v",
        position,
        *(base.id, arm, *group, *asked, maker, maker_hash(maker, PROMPT)),
    )
    return Attack(identity, base, arm, group, changes, reason)


def skipped(context: AuditContext, attack: Attack) -> Variant:
    """Return the record of an attack that cannot be made: counted, never asked."""
    declared = tuple(Change(attribute=name, before=None, after="") for name in attack.group)
    return _variant(context, attack, "", status="skipped", changes=declared)


def variant_by_rules(context: AuditContext, attack: Attack) -> Variant:
    """Change the values in the base text, attribute by attribute."""
    text = attack.base.text
    for change in attack.changes:
        text = _changed(text, change)
    return variant_from_reply(context, attack, text)


def _changed(text: str, change: Change) -> str:
    attribute = attributes.get(change.attribute)
    if change.before is None:
        return attribute.insert(text, change.after)
    return attribute.replace(text, change.after)


def variant_messages(attack: Attack) -> Messages:
    """Return the prompt that asks a model for the same change."""
    wanted = "; ".join(map(_order, attack.changes))
    return fill_messages(read_prompt(PROMPT), {"changes": wanted, "text": attack.base.text})


def _order(change: Change) -> str:
    """Return "age from 28 to 61", or what to put in and where."""
    if change.before is not None:
        return f"{change.attribute} from {change.before} to {change.after}"
    words = attributes.get(change.attribute).words(change.after)
    kind = "the sentence" if words.endswith(".") else 'before "patient"'
    return f"put in {change.attribute}, {kind}: {words}"


def variant_from_reply(context: AuditContext, attack: Attack, text: str) -> Variant:
    """Take a text as the variant; the gate decides whether only the change was made."""
    unwrapped = _WRAPPED.fullmatch(text)
    text = unwrapped[1] if unwrapped else text.strip()
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
            "arm": attack.arm,
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
    if context.plan.has_control("placebo"):
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
    position = 1 + planned_variants(context.plan)
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
