"""Pairs of a run: one index set in all arms, and a reason for each pair without both levels."""

from pathlib import Path

import numpy as np
import pytest

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Judgement, Sample, Variant, child_id
from evenhand.graph_store.run_directory import Manifest, RunDirectory
from evenhand.graph_store.scores import scored, write_scores
from evenhand.tools.counterfactual_visits import (
    PAIR_ARMS,
    Showing,
    rewrite_by_rules,
    round_trip,
)
from evenhand.tools.notes import RewrittenNote, rewrite_note
from evenhand.tools.run_visits import RunVisits, write_visits
from evenhand.tools.triage.controls import net_disadvantage
from evenhand.tools.triage.measure import measure_arms
from evenhand.tools.triage.run_measurements import measure_pairs_of, stored_name
from evenhand.tools.triage.run_pairs import RunPairs, pair_id, read_arms
from evenhand.tools.triage_metrics import TRIAGE_METRICS
from evenhand.tools.visit_mapping import parse_mapping
from evenhand.tools.visit_rows import FlowStep
from evenhand.tools.visits import Visits

MAPPING = parse_mapping(
    """
language = "en"
label = "level"
levels = ["1", "2", "3"]
direction = "higher_is_less_urgent"
text = ["note"]
patient = "patient"
[attributes.gender]
column = "sex"
[tabular]
age = { column = "age", kind = "number" }
""",
    "test",
)
SHOWING = Showing("gender", ("male", "female"))
NOTES = {
    "stated": ("He fell.", "male"),
    "other way": ("She fell.", "female"),
    "silent": ("Chest pain.", "male"),
    "barred": ("He had a prostatectomy.", "male"),
    "rejected": ("He vomited.", "male"),
}
"""Name -> note and group of the visits of the audit half."""


def rewrite(text: str, before: str, after: str) -> RewrittenNote:
    return rewrite_note(text, attribute="gender", before=before, after=after, language="en")


def visits(notes: dict[str, tuple[str, str]] = NOTES) -> tuple[Sample, ...]:
    return tuple(
        Sample(
            id=f"visits-{place}-0",
            dataset="visits",
            position=place,
            text=note,
            label="2",
            patient=f"P{place // 2}",
            attributes={"gender": gender},
            columns={"age": 40.0},
            split="audit",
        )
        for place, (note, gender) in enumerate(notes.values())
    )


def level_of(variant: Variant, repeat: int) -> int:
    """A decider that gives a note with "She" the highest level; refit 2 is one lower."""
    return max(0, (2 if "She" in variant.text else 1) - (repeat == 2))


def make_run(
    folder: Path, samples: tuple[Sample, ...], *, asked: bool = True, refits: int = 3
) -> RunDirectory:
    plan = {"recipe": "counterfactual", "controls": ["placebo", "repeat"], "arms": list(PAIR_ARMS)}
    run = RunDirectory.create(
        folder / "run", Manifest(run="run", created="2026-11-30T00:00:00+00:00", plan=plan, seed=0)
    )
    flow = (FlowStep("read", "rows read", 0, len(samples)),)
    write_visits(
        run, RunVisits(Visits(samples, flow, MAPPING, "gender"), ("male", "female"), "level")
    )
    run.append("samples", samples)
    variants = [v for s in samples for v in rewrite_by_rules(s, SHOWING, rewrite)]
    variants += [round_trip(sample, SHOWING, rewrite, None) for sample in samples]
    run.append("variants", variants)
    wrong = [v for v in variants if v.text == "She vomited."]
    run.append(
        "gate",
        [
            Judgement(
                id=child_id(v.id, "g", 0, "validity"),
                status="ok",
                subject_id=v.id,
                rubric="validity",
                dimension="isolation",
                judge="rules",
                value="rejected",
            )
            for v in wrong
        ],
    )
    if asked:
        shown = [v for v in variants if v.status == "ok" and v not in wrong]
        for repeat in range(refits + 1):
            some = [v for v in shown if repeat == 0 or v.arm == "full"]
            levels = np.array([level_of(v, repeat) for v in some], dtype=np.int64)
            keys = [(v.id, repeat) for v in some]
            write_scores(run.path, scored(keys, levels, np.eye(3)[levels]))
    return run


def statuses(run: RunDirectory) -> dict[str, dict[str, str]]:
    names = dict(zip((f"visits-{n}-0" for n in range(len(NOTES))), NOTES, strict=True))
    return {
        arm: {
            names[str(key).partition(">")[0]]: str(status)
            for key, status in zip(pairs.ids, pairs.status, strict=True)
        }
        for arm, pairs in read_arms(run).items()
    }


def test_each_arm_holds_every_visit_and_says_why_a_pair_is_unscored(tmp_path: Path) -> None:
    left_out = {"barred": "sex_specific", "rejected": "gate_rejected"}
    whole = dict.fromkeys(NOTES, "ok") | left_out
    assert statuses(make_run(tmp_path, visits())) == {
        "full": whole,
        "text_only": {**whole, "silent": "not_stated"},
        "tabular_only": whole,
        "placebo": whole,
        "repeat": whole,
    }


def test_levels_stand_where_they_belong(tmp_path: Path) -> None:
    arms = read_arms(make_run(tmp_path, visits()))
    full = arms["full"]
    assert full.ids[0] == pair_id("visits-0-0", "female")
    assert full.original.tolist() == [1, 2, 1, 1, 1]
    assert full.counterfactual.tolist() == [2, 1, 1, -1, -1]
    assert full.recorded is not None
    assert full.recorded.tolist() == [1] * 5
    assert full.patient is not None
    assert full.patient.tolist() == [0, 0, 1, 1, 2]
    assert arms["placebo"].scored.steps.tolist() == [0, 0, 0]


def test_the_repeat_arm_sets_each_refit_against_the_next(tmp_path: Path) -> None:
    run = make_run(tmp_path, visits())
    repeat = read_arms(run)["repeat"]
    first = repeat.where(np.arange(3))
    assert (first.original.tolist(), first.counterfactual.tolist()) == ([1, 0, 1], [0, 1, 1])
    # Every move comes back: no direction can be taken for an effect, and that is said.
    net = net_disadvantage(read_arms(run)["full"], repeat, "male")
    assert (net.control, net.is_informative) == (0.0, False)


def test_a_refit_has_its_own_pairs(tmp_path: Path) -> None:
    pairs = RunPairs.read(make_run(tmp_path, visits())).refit_pairs()[1]
    assert pairs.original.tolist() == [0, 1, 0, -1, -1]
    assert pairs.counterfactual.tolist() == [1, 0, 0, -1, -1]


@pytest.mark.parametrize("refits", [0, 1])
def test_without_two_refits_the_repeat_arm_is_empty(tmp_path: Path, refits: int) -> None:
    arms = read_arms(make_run(tmp_path, visits(), refits=refits))
    assert len(arms["repeat"]) == 0
    assert measure_arms(arms).find("net_directional_triage_skew", arm="full")


def test_what_was_not_asked_yet_is_missing(tmp_path: Path) -> None:
    arms = read_arms(make_run(tmp_path, visits(), asked=False))
    assert arms["full"].unscored == {"gate_rejected": 1, "missing": 3, "sex_specific": 1}


def test_a_run_without_visits_is_refused(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / "run")
    run.path.mkdir()
    with pytest.raises(UserError, match="holds no visits"):
        read_arms(run)


def test_where_no_note_states_it_text_only_is_not_estimable(tmp_path: Path) -> None:
    silent = {"a": ("Chest pain.", "male"), "b": ("Cough.", "female")}
    made = measure_pairs_of(make_run(tmp_path, visits(silent)), list(TRIAGE_METRICS), 0)
    skews = [m for m in made if m.metric == "directional_triage_skew" and m.arm == "text_only"]
    assert len(skews) == 2
    for one in skews:
        assert (one.status, one.value, one.reason_code) == (
            "not_estimable",
            None,
            "no_note_states_it",
        )
        assert one.unscored == {"not_stated": 1}


def test_every_number_is_measured_once_under_a_known_name(tmp_path: Path) -> None:
    run = make_run(tmp_path, visits())
    made = measure_pairs_of(run, list(TRIAGE_METRICS), 0)
    assert len({one.id for one in made}) == len(made)
    found = measure_arms(read_arms(run))
    assert {stored_name(number) for number in found.numbers} <= set(TRIAGE_METRICS)
    keys = {(m.metric, m.arm, m.groups, m.control_arm) for m in made}
    assert len(keys) == len(made)
    skew = next(m for m in made if m.metric == "directional_triage_skew" and m.arm == "full")
    assert (skew.groups, skew.value, skew.counts) == (("male", "female"), 0.5, {"up": 1, "down": 0})
    assert skew.unscored == {"gate_rejected": 1, "sex_specific": 1}
    assert [m.model_dump_json() for m in made] == [
        m.model_dump_json() for m in measure_pairs_of(run, list(TRIAGE_METRICS), 0)
    ]
