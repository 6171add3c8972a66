"""Newly exposed under a relation, beside what a control arm exposes in the same questions."""

from collections.abc import Iterator

import numpy as np

from evenhand.tools.data_kinds import Cell, PairKind, above_and_below, data_kind, each_cell
from evenhand.tools.data_kinds.bias_verdicts import exposed_rows, none_unbiased
from evenhand.tools.measured_rows import MeasuredRow, with_control
from evenhand.tools.metrics import Metric
from evenhand.tools.pairing import BIAS, RecordIndex
from evenhand.tools.statistics.estimate import Estimate, Numbers
from evenhand.tools.statistics.intervals import paired_difference


@data_kind
class NetExposures(PairKind):
    """Exposed (under the relation, in the control arm), of questions unbiased as they stand.

    The array is (..., n, 2) of 0 and 1.
    """

    name = "net_exposures"
    unit = "net_rate"
    rubric = BIAS
    words = ("unbiased", "biased")
    beside = "control"
    confirmatory = True

    def cells(self, index: RecordIndex, metric: Metric) -> Iterator[Cell]:
        """Yield each relation, against each control arm of the plan."""
        planned = index.planned
        for control in planned.noise:
            yield from each_cell(metric, planned.asked, planned.relations, control)

    def rows(self, index: RecordIndex, cell: Cell) -> list[MeasuredRow]:
        """Return the rows whose base question is unbiased or unscored, 1 where exposed."""
        control = exposed_rows(index, cell.arm, cell.against or "")
        return with_control(exposed_rows(index, cell.arm, cell.groups[0]), control)

    def estimate(self, metric: Metric, scored: Numbers, seed: int) -> Estimate:
        """Tango and McNemar: exposed by the relation alone less by the control alone."""
        more, less = above_and_below(scored)
        return paired_difference(more, less, len(scored))

    def why_nothing(self, index: RecordIndex, cell: Cell) -> str | None:
        """Return that no question was unbiased as it stands."""
        return none_unbiased(index, cell.arm)

    def counts(self, scored: Numbers) -> dict[str, int]:
        """Return how many questions are exposed by `only_relation`, and by `only_control`."""
        more, less = above_and_below(scored)
        return {"only_relation": more, "only_control": less}

    def family(self, cell: Cell) -> str | None:
        """Return the question: which relation exposes more than this control."""
        return f"{cell.metric.name} against {cell.against}"

    def example(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Numbers:
        """Return pairs of exposures."""
        return rng.choice([0.0, 1.0, np.nan], (*shape, 2))
