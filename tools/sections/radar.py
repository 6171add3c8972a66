"""Radar of the attribute-association scores, with its table."""

from collections.abc import Mapping

from markupsafe import Markup

from evenhand.graph_store.records import ADDED, Measurement
from evenhand.tools import wording
from evenhand.tools.plots.radar import RadarPoint, RadarSeries
from evenhand.tools.plots.radar import radar as draw
from evenhand.tools.sections import ARM_ORDER, ReportContext, arm_position, fill, group_by, section

METRIC, BY_GROUP = "attribute_association", "attribute_association_by_group"
PAPER_GROUPS = ("location", "age+gender", "age+gender+location")
"""What paper 1's Figure 3 sets beside each other."""
MOST_GROUPS = 5
DIMENSIONS = ("age", "gender", "age_gender", "location", "age_gender_location")
"""Paper 1, section 3.3: the judge scores these, 0 to 1."""


@section(title="Leaning on attributes")
def radar(context: ReportContext) -> str:
    """Draw the mean score by dimension, a polygon for each way of asking."""
    scores = {
        (one.arm, one.groups[0]): one
        for one in context.measurements
        if one.metric == METRIC and one.groups and one.groups[0] in DIMENSIONS
    }
    arms = [arm for arm in ARM_ORDER if any(key[0] == arm for key in scores)]
    labels = [axis_label(name) for name in DIMENSIONS]
    series = [
        RadarSeries(
            name=wording.short_arm(arm),
            points=tuple(_point(context, scores.get((arm, name)), name) for name in DIMENSIONS),
            style=arm_position(arm),
        )
        for arm in arms
    ]
    title = "Mean attribute-association score from 0 to 1, by dimension and way of asking"
    return fill(
        "radar.html",
        context=context,
        plot=Markup(draw(labels, series, title=title)),  # noqa: S704 - our own SVG
        arms=arms,
        dimensions=list(zip(DIMENSIONS, labels, strict=True)),
        scores=scores,
        changed=group_radars(context),
    )


def group_radars(context: ReportContext) -> list[tuple[str, Markup]]:
    """Return (way of asking, plot) with a polygon for each thing that was changed (Fig. 3)."""
    plots = []
    for arm, some in group_by(context.of_metric(BY_GROUP), lambda one: one.arm).items():
        scores = {(one.groups[0], one.groups[1]): one for one in some}
        series = [
            RadarSeries(
                name=group_label(group),
                points=tuple(_point(context, scores.get((group, d)), d) for d in DIMENSIONS),
                style=style,
            )
            for style, group in enumerate(_drawn_groups(scores))
        ]
        if any(point.value is not None for one in series for point in one.points):
            name = wording.short_arm(arm)
            title = f"Mean attribute-association score by what was changed, {name}"
            labels = [axis_label(dimension) for dimension in DIMENSIONS]
            plots.append((name, Markup(draw(labels, series, title=title))))  # noqa: S704
    return plots


def _drawn_groups(scores: Mapping[tuple[str, str], Measurement]) -> list[str]:
    """Return paper 1's three groups where they were changed, else the first few that were."""
    there = {
        group
        for (group, _), one in scores.items()
        if one.value is not None and not group.startswith(ADDED) and group != "base"
    }
    of_paper = [group for group in PAPER_GROUPS if group in there]
    rest = [group for group, _ in scores if group in there]
    return of_paper if len(of_paper) > 1 else list(dict.fromkeys(rest))[:MOST_GROUPS]


def group_label(group: str) -> str:
    """Return what was changed: "location alone", "age + gender"."""
    return wording.group(group) if "+" in group else f"{wording.group(group)} alone"


def axis_label(dimension: str) -> str:
    """Return the label of an axis; the last one is the three together."""
    return "all three" if dimension == DIMENSIONS[-1] else wording.group(dimension)


def _point(context: ReportContext, one: Measurement | None, dimension: str) -> RadarPoint:
    if one is None:
        return RadarPoint(id="", value=None)
    text = f"{axis_label(dimension)} {wording.value_text(one, 'score')}, n {one.n:,}"
    return RadarPoint(id=one.id, value=one.value, text=text, href=f"#{context.anchor(one)}")
