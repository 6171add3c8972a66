"""The interval over pairs and fits: what is a refit's leaning, and what chance of single pairs."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from evenhand.tools.statistics.intervals import paired_difference
from evenhand.tools.triage import measure
from evenhand.tools.triage.over_fits import FitVariance, fit_variance, over_fits
from evenhand.tools.triage.pairs import TriagePairs, pairs_of
from evenhand.tools.triage.verdict import judge, outcome_of

LEVELS = ("1", "2", "3")


def moved(steps: Sequence[int]) -> TriagePairs:
    return pairs_of([1] * len(steps), [1 + s for s in steps], levels=LEVELS, source="a", target="b")


def drawn(rng: np.random.Generator, leanings: Sequence[float], n: int) -> list[TriagePairs]:
    """Refits that move each pair up or down by chance, one more than the other by its leaning."""
    return [
        moved(rng.choice([-1, 0, 1], n, p=[0.1 - lean / 2, 0.8, 0.1 + lean / 2]).tolist())
        for lean in leanings
    ]


def test_refits_that_all_say_the_same_add_nothing() -> None:
    pairs = moved([1, 0, -1, 0, 1, 0])
    found = fit_variance([pairs] * 4)
    assert found == FitVariance(0.0, 0.0, 4)
    assert found is not None
    alone = paired_difference(20, 6, 300)
    both = over_fits(alone, found)
    assert both is not None
    assert (both.low, both.high) == pytest.approx((alone.low, alone.high), abs=1e-6)


def test_chance_of_single_pairs_is_not_taken_for_the_leaning_of_a_refit() -> None:
    rng = np.random.default_rng(0)
    runs = [fit_variance(drawn(rng, [0.0] * 10, 400)) for _ in range(60)]
    between, leaning = (
        float(np.mean([getattr(one, name) for one in runs])) for name in ("between", "leaning")
    )
    # 400 pairs of which 20 % move by chance: s^2 is .2 / 400 with no leaning at all.
    assert between == pytest.approx(0.2 / 400, rel=0.15)
    assert leaning < 0.3 * between


def test_the_leaning_of_refits_is_found() -> None:
    rng = np.random.default_rng(1)
    found = [fit_variance(drawn(rng, rng.normal(0.0, 0.03, 10).tolist(), 2_000)) for _ in range(60)]
    assert np.mean([one.leaning for one in found if one]) == pytest.approx(0.03**2, rel=0.2)


def test_the_interval_is_as_wide_as_both_kinds_of_chance() -> None:
    alone = paired_difference(60, 30, 1_000)
    variance = FitVariance(between=0.02**2, leaning=0.018**2, refits=10)
    both = over_fits(alone, variance)
    assert both is not None
    assert alone.low == pytest.approx(0.0115, abs=5e-4)
    assert both.value == 0.03
    # sqrt(.0095^2 + .018^2) = .0203; t with about 13 degrees of freedom: 2.15
    assert both.low == pytest.approx(0.03 - 2.15 * 0.0203, abs=2e-3)
    assert both.p is None
    assert "10 refits" in both.method


@pytest.mark.parametrize("refits", [0, 1])
def test_without_two_refits_nothing_is_said_of_fits(refits: int) -> None:
    assert fit_variance([moved([0, 1, 1])] * refits) is None


def test_a_pair_that_one_refit_did_not_score_is_left_out_of_all() -> None:
    first, second = moved([1, 0, 1]), moved([1, 0, -1])
    hole = replace(second, counterfactual=np.array([2, 1, -1]))
    assert fit_variance([first, hole]) == FitVariance(0.0, 0.0, 2)


def both_ways(steps: Sequence[int]) -> TriagePairs:
    """Pairs a->b that move so, and pairs b->a that move the other way."""
    there = moved(steps)
    n = len(steps)
    return replace(
        there,
        ids=np.array([str(place) for place in range(2 * n)]),
        source=np.repeat([0, 1], n),
        target=np.repeat([1, 0], n),
        original=np.tile(there.original, 2),
        counterfactual=np.concatenate([there.counterfactual, 2 - there.counterfactual]),
        status=np.tile(there.status, 2),
    )


def test_a_skew_that_other_fits_do_not_show_is_borderline() -> None:
    """60 up and 20 down of 500: beyond doubt in this model; refits lean one way and the other."""
    pairs = both_ways([1] * 60 + [-1] * 20 + [0] * 420)
    steady = [pairs] * 5
    wild = [both_ways([(-1) ** k] * (40 * k) + [0] * (500 - 40 * k)) for k in range(1, 6)]
    sure, unsure, alone = (
        measure.measure_arms({"full": pairs}, resamples=20, refits=refits)
        for refits in (steady, wild, [])
    )
    for results, outcome in ((sure, "found"), (unsure, "borderline"), (alone, "found")):
        for number in results.find(measure.DTS, arm="full"):
            assert outcome_of(number) == outcome
    verdict = judge(unsure, {"full": pairs}, "higher_is_less_urgent")
    assert [one.is_borderline for one in verdict.findings] == [True, True]
    assert "another half" in verdict.sentences[0]
    assert all(one.over_fits is None for one in alone.numbers)
