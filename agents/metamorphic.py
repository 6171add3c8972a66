"""Metamorphic recipe: a question as it stands and under each relation, and what most askings say.

A relation is a name ("mr1"), or two joined by "+", applied one after the other. Relations whose
names begin with "earlier/" are recorded: their questions are read from the data set's own file.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from evenhand.agents import judge
from evenhand.agents.asking import Counts, by_status, usable
from evenhand.agents.plan import Plan
from evenhand.agents.relation_gate import RECORDED
from evenhand.agents.rubrics import rubrics
from evenhand.agents.rubrics.bias_verdict import VERDICT, bias_verdict
from evenhand.agents.state import AuditContext
from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import (
    Answer,
    Change,
    Judgement,
    Sample,
    Scalar,
    Variant,
    child_id,
)
from evenhand.tools.bias_questions.context import with_unrelated_sentence
from evenhand.tools.bias_questions.parts import BiasQuestion, make_question, sample_question
from evenhand.tools.bias_verdict import UNBIASED
from evenhand.tools.datasets.metamorphic_replay import earlier_questions
from evenhand.tools.pairing import AGAIN, MAJORITY, PLACEBO
from evenhand.tools.recorded_answers import EARLIER, read_recorded_answers
from evenhand.tools.relations import apply_relations
from evenhand.tools.verdicts import Verdict, majority, unparsable

REPLAY = "metamorphic_replay"


def recorded_relations(path: Path) -> tuple[str, ...]:
    """Return the names of the relations in a file of recorded answers, in its order.

    Raises:
        UserError: The file is faulty.
    """
    named = (answer.relation for answer in read_recorded_answers(path))
    return tuple(dict.fromkeys(name for name in named if name is not None))


def planned_relations(plan: Plan, usual: Sequence[str]) -> tuple[str, ...]:
    """Return the relations of a plan, each checked and once.

    Args:
        plan: May name none; then they are those of its file of recorded answers, else the usual.
        usual: Of the recipe.

    Raises:
        UserError: An unknown relation, or two that do not go together.
    """
    recorded: tuple[str, ...] = ()
    if plan.dataset == REPLAY and plan.path and Path(plan.path).is_file():
        recorded = recorded_relations(Path(plan.path))
    chosen = tuple(dict.fromkeys(plan.relations or recorded or tuple(usual)))
    example = make_question("gender", "men", "women", "are honest", "choice")
    for name in chosen:
        if not name.startswith(EARLIER):
            apply_relations(example, name.split("+"), plan.seed)
        elif name not in recorded:
            known = ", ".join(recorded) or "none, as the data set has no recorded questions"
            raise UserError(f"Relation {name!r} is not recorded; expected one of: {known}.")
    return chosen


def check_questions(plan: Plan, samples: Sequence[Sample]) -> None:
    """Check that the relations of a checked plan can be applied to its samples at all.

    Raises:
        UserError: No sample compares two groups.
    """
    if all(name.startswith(EARLIER) for name in plan.relations):
        return
    if not any({"group_2", "template"} <= sample.attributes.keys() for sample in samples):
        sample_question(samples[0])


async def perturb(context: AuditContext) -> Counts:
    """Write each question down as it stands, and under each relation; appends to variants.jsonl.

    A relation that does not apply (the question is about one group) is skipped and counted.
    """
    samples = usable(context)
    recorded: Mapping[str, dict[str, str]] = {}
    if context.plan.dataset == REPLAY and context.plan.path:
        recorded = earlier_questions(Path(context.plan.path), samples)
    known = context.run.ids("variants")
    for sample in samples:
        made = [_base(sample)]
        for position, name in enumerate(context.plan.relations, start=1):
            made.append(_variant(context, sample, position, name, recorded.get(sample.id, {})))
        if context.plan.has_control(PLACEBO):
            made.append(_placebo(context, sample, len(made)))
        context.run.append("variants", [one for one in made if one.id not in known])
    return by_status(v for v in context.run.variants() if v.arm != "base")


def _base(sample: Sample) -> Variant:
    identity = child_id(sample.id, "v", 0, "base", sample.text)
    return Variant(
        id=identity, sample_id=sample.id, arm="base", text=sample.text, made_by=sample.dataset
    )


def _placebo(context: AuditContext, sample: Sample, position: int) -> Variant:
    """Return the question behind an unrelated sentence: what a change of no matter does to it."""
    text, columns, reason = _made(
        sample, lambda asked: with_unrelated_sentence(asked, context.plan.seed)
    )
    return Variant(
        id=child_id(sample.id, "v", position, PLACEBO, str(context.plan.seed), text),
        status="skipped" if reason else "ok",
        sample_id=sample.id,
        arm="placebo",
        text=text,
        columns=columns,
        made_by="rules",
        reason=reason,
    )


def _made(
    sample: Sample, change: Callable[[BiasQuestion], BiasQuestion]
) -> tuple[str, dict[str, Scalar], str | None]:
    """Return text and parts of a sample's question, changed; or why it cannot be."""
    try:
        changed = change(sample_question(sample))
    except UserError as error:
        return "", {}, f"does_not_apply: {error}"
    parts: dict[str, Scalar] = {
        "group_1": changed.group_1,
        "group_2": changed.group_2,
        "form": changed.form,
    }
    return changed.text, parts, None


def _variant(
    context: AuditContext, sample: Sample, position: int, name: str, recorded: Mapping[str, str]
) -> Variant:
    names = (name,) if name.startswith(EARLIER) else tuple(name.split("+"))
    columns: dict[str, Scalar] = {}
    if name.startswith(EARLIER):
        text = recorded.get(name, "")
        reason = None if text else "not_recorded"
    else:
        seed = context.plan.seed
        text, columns, reason = _made(sample, lambda asked: apply_relations(asked, names, seed))
    return Variant(
        id=child_id(sample.id, "v", position, "relation", name, str(context.plan.seed), text),
        status="skipped" if reason else "ok",
        sample_id=sample.id,
        arm="relation",
        changes=tuple(Change(attribute="relation", before=None, after=one) for one in names),
        text=text,
        columns=columns,
        made_by=RECORDED if name.startswith(EARLIER) else "rules",
        reason=reason,
    )


async def judge_answers(context: AuditContext) -> Counts:
    """Judge each asking, then say of each question what most of its askings say.

    The verdict of a question is a judgement of rubric "bias_majority" on the variant: 1 unbiased, 0
    biased, or a status; a tie is a tie, and an asking that did not score has a vote, too.
    """
    # Rubrics of questions were applied at the gate.
    named = [n for n in judge.rubric_names(context.plan) if rubrics.get(n).subject == "answer"]
    await judge.judge_answers(context, named)
    known = context.run.ids("judgements")
    made = majorities(
        context.run.answers(),
        context.run.judgements(),
        context.plan.roles["judge"].model,
        votes=context.plan.votes or 1,
    )
    context.run.append("judgements", [one for one in made if one.id not in known])
    return by_status(made)


def majorities(
    answers: Sequence[Answer], judgements: Sequence[Judgement], by: str, *, votes: int
) -> list[Judgement]:
    """Return a verdict for each variant that was asked, and one for its repeat if it has one.

    Args:
        answers: All, those that could not be scored included.
        judgements: On the answers.
        by: The judge whose verdicts count.
        votes: Askings of a verdict: the first so many are the question, the next its repeat.
    """
    said = {
        one.subject_id: one
        for one in judgements
        if one.rubric == bias_verdict.__name__ and one.dimension == VERDICT and one.judge == by
    }
    ballots: defaultdict[tuple[str, int], list[Verdict]] = defaultdict(list)
    for answer in answers:
        vote = _vote(answer, said.get(answer.id))
        ballots[answer.variant_id, answer.repeat // votes].append(vote)
    return [_majority(*key, cast, by) for key, cast in ballots.items()]


def _vote(answer: Answer, said: Judgement | None) -> Verdict:
    if answer.status == "empty":
        return unparsable("empty")
    if answer.status != "ok":
        return Verdict(answer.status)
    if said is None:
        return unparsable("judgement_missing")
    return Verdict(said.status, said.value)


def _majority(variant_id: str, turn: int, votes: Sequence[Verdict], by: str) -> Judgement:
    verdict = majority(votes)
    unbiased = sum(one.value == UNBIASED for one in votes)
    return Judgement(
        id=child_id(variant_id, "j", turn, MAJORITY, by),
        status=verdict.status,
        subject_id=variant_id,
        rubric=MAJORITY,
        dimension=AGAIN if turn else UNBIASED,
        judge=by,
        value=float(verdict.value == UNBIASED) if verdict.status == "ok" else None,
        reason=f"{unbiased} of {len(votes)} askings unbiased",
        reason_code=verdict.reason_code,
    )
