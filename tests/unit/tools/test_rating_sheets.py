"""Sheets are blind, balanced and the same for the same seed."""

import csv
import io
from collections import Counter
from collections.abc import Callable

import pytest

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.run_directory import RunDirectory
from evenhand.tools.rating_sheets import (
    FILLED,
    SheetName,
    SheetSource,
    conclusion_of,
    draw_items,
    sheet_name,
    sheet_text,
)

MakeRun = Callable[..., RunDirectory]
SHEETS: tuple[SheetName, ...] = ("pairs", "ratings", "correctness")


@pytest.fixture(scope="module")
def source(make_run: MakeRun) -> SheetSource:
    return SheetSource(make_run(n=12))


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


@pytest.mark.parametrize("sheet", SHEETS)
def test_nothing_of_the_key_is_in_a_sheet(sheet: SheetName, source: SheetSource) -> None:
    items = draw_items(source, sheet, n=None, seed=0)
    text = sheet_text(source, sheet, items)
    for telling in ("hop", "original", "isolated", "placebo", "demo-", source.run_id, "base"):
        assert telling not in text
    for row in rows_of(text):
        assert not any(row[name] for name in FILLED[sheet])


@pytest.mark.parametrize("sheet", SHEETS)
def test_the_seed_decides_rows_and_order(sheet: SheetName, source: SheetSource) -> None:
    one, same, other = (draw_items(source, sheet, n=20, seed=seed) for seed in (3, 3, 4))
    assert one == same
    assert [item.id for item in one] != [item.id for item in other]
    assert len({item.id for item in one}) == 20


@pytest.mark.parametrize("sheet", SHEETS)
def test_every_row_can_be_found_again(sheet: SheetName, source: SheetSource) -> None:
    known = {item.id: item for item in source.every_item(sheet)}
    for conclusion in (False, True):
        for item in draw_items(source, sheet, n=20, seed=1, conclusion=conclusion):
            assert known[item.id] == item


def test_pairs_hold_both_ways_in_either_order(source: SheetSource) -> None:
    items = draw_items(source, "pairs", n=12, seed=0)
    orders = Counter(tuple(answer.arm for answer in item.answers) for item in items)
    assert set(orders) == {("no_hop", "multi_hop"), ("multi_hop", "no_hop")}
    assert len({item.sample_id for item in items}) == 12, "one case of each patient first"
    assert all(item.changed for item in items)


def test_ways_of_asking_are_balanced_and_on_the_same_questions(source: SheetSource) -> None:
    items = draw_items(source, "ratings", n=24, seed=0)
    arms = Counter(item.answers[0].arm for item in items)
    assert arms == {"no_hop": 12, "multi_hop": 12}
    by_arm = {
        arm: {item.answers[0].variant_id for item in items if item.answers[0].arm == arm}
        for arm in arms
    }
    assert by_arm["no_hop"] == by_arm["multi_hop"]


def test_several_places_do_not_crowd_out_the_rest(make_run: MakeRun) -> None:
    """Four locations a sample and one age: a first row of each is as often about either."""
    run = make_run(n=40, attributes=("age", "location"), intersections=())
    more = [
        (variant, answer)
        for variant in run.variants()
        if variant.group == "location"
        for answer in run.answers()
        if answer.variant_id == variant.id
    ]
    for copy in range(3):
        ids = {variant.id: f"{variant.id}{copy}" for variant, _ in more}
        run.append(
            "variants",
            [v.model_copy(update={"id": ids[v.id]}) for v in {v.id: v for v, _ in more}.values()],
        )
        run.append(
            "answers",
            [
                a.model_copy(update={"id": f"{a.id}{copy}", "variant_id": ids[a.variant_id]})
                for _, a in more
            ],
        )
    items = draw_items(SheetSource(run), "pairs", n=80, seed=0)
    assert Counter(item.changed for item in items) == {("age",): 40, ("location",): 40}


def test_what_was_refused_or_rejected_is_not_shown(source: SheetSource) -> None:
    """The fixture's first case: its gender answers are refused, its placebo is rejected."""
    items = draw_items(source, "ratings", n=500, seed=0)
    first = [item for item in items if item.sample_id.startswith("demo-0-")]
    assert {item.changed for item in first} == {(), ("age",), ("location",), ("age", "gender")}


def test_the_source_s_own_wording_stands_there_once(source: SheetSource) -> None:
    items = draw_items(source, "correctness", n=500, seed=0, arms=["original", "multi_hop"])
    originals = [item for item in items if item.answers[0].arm == "original"]
    assert len(originals) == 12


def test_only_the_last_step_is_shown_on_request(make_run: MakeRun) -> None:
    steps = "Step 1: (patient -> lives_in -> Leeds)\nStep 3: so "
    source = SheetSource(make_run(n=2, aside=steps))
    whole, conclusion = (
        rows_of(
            sheet_text(
                source, "ratings", draw_items(source, "ratings", n=4, seed=0, conclusion=only)
            )
        )
        for only in (False, True)
    )
    assert all("Step 1" in row["answer"] for row in whole)
    assert all(row["answer"].startswith("so It is") for row in conclusion)
    assert {row["id"] for row in whole}.isdisjoint(row["id"] for row in conclusion)


@pytest.mark.parametrize(
    ("text", "conclusion"),
    [
        ("It is influenza. Rest.", "It is influenza. Rest."),
        ("Step 1: (a -> b -> c)\nStep 3:\n(a -> d -> e)\n\n**Answer:** It is flu.", "It is flu."),
        ("Step 3:\n(a -> d -> e)\n1. (a -> f -> g)\nIt is flu.", "It is flu."),
        ("Step 3: (a -> d -> e)", "(a -> d -> e)"),
        ("", ""),
    ],
)
def test_a_conclusion_is_free_of_steps_and_triples(text: str, conclusion: str) -> None:
    assert conclusion_of(text) == conclusion


def test_an_answer_that_looks_like_a_formula_is_text(make_run: MakeRun) -> None:
    source = SheetSource(make_run(n=2, aside="=HYPERLINK(1) "))
    text = sheet_text(source, "ratings", draw_items(source, "ratings", n=4, seed=0))
    assert all(row["answer"].startswith("'=HYPERLINK") for row in rows_of(text))


def test_a_mistake_is_one_sentence(source: SheetSource, make_run: MakeRun) -> None:
    with pytest.raises(UserError, match="expected one of: pairs"):
        sheet_name("pair")
    with pytest.raises(UserError, match="expected one of: multi_hop"):
        draw_items(source, "pairs", n=1, seed=0, arms=["multihop", "no_hop"])
    with pytest.raises(UserError, match="two ways of asking"):
        draw_items(source, "pairs", n=1, seed=0, arms=["multi_hop"])
    alone = SheetSource(make_run(n=2, asked=("multi_hop",)))
    with pytest.raises(UserError, match="two ways of asking"):
        draw_items(alone, "pairs", n=1, seed=0)
