"""Forest plot of the net change rates, with the control rows in grey."""

from collections.abc import Sequence

from markupsafe import Markup

from evenhand.graph_store.records import Measurement
from evenhand.tools import wording
from evenhand.tools.plots.forest import ForestGroup, ForestRow, legend
from evenhand.tools.plots.forest import forest as draw
from evenhand.tools.sections import ReportContext, arm_position, fill, group_by, section
from evenhand.tools.sections.verdict import is_control, outcome_of, p_words


@section(title="Change above the noise")
def forest(context: ReportContext) -> str:
    """Draw each change against zero, an arm as asked after the other."""
    groups = forest_groups(context)
    axis = "net percentage points: 0 is as often as on a mere repeat, right of it is more often"
    title = "Net change of the answer, in percentage points, by what was changed"
    wide, narrow = (
        draw(
            groups,
            title=title,
            axis_label=axis if not small else "net percentage points",
            narrow=small,
        )
        for small in (False, True)
    )
    return fill(
        "forest.html",
        rows=sum(len(group.rows) for group in groups),
        wide=Markup(wide),  # noqa: S704 - our own SVG, escaped by construction
        narrow=Markup(narrow),  # noqa: S704
        legend=Markup(legend()),  # noqa: S704
    )


def forest_groups(context: ReportContext) -> list[ForestGroup]:
    """Return a group of rows for each way of asking: changes first, then placebo and repeat."""
    net = group_by(context.of_kind("change_pairs"), lambda one: one.arm)
    return [
        ForestGroup(
            title=wording.arm(arm).capitalize(),
            rows=tuple(_rows(context, arm, members)),
            style=arm_position(arm),
        )
        for arm, members in net.items()
    ]


def _rows(context: ReportContext, arm: str, net: Sequence[Measurement]) -> list[ForestRow]:
    changes = [one for one in net if not is_control(one)]
    controls = [one for one in net if is_control(one)]
    noise = [
        one for one in context.of_kind("changes") if one.arm == arm and one.groups == ("repeat",)
    ]
    return [forest_row(context, one) for one in [*changes, *controls, *noise]]


def forest_row(context: ReportContext, one: Measurement) -> ForestRow:
    """Return a row from a number: net rates as signed points, the repeat rate as it is."""
    unit = wording.unit_of(one.metric)
    label, _, detail = wording.groups(one.groups).partition(" (")
    usual = "together" if "+" in label else "alone"
    detail = detail.rstrip(")")
    detail = f"added {usual}" if detail == "added" else detail or f"changed {usual}"
    if unit == "rate":
        detail = "the noise, already subtracted"
    counts = [f"n {one.n:,}", wording.unscored(one.unscored).split(" (")[0], p_words(one)]
    return ForestRow(
        id=one.id,
        label=label,
        detail=detail,
        value=_points(one.value),
        low=_points(one.low),
        high=_points(one.high),
        numbers=wording.value_text(one, unit),
        counts=" · ".join(part for part in counts if part),
        significant=outcome_of(one) in ("found", "fewer") and not is_control(one),
        control=is_control(one),
        reason=wording.reason(one.reason_code),
        href=f"#{context.anchor(one)}",
    )


def _points(share: float | None) -> float | None:
    return None if share is None else 100 * share
