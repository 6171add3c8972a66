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
from evenhand.tools.triage.asked_models import AskedModel, read_models
from evenhand.tools.triage.deciders import DeciderDifference, compare_deciders
from evenhand.tools.triage.measure import GAP, TriageNumber, TriageResults, measure_arms
from evenhand.tools.triage.pairs import Direction, TriagePairs
from evenhand.tools.triage.run_pairs import asked_model
from evenhand.tools.triage.verdict import TriageVerdict, judge
from evenhand.tools.triage.what_if import WhatIf, extrapolate
from evenhand.tools.visit_rows import FlowStep
from evenhand.training.model_card import ModelCard

log = logging.getLogger(__name__)

RECIPE = "counterfactual"
_OWN = (
    "decider", "against", "fit_settings", "refits", "volume", "period", "volume_source", "share",
)  # fmt: skip
"""Parts of a plan that may differ where the visits and how they are shown are the same."""


@dataclass(frozen=True)
class OtherDecider:
    """Another decider, or another model, on the same visits, and how the two differ."""

    run_id: str
    decider: str
    results: TriageResults
    differences: tuple[DeciderDifference, ...]
    """This run's decider and model less the other, on the pairs that both have."""
    model: AskedModel | None = None
    """Who gave the levels."""
    by_model: bool = False
    """Whether it is another model of the same decider."""
    in_this_run: bool = False
    """Whether it was asked by the same plan."""

    @property
    def label(self) -> str:
        """What tells it from this run's: the model's name, or the decider's."""
        return self.model.name if self.by_model and self.model else self.decider


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
    model: AskedModel | None = None
    """Who gave the levels; None where pairs came from elsewhere."""
    others: tuple[OtherDecider, ...] = ()
    what_ifs: tuple[tuple[TriageNumber, WhatIf], ...] = ()

    @property
    def card(self) -> ModelCard | None:
        """Of the mimic that stands in for the decider; None where the target is no mimic."""
        return None if self.model is None else self.model.card

    def label_beside(self, other: OtherDecider) -> str:
        """Return what tells this run's numbers from another's: the model's or decider's name."""
        name = self.model.name if other.by_model and self.model else self.decider
        return name or "this decider"

    @property
    def models(self) -> tuple[tuple[AskedModel, str], ...]:
        """The models of this decider on these visits, and the run of each, this one's first."""
        if self.model is None:
            return ()
        beside = [
            (one.model, "" if one.in_this_run else one.run_id)
            for one in self.others
            if one.by_model and one.model
        ]
        return ((self.model, ""), *beside)

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
    model: AskedModel | None = rest.get("model")
    mimicked = model.quality.get("full") if model and model.card else None
    verdict = judge(results, arms, direction, mimicked=mimicked)
    return TriageView(arms, results, verdict, direction, **rest)


def read_view(
    run: RunDirectory, variants: Sequence[Variant] | None = None, *, beside: str | None = None
) -> TriageView | None:
    """Read a run of the counterfactual recipe; None for another recipe, or before it answered.

    Args:
        run: The run.
        variants: Its variants, where they have been read.
        beside: Id of the one run to set beside it; None: all that can be.

    Raises:
        UserError: A file of the run is damaged.
    """
    manifest = run.manifest
    if manifest.plan.get("recipe") != RECIPE or not (run.path / VISITS).is_file():
        return None
    models = read_models(run, variants)
    if not models[0].arms:
        return None
    visits = read_run_visits(run)
    named = visits.decider in visits.mapping.deciders
    view = make_view(
        models[0].arms,
        visits.direction,
        seed=manifest.seed,
        refits=models[0].refits,
        decider=visits.decider if named else "",
        attribute=visits.attribute,
        flow=visits.flow,
        model=models[0],
    )
    second = [_beside(run, view, run, model, by_model=True) for model in models[1:]]
    return replace(
        view,
        others=(*second, *_others(run, view, beside)),
        what_ifs=tuple(_what_ifs(view.results, manifest.plan)),
    )


def _beside(
    run: RunDirectory,
    view: TriageView,
    other: RunDirectory,
    model: AskedModel,
    *,
    by_model: bool,
) -> OtherDecider:
    seed = other.manifest.seed
    return OtherDecider(
        run_id=other.run_id,
        decider=read_run_visits(other).decider,
        model=model,
        results=measure_arms(model.arms, seed=seed, refits=model.refits),
        differences=compare_deciders(view.arms, model.arms, seed=run.manifest.seed),
        by_model=by_model,
        in_this_run=other is run,
    )


def _others(run: RunDirectory, view: TriageView, beside: str | None) -> Iterator[OtherDecider]:
    """Yield the runs beside this one that differ from it in the decider or the model alone."""
    manifest = run.manifest
    for other in list_runs(run.path.parent):
        if other.run_id == run.run_id or beside not in (None, other.run_id):
            continue
        there = other.manifest
        same = there.dataset_hash == manifest.dataset_hash
        if not same or _apart(there.plan) != _apart(manifest.plan):
            continue
        by_model = asked_model(there.plan) != asked_model(manifest.plan)
        if by_model and there.plan.get("decider") != manifest.plan.get("decider"):
            continue
        try:
            model = read_models(other)[0]
            if view.results.main_arm in model.arms:
                yield _beside(run, view, other, model, by_model=by_model)
        except (UserError, ValueError) as error:
            log.warning("run %s cannot be set beside %s: %s", other.run_id, run.run_id, error)


def _apart(plan: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of a plan two deciders or models on the same visits must share."""
    roles = {name: role for name, role in plan.get("roles", {}).items() if name != "target"}
    return {**{name: value for name, value in plan.items() if name not in _OWN}, "roles": roles}


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
