"""Levels of visits in bulk: from mimics, fitted and refitted, or from models as they are.

The nodes fit, answer and measure of recipes that ask for labels. A mimic answers the same question
always the same way, so its repeat arm is other mimics: fitted with other seeds to resampled halves.
Where a plan sets a second model against the first, both are asked the same pairs; what is the
second's lies in the folder against/ of the run.
"""

import asyncio
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from evenhand.agents.asking import Counts, by_status
from evenhand.agents.direct_target import ask_directly, say_once
from evenhand.agents.label_targets import LabelTarget, label_targets
from evenhand.agents.state import AuditContext
from evenhand.graph_store.errors import RunStopped
from evenhand.graph_store.records import Variant
from evenhand.graph_store.run_directory import Event
from evenhand.graph_store.scores import ScoreKey, score_keys, scored, write_scores
from evenhand.tools.finetune import fit_plan, lent_to, open_lent
from evenhand.tools.run_visits import RunVisits, read_run_visits
from evenhand.tools.triage.run_measurements import measure_pairs_of
from evenhand.tools.triage.run_pairs import REPEAT
from evenhand.training.fitting import (
    LEAST_REFITS,
    FitPlan,
    FittedMimic,
    fit_mimic,
    load_mimic,
    refits,
)
from evenhand.training.lent import FitProgress, Lent
from evenhand.training.levels import likeliest_levels
from evenhand.training.mimic_rows import mimic_rows
from evenhand.training.mimics import mimics

MODEL, REFITS, EMBEDDINGS = "model", "refits", "embeddings"
_ROWS_A_PART, _PROMPTS_A_PART = 8_192, 1_024
"""Askings between two looks at the wish to stop, of rows and of prompts; what a kill costs."""
_SECONDS_A_REPORT = 1.0


async def fit(context: AuditContext) -> Counts:
    """Fit each mimic to the training half, and the refits of the repeat arm; to model/ and refits/.

    Reads samples.jsonl. Resume: a model that is there is loaded; a fit that was killed goes on at
    its last checkpoint, or leaves nothing that looks finished. A target that is no mimic is not
    fitted.
    """
    chosen = read_run_visits(context.run)
    targets = [target for target in label_targets(context.plan) if target.kind]
    a_target = 1 + _refit_count(context)
    fitted_to = 0
    for number, target in enumerate(targets):
        told = _Progress(context, number * a_target, a_target * len(targets), target.name)
        fitted_to = await asyncio.to_thread(_fit_target, context, target, chosen, told)
    return {"ok": a_target * len(targets), "fitted_to": fitted_to} if targets else {}


class _Progress:
    """Says as run events how far the fits are, and stops them where that is wished."""

    def __init__(self, context: AuditContext, before: int, total: int, name: str) -> None:
        self._context = context
        self._done, self._total = before, total
        self._name = name
        self._at = 0.0

    def fitted(self) -> None:
        """One model more is there."""
        self._done += 1
        self._at = 0.0
        self._context.run.report_progress("fit", self._done, self._total)
        if self._done < self._total:
            stop_if_wished(self._context)

    def inside(self, progress: FitProgress) -> None:
        """A fit that lasts has come so far."""
        now = time.monotonic()
        if now - self._at >= _SECONDS_A_REPORT or progress.step == progress.steps:
            self._at = now
            self._context.run.append_event(
                Event(
                    at=time.time(),
                    kind="progress",
                    stage="fit",
                    done=self._done,
                    total=self._total,
                    message=f"{self._name}, {fit_words(progress)}",
                )
            )
        stop_if_wished(self._context)


def fit_words(progress: FitProgress) -> str:
    """Return where a fit stands: "training, step 120 of 380, loss 1.204, 95 visits a second"."""
    parts = [progress.stage, f"step {progress.step:,} of {progress.steps:,}"]
    if progress.loss is not None:
        parts.append(f"loss {progress.loss:.3f}")
    if progress.examples_per_second:
        parts.append(f"{progress.examples_per_second:,.1f} visits a second")
        parts.append(f"{progress.seconds_left:,.0f} s left")
    return ", ".join(parts)


def stop_if_wished(context: AuditContext) -> None:
    """Raise where somebody wished the run to stop.

    Raises:
        RunStopped: Somebody did.
    """
    if context.stop_wished():
        raise RunStopped("Stopped on request; go on with `evenhand resume`.")


def _fit_target(
    context: AuditContext, target: LabelTarget, chosen: RunVisits, told: _Progress
) -> int:
    """Fit one mimic and its refits; return to how many visits."""
    folder = context.run.path / target.folder
    folder.mkdir(exist_ok=True)
    for left in folder.glob(f".{MODEL}-*"):
        shutil.rmtree(left)
    plan = _fit_plan(context, target, chosen)
    lent = open_lent(
        plan.mimic,
        chosen.mapping,
        attributes=plan.attributes,
        settings=plan.settings,
        cache=context.workspace / EMBEDDINGS,
        on_progress=told.inside,
    )
    _say_device(context, target)
    fitted = fit_mimic(plan, folder / MODEL, lent)
    told.fitted()
    if _refit_count(context):
        _refit(context, fitted, plan, folder / REFITS, lent, told)
    return fitted.card.n_train


def _refit(
    context: AuditContext,
    fitted: FittedMimic,
    plan: FitPlan,
    folder: Path,
    lent: Lent,
    told: _Progress,
) -> None:
    if folder.is_dir():
        for left in folder.glob(".refit-*"):
            shutil.rmtree(left)
    times = _refit_count(context)
    refits(fitted, plan, folder, times=times, lent=lent, on_fitted=lambda number: told.fitted())


def _say_device(context: AuditContext, target: LabelTarget) -> None:
    """Say, once a run, where a fit of a neural model runs."""
    if target.kind is None or "torch" not in mimics.get(target.kind).packages:
        return
    from evenhand.training.language_models import choose_device

    say_once(context, f"{target.name}: {choose_device('auto')[1]}")


def _refit_count(context: AuditContext) -> int:
    """Return how many refits a checked plan has; 3 in runs of versions that did not write it."""
    return (context.plan.refits or LEAST_REFITS) if REPEAT in (context.plan.controls or ()) else 0


def _fit_plan(context: AuditContext, target: LabelTarget, chosen: RunVisits) -> FitPlan:
    plan = context.plan
    return fit_plan(
        chosen.visits,
        mimic=target.kind or "",
        seed=plan.seed,
        class_weights=plan.class_weights,
        source={"dataset": plan.dataset, "decider": chosen.decider},
        changes=plan.fit_settings.get(target.kind or ""),
    )


async def answer(context: AuditContext) -> Counts:
    """Ask each target, and each refit, for the level of every visit that passed the gate.

    Reads variants.jsonl and gate.jsonl; writes scores/part-*.parquet. The refits are asked the full
    arm only. Resume: askings that are in a part are not made again.
    """
    rejected = {v.subject_id for v in context.run.gate() if v.value != "accepted"}
    variants = [v for v in context.run.variants() if v.status == "ok" and v.id not in rejected]
    whole = sum(variant.arm == "full" for variant in variants)
    targets = list(label_targets(context.plan))
    total = sum(len(variants) + bool(t.kind) * _refit_count(context) * whole for t in targets)
    done = 0

    def scored_more(count: int) -> None:
        nonlocal done
        done += count
        context.run.report_progress("answer", done, total)
        if done < total:
            stop_if_wished(context)

    for target in targets:
        await _ask_target(context, target, variants, scored_more)
    return {"ok": total}


async def _ask_target(
    context: AuditContext,
    target: LabelTarget,
    variants: Sequence[Variant],
    scored_more: Callable[[int], None],
) -> None:
    folder = context.run.path / target.folder
    folder.mkdir(exist_ok=True)
    known = set(await asyncio.to_thread(lambda: list(score_keys(folder))))
    if known:
        scored_more(len(known))
    if target.kind is None:
        missing = [variant for variant in variants if (variant.id, 0) not in known]
        if missing:
            chosen = read_run_visits(context.run)
            await ask_directly(context, target, chosen, missing, scored_more)
        return
    whole = [variant for variant in variants if variant.arm == "full"]
    jobs = [(0, variants), *((n, whole) for n in range(1, 1 + _refit_count(context)))]
    for repeat, asked in jobs:
        missing = [variant for variant in asked if (variant.id, repeat) not in known]
        if missing:
            path = folder / (MODEL if repeat == 0 else f"{REFITS}/refit-{repeat}")
            await _ask(context, folder, path, repeat, missing, scored_more)


async def _ask(
    context: AuditContext,
    folder: Path,
    model: Path,
    repeat: int,
    variants: Sequence[Variant],
    scored_more: Callable[[int], None],
) -> None:
    """Ask a mimic part by part; each part is on disk before the next is asked."""
    cache = context.workspace / EMBEDDINGS
    fitted = await asyncio.to_thread(lambda: load_mimic(model, lent_to(model, cache)))
    reads = "renderer" in mimics.get(fitted.card.mimic).needs
    step = _PROMPTS_A_PART if reads else _ROWS_A_PART
    for start in range(0, len(variants), step):
        stop_if_wished(context)
        part = variants[start : start + step]
        keys = [(variant.id, repeat) for variant in part]
        await asyncio.to_thread(_score_part, folder, fitted, keys, part)
        scored_more(len(part))


def _score_part(
    folder: Path, fitted: FittedMimic, keys: Sequence[ScoreKey], variants: Sequence[Variant]
) -> None:
    rows = mimic_rows(
        [v.text for v in variants], [v.columns for v in variants], fitted.card.columns
    )
    probabilities = fitted.mimic.predict_probabilities(rows)
    write_scores(folder, scored(keys, likeliest_levels(probabilities), probabilities))


async def measure(context: AuditContext) -> Counts:
    """Turn pairs of levels into Measurements with n, interval and control; writes measurements."""
    names, seed = context.recipe.metrics, context.plan.seed
    made = await asyncio.to_thread(measure_pairs_of, context.run, names, seed)
    lines = "".join(one.model_dump_json() + "\n" for one in made)
    # Derived, so written anew in one step: an old number may not be left behind.
    context.run.write_text("measurements.jsonl", lines)
    return by_status(made)
