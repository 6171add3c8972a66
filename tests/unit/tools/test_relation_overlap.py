"""Overlap and order of relations, on findings made by hand."""

import pytest

from evenhand.graph_store.run_directory import Call
from evenhand.tools.relation_overlap import (
    Cost,
    Findings,
    best_first,
    cost_of,
    held_out,
    only_by,
    shared_by_pair,
)

ALL = frozenset("abcdefgh")


def found(name: str, exposed: str, calls: int = 8, scored: frozenset[str] = ALL) -> Findings:
    return Findings(name, frozenset(exposed), scored, Cost(calls))


WIDE, INNER, ASIDE = found("wide", "abcd"), found("inner", "ab"), found("aside", "h")


def test_what_two_share_is_counted_where_both_are_scored() -> None:
    short = found("short", "a", scored=frozenset("ae"))
    shared = shared_by_pair([WIDE, INNER, short])
    assert (shared["inner", "wide"].both, shared["inner", "wide"].share) == (2, 1.0)
    assert shared["wide", "inner"].share == 0.5
    assert (shared["wide", "short"].both, shared["wide", "short"].of) == (1, 1)
    assert shared_by_pair([found("none", ""), WIDE])["none", "wide"].share is None


def test_only_what_no_other_exposes_counts_as_alone() -> None:
    assert only_by([WIDE, INNER, ASIDE]) == {"wide": 2, "inner": 0, "aside": 1}


def test_the_best_adds_most_for_its_calls() -> None:
    steps = best_first([INNER, ASIDE, WIDE])
    assert [(one.relation, one.new, one.exposed, one.calls) for one in steps] == [
        ("wide", 4, 4, 8),
        ("aside", 1, 5, 16),
        ("inner", 0, 5, 24),
    ]
    dear = found("wide", "abcd", calls=80)
    assert [one.relation for one in best_first([INNER, ASIDE, dear])] == ["inner", "aside", "wide"]


def test_the_order_is_tried_where_it_was_not_chosen() -> None:
    # In a, c, e, g "odd" is best, in b, d, f, h "even": each order fails in the other half first.
    odd, even = found("odd", "ace"), found("even", "bdf")
    assert held_out([odd, even], "abcdefgh") == [0.0, 1.0]
    assert held_out([WIDE, INNER], "abcdefgh") == [1.0, 1.0]
    assert held_out([found("none", "")], "abcdefgh") == [None]


def test_a_cost_that_nobody_stated_stays_unknown() -> None:
    said = Call(id="a", role="target", model="m", messages=(), reply="", prompt_tokens=5, seconds=2)
    priced = said.model_copy(update={"cost_usd": 0.5, "completion_tokens": 1})
    assert cost_of([said, priced]) == Cost(2, 11, 0.5, 4)
    assert cost_of([]) == Cost(0, None, None, None)
    one = Findings("x", frozenset("ab"), ALL, cost_of([said, priced]))
    assert (one.calls_each, one.tokens_each, one.usd_each) == (1.0, 5.5, 0.25)
    assert found("none", "").calls_each is None
    assert Findings("x", frozenset("a"), ALL, Cost(3)).usd_each is None


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 2, 0]])
def test_the_total_does_not_depend_on_the_order_given(order: list[int]) -> None:
    given = [(WIDE, INNER, ASIDE)[place] for place in order]
    assert best_first(given)[-1].exposed == len(frozenset("abcdh"))
