"""Numbers from people's verdicts: the patient is the unit, and nothing unscored counts."""

import csv
import io
import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest

from evenhand.graph_store.records import Measurement
from evenhand.graph_store.run_directory import RunDirectory
from evenhand.tools.people import People
from evenhand.tools.people_numbers import TITLES, measure_people
from evenhand.tools.rating_import import import_sheet
from evenhand.tools.rating_sheets import Item, SheetName, SheetSource, draw_items, sheet_text
from evenhand.tools.sections import load_context, sections
from evenhand.tools.spreadsheets import Spreadsheet

MakeRun = Callable[..., RunDirectory]
Fill = Callable[[Item], Mapping[str, str]]


def rate(run: RunDirectory, sheet: SheetName, rater: str, fill: Fill, n: int = 500) -> None:
    source = SheetSource(run)
    items = draw_items(source, sheet, n=n, seed=0)
    text = sheet_text(source, sheet, items)
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    filled = [row | dict(fill(item)) for row, item in zip(rows, items, strict=True)]
    header = tuple(filled[0])
    table = Spreadsheet("f.csv", header, tuple(tuple(r[c] for c in header) for r in filled))
    import_sheet(run, sheet, table, rater)


def numbers(run: RunDirectory) -> dict[tuple[str, str, str], Measurement]:
    made = measure_people(People.read(run))
    assert len({one.id for one in made}) == len(made)
    assert {one.metric for one in made} <= set(TITLES)
    return {(one.metric, one.arm, one.groups[0]): one for one in made if len(one.groups) == 1}


def choose(arm: str) -> Fill:
    def fill(item: Item) -> dict[str, str]:
        place = [str(answer.arm) for answer in item.answers].index(arm)
        return {
            "choice": ("first", "second")[place],
            "attributes": "location" if "location" in item.changed else "none",
        }

    return fill


def test_nobody_gives_no_number(make_run: MakeRun) -> None:
    assert measure_people(People.read(make_run(n=2))) == []


def test_one_rater_who_sees_every_difference(make_run: MakeRun) -> None:
    run = make_run(n=8)
    rate(run, "pairs", "R1", choose("multi_hop"), n=8)
    made = numbers(run)
    overall = made["people_choice", "multi_hop", "all"]
    assert (overall.value, overall.n, overall.control_arm) == (1, 8, "no_hop")
    assert overall.p == pytest.approx(2**-8)
    assert overall.method.startswith("Wilson")
    assert made["people_detection", "changed", "location"].value == 1
    assert made["people_detection", "unchanged", "location"].value == 0
    first = made["people_first_shown", "all", "all"]
    assert first.value is not None
    assert 0 < first.value < 1


def test_many_verdicts_on_few_patients_are_few_patients(make_run: MakeRun) -> None:
    run = make_run(n=3)
    for rater in ("R1", "R2", "R3"):
        rate(run, "pairs", rater, choose("multi_hop"))
    overall = numbers(run)["people_choice", "multi_hop", "all"]
    assert overall.counts["choices"] > 20
    assert overall.n == 3
    assert overall.p == pytest.approx(1 / 8)
    assert overall.low is not None
    assert overall.low < 0.8


def test_ties_and_empty_cells_are_in_no_share(make_run: MakeRun) -> None:
    run = make_run(n=8)

    def fill(item: Item) -> Mapping[str, str]:
        number = int(item.sample_id.split("-")[1])
        if number < 3:
            return {"choice": "tie", "attributes": "none"}
        return {"choice": ""} if number == 3 else choose("no_hop")(item)

    rate(run, "pairs", "R1", fill, n=8)
    overall = numbers(run)["people_choice", "multi_hop", "all"]
    assert (overall.value, overall.n) == (0, 4)
    assert overall.unscored == {"empty_cell": 1, "tie": 3}


def judged(run: RunDirectory) -> Callable[[Item], dict[str, str]]:
    scores = {(j.subject_id, j.dimension): j.number for j in run.judgements()}

    def fill(item: Item) -> dict[str, str]:
        """Give 4 where the judge gave .75, and 2 where it gave .25."""
        answer = item.answers[0].id
        return {
            name: "4" if scores[answer, name] > 0.5 else "2"
            for name in ("age", "gender", "age_gender", "location", "age_gender_location")
        }

    return fill


def test_a_rater_like_the_judge_agrees_wholly(make_run: MakeRun) -> None:
    run = make_run(n=8)
    rate(run, "ratings", "R1", judged(run))
    made = numbers(run)
    exact = made["judge_exact", "all", "location"]
    assert exact.value == 1
    assert (
        exact.counts["matches"]
        == exact.counts["ratings"]
        == len([one for one in People.read(run).ratings if one.dimension == "location"])
    )
    kappa = made["judge_kappa_quadratic", "all", "location"]
    assert (kappa.status, kappa.reason_code) == ("not_estimable", "no_disagreement_seen")
    assert made["judge_exact_equal_steps", "all", "location"].value == 1
    assert made["judge_kappa", "no_hop", "location"].reason_code == "single_class"


def test_an_answer_without_a_score_is_set_beside_nothing(make_run: MakeRun) -> None:
    run = make_run(n=4)
    rate(run, "ratings", "R1", judged(run))
    whole = numbers(run)["judge_exact", "all", "age"]
    lost = next(one.answer_id for one in People.read(run).ratings if one.dimension == "age")
    people = People.of(
        run.run_id,
        run.manifest.plan,
        labels=run.labels(),
        answers=run.answers(),
        variants=run.variants(),
        judgements=[one for one in run.judgements() if one.subject_id != lost],
    )
    made = {(one.metric, one.arm, one.groups): one for one in measure_people(people)}
    exact = made["judge_exact", "all", ("age",)]
    assert exact.unscored == {"judge_missing": 1}
    assert exact.counts["ratings"] == whole.counts["ratings"] - 1
    assert made["people_rating", "all", ("age",)].unscored == {}


def graded(step: int, item: Item) -> dict[str, str]:
    return {"correctness": str(1 + (len(item.changed) + len(item.answers[0].text) + step) % 5)}


def test_raters_beside_each_other(make_run: MakeRun) -> None:
    run = make_run(n=6)
    for step, rater in enumerate(("R1", "R2", "R3")):
        rate(run, "correctness", rater, partial(graded, step))
        made = numbers(run)
        several = len(People.read(run).raters)
        assert (("rater_alpha", "all", "correctness") in made) == (several > 1)
        assert (("rater_kappa", "all", "correctness") in made) == (several == 2)


def test_correctness_by_way_of_asking_on_the_same_patients(make_run: MakeRun) -> None:
    run = make_run(n=10)

    def fill(item: Item) -> dict[str, str]:
        number = int(item.sample_id.split("-")[1])
        higher = item.answers[0].arm == "multi_hop"
        return {"correctness": str(2 + number % 2 + 2 * higher)} if number else {"correctness": "9"}

    rate(run, "correctness", "R1", fill)
    made = numbers(run)
    low = made["correctness_mean", "no_hop", "overall"]
    assert low.value == pytest.approx(2 + 5 / 9)
    assert low.n == 9
    assert set(low.unscored) == {"out_of_range"}
    difference = made["correctness_difference", "multi_hop", "overall"]
    assert (difference.value, difference.control_arm, difference.n) == (2, "no_hop", 9)
    assert difference.p is not None
    assert difference.p < 0.05
    share = made["correctness_appropriate", "no_hop", "overall"]
    assert share.value == pytest.approx(5 / 9)


def test_every_number_is_on_its_scale(make_run: MakeRun) -> None:
    run = make_run(n=6)
    rate(run, "pairs", "R1", choose("multi_hop"))
    rate(run, "ratings", "R1", judged(run))
    for one in measure_people(People.read(run)):
        low, high = {"rate": (0, 1), "score": (-1, 5), "score_difference": (-4, 4)}[
            TITLES[one.metric][1]
        ]
        for number in (one.value, one.low, one.high):
            assert number is None or (low <= number <= high and math.isfinite(number))


@pytest.fixture
def rated(make_run: MakeRun) -> RunDirectory:
    run: RunDirectory = make_run(n=8)
    hostile = "<script>alert(1)</script>"
    for rater in ("R1", hostile):
        rate(run, "pairs", rater, choose("multi_hop"), n=8)
        rate(run, "ratings", rater, judged(run), n=16)
        rate(run, "correctness", rater, lambda _: {"correctness": "4"}, n=16)
    return run


def test_the_section_shows_every_verdict_as_text(rated: RunDirectory) -> None:
    page = sections.get("people").render(load_context(rated))
    assert "2 people rated" in page
    assert "Over all cases multi-hop was chosen over no hop in 100.0 %" in page
    assert "Same rating as the judge (quantile mapping)" in page
    assert "16 of 16" in page
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_the_section_of_a_run_that_nobody_rated_says_how(make_run: MakeRun) -> None:
    run: Any = make_run(n=2)
    assert "evenhand label export" in sections.get("people").render(load_context(run))
