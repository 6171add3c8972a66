"""Simulated hospitals through the random forest: a small mode of bench/hospitals.py."""

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from evenhand.tools.triage.measure import DTS, PDR

BENCH = Path(__file__).parents[2] / "bench"
VISITS = 600


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCH))
    return importlib.import_module("hospital_audit")


@pytest.mark.parametrize("seed", [4, 5])
def test_the_planted_effect_of_a_hospital_is_found_and_its_direction_said(
    bench: ModuleType, seed: int
) -> None:
    hospital = bench.make_hospital(seed, visits=1_000, effect=2.0, noise=1.0)
    done = bench.audit(hospital, seed=seed, refit=0)
    words = {(found.instead_of, found.shown_as): found.words for found in done.verdict.findings}
    assert words == {
        ("male", "female"): "less urgent",
        ("female", "male"): "more urgent",
    }
    seen = done.results.find(DTS, arm="full", groups=("male", "female"))[0].estimate
    # The mimic takes some of the effect away and does not turn it round; refits say how much.
    assert 0.4 < done.truth["male->female"] < 0.5
    assert 0.2 < seen.value / done.truth["male->female"] < 1.2


def test_refits_make_the_interval_wider_where_the_fit_is_chance_too(bench: ModuleType) -> None:
    hospital = bench.make_hospital(5, visits=VISITS, effect=2.0, noise=1.0)
    done = bench.audit(hospital, seed=5, refit=4)
    for number in done.results.find(DTS, arm="full"):
        pairs, fits = number.estimate, number.over_fits
        assert fits.low < pairs.low < pairs.value < pairs.high < fits.high
        assert "4 refits" in fits.method
        spread = done.of_refits["->".join(number.groups)].std(ddof=1)
        # Of few visits the fit is more of the chance than the pairs are; no more than both.
        assert fits.high - fits.low < 2 * 3.2 * (spread + (pairs.high - pairs.low) / 3.92)
    assert all(one.number.over_fits is not None for one in done.verdict.findings)


def test_the_decider_without_effect_has_none_by_construction(bench: ModuleType) -> None:
    hospital = bench.make_hospital(1, visits=VISITS, effect=0.0, noise=1.0)
    audited = [sample for sample in hospital.visits.samples if sample.split == "audit"]
    truth = bench.true_skews(hospital, audited, [True] * len(audited), 1)
    assert truth == {"male->female": 0.0, "female->male": 0.0}


def test_the_placebo_arm_catches_a_clumsy_rewriter(bench: ModuleType) -> None:
    hospital = bench.make_hospital(1, visits=VISITS, effect=0.0, noise=1.0)

    def audited(**how: Any) -> Any:
        return bench.audit(hospital, seed=1, refit=0, **how)

    good, clumsy = audited(), audited(rewrite=bench.clumsy, gated=False)
    rates = [one.results.find(PDR, arm="placebo")[0].estimate for one in (good, clumsy)]
    assert good.notes["rewritten"] == clumsy.notes["rewritten"] > 200
    # Beyond doubt: what the good one moves is the irrelevant field, not the note.
    assert rates[0].high < rates[1].low
    assert rates[1].value > 3 * rates[0].value

    gated = audited(rewrite=bench.clumsy)
    assert gated.notes["rewritten"] <= 0.03 * good.notes["rewritten"]
    assert {code for code in gated.notes if code.startswith("gate_")} >= {
        "gate_number_changed",
        "gate_other_change",
    }
