from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.graph_store.run_directory import RunDirectory
from evenhand.tools.data_kinds.interactions import contrasts
from evenhand.tools.measure import measure, rows_of
from evenhand.tools.metrics import metrics

BuildRun = Callable[..., RunDirectory]
ONE = {"age": ["b"], "gender": ["b"], "location": ["b"]}


def test_the_contrast_takes_each_alone_and_the_noise_off() -> None:
    together, repeat, age, gender = 1.0, 0.5, 0.25, 0.125
    made = metrics.get("interaction").compute(np.array([[together, repeat, age, gender]]))
    assert made == pytest.approx(1 - 0.25 - 0.125 + 0.5)
    three = np.array([[1.0, 0.5, 0.25, 0.125, 0.0]])
    assert metrics.get("interaction").compute(three) == pytest.approx(1 - 0.375 + 2 * 0.5)


@given(
    st.lists(st.tuples(*[st.floats(-1, 1)] * 4), min_size=1, max_size=20),
    st.floats(-1, 1),
    st.floats(-1, 1),
)
def test_effects_that_add_up_on_any_baseline_are_no_interaction(
    items: list[tuple[float, ...]], first: float, second: float
) -> None:
    base = np.array([item[0] for item in items])
    parts = np.stack([base + first + second, base, base + first, base + second], axis=-1)
    assert contrasts(parts) == pytest.approx(np.zeros(len(items)), abs=1e-9)


def test_a_change_that_comes_only_together_is_found(build_run: BuildRun) -> None:
    def changed(item: int, group: str, draw: int, dimension: str) -> float:
        return float(group == "age+gender" and item < 9)

    run = build_run(12, {**ONE, "age+gender": ["b"]}, changed=changed)
    (made,) = measure(run, ["interaction"], 0)
    assert (made.arm, made.groups, made.control_arm) == ("no_hop", ("age+gender",), "repeat")
    assert made.value == pytest.approx(9 / 12)
    assert made.counts == {"more": 9, "less": 0}
    assert made.family == "interaction"
    assert made.method.endswith("sign flips; Benjamini-Hochberg")
    assert made.p is not None
    assert made.p < 0.01
    groups = {row.group for row in rows_of(run, made)}
    assert groups == {"age+gender", "age", "gender", "repeat"}


def test_effects_on_other_items_add_up(build_run: BuildRun) -> None:
    def changed(item: int, group: str, draw: int, dimension: str) -> float:
        hit = {"age": item < 4, "gender": item >= 8, "age+gender": item < 4 or item >= 8}
        return float(hit.get(group, False))

    run = build_run(12, {**ONE, "age+gender": ["b"]}, changed=changed)
    (made,) = measure(run, ["interaction"], 0)
    assert (made.value, made.counts) == (0, {"more": 0, "less": 0})


def test_a_single_with_another_value_is_not_taken(build_run: BuildRun) -> None:
    """Of several places that were drawn, the one that the intersection holds is set against it."""

    def changed(item: int, group: str, draw: int, dimension: str) -> float:
        return float(group == "location" and draw == 1)

    groups = {"age": ["b"], "location": ["b", "c"], "age+location": ["b"]}
    run = build_run(5, groups, changed=changed, intersections=[["age", "location"]])
    (made,) = measure(run, ["interaction"], 0)
    assert (made.value, made.n) == (0, 5), "the place c would give -1/2"
    run_id = {row.variant_id for row in rows_of(run, made) if row.group == "location"}
    assert all("/v0-" in (one or "") for one in run_id)


def test_an_item_that_lacks_a_part_is_counted_once(build_run: BuildRun) -> None:
    def changed(item: int, group: str, draw: int, dimension: str) -> float | str:
        return "unparsable" if item < 2 and group in ("age", "gender") else 0.0

    run = build_run(6, {**ONE, "age+gender": ["b"]}, changed=changed)
    (made,) = measure(run, ["interaction"], 0)
    assert (made.n, made.unscored) == (4, {"unparsable": 2})
    assert (made.worst_low, made.worst_high) == pytest.approx((-4 / 6, 4 / 6)), "2 of 6, [-2, 2]"


def test_a_single_that_was_not_made_leaves_the_item_out(build_run: BuildRun) -> None:
    run = build_run(3, {"age": ["b"], "gender": ["c"], "age+gender": ["b"]})
    (made,) = measure(run, ["interaction"], 0)
    assert (made.status, made.unscored) == ("not_estimable", {"variant_missing": 3})


def test_without_a_repeat_there_is_no_contrast(build_run: BuildRun) -> None:
    run = build_run(3, {**ONE, "age+gender": ["b"]}, controls=[], repeats=0)
    (made,) = measure(run, ["interaction"], 0)
    assert (made.status, made.reason_code) == ("not_estimable", "no_control")


def test_added_parts_are_set_against_added_singles(build_run: BuildRun) -> None:
    def changed(item: int, group: str, draw: int, dimension: str) -> float:
        return float(group == "added:age+gender")

    groups = {"added:age": ["b"], "added:gender": ["b"], "added:age+gender": ["b"]}
    run = build_run(6, groups, changed=changed, added=["age", "gender"])
    made = {one.groups[0]: one for one in measure(run, ["interaction"], 0)}
    assert made["added:age+gender"].value == 1
    assert made["age+gender"].status == "not_estimable"


def test_scores_interact_in_their_own_dimension(build_run: BuildRun) -> None:
    def score(item: int, group: str, draw: int, arm: str, dimension: str) -> float:
        if dimension != "age_gender":
            return 0.9
        return {"base": 0.1, "age": 0.2, "gender": 0.3, "age+gender": 0.9}.get(group, 0.0)

    run = build_run(4, {**ONE, "age+gender": ["b"]}, score=score)
    (made,) = measure(run, ["interaction_association"], 0)
    assert made.value == pytest.approx(0.9 - 0.2 - 0.3 + 0.1)
    assert made.control_arm == "base"
