"""Several verdicts become one number: what failed is left out, counted and never 0."""

import math

import pytest

from evenhand.tools.verdicts import (
    Criterion,
    PairRun,
    Verdict,
    aggregate,
    pairwise_verdict,
    rubric_score,
)


def test_failed_judgements_are_left_out_and_counted() -> None:
    result = aggregate([0.8, None, 0.6], ["ok", "unparsable", "ok"])
    assert result.value == pytest.approx(0.7)
    assert (result.n_used, result.n_failed, result.failed) == (2, 1, {"unparsable": 1})


def test_nothing_scored_is_no_number() -> None:
    result = aggregate([None, None], ["refused", "truncated"])
    assert (result.value, result.n_used, result.n_failed) == (None, 0, 2)
    assert aggregate([], []).value is None
    assert aggregate([], []).warning is None


@pytest.mark.parametrize(("share", "warning"), [(0.2, "too_many_failures"), (0.75, None)])
def test_too_many_failures_are_a_warning(share: float, warning: str | None) -> None:
    statuses = ["unparsable", "ok", "unparsable", "unparsable"]
    result = aggregate([None, 0.4, None, None], statuses, max_failed_share=share)
    assert (result.value, result.n_used, result.n_failed) == (0.4, 1, 3)
    assert result.warning == warning


def test_a_value_beside_a_failure_is_ignored_and_an_ok_without_one_has_failed() -> None:
    result = aggregate([0.0, math.nan, 0.5, None], ["refused", "ok", "ok", "ok"])
    assert (result.value, result.failed) == (0.5, {"refused": 1, "non_finite": 2})


def test_other_statistics() -> None:
    values, statuses = [0.1, 0.2, 0.9], ["ok"] * 3
    assert aggregate(values, statuses, statistic="median").value == 0.2
    assert aggregate(values, statuses, statistic="min").value == 0.1
    assert aggregate(values, statuses, statistic="max").value == 0.9


def test_values_and_statuses_must_match() -> None:
    with pytest.raises(ValueError, match="argument"):
        aggregate([1.0], [])


@pytest.mark.parametrize("word", ["N/A", "n/a", "N.A.", "na", "Not applicable", "not_applicable"])
def test_what_does_not_apply_counts_for_nothing(word: str) -> None:
    criteria = [Criterion("a", "pass"), Criterion("b", word), Criterion("c", "fail")]
    assert rubric_score(criteria).value == 0.5
    assert rubric_score(criteria).n_na == 1
    alone = rubric_score([Criterion("b", word, 2)])
    assert (alone.value, alone.n_na, alone.n_used) == (None, 1, 0)


def test_weights_and_unknown_outcomes() -> None:
    criteria = [Criterion("a", "Yes", 3), Criterion("b", "no", 1), Criterion("c", "perhaps", 9)]
    result = rubric_score(criteria)
    assert (result.value, result.n_used, result.n_unparsable) == (0.75, 2, 1)
    assert rubric_score([]).value is None
    assert rubric_score([Criterion("a", "pass", 0)]).value is None
    with pytest.raises(ValueError, match="weight"):
        rubric_score([Criterion("a", "pass", -1)])


AB, BA = ("A", "B"), ("B", "A")


@pytest.mark.parametrize(
    ("runs", "verdict"),
    [
        ([PairRun(AB, "second"), PairRun(BA, "first")], Verdict("ok", "B")),
        ([PairRun(AB, "tie"), PairRun(BA, "tie")], Verdict("tie")),
        (
            [PairRun(AB, "first"), PairRun(BA, "first")],
            Verdict("tie", flags=("position_inconsistent",)),
        ),
        (
            [PairRun(AB, "first"), PairRun(BA, "tie")],
            Verdict("tie", flags=("position_inconsistent",)),
        ),
        ([PairRun(AB, "first")], Verdict("unparsable", reason_code="one_order_only")),
        (
            [PairRun(AB, "first"), PairRun(AB, "first")],
            Verdict("unparsable", reason_code="one_order_only"),
        ),
        (
            [PairRun(AB, "first"), PairRun(BA, None)],
            Verdict("unparsable", reason_code="unscored_run"),
        ),
        ([], Verdict("unparsable", reason_code="one_order_only")),
    ],
)
def test_only_a_winner_in_both_orders_counts(runs: list[PairRun], verdict: Verdict) -> None:
    assert pairwise_verdict(runs) == verdict


def test_runs_must_compare_the_same_two() -> None:
    with pytest.raises(ValueError, match="same two"):
        pairwise_verdict([PairRun(AB, "first"), PairRun(("A", "C"), "first")])


@pytest.mark.parametrize(("status", "value"), [("ok", None), ("refused", 0.0)])
def test_a_verdict_has_a_value_exactly_when_ok(status: str, value: float | None) -> None:
    with pytest.raises(ValueError, match="exactly when"):
        Verdict(status, value)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
