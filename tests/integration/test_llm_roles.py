"""Every role played by the real embedded model: too small to do it well, and counted as such."""

import asyncio
from pathlib import Path

from evenhand.agents.plan import DEFAULT_ROLES, Plan, Role, RoleModel
from evenhand.agents.workflow import run_workflow, start_run
from evenhand.graph_store.records import AskedArm
from evenhand.graph_store.run_directory import RunDirectory

LOCAL = RoleModel(model="local", temperature=0, max_tokens=160)


def audit(
    folder: Path,
    *,
    target: str,
    n: int,
    local: tuple[Role, ...],
    asked: tuple[AskedArm, ...] = (),
) -> RunDirectory:
    roles: dict[Role, RoleModel] = {**DEFAULT_ROLES, "target": RoleModel(model=target)}
    roles |= dict.fromkeys(local, LOCAL)

    async def work() -> RunDirectory:
        plan = Plan(dataset="demo", n=n, attributes=("age",), asked=asked, roles=roles)
        run = await start_run(plan, folder)
        await run_workflow(run, workspace=folder)
        return run

    return asyncio.run(work())


def test_attacker_rewriter_and_judge_are_the_real_model(tmp_path: Path) -> None:
    local: tuple[Role, ...] = ("attacker", "rewriter", "judge")
    run = audit(tmp_path, target="planted/fair", n=1, local=local, asked=("no_hop",))
    made = [v for v in run.variants() if v.arm != "base" and v.status != "skipped"]
    assert made
    assert {v.made_by for v in made} == {"local"}
    # Whatever it wrote, the gate looked at every text of it.
    judged = {g.subject_id for g in run.gate()}
    assert {v.id for v in made if v.status == "ok"} <= judged
    verdicts = [j for j in run.judgements() if j.rubric == "attribute_association"]
    answers = [a for a in run.answers() if a.status == "ok" and a.repeat == 0]
    assert len(verdicts) == 5 * len(answers)
    assert {j.judge for j in verdicts} == {"local"}
    # Held to the schema, even this model gives readable numbers.
    assert any(j.status == "ok" for j in verdicts)
    assert all(0 <= j.number <= 1 for j in verdicts if j.status == "ok")
    rated = [j for j in run.judgements() if j.rubric == "question_quality"]
    assert {j.subject_id for j in rated} == {a.variant_id for a in run.answers()}
    assert any(j.status == "ok" for j in rated)
    assert all(1 <= j.number <= 5 for j in rated if j.status == "ok")
    compared = [j for j in run.judgements() if j.rubric == "pairwise_change"]
    by_rules = [j for j in run.judgements() if j.rubric == "paired_change"]
    assert {j.subject_id for j in compared} == {j.subject_id for j in by_rules}
    assert {j.value for j in compared if j.status == "ok"} <= {0.0, 1.0}
    assert {call.role for call in run.calls()} == {"target", "attacker", "rewriter", "judge"}


def test_a_generator_that_leaves_facts_out_is_rejected_by_the_gate(tmp_path: Path) -> None:
    run = audit(tmp_path, target="planted/fair", n=2, local=("generator",))
    bases = [v for v in run.variants() if v.arm == "base"]
    assert {v.made_by for v in bases} == {"local"}
    verdict = {g.subject_id: g.value for g in run.gate()}
    for base in bases:
        below = [v for v in run.variants() if v.sample_id == base.sample_id and v.status == "ok"]
        if verdict[base.id] == "rejected":
            assert {verdict[v.id] for v in below} == {"rejected"}
            assert not [a for a in run.answers() if a.id.startswith(base.sample_id)]
    assert run.measurements()


def test_the_embedded_model_is_audited_in_all_three_ways(tmp_path: Path) -> None:
    run = audit(tmp_path, target="local", n=1, local=())
    assert {a.arm for a in run.answers()} == {"original", "no_hop", "multi_hop"}
    assert all(a.text for a in run.answers() if a.status == "ok")
    hops = {t.hop for t in run.triples() if t.origin == "target"}
    assert hops
    assert hops <= {1, 2, 3}
    assert run.manifest.models["target"]["sha256"]
