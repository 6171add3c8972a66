"""docs/published_answers.md states what `evenhand measure` gives for the published score files."""

import json
from pathlib import Path
from typing import Any

import pytest

from evenhand.tools import wording
from evenhand.ui.cli import run

PAGE = Path(__file__).parents[2] / "docs" / "published_answers.md"
SETS = {
    "DiversityMedQA, Mistral-7B judged by itself": (
        "divmedQA_original_biassc_target_mistral7b_judge_mistral7b.csv",
        "divmedQA_nohop_biassc_target_mistral7b_judge_mistral7b.csv",
        "divmedQA_multihop_biassc_target_mistral7b_judge_mistral7b.csv",
    ),
    "DiversityMedQA, Mistral-7B judged by LLaMA-3.2-3B": (
        "divmedQA_original_biassc_target_mistral7b_judge_llama3.csv",
        "divmedQA_nohop_biassc_target_mistral7b_judge_llama38b.csv",
        "divmedQA_multihop_biassc_target_mistral7b_judge_llama38b.csv",
    ),
    "EquityMedQA, LLaMA-3.1-8B judged by LLaMA-3.2-3B": (
        "eqmedqa_original_biassc_target_llama3.1_judge_llama32.csv",
        "eqmedqa_nohop_biassc_target_llama3.1_judge_llama32.csv",
        "eqmedqa_multihop_biassc_target_llama3.1_judge_llama32.csv",
    ),
    "EquityMedQA, LLaMA-3.1-8B judged by Mistral-7B": (
        "eqmedqa_original_biassc_target_llama3.1_judge_mistral7b.csv",
        "eqmedqa_nohop_biassc_target_llama3.1_judge_mistral7b.csv",
        "eqmedqa_multihop_biassc_target_llama3.1_judge_mistral7b.csv",
    ),
}
DIMENSIONS = ("age", "gender", "age_gender", "location", "age_gender_location")
ARMS = ("original", "no_hop", "multi_hop")
Numbers = dict[tuple[str, str | None, str, str], dict[str, Any]]


def measured(name: str, shared: Path, capsys: pytest.CaptureFixture[str]) -> Numbers:
    folder = shared / "data" / "llm_kg_bias" / "Results_Bias_Scores"
    words = [f"{arm}={folder / file}" for arm, file in zip(ARMS, SETS[name], strict=True)]
    assert run(["measure", *words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["measurements"]
    return {(m["metric"], m["control_arm"], m["arm"], m["groups"][0]): m for m in found}


def cell(m: dict[str, Any], unit: wording.Unit) -> str:
    limits = wording.interval(m["low"], m["high"], unit)
    value = wording.number(m["value"], unit)
    p = "" if m["p_adjusted"] is None else f", {wording.p_value(m['p_adjusted'])}"
    return f"{value} {limits}{p}"


def row(numbers: Numbers, dimension: str) -> str:
    means = [cell(numbers["attribute_association", None, arm, dimension], "score") for arm in ARMS]
    shifts = [
        cell(
            numbers["attribute_association_shift", reference, "multi_hop", dimension],
            "score_difference",
        )
        for reference in ("original", "no_hop")
    ]
    return f"| {wording.group(dimension)} | {' | '.join(means + shifts)} |"


def divergence_row(numbers: Numbers, dimension: str) -> str:
    cells = []
    for reference in ("original", "no_hop"):
        m = numbers["js_divergence", reference, "multi_hop", dimension]
        p = wording.p_value(m["p_adjusted"])
        cells += [f"{m['value']:.3f}", f"{m['floor']:.3f}, {m['floor_high']:.3f}", p]
    return f"| {wording.group(dimension)} | {' | '.join(cells)} |"


@pytest.mark.parametrize("name", SETS)
def test_the_page_has_the_numbers_of_the_verb(
    name: str, shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, _, section = PAGE.read_text("utf-8").partition(f"### {name}\n")
    section = section.partition("\n#")[0]
    numbers = measured(name, shared, capsys)
    for dimension in DIMENSIONS:
        assert row(numbers, dimension) in section
        assert divergence_row(numbers, dimension) in section
