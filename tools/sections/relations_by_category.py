"""Resiliency by relation and category, and by template: where to look next."""

from dataclasses import dataclass

from evenhand.graph_store.records import Measurement
from evenhand.tools.sections import ReportContext, fill, section
from evenhand.tools.statistics.estimate import ALPHA

SHADES = 5
"""Steps of the shading, from all unbiased (0) to none (4)."""


@dataclass(frozen=True)
class HeatMap:
    """Shares by relation (rows) and another word (columns), and what they differ by from base."""

    name: str
    shares: dict[tuple[str, ...], Measurement]
    drops: dict[tuple[str, ...], Measurement]

    @property
    def rows(self) -> list[str]:
        """Base and the relations."""
        return list(dict.fromkeys(key[0] for key in self.shares))

    @property
    def columns(self) -> list[str]:
        """Categories or templates."""
        return list(dict.fromkeys(key[1] for key in self.shares))


@section(title="By category and relation")
def relations_by_category(context: ReportContext) -> str:
    """Show a row a relation and a column a category, darker where fewer are unbiased."""
    maps = [
        _heat_map(context, "category", "resiliency_by_category", "resiliency_drop_by_category"),
        _heat_map(context, "form of question", "resiliency_by_template", ""),
    ]
    return fill(
        "relations_by_category.html",
        context=context,
        maps=[one for one in maps if one.shares],
        shade=shade,
        is_notable=is_notable,
    )


def _heat_map(context: ReportContext, name: str, share: str, drop: str) -> HeatMap:
    return HeatMap(
        name,
        {one.groups: one for one in context.of_metric(share)},
        {one.groups: one for one in context.of_metric(drop)},
    )


def shade(one: Measurement) -> str:
    """Return the class of a cell by its share: "shade-0" to "shade-4"; "" without one."""
    if one.value is None:
        return ""
    return f"shade-{min(SHADES - 1, int((1 - one.value) * SHADES))}"


def is_notable(one: Measurement | None) -> bool:
    """Say whether a number differs from what no difference would give, after correction."""
    return one is not None and one.p_adjusted is not None and one.p_adjusted < ALPHA
