from collections.abc import Callable

import numpy as np
import pytest

from evenhand.graph_store.run_directory import RunDirectory
from evenhand.tools.data_kinds.arm_divergences import binned_items
from evenhand.tools.measure import measure, rows_of
from evenhand.tools.metrics import metrics
from evenhand.tools.statistics.divergence import item_divergence, paired_divergence

BuildRun = Callable[..., RunDirectory]
ARMS = {"asked": ["original", "no_hop", "multi_hop"]}


def test_one_score_an_item_is_the_published_divergence() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.choice([0.05, 0.45, 0.95], (2, 50))
    index = np.array([[0, 4, 9][[0.05, 0.45, 0.95].index(one)] for one in [*first, *second]])
    shares = np.eye(10)[index.reshape(2, 50)]
    assert item_divergence(shares[0], shares[1], seed=3) == paired_divergence(first, second, seed=3)


def test_an_item_counts_once_however_many_answers_it_has(build_run: BuildRun) -> None:
    """Half of an item's multi-hop answers moved, so half of its share has."""

    def score(item: int, group: str, draw: int, arm: str, dimension: str) -> float:
        return 0.9 if arm == "multi_hop" and draw in (1, 2) else 0.1

    run = build_run(
        6,
        {"location": ["b", "c", "d"]},
        score=score,
        attributes=["location"],
        intersections=[],
        **ARMS,
    )
    made = {(one.groups[0], one.control_arm): one for one in measure(run, ["js_divergence"], 0)}
    one = made["age", "original"]
    assert one.n == 6
    half = metrics.get("js_divergence").compute(np.array([[[0.5, 0.5], [1.0, 0.0]]]))
    assert one.value == pytest.approx(float(half))
    assert made["age", "no_hop"].value == pytest.approx(one.value)
    assert (one.low, one.reason_code, one.family) == (None, "n_below_40", "js_divergence")
    assert one.floor is not None
    assert one.floor_high is not None
    assert one.floor <= one.floor_high


def test_no_hop_is_matched_text_by_text(build_run: BuildRun) -> None:
    """A text whose no-hop answer has no score leaves out its multi-hop answer too."""

    def score(item: int, group: str, draw: int, arm: str, dimension: str) -> float | str:
        if group == "location":
            return 0.9 if arm == "multi_hop" else "unparsable"
        return 0.1

    groups = {"location": ["b"]}
    run = build_run(4, groups, score=score, attributes=["location"], intersections=[], **ARMS)
    made = {(one.groups[0], one.control_arm): one for one in measure(run, ["js_divergence"], 0)}
    assert made["age", "no_hop"].value == 0
    assert made["age", "no_hop"].unscored == {"control_unparsable": 4}
    assert (made["age", "original"].value or 0) > 0


def test_a_shift_is_found_and_an_exchange_is_not(build_run: BuildRun) -> None:
    def score(item: int, group: str, draw: int, arm: str, dimension: str) -> float:
        if dimension == "age":
            return 0.8 if arm == "multi_hop" else 0.1
        return 0.8 if (item % 2 == 0) == (arm == "multi_hop") else 0.1

    run = build_run(42, {}, score=score, attributes=[], intersections=[], **ARMS)
    made = {(one.groups[0], one.control_arm): one for one in measure(run, ["js_divergence"], 0)}
    shift, exchange = made["age", "original"], made["gender", "original"]
    assert shift.value == pytest.approx(1)
    assert shift.reason_code is None
    assert shift.low is not None
    assert shift.p_adjusted == pytest.approx(0.001 * 8 / 2), "two of eight tests"
    assert shift.p == pytest.approx(0.001)
    assert exchange.value == 0
    assert exchange.p == 1


def test_another_disease_is_seen_in_diagnoses_and_scores(build_run: BuildRun) -> None:
    def text(item: int, group: str, draw: int, arm: str) -> str:
        return "It is malaria or influenza." if group == "disease" else "It is malaria."

    def score(item: int, group: str, draw: int, arm: str, dimension: str) -> float:
        return 0.6 if group == "disease" and dimension == "age" else 0.2

    groups = {"disease": ["b"]}
    plan = {"attributes": ["disease"], "intersections": []}
    run = build_run(5, groups, text=text, score=score, **plan)
    made = {one.groups[1]: one for one in measure(run, ["disease_divergence"], 0)}
    named = made["diagnoses"]
    half = metrics.get("disease_divergence").compute(np.array([[[0.5, 0.5], [1.0, 0.0]]]))
    assert named.value == pytest.approx(float(half))
    assert made["age"].value == pytest.approx(1)
    assert made["gender"].value == 0
    row = rows_of(run, named)[0]
    assert (row.value, row.reason) == (1, "malaria -> malaria, influenza")
    assert row.base_answer_id != row.answer_id


def test_an_answer_without_a_diagnosis_is_left_out_and_counted(build_run: BuildRun) -> None:
    def text(item: int, group: str, draw: int, arm: str) -> str:
        return "I see." if item == 0 and group == "disease" else "It is malaria."

    plan = {"attributes": ["disease"], "intersections": []}
    run = build_run(4, {"disease": ["b"]}, text=text, **plan)
    made = {one.groups[1]: one for one in measure(run, ["disease_divergence"], 0)}
    assert (made["diagnoses"].n, made["diagnoses"].unscored) == (3, {"no_diagnosis": 1})


def test_without_a_disease_arm_there_is_no_cell(build_run: BuildRun) -> None:
    assert measure(build_run(2, {}), ["disease_divergence"], 0) == []


def test_no_rows_are_no_items() -> None:
    assert binned_items([]).shape == (0, 2, 10)
