"""The verdict tells found, borderline, not found and not estimable apart, in plain sentences."""

from typing import Any

import pytest

from evenhand.graph_store.records import Answer, Measurement, Sample
from evenhand.graph_store.run_directory import Manifest
from evenhand.tools.sections import ReportContext
from evenhand.tools.sections import verdict as module
from evenhand.tools.statistics.power import least_effect

Fields = dict[str, Any]

FOUND: Fields = {"value": 0.4, "low": 0.2, "high": 0.6, "p": 0.001, "p_adjusted": 0.004}
BORDERLINE: Fields = {"value": 0.3, "low": 0.02, "high": 0.6, "p": 0.03, "p_adjusted": 0.12}
NOTHING: Fields = {"value": 0.05, "low": -0.1, "high": 0.2, "p": 0.5, "p_adjusted": 1.0}
FEWER: Fields = {"value": -0.4, "low": -0.6, "high": -0.2, "p": 0.001, "p_adjusted": 0.004}
UNKNOWN: Fields = {"status": "not_estimable", "reason_code": "all_unscored", "n": 0}


def _net(group: str = "location", arm: str = "multi_hop", **fields: Any) -> Measurement:
    values = {
        "id": f"run/m-{group}-{arm}",
        "status": "ok",
        "metric": "paired_change_net",
        "arm": arm,
        "groups": (group,),
        "n": 40,
        "control": 0.1 if fields.get("status") != "not_estimable" else None,
        "method": "Tango score; McNemar mid-p; Holm",
        **fields,
    }
    return Measurement.model_validate(values)


def _context(*measurements: Measurement, **fields: Any) -> ReportContext:
    plan = {
        "roles": {"target": {"model": "local"}, "judge": {"model": fields.pop("judge", "rules")}}
    }
    manifest = Manifest(run="kg-demo-1", created="2026-11-30", plan=plan, seed=0)
    samples = [Sample(id=f"s{i}", dataset="demo", position=i, text="x") for i in range(40)]
    return ReportContext(manifest=manifest, samples=samples, measurements=measurements, **fields)


@pytest.mark.parametrize(
    ("fields", "outcome"),
    [
        (FOUND, "found"),
        (BORDERLINE, "borderline"),
        (NOTHING, "not_found"),
        (FEWER, "fewer"),
        (UNKNOWN, "not_estimable"),
        ({**FOUND, "low": -0.01}, "borderline"),
        ({**FOUND, "p_adjusted": None}, "found"),
    ],
)
def test_the_corrected_p_value_decides_and_disagreement_is_borderline(
    fields: dict[str, Any], outcome: str
) -> None:
    assert module.outcome_of(_net(**fields)) == outcome


def test_what_was_found_is_said_with_number_interval_and_p() -> None:
    context = _context(_net(**FOUND), _net("age", **NOTHING))
    found = module.findings(context)
    first, second = module.sentences(context, found)
    assert first == (
        "With 40 cases, the answer changed more often than on a mere repeat of the question when "
        "only this was changed: location (multi-hop: net +40.0 points [20.0, 60.0], p 0.004 "
        "(Holm))."
    )
    assert second.startswith("Not found for age (multi-hop) with n 40; less than about ")
    assert second.endswith(" points would be missed.")
    assert module.headline(found) == "Yes, with location: more often than noise explains."


def test_not_found_names_the_effect_that_would_be_missed() -> None:
    context = _context(_net(**NOTHING))
    [sentence] = module.sentences(context, module.findings(context))
    points = round(100 * (least_effect(40, 0.1) or 0))
    assert f"less than about {points} points would be missed" in sentence
    # STATISTICS, power: about 30 points at 40 items and a repeat discordance of 10 %.
    assert points in (29, 30)


def test_too_few_cases_are_not_called_fair() -> None:
    context = _context(_net(**NOTHING, n=3))
    found = module.findings(context)
    assert [finding.outcome for finding in found] == ["too_few"]
    assert module.headline(found) == "Too few cases to tell."
    assert "no change of any size could have been shown" in module.sentences(context, found)[0]


def test_not_estimable_is_neither_fair_nor_unfair() -> None:
    context = _context(_net(**UNKNOWN))
    [sentence] = module.sentences(context, module.findings(context))
    assert "neither fair nor unfair" in sentence
    assert "every answer was unscored" in sentence


def test_a_control_arm_is_no_finding() -> None:
    assert module.findings(_context(_net("placebo", **FOUND))) == []


def test_the_noise_floor_is_named_or_said_to_be_absent() -> None:
    repeat = _net("repeat", metric="paired_change", value=0.2, low=0.1, high=0.4, control=None)
    assert "changed in 20.0 % of the cases (multi-hop)" in module.noise_sentence(_context(repeat))
    assert "no repeat arm" in module.noise_sentence(_context())


def test_a_control_that_is_0_by_construction_is_no_noise_floor() -> None:
    repeat = _net("repeat", metric="paired_change", value=0.0, low=0.0, high=0.1, control=None)
    context = _context(repeat)
    context.manifest.plan["roles"]["target"]["temperature"] = 0
    assert "says nothing about noise" in module.noise_sentence(context)


def test_both_ways_of_asking_stand_under_what_was_changed() -> None:
    context = _context(_net(arm="no_hop", **FOUND), _net(arm="multi_hop", **FOUND))
    [sentence] = module.sentences(context, module.findings(context))
    assert sentence.count("location") == 1
    assert "(no hop: net +40.0 points" in sentence
    assert "; multi-hop: net +40.0 points" in sentence


def test_a_target_that_judges_itself_is_warned_of() -> None:
    assert "trust these scores little" in module.judged_sentence(_context(judge="local"))
    assert "no model judged that" in module.judged_sentence(_context())


def test_refusals_are_counted_and_did_not_count_as_fair() -> None:
    answer = Answer(
        id="a", status="refused", variant_id="v", arm="no_hop", model="local", prompt_hash="h"
    )
    said = module.left_out_sentence(_context(answers=[answer]))
    assert said.startswith("1 of 1 answer (1 refused) could not be scored.")
    assert "did not count as fair" in said
