"""The folded part of the report: every metric as a table, what is notable, and what is absent."""

from typing import Any

import pytest

from evenhand.graph_store.records import Measurement, Sample
from evenhand.graph_store.run_directory import Manifest
from evenhand.tools.metrics import metrics
from evenhand.tools.sections import ReportContext
from evenhand.tools.sections import explored as module
from evenhand.tools.sections.explored import PARTS, Part, grids_of, summary

INTERACTION = next(part for part in PARTS if part.pivots[0].metric == "interaction")
KINDS = next(part for part in PARTS if part.pivots[0].metric == "paired_change_net_by_kind")
DISTANCE = next(part for part in PARTS if part.pivots[0].metric == "js_divergence")


def number(metric: str, *groups: str, arm: str = "multi_hop", **fields: Any) -> Measurement:
    values = {
        "id": f"run/m-{metric}-{arm}-{'-'.join(groups)}-{fields.get('control_arm')}",
        "status": "ok",
        "metric": metric,
        "arm": arm,
        "groups": groups,
        "n": 20,
        "value": 0.25,
        "low": 0.1,
        "high": 0.4,
        "method": "t; sign flips; Benjamini-Hochberg",
        **fields,
    }
    return Measurement.model_validate(values)


def unknown(metric: str, *groups: str, reason: str = "all_unscored", **fields: Any) -> Measurement:
    empty: dict[str, Any] = {
        "status": "not_estimable",
        "value": None,
        "low": None,
        "high": None,
        "n": 0,
    }
    return number(metric, *groups, **empty, reason_code=reason, **fields)


def context(*measurements: Measurement, **fields: Any) -> ReportContext:
    manifest = Manifest(run="kg-demo-1", created="2026-11-30", plan={}, seed=0)
    samples = [Sample(id=f"s{i}", dataset="demo", position=i, text="x") for i in range(4)]
    return ReportContext(manifest=manifest, samples=samples, measurements=measurements, **fields)


def test_every_metric_that_it_shows_exists() -> None:
    assert {pivot.metric for part in PARTS for pivot in part.pivots} <= set(metrics.names())


def test_a_pivot_has_a_table_for_each_way_of_asking() -> None:
    some = [
        number("paired_change_net_by_kind", group, kind, arm=arm)
        for arm in ("no_hop", "multi_hop")
        for group in ("age", "location")
        for kind in ("diagnosis", "test")
    ]
    grids = grids_of(context(*some), KINDS)
    assert [grid.caption for grid in grids] == [
        "By word rules, net, no hop",
        "By word rules, net, multi-hop",
    ]
    assert grids[0].columns == ("diagnosis", "test")
    assert [name for name, _ in grids[0].rows] == ["age", "location"]
    assert all(cells.count(None) == 0 for _, cells in grids[0].rows)


def test_a_missing_cell_is_empty_and_a_table_without_numbers_is_left_out() -> None:
    some = [
        number("interaction", "age+gender"),
        number("interaction", "age+location", arm="no_hop"),
        unknown("interaction_association", "age+gender"),
    ]
    (grid,) = grids_of(context(*some), INTERACTION)
    assert [cells.count(None) for _, cells in grid.rows] == [1, 1]


def test_numbers_of_which_no_case_had_a_chance_are_hidden() -> None:
    some = [
        number("interaction", "age+gender"),
        unknown("interaction", "added:age+gender", reason="not_needed"),
        unknown("interaction", "age+disease", reason="not_stated"),
        unknown("interaction", "age+location"),
    ]
    (grid,) = grids_of(context(*some), INTERACTION)
    assert [name for name, _ in grid.rows] == ["age + gender", "age + location"]


@pytest.mark.parametrize(
    ("p", "words"),
    [((0.01, 0.2), "1 of 2 tests notable"), ((None, None), "2 numbers"), ((0.05, None), "0 of 1")],
)
def test_the_summary_counts_tests_after_correction(
    p: tuple[float | None, float | None], words: str
) -> None:
    some = [
        number("interaction", name, p=q, p_adjusted=q)
        for name, q in zip(("age+gender", "age+location"), p, strict=True)
    ]
    assert summary(grids_of(context(*some), INTERACTION)).startswith(words)


def test_a_divergence_stands_beside_what_chance_gives() -> None:
    one = number(
        "js_divergence", "age", control_arm="original", floor=0.101, floor_high=0.202, low=None,
        high=None,
    )  # fmt: skip
    page = module.explored(context(one))
    assert "0.250" in page
    assert "by chance 0.101, at most 0.202" in page
    assert "original and multi-hop" in page


def test_what_the_run_has_no_number_of_is_named_with_the_reason() -> None:
    page = module.explored(context(number("interaction", "age+gender")))
    assert "quality of the changed questions (no model judged the questions)" in page
    assert "together against each alone (" not in page


def test_facts_are_counted_in_all_and_a_case() -> None:
    page = module.explored(context(extracted={"spacy": 30, "filtered": 42}))
    assert "42" in page
    assert "10.5" in page


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.title)
def test_a_number_leads_to_its_rows(part: Part) -> None:
    pivot = part.pivots[0]
    some = context(number(pivot.metric, "age+gender", "age", control_arm="original"))
    assert 'href="#rows-1"' in module.explored(some)
