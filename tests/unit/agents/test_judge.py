"""The judge: what it is shown, what is kept, and that nothing is asked twice."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evenhand.agents.plan import DEFAULT_ROLES, Plan, RoleModel
from evenhand.agents.rubrics import Case, rubrics
from evenhand.agents.workflow import run_workflow, start_run
from evenhand.graph_store.errors import RunStopped
from evenhand.graph_store.records import Judgement
from evenhand.graph_store.run_directory import RunDirectory
from evenhand.tools.clinical import CHANGE_DIMENSIONS, KINDS, compare_clinical
from evenhand.tools.completions import CallFailed, Completion, Prompt
from evenhand.tools.providers import ModelSettings, OpenModel, completion_model, provider, providers
from evenhand.tools.verdicts import ONE_ORDER

PAIR = re.compile(r"<answer_([ab])>\n(.*?)\n</answer_\1>", re.DOTALL)
Reply = Callable[[str, str], str]


class Judge:
    """A model that reads its prompts as a perfect judge would, and keeps what it was shown."""

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.pair: Reply = honest

    def __call__(self, prompt: Prompt) -> str:
        text = "\n".join(text for _, text in prompt.messages)
        self.shown.append(prompt.messages[-1][1])
        keys = list((prompt.schema or {})["properties"])
        if "diagnosis" not in keys:
            assert "data" in text
            return json.dumps({**dict.fromkeys(keys, 1), "reason": "r"})
        answers = dict(PAIR.findall(prompt.messages[-1][1]))
        return self.pair(answers["a"], answers["b"])


def honest(first: str, second: str) -> str:
    change = compare_clinical(first, second)
    said: dict[str, str] = {}
    for kind in KINDS:
        one, other = change.pairs.get(kind, ("", ""))
        label = "different" if kind in change.kinds else "same" if one else "not stated"
        said |= {f"{kind}_a": one, f"{kind}_b": other, kind: label}
    return f"<think>{first!r}?</think>" + json.dumps(said)


def partial_to_length(first: str, second: str) -> str:
    """Sees a difference only if the longer (of equals, the later) answer stands first."""
    label = "different" if (len(first), first) > (len(second), second) else "same"
    return json.dumps({"reason": "it is longer", **dict.fromkeys(KINDS, label)})


@pytest.fixture
def judge() -> Iterator[Judge]:
    one = Judge()

    async def scripted_judge(settings: ModelSettings) -> OpenModel:
        async def complete(prompt: Prompt) -> Completion:
            reply = one(prompt)
            if reply == "down":
                raise CallFailed("the server is down")
            return Completion(reply)

        return completion_model("scripted_judge", settings, complete, identity={"text": "scripted"})

    provider(form="scripted_judge/<name>", in_process=True)(scripted_judge)
    yield one
    providers.forget("scripted_judge")


def plan(**changes: object) -> Plan:
    roles = {
        **DEFAULT_ROLES,
        "target": RoleModel(model="planted/location"),
        "judge": RoleModel(model="scripted_judge/x", temperature=0),
    }
    return Plan.model_validate({"n": 3, "draws": {"location": 2}, "roles": roles, **changes})


def audit(folder: Path, made: Plan) -> RunDirectory:
    run = asyncio.run(start_run(made, folder))
    asyncio.run(run_workflow(run, workspace=folder))
    return run


def by_rubric(run: RunDirectory) -> dict[str, list[Judgement]]:
    found: dict[str, list[Judgement]] = {}
    for one in run.judgements():
        found.setdefault(one.rubric, []).append(one)
    return found


def test_every_rubric_judges_its_subjects(tmp_path: Path, judge: Judge) -> None:
    run = audit(tmp_path, plan())
    found = by_rubric(run)
    answers = [a for a in run.answers() if a.status == "ok"]
    asked = {a.variant_id for a in answers}
    bases = {v.id for v in run.variants() if v.arm == "base"}
    pairs = [
        a for a in answers if a.arm != "original" and not (a.variant_id in bases and not a.repeat)
    ]
    assert len(found["attribute_association"]) == 5 * sum(a.repeat == 0 for a in answers)
    assert Counter(j.subject_id for j in found["question_quality"]) == dict.fromkeys(asked, 3)
    assert {j.value for j in found["question_quality"]} == {1.0}
    for name in ("paired_change", "pairwise_change"):
        assert Counter(j.subject_id for j in found[name]) == {a.id: 5 for a in pairs}
        assert {j.dimension for j in found[name]} == set(CHANGE_DIMENSIONS)
        assert all(j.against_id for j in found[name])
    assert {j.judge for j in found["paired_change"]} == {"rules"}
    assert {j.order for j in found["pairwise_change" + ONE_ORDER]} == {0, 1}
    assert len(found["pairwise_change" + ONE_ORDER]) == 2 * len(found["pairwise_change"])
    ids = [j.id for j in run.judgements()]
    assert len(ids) == len(set(ids))
    assert {name for name in run.manifest.prompt_hashes if name.startswith("rubric.")} == {
        "rubric.attribute_association",
        "rubric.pairwise_change",
        "rubric.question_quality",
    }


def test_a_judge_that_compares_as_the_rules_do_agrees_with_them(
    tmp_path: Path, judge: Judge
) -> None:
    found = by_rubric(audit(tmp_path, plan()))
    verdicts = {
        name: {(j.subject_id, j.dimension): (j.status, j.value, j.reason_code) for j in found[name]}
        for name in ("paired_change", "pairwise_change")
    }
    assert verdicts["paired_change"] == verdicts["pairwise_change"]
    values = Counter(value for _, value, _ in verdicts["paired_change"].values())
    assert values[1.0]
    assert values[0.0]


def test_the_judge_never_sees_an_arm_or_what_a_pair_was_asked(tmp_path: Path, judge: Judge) -> None:
    run = audit(tmp_path, plan())
    texts = {v.text for v in run.variants() if v.text} | {s.text for s in run.samples()}
    pairs = [text for text in judge.shown if "<answer_a>" in text]
    assert pairs
    for text in pairs:
        assert not any(question in text for question in texts)
        # The steps of a multi-hop answer restate the question; only what follows is compared.
        assert "Step 1" not in text
    for text in judge.shown:
        assert not re.search(r"isolated|placebo|no_hop|multi_hop|counterfactual|\bvariant\b", text)


def test_a_judge_that_follows_the_order_has_no_verdict(tmp_path: Path, judge: Judge) -> None:
    judge.pair = partial_to_length
    found = by_rubric(audit(tmp_path, plan(rubrics=("pairwise_change",))))
    texts = {j.subject_id: j.status for j in found["pairwise_change"] if j.dimension == "any"}
    # Where both answers are equal, so are the orders; where they differ, the order decided.
    assert set(texts.values()) == {"ok", "tie"}
    ties = [j for j in found["pairwise_change"] if j.status == "tie"]
    assert all(j.value is None and j.flags == ("position_inconsistent",) for j in ties)
    assert not any(j.value == 1.0 for j in found["pairwise_change"])


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        ("", "unparsable"),
        ("I'm sorry, but I can't compare medical content.", "refused"),
        ('{"reason": "x", "diagnosis": "better"}', "unparsable"),
        ("down", "error"),
    ],
)
def test_a_judge_that_fails_is_a_status(
    tmp_path: Path, judge: Judge, reply: str, status: str
) -> None:
    judge.pair = lambda first, second: reply
    found = by_rubric(audit(tmp_path, plan(n=1, rubrics=("pairwise_change",))))
    for name in ("pairwise_change", "pairwise_change" + ONE_ORDER):
        assert {(j.status, j.value) for j in found[name]} == {(status, None)}
    assert {j.status for j in found["paired_change"]} == {"ok"}


def test_a_stopped_judging_goes_on_where_it_stopped(tmp_path: Path, judge: Judge) -> None:
    whole = audit(tmp_path / "whole", plan(n=2))
    calls = len(whole.calls())
    for cap in (calls - 1, calls - 40):
        folder = tmp_path / str(cap)
        run = asyncio.run(start_run(plan(n=2, max_calls=cap), folder))
        with pytest.raises(RunStopped):
            asyncio.run(run_workflow(run, workspace=folder))
        assert len(run.judgements()) < len(whole.judgements())
        shown = len(judge.shown)
        more = plan(n=2).model_copy(update={"max_calls": None})
        manifest = run.manifest.model_copy(
            update={"plan": {**run.manifest.plan, "max_calls": more.max_calls}}
        )
        run.write_manifest(manifest)
        asyncio.run(run_workflow(run, workspace=folder))
        assert len(judge.shown) - shown == calls - cap
        assert {j.id for j in run.judgements()} == {j.id for j in whole.judgements()}
        assert len(run.judgements()) == len(whole.judgements())


def test_a_case_changes_its_places_and_nothing_else() -> None:
    case = Case("s", "b", {"answer_a": "base", "answer_b": "other"})
    assert case.shown(0) == {"answer_a": "base", "answer_b": "other"}
    assert case.shown(1) == {"answer_a": "other", "answer_b": "base"}


def test_who_judges() -> None:
    judged = {name: rubrics.get(name).judged_by for name in rubrics.names()}
    assert {name: by("openai/x") for name, by in judged.items()} == {
        "attribute_association": "openai/x",
        "bias_verdict": "openai/x",
        "paired_change": "rules",
        "pairwise_change": "openai/x",
        "question_quality": "openai/x",
        "same_comparison": "openai/x",
    }
    assert {name: by("rules") for name, by in judged.items()} == {
        "attribute_association": "rules",
        "bias_verdict": "rules",
        "paired_change": "rules",
        "pairwise_change": None,
        "question_quality": None,
        "same_comparison": None,
    }
