"""Two runs side by side: paired by sample, on the questions of both."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Answer, Judgement, Sample, Variant
from evenhand.graph_store.run_directory import RunDirectory
from evenhand.tools.comparison import Comparison, compare_runs
from evenhand.tools.contrasts import Contrast
from evenhand.tools.measure import measure
from evenhand.tools.plan_differences import plan_differences
from evenhand.tools.statistics.intervals import paired_difference

MakeRun = Callable[..., RunDirectory]
METRICS = ("paired_change_net", "paired_change", "attribute_association")


@pytest.fixture(scope="module")
def moved(make_run: MakeRun) -> RunDirectory:
    """A run whose multi-hop answers move with the location, and whose first gender is refused."""
    return make_run(n=12)


Alter = Callable[..., RunDirectory]


@pytest.fixture
def alter(moved: RunDirectory, tmp_path: Path) -> Alter:
    """Make the same run again, with some records altered and some plan of its own."""

    def make(
        judgement: Callable[[Judgement], dict[str, Any]] = lambda one: {},
        answer: Callable[[Answer], dict[str, Any]] = lambda one: {},
        variant: Callable[[Variant], dict[str, Any]] = lambda one: {},
        keep: Callable[[Sample], bool] = lambda one: True,
        **plan: Any,
    ) -> RunDirectory:
        manifest = moved.manifest.model_copy(update={"plan": {**moved.manifest.plan, **plan}})
        run = RunDirectory.create(tmp_path / "altered", manifest)
        kept = tuple(sample.id for sample in moved.samples() if keep(sample))
        run.append("samples", [s for s in moved.samples() if s.id in kept])
        mine = [v for v in moved.variants() if v.sample_id in kept]
        run.append("variants", [v.model_copy(update=variant(v)) for v in mine])
        run.append("gate", [g for g in moved.gate() if g.subject_id.startswith(kept)])
        answers = [a for a in moved.answers() if a.id.startswith(kept)]
        changed = [a.model_copy(update=answer(a)) for a in answers]
        run.append("answers", changed)
        well = {a.id for a in changed if a.status == "ok"}
        said = [j for j in moved.judgements() if j.subject_id in well]
        run.append("judgements", [j.model_copy(update=judgement(j)) for j in said])
        run.append("measurements", measure(run, METRICS, 0))
        return run

    return make


def find(found: Comparison, metric: str, arm: str, group: str) -> Contrast:
    (one,) = (
        c for c in found.contrasts if (c.metric, c.second_arm, c.groups[0]) == (metric, arm, group)
    )
    return one


def stays(one: Judgement) -> dict[str, Any]:
    return {"value": 0.0} if one.rubric == "paired_change" else {}


def test_a_target_that_moves_is_told_from_one_that_does_not(
    moved: RunDirectory, alter: Alter
) -> None:
    still = alter(stays, roles={"target": {"model": "openai/other"}, "judge": {"model": "rules"}})
    found = compare_runs(still, moved)
    one = find(found, "paired_change_net", "multi_hop", "location")
    expected = paired_difference(12, 0, 12)
    assert (one.first, one.second, one.value) == (0, 1, 1)
    assert (one.low, one.high, one.n, one.p) == (expected.low, expected.high, 12, expected.p)
    assert one.confirmatory
    assert one.p_adjusted is not None
    assert one.p is not None
    assert one.p < one.p_adjusted < 0.05
    assert find(found, "paired_change_net", "multi_hop", "age").value == 0
    assert [(d.name, d.first, d.second) for d in found.differences] == [
        ("target.model", "openai/other", "local")
    ]
    turned = compare_runs(moved, still)
    assert find(turned, "paired_change_net", "multi_hop", "location").value == -1


def test_what_one_run_left_out_is_counted_by_side(moved: RunDirectory, alter: Alter) -> None:
    last = sorted(sample.id for sample in moved.samples())[-1]

    def cut(one: Answer) -> dict[str, Any]:
        far = one.arm == "multi_hop" and one.id.startswith(last)
        return {"status": "truncated"} if far else {}

    found = compare_runs(moved, alter(answer=cut))
    gender = find(found, "paired_change_net", "multi_hop", "gender")
    assert gender.n == 10
    assert sum(gender.unscored.values()) == 2
    assert gender.unscored["first_answer_refused"] == 1
    assert any(name.startswith("second_") for name in gender.unscored)


def test_refusals_are_an_outcome_of_their_own(moved: RunDirectory, alter: Alter) -> None:
    def refuse(one: Answer) -> dict[str, Any]:
        return {"status": "refused"} if one.arm == "no_hop" else {}

    one = find(
        compare_runs(moved, alter(answer=refuse)), "answer_refused", "no_hop", "any question"
    )
    assert one.second == 1
    assert one.first is not None
    assert one.first < 0.1
    assert one.p is not None
    assert one.p < 0.01


def test_another_judge_on_the_same_answers(moved: RunDirectory, alter: Alter) -> None:
    def strict(one: Judgement) -> dict[str, Any]:
        if one.rubric != "attribute_association":
            return {}
        return {"judge": "openai/strict", "value": min(1.0, (one.value or 0) + 0.2)}  # type: ignore[operator]

    found = compare_runs(moved, alter(strict))
    assert found.shared_answers == sum(answer.status == "ok" for answer in moved.answers())
    assert {(a.rubric, a.first_judge, a.second_judge) for a in found.agreements} == {
        ("attribute_association", "rules", "openai/strict")
    }
    for one in found.agreements:
        assert one.difference is not None
        assert one.difference[0] == pytest.approx(0.2)
        assert (one.same, one.near) == (0, 0)
        assert one.n > 12
    shift = find(found, "attribute_association", "multi_hop", "age")
    assert shift.value == pytest.approx(0.2)


def test_judges_who_always_agree_are_shown_with_wilsons_interval(
    moved: RunDirectory, alter: Alter
) -> None:
    found = compare_runs(moved, alter(lambda one: {"judge": "second"}))
    change = next(a for a in found.agreements if a.rubric == "paired_change")
    assert change.same == 1
    assert change.same_low is not None
    assert 0.9 < change.same_low < 1
    assert (change.beyond_chance, change.beyond_low) == ("kappa", None)


def test_two_ways_of_asking_within_one_run(moved: RunDirectory) -> None:
    found = compare_runs(moved, moved, asked=("no_hop", "multi_hop"))
    one = find(found, "paired_change_net", "multi_hop", "location")
    assert (one.first_arm, one.first, one.second, one.value) == ("no_hop", 0, 1, 1)
    assert not found.differences


def test_only_questions_of_both_are_compared(moved: RunDirectory, alter: Alter) -> None:
    first = sorted(sample.id for sample in moved.samples())[0]

    def other_words(one: Variant) -> dict[str, Any]:
        return {"text": one.text + " Please."} if one.sample_id == first else {}

    one = find(compare_runs(moved, alter(variant=other_words)), "paired_change", "no_hop", "age")
    assert one.n == 11
    assert not one.flags or "other_texts" not in one.flags


def test_runs_that_share_no_wording_are_compared_by_sample_and_flagged(
    moved: RunDirectory, alter: Alter
) -> None:
    found = compare_runs(moved, alter(variant=lambda one: {"text": one.text + " Please."}))
    one = find(found, "paired_change", "multi_hop", "location")
    assert one.n == 12
    assert "other_texts" in one.flags


def test_samples_of_one_run_only_are_left_out_and_counted(
    moved: RunDirectory, alter: Alter
) -> None:
    found = compare_runs(moved, alter(keep=lambda one: one.position < 7))
    assert (found.shared_samples, found.only_first, found.only_second) == (7, 5, 0)
    assert find(found, "attribute_association", "original", "age").n == 7


def test_mistakes_are_one_sentence(
    moved: RunDirectory, make_run: MakeRun, alter: Alter, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match="named twice"):
        compare_runs(moved, moved)
    with pytest.raises(UserError, match="no number in common"):
        compare_runs(moved, alter(), asked=("labels", "labels"))
    empty = RunDirectory.create(tmp_path / "empty", moved.manifest)
    with pytest.raises(UserError, match="no measurements yet"):
        compare_runs(moved, empty)


def test_runs_on_other_samples_are_refused(make_run: MakeRun) -> None:
    one = make_run(n=2)
    other = make_run(n=2, aside="Another data set. ")
    with pytest.raises(UserError, match="share no sample"):
        compare_runs(one, other)


def test_plans_that_are_equal_differ_in_nothing(moved: RunDirectory) -> None:
    assert plan_differences(moved.manifest, moved.manifest) == []


def test_the_direction_does_not_change_the_strength(moved: RunDirectory, alter: Alter) -> None:
    still = alter(stays)
    there, back = compare_runs(still, moved), compare_runs(moved, still)
    for one, other in zip(there.contrasts, back.contrasts, strict=True):
        assert one.p == pytest.approx(other.p)
        if one.value is not None and other.value is not None and one.low is not None:
            assert one.value == pytest.approx(-other.value)
            assert np.isclose(one.low, -(other.high or 0), atol=0.02)
