"""Resiliency by relation and category: where to look next."""

from evenhand.graph_store.records import Measurement
from evenhand.tools.sections import ReportContext, fill, section
from evenhand.tools.statistics.estimate import ALPHA

SHADES = 5
"""Steps of the shading, from all unbiased (0) to none (4)."""


@section(title="By category and relation")
def relations_by_category(context: ReportContext) -> str:
    """Show a row a relation and a column a category, darker where fewer are unbiased."""
    shares = {one.groups: one for one in context.of_metric("resiliency_by_category")}
    drops = {one.groups: one for one in context.of_metric("resiliency_drop_by_category")}
    return fill(
        "relations_by_category.html",
        context=context,
        groups=list(dict.fromkeys(group for group, _ in shares)),
        categories=list(dict.fromkeys(name for _, name in shares)),
        shares=shares,
        shade=shade,
        is_notable=lambda key: _is_notable(drops.get(key)),
    )


def shade(one: Measurement) -> str:
    """Return the class of a cell by its share: "shade-0" to "shade-4"; "" without one."""
    if one.value is None:
        return ""
    return f"shade-{min(SHADES - 1, int((1 - one.value) * SHADES))}"


def _is_notable(drop: Measurement | None) -> bool:
    return drop is not None and drop.p_adjusted is not None and drop.p_adjusted < ALPHA
