"""The driver: no secret in a checkpoint, a stopped run goes on, a failing stage is told."""

import asyncio
from pathlib import Path

import pytest

from evenhand.agents import workflow
from evenhand.agents.asking import Counts
from evenhand.agents.plan import DEFAULT_ROLES, Plan, RoleModel
from evenhand.agents.recipe import load_recipe
from evenhand.agents.state import AuditContext
from evenhand.graph_store.errors import RunStopped, UserError
from evenhand.graph_store.run_directory import RunDirectory

PLAN = Plan(n=2, roles={**DEFAULT_ROLES, "target": RoleModel(model="planted/fair")})


def start(folder: Path, plan: Plan = PLAN) -> RunDirectory:
    return asyncio.run(workflow.start_run(plan, folder))


def work(run: RunDirectory) -> None:
    asyncio.run(workflow.run_workflow(run, workspace=run.path.parent))


def test_a_run_goes_through_all_stages_and_is_done(tmp_path: Path) -> None:
    run = start(tmp_path)
    work(run)
    kinds = [event.kind for event in run.events()]
    assert kinds[-1] == "done"
    stages = [event.stage for event in run.events() if event.kind == "stage"]
    assert stages == list(load_recipe("kg").stages)
    assert (run.path / "report.html").stat().st_size > 10_000
    assert run.manifest.models["target"]["provider"] == "planted"
    assert run.manifest.prompt_hashes.keys() == {"target.direct.en", "target.multi_hop.en"}


def test_working_again_on_a_finished_run_changes_nothing(tmp_path: Path) -> None:
    run = start(tmp_path)
    work(run)
    before = {path.name: path.read_bytes() for path in run.path.glob("*s.jsonl")}
    work(run)
    after = {path.name: path.read_bytes() for path in run.path.glob("*s.jsonl")}
    before.pop("events.jsonl")
    after.pop("events.jsonl")
    assert after == before


def test_no_secret_of_an_exception_reaches_the_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "sk-planted-0123456789abcdef"  # noqa: S105
    monkeypatch.setenv("SOME_API_KEY", secret)

    async def fail(context: AuditContext) -> Counts:
        raise OSError(f"refused with key {secret}")

    monkeypatch.setitem(workflow.STAGE_FUNCTIONS, "extract", (fail, ()))
    run = start(tmp_path)
    with pytest.raises(OSError, match="redacted"):
        work(run)
    for path in run.path.rglob("*"):
        if path.is_file():
            assert secret.encode() not in path.read_bytes(), path.name
    assert [event.kind for event in run.events()][-1] == "error"


def test_a_stage_that_failed_is_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(context: AuditContext) -> Counts:
        raise OSError("disk full")

    run = start(tmp_path)
    with monkeypatch.context() as patched:
        patched.setitem(workflow.STAGE_FUNCTIONS, "judge", (fail, ()))
        with pytest.raises(OSError, match="disk full"):
            work(run)
    answers = [answer.id for answer in run.answers()]
    work(run)
    assert [answer.id for answer in run.answers()] == answers
    assert run.measurements()


def test_a_wish_to_stop_is_obeyed_and_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start(tmp_path)

    async def wish(context: AuditContext) -> Counts:
        (context.run.path / "stop").touch()
        return {}

    with monkeypatch.context() as patched:
        patched.setitem(workflow.STAGE_FUNCTIONS, "verbalise", (wish, ()))
        with pytest.raises(RunStopped, match="resume"):
            work(run)
    assert not run.answers()


def test_a_cap_on_calls_stops_before_it_is_exceeded(tmp_path: Path) -> None:
    run = start(tmp_path, PLAN.model_copy(update={"max_calls": 5}))
    with pytest.raises(RunStopped, match="5 calls"):
        work(run)
    assert len(run.answers()) == 5


def test_other_weights_than_the_run_began_with_are_refused(tmp_path: Path) -> None:
    run = start(tmp_path)
    changed = run.manifest.model_copy(update={"models": {"target": {"provider": "another"}}})
    run.write_manifest(changed)
    with pytest.raises(UserError, match="begun with"):
        work(run)


def test_other_prompts_than_the_run_began_with_are_refused(tmp_path: Path) -> None:
    run = start(tmp_path)
    hashes = {**run.manifest.prompt_hashes, "target.direct.en": "0" * 12}
    run.write_manifest(run.manifest.model_copy(update={"prompt_hashes": hashes}))
    with pytest.raises(UserError, match=r"target\.direct\.en"):
        work(run)


GONE = RoleModel(model="openai/x", base_url="http://127.0.0.1:9/v1")


@pytest.mark.parametrize(
    "change", [{"dataset": "nothing"}, {"roles": {**DEFAULT_ROLES, "target": GONE}}]
)
def test_nothing_is_written_when_a_plan_is_wrong(tmp_path: Path, change: dict[str, object]) -> None:
    with pytest.raises(UserError):
        start(tmp_path / "runs", PLAN.model_copy(update=change))
    assert not (tmp_path / "runs").exists()


def test_a_damaged_graph_is_a_warning_and_the_run_ends_well(tmp_path: Path) -> None:
    (tmp_path / "graph.sqlite").write_bytes(b"not a database" * 100)
    run = start(tmp_path)
    work(run)
    assert run.measurements()
    assert any("graph" in (e.message or "") for e in run.events() if e.kind == "warning")
