"""From pairs of arms to numbers and a verdict."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from evenhand.tools.statistics.estimate import Counts
from evenhand.tools.statistics.intervals import tango_limits
from evenhand.tools.statistics.paired_tests import mid_p
from evenhand.tools.triage import estimates, measure
from evenhand.tools.triage.controls import net_rate, net_skew
from evenhand.tools.triage.metrics import moved
from evenhand.tools.triage.pairs import Direction, TriagePairs, pairs_of, urgency
from evenhand.tools.triage.verdict import TriageVerdict, judge
from evenhand.tools.triage.what_if import amplification, extrapolate, least_skew
from evenhand.training.fit_quality import fit_quality

LESS: Direction = "higher_is_less_urgent"
LEVELS = ("1", "2", "3", "4", "5")


def made_pairs(n: int = 600, up: float = 0.12, down: float = 0.02, seed: int = 0) -> TriagePairs:
    """Half M->F, which move up at rate `up` and down at `down`; half F->M, the other way round."""
    rng = np.random.default_rng(seed)
    source = np.arange(n) % 2
    first = rng.integers(1, 4, n)
    step = rng.choice([1, -1, 0], n, p=[up, down, 1 - up - down])
    return TriagePairs(
        levels=LEVELS,
        groups=("M", "F"),
        ids=np.array([f"v{i}" for i in range(n)]),
        source=source,
        target=1 - source,
        original=first,
        counterfactual=first + np.where(source == 0, step, -step),
        status=np.full(n, "ok"),
    )


def said(arms: Mapping[str, TriagePairs], direction: Direction | None = LESS) -> TriageVerdict:
    return judge(measure.measure_arms(arms, resamples=50), arms, direction)


def test_the_planted_skew_is_found_and_said_in_words() -> None:
    verdict = said({"full": made_pairs()})
    assert verdict.status == "found"
    assert {(f.shown_as, f.words) for f in verdict.findings} == {
        ("F", "less urgent"),
        ("M", "more urgent"),
    }
    turned = said({"full": made_pairs()}, "higher_is_more_urgent")
    assert turned.findings[0].words == "more urgent"


def test_without_a_direction_there_is_no_verdict() -> None:
    verdict = said({"full": made_pairs()}, None)
    assert (verdict.status, verdict.reason_code) == ("no_verdict", "no_direction")
    assert urgency("up", None) == "higher number"


def test_one_level_alone_or_one_group_alone_is_no_verdict() -> None:
    pairs = made_pairs()
    same = replace(pairs, original=np.ones(600, int), counterfactual=np.ones(600, int))
    assert said({"full": same}).reason_code == "single_class"
    men = pairs.between("M", "F")
    assert said({"full": men}).reason_code == "group_empty"
    nmd = measure.measure_arms({"full": men}).find(measure.NMD)[0]
    assert (nmd.estimate.status, nmd.estimate.reason_code) == ("not_estimable", "group_empty")


def test_recorded_levels_that_run_the_other_way_stop_the_verdict() -> None:
    pairs = made_pairs()
    turned = replace(pairs, recorded=4 - pairs.original)
    assert said({"full": turned}).reason_code == "reversed_scale"
    assert said({"full": replace(pairs, recorded=pairs.original)}).status == "found"


def test_a_clumsy_rewriter_is_caught_by_its_placebo() -> None:
    """What moves in the placebo as well is no effect of the attribute."""
    pairs = made_pairs(up=0.15, down=0.0)
    verdict = said({"full": pairs, "placebo": made_pairs(up=0.15, down=0.0, seed=0)})
    assert verdict.status == "none_found"
    raw = said({"full": pairs})
    assert raw.status == "found"
    assert "No placebo arm" in raw.sentences[-1]


def test_a_placebo_that_never_moves_is_no_information() -> None:
    pairs = made_pairs()
    still = replace(pairs, counterfactual=pairs.original)
    assert not net_skew(pairs, still).is_informative
    assert "no information" in said({"full": pairs, "placebo": still}).sentences[-1]


def test_a_placebo_that_moves_one_way_of_showing_alone_is_named_so() -> None:
    pairs = made_pairs()
    of_men = pairs.source == 0
    moved_back = np.where(of_men, pairs.original, pairs.counterfactual)
    verdict = said({"full": pairs, "placebo": replace(pairs, counterfactual=moved_back)})
    assert any("moved nothing with M shown as F:" in text for text in verdict.sentences)


def test_a_mimic_that_agrees_by_chance_says_nothing_about_the_people() -> None:
    pairs = made_pairs()
    results = measure.measure_arms({"full": pairs}, resamples=50)

    def drawn(told: np.ndarray) -> TriageVerdict:
        quality = fit_quality(pairs.original, np.eye(len(LEVELS))[told], LEVELS, seed=0)
        return judge(results, {"full": pairs}, LESS, mimicked=quality)

    assert drawn(pairs.original).status == "found"
    by_chance = drawn(np.random.default_rng(1).permutation(pairs.original))
    assert (by_chance.status, by_chance.reason_code) == ("no_verdict", "mimic_at_chance")
    assert "says nothing about them" in by_chance.sentences[0]


def test_net_numbers_are_of_the_same_pairs() -> None:
    pairs = made_pairs()
    half = pairs.where(np.arange(600) < 300)
    made = net_rate(pairs, half)
    assert (made.estimate.n, made.estimate.n_unscored) == (300, 300)
    assert made.arm == made.control
    assert made.estimate.value == 0
    assert made.estimate.low is not None
    assert made.estimate.low < 0


def test_several_refits_of_a_pair_are_one_unit() -> None:
    pairs = made_pairs(60)
    rows = np.repeat(np.arange(60), 3)
    refits = pairs.where(rows)
    made = net_rate(pairs, replace(refits, patient=rows))
    assert made.estimate.n == 60
    assert made.estimate.value == 0


def test_unscored_pairs_are_counted_and_left_out() -> None:
    pairs = made_pairs()
    lost = np.arange(600) < 60
    rows = replace(
        pairs,
        counterfactual=np.where(lost, -1, pairs.counterfactual),
        status=np.where(lost, "refused", "ok"),
    )
    number = measure.measure_arms({"full": rows}).find(measure.PDR)[0]
    assert number.unscored == {"refused": 60}
    assert (number.estimate.n, number.estimate.n_unscored) == (540, 60)


def test_no_interval_has_zero_width_but_the_bootstrap_operation() -> None:
    pairs = made_pairs()
    still = replace(pairs, counterfactual=pairs.original)
    for number in measure.measure_arms({"full": still}).numbers:
        low, high = number.estimate.low, number.estimate.high
        assert low is not None
        assert high is not None
        assert high > low, number.symbol
        assert number.bootstrap is not None
        assert (number.bootstrap.low, number.bootstrap.high) == (0, 0)
        assert number.bootstrap.flags == ("all_equal",)


def test_visits_of_one_patient_widen_every_interval() -> None:
    pairs = made_pairs()
    rows = pairs.where(np.repeat(np.arange(600), 4))
    alone = {n.symbol: n.estimate for n in measure.measure_arms({"full": rows}).numbers}
    known = replace(rows, patient=np.repeat(np.arange(600), 4))
    for number in measure.measure_arms({"full": known}).numbers:
        one, other = number.estimate, alone[number.symbol]
        widths = [
            (e.high or 0.0) - (e.low or 0.0) for e in (one, other)
        ]  # four copies: half the information
        assert widths[0] / widths[1] == pytest.approx(2, rel=0.12), number.symbol


def test_three_groups_are_measured_by_ordered_pair() -> None:
    n = 300
    rng = np.random.default_rng(0)
    source = np.arange(n) % 3
    pairs = TriagePairs(
        levels=LEVELS,
        groups=("a", "b", "c"),
        ids=np.arange(n).astype(str),
        source=source,
        target=(source + 1 + np.arange(n) // 150) % 3,
        original=rng.integers(1, 4, n),
        counterfactual=rng.integers(1, 4, n),
        status=np.full(n, "ok"),
    )
    made = measure.measure_arms({"full": pairs}, resamples=20)
    skews = {number.groups for number in made.find(measure.DTS)}
    assert skews == {(x, y) for x in "abc" for y in "abc" if x != y}
    assert {n.groups for n in made.find(measure.NMD)} == {("a", "b"), ("a", "c"), ("b", "c")}


def test_a_what_if_is_never_without_interval_or_source() -> None:
    pairs = made_pairs()
    gap = estimates.skew_gap(pairs.between("M", "F"), pairs.between("F", "M"))
    made = extrapolate(gap, volume=20.9e6, period="a year", source="a count", share=0.5)
    assert made.low < made.value < made.high
    assert "does not show" in made.sentence
    assert "a count" in made.sentence
    with pytest.raises(ValueError, match="interval"):
        extrapolate(
            replace(gap, low=None), volume=1e6, period="a year", source="a count", share=0.5
        )
    with pytest.raises(ValueError, match="source"):
        extrapolate(gap, volume=1e6, period="a year", source=" ", share=0.5)


def test_amplification_is_the_gap_beyond_the_recorded_one() -> None:
    pairs = made_pairs()
    wider = np.where(pairs.source == 1, pairs.original - 1, pairs.original)
    made = amplification(replace(pairs, recorded=wider), ("M", "F"))
    assert made is not None
    assert made.estimate.value == pytest.approx(1.0)
    assert made.decider is not None
    assert made.recorded is not None
    assert made.decider - made.recorded == pytest.approx(1.0)
    assert amplification(pairs, ("M", "F")) is None


def test_least_skew_is_that_of_the_plan() -> None:
    made = least_skew(400, 0.1, ("M", "F"))
    assert made.value == pytest.approx(0.065, abs=0.001)
    assert least_skew(0, 0.1, ("M", "F")).value is None


def test_arms_of_another_scale_are_refused() -> None:
    other = replace(made_pairs(), levels=("1", "2", "3"))
    with pytest.raises(ValueError, match="one scale"):
        measure.measure_arms({"full": made_pairs(), "text_only": other})


def test_places_off_the_scale_are_refused() -> None:
    with pytest.raises(ValueError, match="places -1 to 1"):
        pairs_of([0, 2], [0, 0], levels=["1", "2"], source="a", target="b")


@pytest.mark.parametrize("skew", [0.03, 0.0])
def test_a_skew_of_three_points_is_found_and_covered(skew: float) -> None:
    """A small run of bench/triage_coverage.py: 300 audits of 3,000 pairs, 10 % changed."""
    cells = np.zeros((3, 3))
    cells[1] = (0.1 - skew) / 2, 0.9, (0.1 + skew) / 2
    drawn = np.random.default_rng(5).multinomial(3_000, cells.ravel(), size=300)
    counts: Counts = drawn.reshape(300, 3, 3)
    up, down = moved(counts, "up"), moved(counts, "down")
    low, high = tango_limits(up, down, counts.sum(axis=(-2, -1)))
    found = float((mid_p(up, down) < 0.05).mean())
    covered = float(((low <= skew) & (skew <= high)).mean())
    assert 0.9 <= covered <= 0.99
    assert found >= 0.9 if skew else found <= 0.09
