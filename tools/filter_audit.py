"""What readers say of changed questions: how often the semantic filter decided right."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evenhand.graph_store.records import Judgement
from evenhand.tools import wording
from evenhand.tools.statistics.clusters import clustered_proportion
from evenhand.tools.statistics.estimate import Estimate

COMPARISON_KEPT = "comparison_kept"
"""Rubric of a reader's verdict on a changed question; the judge is the reader."""
Comparison = Literal["kept", "changed"]
COMPARISONS: tuple[Comparison, ...] = ("kept", "changed")
"""The same groups are compared by the same attribute, in whatever order, wording or frame; or not,
or what stands around the question claims something of a group."""
Decision = Literal["accepted", "rejected"]
RIGHT: dict[Decision, Comparison] = {"accepted": "kept", "rejected": "changed"}
"""What a reader says of a question of which the filter decided right."""


@dataclass(frozen=True)
class FilterAudit:
    """One reader on the questions of one decision."""

    reader: str
    decision: Decision
    right: Estimate
    """Share of which the reader says what the filter decided: Wilson, design effect by question."""
    unscored: int
    """Cells that were left empty, or hold something else."""

    @property
    def text(self) -> str:
        """The share and its interval, or why there is none: "96.0 % [86.5, 98.9] of 50"."""
        made = self.right
        if made.value is None:
            return f"not estimable: {wording.reason(made.reason_code)}"
        share = wording.number(made.value, "rate")
        if made.low is None or made.high is None:
            return f"{share} (no interval: {wording.reason(made.reason_code)})"
        return f"{share} {wording.interval(made.low, made.high, 'rate')} of {made.n:,}"


def audit_filter(
    labels: Sequence[Judgement], accepted: Mapping[str, bool]
) -> tuple[FilterAudit, ...]:
    """Count, by reader and by decision, how often the filter decided as the reader says.

    Args:
        labels: Verdicts of people, of any rubric; of a verdict given again, the last that counts.
        accepted: The filter's decision by variant.

    Returns:
        A line for each reader and decision of which a row was read.
    """
    given: dict[tuple[str, Decision], dict[str, Judgement]] = defaultdict(dict)
    for one in labels:
        if one.rubric != COMPARISON_KEPT or one.subject_id not in accepted:
            continue
        decision: Decision = "accepted" if accepted[one.subject_id] else "rejected"
        some = given[one.judge, decision]
        if one.status == "ok" or one.subject_id not in some:
            some[one.subject_id] = one
    return tuple(
        _audit(reader, decision, list(given[reader, decision].values()))
        for reader, decision in sorted(given)
    )


def _audit(reader: str, decision: Decision, some: Sequence[Judgement]) -> FilterAudit:
    scored = [one for one in some if one.status == "ok"]
    right = np.array([one.value == RIGHT[decision] for one in scored], dtype=np.int64)
    # Several forms of one question may be in the sheet.
    questions = np.array([one.subject_id.partition("/")[0] for one in scored])
    share = clustered_proportion(right, questions)
    return FilterAudit(reader, decision, share, len(some) - len(scored))
