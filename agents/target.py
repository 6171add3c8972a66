"""Target: the model under audit, asked in its ways, and again for noise or for a majority."""

from collections import Counter
from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import dataclass

from evenhand.agents.asking import Counts, caller_of, role_seed
from evenhand.agents.prompt import Messages, fill_messages, prompt_hash, read_prompt
from evenhand.agents.state import AuditContext
from evenhand.graph_store.records import Answer, AskedArm, Sample, Tokens, Variant, child_id
from evenhand.tools.calls import Reply, Request, call_seed
from evenhand.tools.hops import answer_triples
from evenhand.tools.verdicts import is_refusal

PROMPTS: dict[AskedArm, str] = {
    "original": "target.direct.en",
    "no_hop": "target.direct.en",
    "multi_hop": "target.multi_hop.en",
    "direct": "target.question.en",
}


@dataclass(frozen=True)
class Question:
    """One call to make: a variant (or, for `original`, the source's own wording), asked one way."""

    id: str
    variant: Variant
    arm: AskedArm
    repeat: int
    text: str

    def messages(self) -> Messages:
        """Return the prompt, filled."""
        return fill_messages(read_prompt(PROMPTS[self.arm]), {"question": self.text})


def questions(context: AuditContext, sample: Sample, variant: Variant) -> Iterator[Question]:
    """Yield what the target is asked about one variant, in a fixed order."""
    repeats = context.plan.repeats if context.plan.has_control("repeat") else 0
    generated: tuple[AskedArm, ...] = tuple(a for a in context.plan.asked if a != "original")
    again = generated * ((context.plan.votes or 1) - 1)
    asked = generated + again
    if variant.arm == "base":
        asked = context.plan.asked + again + generated * (repeats * (context.plan.votes or 1))
    for position, arm in enumerate(asked):
        repeat = asked[:position].count(arm)
        text = sample.text if arm == "original" else variant.text
        yield Question(
            id=_answer_id(context, variant, position, arm, repeat),
            variant=variant,
            arm=arm,
            repeat=repeat,
            text=text,
        )


def _answer_id(
    context: AuditContext, variant: Variant, position: int, arm: AskedArm, repeat: int
) -> str:
    role = context.plan.roles["target"]
    settings = f"{role.temperature:g} {role.max_tokens}"
    asked = (role.model, arm, str(repeat), prompt_hash(PROMPTS[arm]), settings)
    return child_id(variant.id, "a", position, *asked)


def to_answer(context: AuditContext, question: Question, reply: Reply) -> Answer:
    """Store a reply whole, with the status that decides whether it can be scored."""
    refused = reply.status == "ok" and is_refusal(reply.text)
    return Answer(
        id=question.id,
        status="refused" if refused else reply.status,
        variant_id=question.variant.id,
        arm=question.arm,
        model=context.plan.roles["target"].model,
        repeat=question.repeat,
        prompt_hash=prompt_hash(PROMPTS[question.arm]),
        text=reply.text,
        finish_reason=reply.finish_reason,
        tokens=Tokens(prompt=reply.prompt_tokens, completion=reply.completion_tokens),
        seconds=reply.seconds,
        cost_usd=reply.cost_usd,
        error=reply.error,
    )


async def answer(context: AuditContext) -> Counts:
    """Ask the target every variant that passed the gate, in every arm of the plan.

    Reads variants.jsonl and gate.jsonl; appends to answers.jsonl, a line a reply, and the hops of
    multi-hop answers to triples.jsonl. Resume: ids already there are not asked again.
    Failure: a call that fails for good is an Answer with status "error"; RunStopped at a cap.
    """
    known = context.run.ids("answers")
    todo = {q.id: q for q in all_questions(context)}
    missing = [q for q in todo.values() if q.id not in known]
    # All of one way of asking together: the server then reuses the prefix they share.
    missing.sort(key=lambda question: context.plan.asked.index(question.arm))
    counts: Counter[str] = Counter(a.status for a in context.run.answers())
    role = context.plan.roles["target"]
    requests = (
        Request(
            id=q.id,
            messages=q.messages(),
            temperature=role.temperature,
            max_tokens=role.max_tokens,
            seed=call_seed(role_seed(context, "target"), q.id, q.repeat),
            repeat=q.repeat,
        )
        for q in missing
    )
    replies = caller_of(context, "target").ask_all(requests, stop=context.stop_wished)
    # aclosing: what is in flight when this ends early is awaited and recorded, not lost.
    async with aclosing(replies):
        async for request, reply in replies:
            record = to_answer(context, todo[request.id], reply)
            context.run.append("answers", [record])
            counts[record.status] += 1
            context.run.report_progress("answer", counts.total(), len(todo), **counts)
    _append_hops(context)
    return dict(counts)


def all_questions(context: AuditContext) -> Iterator[Question]:
    """Yield what the target is asked about every variant that passed the gate."""
    samples = {sample.id: sample for sample in context.run.samples()}
    accepted = {g.subject_id for g in context.run.gate() if g.value == "accepted"}
    for variant in context.run.variants():
        if variant.id in accepted:
            yield from questions(context, samples[variant.sample_id], variant)


def _append_hops(context: AuditContext) -> None:
    known = context.run.ids("triples")
    hops = [
        triple
        for record in context.run.answers()
        if record.arm == "multi_hop" and record.text
        for triple in answer_triples(record)
    ]
    context.run.append("triples", [triple for triple in hops if triple.id not in known])
