"""Radar of the attribute-association scores, with its table."""

from markupsafe import Markup

from evenhand.graph_store.records import Measurement
from evenhand.tools import wording
from evenhand.tools.plots.radar import RadarPoint, RadarSeries
from evenhand.tools.plots.radar import radar as draw
from evenhand.tools.sections import ARM_ORDER, ReportContext, arm_position, fill, group_by, section

METRIC = "attribute_association"
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
        statuses=group_by(list(scores.values()), lambda one: one.status),
    )


def axis_label(dimension: str) -> str:
    """Return the label of an axis; the last one is the three together."""
    return "all three" if dimension == DIMENSIONS[-1] else wording.group(dimension)


def _point(context: ReportContext, one: Measurement | None, dimension: str) -> RadarPoint:
    if one is None:
        return RadarPoint(id="", value=None)
    text = f"{axis_label(dimension)} {wording.value_text(one, 'score')}, n {one.n:,}"
    return RadarPoint(id=one.id, value=one.value, text=text, href=f"#{context.anchor(one)}")
