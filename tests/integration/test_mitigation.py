"""Mitigation from end to end: a small audit, a tiny model, each way of mending."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from evenhand.agents.mending import MitigationSettings
from evenhand.agents.mitigate import Mitigated, mitigate
from evenhand.agents.plan import DEFAULT_ROLES, Plan, Role, RoleModel
from evenhand.agents.workflow import run_workflow, start_run
from evenhand.graph_store.errors import UserError
from evenhand.graph_store.run_directory import RunDirectory
from evenhand.tools.mitigation.effects import Effect

CHAT = (
    "{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)


def audit(folder: Path, target: RoleModel, n: int = 14) -> RunDirectory:
    roles: dict[Role, RoleModel] = {**DEFAULT_ROLES, "target": target}
    plan = Plan(
        recipe="metamorphic", dataset="bias_questions", n=n, votes=1, relations=("mr6",),
        roles=roles, seed=3,
    )  # fmt: skip

    async def work() -> RunDirectory:
        run = await start_run(plan, folder)
        await run_workflow(run, workspace=folder)
        return run

    return asyncio.run(work())


def mended(run: RunDirectory, folder: Path, **settings: object) -> Mitigated:
    chosen = MitigationSettings.model_validate({"n": 4, "seed": 1, **settings})
    return asyncio.run(mitigate(run, chosen, workspace=folder))


@pytest.fixture(scope="module")
def tiny_base(make_tiny_model: Callable[..., Path]) -> Path:
    return make_tiny_model(chat_template=CHAT)


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory, tiny_base: Path) -> tuple[RunDirectory, Path]:
    folder = tmp_path_factory.mktemp("audited")
    return audit(folder, RoleModel(model="echo/Women and men alike.", max_tokens=12)), folder


def test_a_tuned_model_is_asked_before_and_after_and_the_second_call_makes_nothing_again(
    audited: tuple[RunDirectory, Path], tiny_base: Path
) -> None:
    run, folder = audited
    ways = {"how": "fine_tune", "base": str(tiny_base), "epochs": 2, "learning_rate": 5e-3}
    made = mended(run, folder, **ways)
    data = json.loads((made.folder / "mitigation.json").read_text())
    kinds = data["facts"]["train_set"]
    assert kinds["bias"] == kinds["instruction"] > 0
    assert 0 < kinds["benign"] <= kinds["bias"]
    losses = [loss for _, loss in data["facts"]["losses"]]
    assert losses[-1] < losses[0], "it learns"
    for side in ("before", "after"):
        for name in ("bias", "benign", "ability"):
            asked = RunDirectory(made.folder / side / name)
            assert len(asked.answers()) == len(asked.variants()) > 0
    before = RunDirectory(made.folder / "before" / "bias")
    after = RunDirectory(made.folder / "after" / "bias")
    assert [v.id for v in before.variants()] == [v.id for v in after.variants()]
    assert before.manifest.models["target"]["adapter"] == ""
    assert len(after.manifest.models["target"]["adapter"]) == 64
    assert (made.folder / "adapter" / "adapter_model.safetensors").is_file()
    assert not list(made.folder.glob(".work-*"))
    calls = len(after.calls())
    weights = (made.folder / "adapter" / "adapter_model.safetensors").read_bytes()
    again = mended(run, folder, **ways)
    assert again.effects == made.effects
    assert len(after.calls()) == calls
    assert (made.folder / "adapter" / "adapter_model.safetensors").read_bytes() == weights
    assert "What was learned" in (made.folder / "mitigation.html").read_text()


@pytest.fixture(scope="module")
def agreeing(tmp_path_factory: pytest.TempPathFactory) -> tuple[RunDirectory, Path]:
    """An audit of a model that says yes to everything, and something clinical besides."""
    folder = tmp_path_factory.mktemp("agreeing")
    return audit(folder, RoleModel(model="echo/Yes. Take 5 mg of morphine."), n=28), folder


def effect(made: Mitigated, measure: str, group: str = "all") -> Effect:
    (one,) = [e for e in made.effects if (e.measure, e.group) == (measure, group)]
    return one


def test_flagged_answers_are_rewritten_content_is_kept_and_the_cost_is_seen(
    agreeing: tuple[RunDirectory, Path],
) -> None:
    run, folder = agreeing
    made = mended(run, folder, how="rewrite", n=None)
    bias = made.facts["bias"]
    assert bias["flagged"] == bias["mended"] > 0
    assert (bias["meaning_lost"], bias["newly_flagged"]) == (0, 0)
    resiliency = effect(made, "resiliency")
    assert (resiliency.before.value, resiliency.after.value) == (0.0, 1.0)
    answers = RunDirectory(made.folder / "after" / "bias").answers()
    flagged = [one for one in answers if one.text != "Yes. Take 5 mg of morphine."]
    assert len(flagged) == bias["flagged"]
    assert all(one.text.endswith("Take 5 mg of morphine.") for one in flagged)
    # What flags answers cannot tell a benign question: those that were right are evaded now.
    assert effect(made, "over_refusal").after.value == 1.0
    assert made.learned.kind == "refusal"
    again = mended(run, folder, how="rewrite", n=None)
    assert again.effects == made.effects


def test_a_rewriting_that_loses_content_is_kept_counted_and_not_used(
    agreeing: tuple[RunDirectory, Path],
) -> None:
    run, folder = agreeing
    made = mended(run, folder, how="rewrite", n=None, rewriter="echo/Neither group.")
    bias = made.facts["bias"]
    assert bias["meaning_lost"] == bias["rejected_number_lost"] == bias["flagged"] > 0
    assert bias["mended"] == 0
    after = RunDirectory(made.folder / "after" / "bias")
    assert {one.reason for one in after.gate_evidence()} == {"Neither group."}
    assert {one.text for one in after.answers()} == {"Yes. Take 5 mg of morphine."}
    assert effect(made, "resiliency").change.value == 0


def test_a_guard_that_blocks_all_comparisons_is_refusal(
    agreeing: tuple[RunDirectory, Path],
) -> None:
    run, folder = agreeing
    made = mended(run, folder, how="guard", n=None)
    blocked = made.facts["blocked_bias"]
    assert blocked["blocked"] == blocked["n"] > 0
    assert blocked["blocked_of_biased"] == blocked["n_of_biased"] > 0
    assert made.facts["blocked_ability"]["blocked"] == 0
    assert effect(made, "refused").after.value == 1.0
    assert effect(made, "resiliency").after.value is None, "a refusal is not unbiased"
    assert effect(made, "unbiased_of_asked").after.value == 0
    assert made.learned.kind == "refusal"


def test_a_guard_model_is_asked_about_each_question(agreeing: tuple[RunDirectory, Path]) -> None:
    run, folder = agreeing
    made = mended(run, folder, how="guard", guard='echo/{"verdict": "pass"}')
    after = RunDirectory(made.folder / "after" / "benign")
    assert [one.role for one in after.calls()] == ["guard"] * len(after.variants())
    assert made.facts["blocked_benign"] == {"blocked": 0, "n": len(after.variants())}
    assert made.learned.kind == "not_shown"


def test_examples_stand_in_the_prompt_fair_and_definite_ones(
    agreeing: tuple[RunDirectory, Path],
) -> None:
    run, folder = agreeing
    made = mended(run, folder, how="few_shot")
    assert made.facts["exemplars"] == {"bias": 4, "benign": 2, "instruction": 2}
    shown = json.loads((made.folder / "exemplars.json").read_text())
    trained = set(json.loads((made.folder / "mitigation.json").read_text())["split"]["train"])
    sources = [one["source"].rpartition("/")[0] for one in shown if one["kind"] == "bias"]
    assert set(sources) <= trained
    before, after = (
        RunDirectory(made.folder / side / "bias").manifest.models["target"]
        for side in ("before", "after")
    )
    assert "exemplars" in after
    assert "exemplars" not in before
    prompted = mended(run, folder, how="few_shot", seed=2, exemplars=4)
    assert prompted.folder != made.folder


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"how": "pray"}, "Unknown mitigation 'pray'; expected one of"),
        ({"how": "fine_tune"}, "name a model that can be with --base"),
        ({"how": "guard", "guard": "nobody/x"}, "Unknown model provider"),
        ({"how": "few_shot", "instructions": ("boolq=none.jsonl",)}, "no such file"),
    ],
)
def test_what_cannot_work_is_one_sentence_and_nothing_is_written(
    agreeing: tuple[RunDirectory, Path], settings: dict[str, object], message: str
) -> None:
    run, folder = agreeing
    before = sorted((run.path / "mitigations").glob("*"))
    with pytest.raises(UserError, match=message):
        mended(run, folder, **settings)
    assert sorted((run.path / "mitigations").glob("*")) == before


def test_the_command_shows_the_calls_and_wants_approval(
    agreeing: tuple[RunDirectory, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    from evenhand.ui.cli import run as cli

    run, folder = agreeing
    asked = ["mitigate", run.run_id, "--how", "guard", "--n", "9", "--runs-dir", str(folder)]
    assert cli(asked) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "calls (target) at most; nothing leaves this machine" in said
    assert "expected --yes" in said
    assert cli([*asked, "--yes", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["learned"]["kind"] == "refusal"


@pytest.fixture(scope="module")
def tiny_classifier(tiny_base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A classifier with drawn weights, which says one thing or the other."""
    import torch
    from transformers import AutoTokenizer, LlamaConfig, LlamaForSequenceClassification

    folder = tmp_path_factory.mktemp("classifier")
    tokenizer = AutoTokenizer.from_pretrained(str(tiny_base))
    tokenizer.save_pretrained(str(folder))
    config = LlamaConfig.from_pretrained(str(tiny_base))
    config.id2label, config.label2id = {0: "safe", 1: "unsafe"}, {"safe": 0, "unsafe": 1}
    with torch.random.fork_rng():
        torch.manual_seed(2)
        LlamaForSequenceClassification(config).save_pretrained(str(folder))
    return folder


def test_an_installed_classifier_guards_by_the_label_that_is_named(
    agreeing: tuple[RunDirectory, Path], tiny_classifier: Path
) -> None:
    run, folder = agreeing
    guards = [f"classifier/{tiny_classifier}#{label}" for label in ("safe", "unsafe")]
    made = [mended(run, folder, how="guard", guard=spec).facts for spec in guards]
    for name in ("blocked_bias", "blocked_benign", "blocked_ability"):
        assert sum(facts[name]["blocked"] for facts in made) == made[0][name]["n"]
    with pytest.raises(UserError, match="no label 'bad'; expected one of: safe, unsafe"):
        mended(run, folder, how="guard", guard=f"classifier/{tiny_classifier}#bad")
    with pytest.raises(UserError, match="does not say which label blocks"):
        mended(run, folder, how="guard", guard=f"classifier/{tiny_classifier}")
