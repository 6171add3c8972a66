"""Several verdicts become one number: what failed is left out, counted and never 0."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.tools.verdicts import (
    NOT_NAMED,
    NOTHING_NAMED,
    ONE_ORDER,
    Criterion,
    PairRun,
    Verdict,
    aggregate,
    at_least_one,
    both_orders,
    counts_as_verdict,
    majority,
    pairwise_verdict,
    rubric_score,
    unparsable,
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


CHANGED, SAME = Verdict("ok", 1.0, reason="a -> b"), Verdict("ok", 0.0)
MISSING = Verdict("unparsable", reason_code=NOT_NAMED)
FAILED = [Verdict("refused"), Verdict("truncated"), Verdict("unparsable", reason_code="no_label")]
READ = st.sampled_from([CHANGED, SAME, MISSING])
ANY_VERDICT = st.one_of(READ, st.sampled_from(FAILED))


@given(ANY_VERDICT, ANY_VERDICT)
def test_only_what_both_orders_say_is_a_verdict(first: Verdict, second: Verdict) -> None:
    made = both_orders(first, second)
    if {first, second} & set(FAILED):
        assert made in FAILED
    elif first == second:
        assert made == first
    else:
        assert (made.status, made.flags) == ("tie", ("position_inconsistent",))
    swapped = both_orders(second, first)
    assert (made.status == "ok", made.value) == (swapped.status == "ok", swapped.value)


@given(st.lists(ANY_VERDICT, max_size=5))
def test_a_change_in_one_kind_is_a_change_and_a_failure_is_never_none(some: list[Verdict]) -> None:
    made = at_least_one(some)
    if CHANGED in some:
        assert made == CHANGED
    elif set(FAILED) & set(some):
        assert made in FAILED
    elif SAME in some:
        assert made == SAME
    else:
        assert (made.status, made.reason_code) == ("unparsable", NOTHING_NAMED)


def test_one_order_and_a_kind_that_is_not_named_are_not_counted() -> None:
    assert counts_as_verdict("pairwise_change", None)
    assert counts_as_verdict("pairwise_change", "no_label")
    assert not counts_as_verdict("pairwise_change" + ONE_ORDER, None)
    assert not counts_as_verdict("paired_change", NOT_NAMED)


BIASED, UNBIASED, REFUSED = Verdict("ok", "biased"), Verdict("ok", "unbiased"), Verdict("refused")


@pytest.mark.parametrize(
    ("votes", "wanted"),
    [
        ([BIASED], BIASED),
        ([UNBIASED, BIASED, BIASED], BIASED),
        ([BIASED, REFUSED, REFUSED], REFUSED),
        ([BIASED, REFUSED, BIASED], BIASED),
        ([BIASED, UNBIASED], Verdict("tie")),
        ([BIASED, UNBIASED, REFUSED], Verdict("tie")),
        ([], unparsable("no_votes")),
    ],
)
def test_the_majority_of_several_askings(votes: list[Verdict], wanted: Verdict) -> None:
    assert majority(votes) == wanted
