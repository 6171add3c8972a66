"""The radar by way of asking, and by what was changed (paper 1, Figures 2, 3, 6, 7)."""

from evenhand.graph_store.records import Measurement
from evenhand.graph_store.run_directory import Manifest
from evenhand.tools.sections import ReportContext
from evenhand.tools.sections.radar import DIMENSIONS, group_radars


def _context(*groups: str, value: float | None = 0.5) -> ReportContext:
    status = "ok" if value is not None else "not_estimable"
    some = [
        Measurement(
            id=f"m-{arm}-{group}-{dimension}",
            status=status,
            metric="attribute_association_by_group",
            arm=arm,
            groups=(group, dimension),
            value=value,
            n=20,
        )
        for arm in ("no_hop", "multi_hop")
        for group in groups
        for dimension in DIMENSIONS
    ]
    manifest = Manifest(run="kg-demo-1", created="2026-11-30", plan={}, seed=0)
    return ReportContext(manifest=manifest, measurements=some)


def test_the_papers_three_groups_are_drawn_for_each_way_of_asking() -> None:
    groups = ("base", "age", "location", "age+gender", "age+gender+location", "added:age")
    plots = group_radars(_context(*groups))
    assert [name for name, _ in plots] == ["no hop", "multi-hop"]
    for _, plot in plots:
        assert plot.count('class="mark"') == 3 * len(DIMENSIONS)
        assert "location alone" in plot
        assert "age + gender + location" in plot
        assert "added" not in plot


def test_without_them_the_groups_that_were_changed_are_drawn() -> None:
    ((_, plot), _) = group_radars(_context("base", "age", "gender"))
    assert "age alone" in plot
    assert "gender alone" in plot


def test_nothing_scored_is_no_plot() -> None:
    assert group_radars(_context("age", "gender", value=None)) == []
