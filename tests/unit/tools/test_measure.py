"""Measurements of synthetic runs, written as a workflow would write them."""

import math
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import (
    Answer,
    AskedArm,
    Change,
    Judgement,
    Measurement,
    Sample,
    Variant,
    child_id,
)
from evenhand.graph_store.run_directory import Manifest, RunDirectory
from evenhand.tools.measure import RecordIndex, cell_rows, estimate_items, measure, rows_of
from evenhand.tools.measured_rows import item_values
from evenhand.tools.metrics import Metric, Scores, Values, metrics
from evenhand.tools.pairing import DIMENSIONS

METRICS = (
    "paired_change_net",
    "paired_change",
    "attribute_association",
    "attribute_association_shift",
)
GROUPS = ("age", "gender", "location", "age+gender")
PLAN: dict[str, Any] = {
    "asked": ["original", "no_hop", "multi_hop"],
    "attributes": ["age", "gender", "location"],
    "intersections": [["age", "gender"]],
    "controls": ["repeat", "placebo"],
    "repeats": 1,
}
ARMS: tuple[AskedArm, ...] = ("no_hop", "multi_hop")


@dataclass
class Written:
    """Records of a run before they are written; changed by a test, then written."""

    samples: list[Sample] = field(default_factory=list)
    variants: list[Variant] = field(default_factory=list)
    gate: list[Judgement] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    judgements: list[Judgement] = field(default_factory=list)


Changed = Callable[[int, str, str], float]
"""Whether the answer of item i to a group differs from base, in an asked arm."""
Score = Callable[[int, str, str, str], float]
"""Score of item i: its group, arm, dimension."""


def no_change(item: int, group: str, arm: str) -> float:
    return 0.0


def flat_score(item: int, group: str, arm: str, dimension: str) -> float:
    return 0.2


def records(
    n: int,
    changed: Changed = no_change,
    score: Score | None = flat_score,
    repeats: int = 1,
) -> Written:
    made = Written()
    for item in range(n):
        sample = Sample(id=f"made-{item}-0", dataset="made", position=item, text="a question")
        made.samples.append(sample)
        base = _variant(sample, 0, ())
        variants = [base]
        variants += [_variant(sample, i, tuple(g.split("+"))) for i, g in enumerate(GROUPS, 1)]
        variants.append(_variant(sample, 5, (), "placebo"))
        made.variants += variants
        made.gate += [_gate(variant) for variant in variants]
        _answers_of_base(made, item, base, changed, score, repeats)
        for variant in variants[1:]:
            for arm in ARMS:
                answer = _answer(variant, arm)
                made.answers.append(answer)
                _judge(made, item, variant.group, answer, score)
                against = _answer(base, arm).id
                made.judgements.append(_change(answer, against, changed(item, variant.group, arm)))
    return made


def _answers_of_base(
    made: Written, item: int, base: Variant, changed: Changed, score: Score | None, repeats: int
) -> None:
    for arm in ("original", *ARMS):
        answer = _answer(base, arm)
        made.answers.append(answer)
        _judge(made, item, "base", answer, score)
    for arm in ARMS:
        for repeat in range(1, repeats + 1):
            again = _answer(base, arm, repeat)
            made.answers.append(again)
            made.judgements.append(
                _change(again, _answer(base, arm).id, changed(item, "repeat", arm))
            )


def _variant(
    sample: Sample, position: int, names: tuple[str, ...], arm: str = "isolated"
) -> Variant:
    changes = tuple(Change(attribute=name, before="a", after="b") for name in names)
    return Variant.model_validate(
        {
            "id": child_id(sample.id, "v", position, *names),
            "sample_id": sample.id,
            "arm": arm if position else "base",
            "changes": changes,
            "text": "a text",
            "made_by": "rules",
        }
    )


def _gate(variant: Variant, value: str = "accepted") -> Judgement:
    return Judgement(
        id=child_id(variant.id, "g", 0),
        status="ok",
        subject_id=variant.id,
        rubric="validity",
        dimension="isolation",
        judge="rules",
        value=value,
        reason_code=None if value == "accepted" else "other_words",
    )


def _answer(variant: Variant, arm: AskedArm, repeat: int = 0) -> Answer:
    return Answer(
        id=child_id(variant.id, "a", repeat, arm),
        status="ok",
        variant_id=variant.id,
        arm=arm,
        model="planted/fair",
        repeat=repeat,
        prompt_hash="0",
        text="malaria",
    )


def _change(answer: Answer, against: str, value: float) -> Judgement:
    return Judgement(
        id=child_id(answer.id, "j", 9, against),
        status="ok",
        subject_id=answer.id,
        against_id=against,
        rubric="paired_change",
        dimension="any",
        judge="rules",
        value=value,
        reason="first diagnosis: malaria -> influenza" if value else None,
    )


def _judge(made: Written, item: int, group: str, answer: Answer, score: Score | None) -> None:
    if score is None:
        return
    for position, dimension in enumerate(DIMENSIONS):
        made.judgements.append(
            Judgement(
                id=child_id(answer.id, "j", position, dimension),
                status="ok",
                subject_id=answer.id,
                rubric="attribute_association",
                dimension=dimension,
                judge="rules",
                value=score(item, group, answer.arm, dimension),
            )
        )


def write(folder: Path, made: Written, **plan: Any) -> RunDirectory:
    run = RunDirectory.create(
        folder / "made-run",
        Manifest(run="made-run", created="2030-01-01T00:00:00Z", plan=PLAN | plan, seed=0),
    )
    run.append("samples", made.samples)
    run.append("variants", made.variants)
    run.append("gate", made.gate)
    run.append("answers", made.answers)
    run.append("judgements", made.judgements)
    return run


def by_cell(made: Iterable[Measurement]) -> dict[tuple[str, str, str], Measurement]:
    return {(m.metric, m.arm, m.groups[0]): m for m in made}


def seeded(rate: dict[str, float], seed: int) -> Changed:
    """A target that changes an answer at the rate of the group, "other" for the rest."""
    rng = np.random.default_rng(seed)

    def changed(item: int, group: str, arm: str) -> float:
        return float(rng.random() < rate.get(group, rate["other"]))

    return changed


def seeded_score(seed: int) -> Score:
    rng = np.random.default_rng(seed)

    def score(item: int, group: str, arm: str, dimension: str) -> float:
        return round(float(rng.random()), 1)

    return score


def with_status(judgement: Judgement, status: str) -> Judgement:
    return judgement.model_copy(update={"status": status, "value": None})


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> RunDirectory:
    """12 items with everything that can leave a row out, each once."""
    made = records(12, seeded({"other": 0.4}, 3), seeded_score(4))
    index = {(v.sample_id, v.group): i for i, v in enumerate(made.variants)}

    def variant(item: int, group: str) -> int:
        return index[f"made-{item}-0", group]

    def asked(item: int, group: str, arm: str, repeat: int = 0) -> int:
        identity = made.variants[variant(item, group)].id
        keys: list[tuple[str, str, int]] = [(a.variant_id, a.arm, a.repeat) for a in made.answers]
        return keys.index((identity, arm, repeat))

    def unanswered(item: int, group: str, status: str, repeat: int = 0) -> None:
        place = asked(item, group, "no_hop", repeat)
        made.answers[place] = made.answers[place].model_copy(update={"status": status})
        gone = made.answers[place].id
        made.judgements = [j for j in made.judgements if gone not in (j.subject_id, j.against_id)]

    for item, status in ((0, "skipped"), (1, "unchanged"), (2, "error")):
        place = variant(item, "age")
        update = {"status": status, "reason": "not stated"}
        made.variants[place] = made.variants[place].model_copy(update=update)
    made.gate[variant(3, "age")] = _gate(made.variants[variant(3, "age")], "rejected")
    unanswered(4, "age", "refused")
    unanswered(5, "age", "truncated")
    unanswered(6, "base", "empty")
    unanswered(7, "base", "refused", repeat=1)
    subject = made.answers[asked(8, "age", "no_hop")].id
    made.judgements = [
        with_status(j, "tie" if j.rubric == "paired_change" else "out_of_range")
        if j.subject_id == subject
        else j
        for j in made.judgements
    ]
    made.samples[9] = made.samples[9].model_copy(update={"status": "skipped", "reason": "empty"})
    gone = made.variants[variant(10, "age")].id
    made.variants = [v for v in made.variants if v.id != gone]
    return write(tmp_path_factory.mktemp("mixed"), made)


def test_whatever_leaves_a_row_out_is_counted_by_its_status(mixed: RunDirectory) -> None:
    cells = by_cell(measure(mixed, METRICS, 0))
    left_out = {
        "answer_refused": 1,
        "answer_truncated": 1,
        "base_answer_empty": 1,
        "gate_rejected": 1,
        "sample_skipped": 1,
        "tie": 1,
        "variant_error": 1,
        "variant_missing": 1,
        "variant_skipped": 1,
        "variant_unchanged": 1,
    }
    change = cells["paired_change", "no_hop", "age"]
    assert change.unscored == left_out
    assert change.n == 12 - sum(left_out.values())
    net = cells["paired_change_net", "no_hop", "age"]
    assert net.unscored == left_out | {"control_answer_refused": 1}
    assert net.n == change.n - 1
    scores = cells["attribute_association", "no_hop", "age"]
    assert scores.n == 11, "an item with any score has a mean"
    assert scores.unscored["out_of_range"] == 1
    assert scores.unscored["answer_empty"] == 1
    original = cells["attribute_association", "original", "age"]
    assert (original.n, original.unscored) == (11, {"sample_skipped": 1})


def test_rows_give_the_number_they_stand_behind(mixed: RunDirectory) -> None:
    index = RecordIndex.read(mixed)
    for made in measure(mixed, METRICS, 0):
        metric = metrics.get(made.metric)
        rows = cell_rows(index, made)
        assert all(math.isnan(row.value) != (row.status == "ok") for row in rows)
        items: dict[str, list[float]] = {}
        for row in rows:
            if row.status == "ok":
                items.setdefault(row.sample_id, []).append(row.value)
        control = {row.sample_id: row.control_value for row in rows if row.status == "ok"}
        means = [sum(values) / len(values) for values in items.values()]
        if made.control_arm:
            means = [mean - control[item] for item, mean in zip(items, means, strict=True)]
        assert made.value == pytest.approx(sum(means) / len(means)), made.id
        assert made.n == len(items)
        assert sum(made.unscored.values()) == sum(row.status != "ok" for row in rows)
        assert made.value == pytest.approx(
            float(metric.compute(item_values(rows)[:, slice(None) if made.control_arm else 0]))
        )


def test_rows_name_both_answers_and_why(mixed: RunDirectory) -> None:
    cells = by_cell(measure(mixed, METRICS, 0))
    answers = {answer.id: answer for answer in mixed.answers()}
    rows = rows_of(mixed, cells["paired_change_net", "multi_hop", "age+gender"])
    for row in rows:
        if row.status != "ok":
            continue
        assert row.answer_id is not None
        assert row.base_answer_id is not None
        assert answers[row.answer_id].variant_id == row.variant_id
        assert answers[row.base_answer_id].arm == row.arm == "multi_hop"
        assert row.group == "age+gender"
        assert (row.reason is not None) == (row.value == 1)
    shift = rows_of(mixed, cells["attribute_association_shift", "no_hop", "age"])
    against = {answers[r.base_answer_id].arm for r in shift if r.base_answer_id}
    assert against == {"original"}
    refused = [row for row in shift if row.status == "variant_skipped"]
    assert [row.reason for row in refused] == ["not stated"]


def test_every_planned_cell_is_there_when_nothing_was_answered(tmp_path: Path) -> None:
    made = records(3)
    made.answers, made.judgements = [], []
    cells = by_cell(measure(write(tmp_path, made), METRICS, 0))
    groups = ["age", "gender", "location", "age+gender", "placebo"]
    expected = {("paired_change_net", arm, group) for arm in ARMS for group in groups}
    expected |= {("paired_change", arm, group) for arm in ARMS for group in [*groups, "repeat"]}
    for arm in ("original", *ARMS):
        expected |= {("attribute_association", arm, dimension) for dimension in DIMENSIONS}
    expected |= {
        ("attribute_association_shift", arm, dimension) for arm in ARMS for dimension in DIMENSIONS
    }
    assert set(cells) == expected
    for cell in cells.values():
        assert (cell.status, cell.reason_code, cell.n) == ("not_estimable", "all_unscored", 0)
        assert sum(cell.unscored.values()) >= 3


def test_a_run_without_samples_measures_nothing(tmp_path: Path) -> None:
    for made in measure(write(tmp_path, Written()), METRICS, 0):
        assert (made.status, made.reason_code, made.unscored) == ("not_estimable", "n_zero", {})


def test_a_net_change_with_its_control_counts_and_family(tmp_path: Path) -> None:
    def changed(item: int, group: str, arm: str) -> float:
        return float(item < {"location": 15, "repeat": 3}.get(group, 2))

    cells = by_cell(measure(write(tmp_path, records(40, changed)), METRICS, 7))
    net = cells["paired_change_net", "no_hop", "location"]
    assert net.value == pytest.approx(12 / 40)
    assert (net.control, net.control_arm) == (3 / 40, "repeat")
    assert net.counts == {
        "changed": 15,
        "control_changed": 3,
        "only_variant": 12,
        "only_control": 0,
    }
    assert net.p == pytest.approx(0.5**12)
    assert net.p_adjusted == pytest.approx(8 * 0.5**12), "four groups in two arms"
    assert net.family == "paired_change"
    assert net.method == "Tango score; McNemar mid-p; Holm"
    assert net.seed is None
    placebo = cells["paired_change_net", "no_hop", "placebo"]
    assert (placebo.family, placebo.p_adjusted) == (None, None)
    assert placebo.p is not None
    repeat = cells["paired_change", "multi_hop", "repeat"]
    assert (repeat.value, repeat.counts, repeat.method) == (3 / 40, {"changed": 3}, "Wilson")
    score = cells["attribute_association", "original", "age"]
    assert (score.seed, score.flags) == (7, ("all_equal",))
    assert score.value == pytest.approx(0.2)


def test_a_control_of_zero_is_shown(tmp_path: Path) -> None:
    run = write(tmp_path, records(20, score=None))
    net = by_cell(measure(run, ["paired_change_net"], 0))["paired_change_net", "no_hop", "age"]
    assert (net.value, net.control) == (0, 0)
    assert net.flags == ("all_equal", "few_discordant")
    assert net.low == pytest.approx(-(net.high or 0))


def test_without_a_repeat_arm_nothing_is_net(tmp_path: Path) -> None:
    made = records(10, repeats=0)
    run = write(tmp_path, made, controls=["placebo"], asked=["no_hop"])
    cells = by_cell(measure(run, METRICS, 0))
    assert ("paired_change", "no_hop", "repeat") not in cells
    net = cells["paired_change_net", "no_hop", "age"]
    assert (net.status, net.reason_code) == ("not_estimable", "no_control")
    assert net.unscored == {"control_missing": 10}
    shift = cells["attribute_association_shift", "no_hop", "age"]
    assert shift.reason_code == "no_control", "the original was not asked"


def test_several_repeats_are_one_unit_and_compared_as_means(tmp_path: Path) -> None:
    made = records(30, seeded({"location": 0.8, "other": 0.3}, 5), None, repeats=3)
    net = by_cell(measure(write(tmp_path, made, repeats=3), METRICS, 0))[
        "paired_change_net", "no_hop", "location"
    ]
    assert net.n == 30
    assert net.method == "t; sign flips; Holm"
    assert net.p is not None
    assert net.p < 0.01


def test_limits_end_where_the_scale_ends(tmp_path: Path) -> None:
    made = records(3, seeded({"location": 0.6, "other": 0.3}, 2), None, repeats=3)
    cells = measure(write(tmp_path, made, repeats=3), METRICS, 0)
    net = [one for one in cells if one.metric == "paired_change_net" and one.low is not None]
    assert net, "means of several repeats are compared by t"
    for one in net:
        assert one.low is not None
        assert one.high is not None
        assert -1 <= one.low <= one.high <= 1
    assert any(one.low == -1 or one.high == 1 for one in net)


def test_two_judges_count_once(tmp_path: Path) -> None:
    made = records(5)
    again = [
        j.model_copy(update={"id": j.id + "b", "judge": "other", "value": 0.4})
        for j in made.judgements
        if j.rubric == "attribute_association"
    ]
    made.judgements += again
    cells = by_cell(measure(write(tmp_path, made), METRICS, 0))
    score = cells["attribute_association", "no_hop", "age"]
    assert score.n == 5
    assert score.value == pytest.approx(0.3)


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10_000))
def test_the_order_of_lines_does_not_matter(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    made = records(6, seeded({"other": 0.5}, seed), seeded_score(seed))
    first = measure(write(tmp_path_factory.mktemp("run"), made), METRICS, 0)
    shuffle = random.Random(seed).shuffle  # noqa: S311
    for lines in (made.samples, made.variants, made.gate, made.answers, made.judgements):
        shuffle(lines)
    again = measure(write(tmp_path_factory.mktemp("run"), made), METRICS, 0)
    for one, other in zip(first, again, strict=True):
        assert one.value == pytest.approx(other.value)
        assert (one.low, one.high, one.p) == pytest.approx((other.low, other.high, other.p))
        ignored: dict[str, Any] = {
            "value": None,
            "low": None,
            "high": None,
            "p": None,
            "p_adjusted": None,
        }
        ignored |= {"control": None, "status": "not_estimable"}
        assert one.model_copy(update=ignored) == other.model_copy(update=ignored)


def test_ids_come_from_the_cell_and_the_seed_repeats_the_numbers(mixed: RunDirectory) -> None:
    made = measure(mixed, METRICS, 3)
    assert made == measure(mixed, METRICS, 3)
    assert made[0].id == child_id("made-run", "m", 0, "paired_change_net", "no_hop", "age")
    assert len({m.id for m in made}) == len(made)


def test_an_unknown_metric_is_named(mixed: RunDirectory) -> None:
    with pytest.raises(UserError, match="paired_chnge"):
        measure(mixed, ["paired_chnge"], 0)


def test_an_interval_of_the_mean_is_not_lent_to_another_statistic() -> None:
    def highest(scores: Scores) -> Values:
        return np.asarray(scores.max(axis=-1))

    metric = Metric("highest", highest, "H", (0.0, 1.0), "a test", "scores")
    items = np.array([[0.1, np.nan], [0.9, np.nan]])
    made = estimate_items(metric, items, 0)
    assert (made.value, made.low, made.high, made.method) == (0.9, None, None, "no interval")
