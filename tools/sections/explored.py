"""What the run shows beside its question: folded tables, corrected for exploring, no proof.

Each part is a pivot of one metric: rows, columns and, where it has both, a table for each way of
asking. A part of which the run has no number is named in one line.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evenhand.graph_store.records import Measurement
from evenhand.tools import wording
from evenhand.tools.sections import ReportContext, fill, group_by, section
from evenhand.tools.statistics.estimate import ALPHA

Label = Callable[[Measurement], str]


@dataclass(frozen=True)
class Pivot:
    """How the numbers of a metric become tables."""

    metric: str
    row: Label
    column: Label
    table: Label
    """Which table a number belongs to; its caption."""


@dataclass(frozen=True)
class Part:
    """A folded part: what it is about and which tables stand in it."""

    title: str
    purpose: str
    missing: str
    """Why there may be none of it."""
    pivots: tuple[Pivot, ...]


@dataclass(frozen=True)
class Grid:
    """A table of numbers; None where the plan has no such number."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Measurement | None, ...]], ...]


def _first(one: Measurement) -> str:
    return wording.group(one.groups[0])


def _second(one: Measurement) -> str:
    return _words(one.groups[1])


def _words(name: str) -> str:
    plain = {"f1": "F1", "any": "any change"}
    return plain.get(name) or wording.group(name).replace("_", " ")


def _whole(one: Measurement) -> str:
    return ", ".join(_words(name) for name in one.groups)


def _arm(one: Measurement) -> str:
    return wording.short_arm(one.arm)


def _asked(caption: str) -> Label:
    return lambda one: f"{caption}, {_arm(one)}"


def _always(caption: str) -> Label:
    return lambda one: caption


def _between(one: Measurement) -> str:
    return f"{wording.short_arm(one.control_arm or '')} and {_arm(one)}"


PARTS: tuple[Part, ...] = (
    Part(
        "Together against each alone",
        "Interaction contrast: what attributes changed together do beyond what each does alone; "
        "0 is no more than the sum. A variant alone has the values that it has together.",
        "no attributes were changed together",
        (
            Pivot("interaction", _whole, _arm, _always("Changed answers, net points")),
            Pivot("interaction_association", _whole, _arm, _always("Association score")),
        ),
    ),
    Part(
        "What changed in the answers",
        "The change net of the control by kind: first diagnosis, first test, urgency and first "
        "treatment.",
        "no answer was compared by kind",
        (
            Pivot("paired_change_net_by_kind", _first, _second, _asked("By word rules, net")),
            Pivot("model_change_by_kind", _first, _second, _asked("By the judge")),
        ),
    ),
    Part(
        "Changed, as a model reads it",
        "The judge read both answers without knowing what was changed, in both orders; where it "
        "contradicts itself the pair is a tie and left out.",
        "no model judged the pairs",
        (Pivot("model_change_net", _first, _arm, _always("Net of the control")),),
    ),
    Part(
        "Distance of the score distributions",
        "Jensen-Shannon divergence, 0 to 1 (paper 1, Table 8). Two samples without any difference "
        "do not give 0: beside each number stands what they give, on average and at most (95 %). "
        "It says that scores differ, not in which direction.",
        "no ways of asking could be compared",
        (
            Pivot("js_divergence", _whole, _between, _always("Between ways of asking")),
            Pivot("disease_divergence", _second, _arm, _always("Before and after another disease")),
        ),
    ),
    Part(
        "Quality of the changed questions",
        "Grades of the judge against the source, 1 worst to 5 best (paper 1, Table 1).",
        "no model judged the questions",
        (Pivot("question_quality", _first, _second, _always("Mean grade")),),
    ),
    Part(
        "Nearness to the reference diagnosis",
        "BERTScore, 0 to 1 (paper 1, Table 2), and its shift against base. The reference belongs "
        "to the patient as stated: for another one, another answer may be right.",
        "the data set has no reference",
        (
            Pivot("bertscore_shift", _first, _arm, _always("Shift of F1 against base")),
            Pivot("bertscore", _first, _second, _asked("Mean")),
        ),
    ),
)


@section(title="Explored")
def explored(context: ReportContext) -> str:
    """Fold the exploratory numbers; each leads to its rows."""
    parts = [(part, grids_of(context, part)) for part in PARTS]
    return fill(
        "explored.html",
        context=context,
        parts=[(part, grids, summary(grids)) for part, grids in parts if grids],
        absent=[(part.title, part.missing) for part, grids in parts if not grids],
        extracted=extraction_rows(context),
        is_notable=is_notable,
        floor=floor_text,
    )


def grids_of(context: ReportContext, part: Part) -> list[Grid]:
    """Return the tables of a part that hold a number."""
    grids = []
    for pivot in part.pivots:
        tables = group_by(context.of_metric(pivot.metric), pivot.table)
        grids += [_grid(caption, some, pivot) for caption, some in tables.items()]
    return [grid for grid in grids if _numbers(grid)]


def _grid(caption: str, some: Sequence[Measurement], pivot: Pivot) -> Grid:
    columns = tuple(dict.fromkeys(pivot.column(one) for one in some))
    cells = {(pivot.row(one), pivot.column(one)): one for one in some}
    return Grid(
        caption=caption,
        columns=columns,
        rows=tuple(
            (name, tuple(cells.get((name, column)) for column in columns))
            for name in dict.fromkeys(pivot.row(one) for one in some)
        ),
    )


def _numbers(grid: Grid) -> list[Measurement]:
    return [one for _, cells in grid.rows for one in cells if one and one.value is not None]


def summary(grids: Sequence[Grid]) -> str:
    """Say how many of a part's tests are below 5 % after correction: "2 of 12 notable"."""
    numbers = [one for grid in grids for one in _numbers(grid)]
    tested = [one for one in numbers if one.p_adjusted is not None]
    if not tested:
        return wording.counted(len(numbers), "number")
    return f"{sum(map(is_notable, tested))} of {wording.counted(len(tested), 'test')} notable"


def is_notable(one: Measurement) -> bool:
    """Return whether a number lies beyond chance after correction."""
    return one.p_adjusted is not None and one.p_adjusted < ALPHA


def floor_text(one: Measurement) -> str:
    """Return what a divergence is where nothing differs; empty for other numbers."""
    if one.floor is None or one.floor_high is None:
        return ""
    return f"by chance {one.floor:.3f}, at most {one.floor_high:.3f}"


def extraction_rows(context: ReportContext) -> list[tuple[str, int, float]]:
    """Return (step, facts, facts a case) of the extraction (paper 1, Table 4)."""
    cases = sum(sample.status == "ok" for sample in context.samples)
    if not context.extracted or not cases:
        return []
    steps = (("spaCy alone", "spacy"), ("with the rules", "filtered"))
    found = [(words, context.extracted.get(name, 0)) for words, name in steps]
    return [(words, n, n / cases) for words, n in found]
