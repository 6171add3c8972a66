"""The gate on planted faults and on right variants of every arm (gate_cases.jsonl)."""

import json
from pathlib import Path
from typing import Any

import pytest

from evenhand.graph_store.records import Change
from evenhand.tools.gate import GateVerdict, check_isolation

CASES: list[dict[str, Any]] = [
    json.loads(line)
    for line in Path(__file__).with_name("gate_cases.jsonl").read_text("utf-8").splitlines()
]
LEAST_SHARE = 0.95


def verdict(case: dict[str, Any]) -> GateVerdict:
    changes = [Change.model_validate(change) for change in case["changes"]]
    return check_isolation(case["base"], case["variant"], changes)


@pytest.mark.parametrize("expect", ["accepted", "rejected"])
def test_the_gate_is_right_in_nearly_all_cases(expect: str) -> None:
    own = [case for case in CASES if case["expect"] == expect]
    assert len(own) >= 40
    wrong = [
        (case.get("fault") or case["arm"], case["variant"], said.reason)
        for case in own
        if (said := verdict(case)).accepted != (expect == "accepted")
    ]
    assert len(wrong) <= (1 - LEAST_SHARE) * len(own), wrong


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.get("fault") or case["arm"])
def test_a_case_of_the_gate(case: dict[str, Any]) -> None:
    said = verdict(case)
    assert said.accepted == (case["expect"] == "accepted"), said
    assert said.accepted == (said.reason is None)


def test_the_cases_hold_every_arm() -> None:
    arms = {case["arm"] for case in CASES if case["expect"] == "accepted"}
    names = {"age", "gender", "location", "disease", "race"}
    assert {*names, *(f"added:{name}" for name in names)} <= arms
    assert {"age+gender", "age+gender+location", "added:age+gender+location"} <= arms
