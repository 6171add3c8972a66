"""What the report of a counterfactual audit shows, read from its run once.

Pairs come from the run, numbers are computed from them again (a second for tens of thousands of
pairs), so that every number of the report has its pairs.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Variant
from evenhand.graph_store.run_directory import RunDirectory, list_runs
from evenhand.tools.run_visits import VISITS, read_run_visits
from evenhand.tools.triage.deciders import DeciderDifference, compare_deciders
from evenhand.tools.triage.measure import GAP, TriageNumber, TriageResults, measure_arms
from evenhand.tools.triage.pairs import Direction, TriagePairs
from evenhand.tools.triage.verdict import TriageVerdict, judge
from evenhand.tools.triage.what_if import WhatIf, extrapolate
from evenhand.tools.visit_rows import FlowStep
from evenhand.training.model_card import CARD_FILE, ModelCard, read_card

log = logging.getLogger(__name__)

RECIPE = "counterfactual"
MODEL_FOLDER = "model"
_OWN = ("decider", "volume", "period", "volume_source", "share")
"""Parts of a plan that may differ where only the decider does."""


@dataclass(frozen=True)
class OtherDecider:
    """Another run on the same visits with another decider, and how the two differ."""

    run_id: str
    decider: str
    results: TriageResults
    differences: tuple[DeciderDifference, ...]
    """This run's decider less the other, on the pairs that both have."""


@dataclass(frozen=True)
class TriageView:
    """Everything that the sections of the counterfactual recipe show."""

    arms: Mapping[str, TriagePairs]
    results: TriageResults
    verdict: TriageVerdict
    direction: Direction | None
    decider: str = ""
    """A name that the data set gives; empty where it has one label for all."""
    attribute: str = ""
    flow: tuple[FlowStep, ...] = ()
    card: ModelCard | None = None
    """Of the mimic that stands in for the decider; None where the target is no mimic."""
    others: tuple[OtherDecider, ...] = ()
    what_ifs: tuple[tuple[TriageNumber, WhatIf], ...] = ()

    def is_silent(self, arm: str) -> bool:
        """Return whether an arm has scored pairs and none of them moved."""
        steps = self.arms[arm].scored.steps
        return bool(steps.size) and not steps.any()

    @property
    def main(self) -> TriagePairs:
        """The pairs of the arm that the audit asks about."""
        return self.arms[self.results.main_arm]


def make_view(
    arms: Mapping[str, TriagePairs],
    direction: Direction | None,
    *,
    seed: int = 0,
    refits: Sequence[TriagePairs] = (),
    **rest: Any,
) -> TriageView:
    """Measure pairs and draw the verdict.

    Args:
        arms: Pairs by arm, at least one arm.
        direction: Of the scale; None: not declared.
        seed: Of bootstrap and tests.
        refits: The pairs of the main arm as each refit of the mimic decides them.
        rest: Fields of the view.
    """
    results = measure_arms(arms, seed=seed, refits=refits)
    return TriageView(arms, results, judge(results, arms, direction), direction, **rest)


def read_view(run: RunDirectory, variants: Sequence[Variant] | None = None) -> TriageView | None:
    """Read a run of the counterfactual recipe; None for another recipe, or before it answered.

    Args:
        run: The run.
        variants: Its variants, where they have been read.

    Raises:
        UserError: A file of the run is damaged.
    """
    manifest = run.manifest
    if manifest.plan.get("recipe") != RECIPE or not (run.path / VISITS).is_file():
        return None
    arms, refits = _arms(run, variants)
    if not arms:
        return None
    visits = read_run_visits(run)
    folder = run.path / MODEL_FOLDER
    named = visits.decider in visits.mapping.deciders
    view = make_view(
        arms,
        visits.direction,
        seed=manifest.seed,
        refits=refits,
        decider=visits.decider if named else "",
        attribute=visits.attribute,
        flow=visits.flow,
        card=read_card(folder) if (folder / CARD_FILE).is_file() else None,
    )
    return replace(
        view,
        others=tuple(_others(run, view)),
        what_ifs=tuple(_what_ifs(view.results, manifest.plan)),
    )


def _arms(
    run: RunDirectory, variants: Sequence[Variant] | None = None
) -> tuple[Mapping[str, TriagePairs], Sequence[TriagePairs]]:
    from evenhand.tools.triage.run_pairs import read_arms_and_refits

    return read_arms_and_refits(run, variants)


def _others(run: RunDirectory, view: TriageView) -> Iterator[OtherDecider]:
    """Yield the runs beside this one that differ from it in the decider alone."""
    manifest = run.manifest
    for other in list_runs(run.path.parent):
        if other.run_id == run.run_id:
            continue
        there = other.manifest
        same = there.dataset_hash == manifest.dataset_hash
        if not same or _apart(there.plan) != _apart(manifest.plan):
            continue
        try:
            arms, refits = _arms(other)
            if not arms or view.results.main_arm not in arms:
                continue
            yield OtherDecider(
                run_id=other.run_id,
                decider=read_run_visits(other).decider,
                results=measure_arms(arms, seed=there.seed, refits=refits),
                differences=compare_deciders(view.arms, arms, seed=manifest.seed),
            )
        except (UserError, ValueError) as error:
            log.warning("run %s cannot be set beside %s: %s", other.run_id, run.run_id, error)


def _apart(plan: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of a plan two deciders on the same visits must share."""
    return {name: value for name, value in plan.items() if name not in _OWN}


def _what_ifs(
    results: TriageResults, plan: Mapping[str, Any]
) -> Iterator[tuple[TriageNumber, WhatIf]]:
    volume, period, source = (plan.get(name) for name in ("volume", "period", "volume_source"))
    if volume is None or not period or not source:
        return
    share = float(plan.get("share", 0.5))
    for gap in results.find(GAP, arm=results.main_arm):
        if gap.estimate.low is not None:
            made = extrapolate(
                gap.estimate, volume=float(volume), period=period, source=source, share=share
            )
            yield gap, made
