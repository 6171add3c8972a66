"""The mimic as target: fitted to the training half, refitted, and asked for levels in bulk.

The nodes fit, answer and measure of recipes that ask for labels. A mimic answers the same question
always the same way, so its repeat arm is other mimics: fitted with other seeds to resampled halves.
"""

import asyncio
import shutil
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from evenhand.agents.asking import Counts, by_status
from evenhand.agents.state import AuditContext
from evenhand.agents.visit_plan import mimic_kind
from evenhand.graph_store.errors import RunStopped
from evenhand.graph_store.records import Variant
from evenhand.graph_store.scores import ScoreKey, score_keys, scored, write_scores
from evenhand.tools.finetune import fit_plan, open_embedder
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
from evenhand.training.levels import likeliest_levels
from evenhand.training.mimic_rows import mimic_rows
from evenhand.training.mimics import Embedder
from evenhand.training.model_card import read_card

MODEL, REFITS, EMBEDDINGS = "model", "refits", "embeddings"
_ROWS_A_PART = 8_192
"""Askings between two looks at the wish to stop; what a kill costs."""


async def fit(context: AuditContext) -> Counts:
    """Fit the mimic to the training half, and the refits of the repeat arm; to model/ and refits/.

    Reads samples.jsonl. Resume: a model that is there is loaded; a fit that was killed leaves
    nothing that looks finished.
    """
    chosen = read_run_visits(context.run)
    total = 1 + _refit_count(context)
    embedder = await asyncio.to_thread(_embedder, context)
    for left in context.run.path.glob(f".{MODEL}-*"):
        shutil.rmtree(left)
    plan = _fit_plan(context, chosen)
    fitted = await asyncio.to_thread(fit_mimic, plan, context.run.path / MODEL, embedder)
    _told(context, 1, total)
    if _refit_count(context):
        await asyncio.to_thread(_refit, context, fitted, plan, embedder)
    return {"ok": total, "fitted_to": fitted.card.n_train}


def _refit(
    context: AuditContext, fitted: FittedMimic, plan: FitPlan, embedder: Embedder | None
) -> None:
    folder = context.run.path / REFITS
    if folder.is_dir():
        for left in folder.glob(".refit-*"):
            shutil.rmtree(left)
    times = _refit_count(context)
    refits(
        fitted,
        plan,
        folder,
        times=times,
        embedder=embedder,
        on_fitted=lambda number: _told(context, 1 + number, 1 + times),
    )


def _told(context: AuditContext, done: int, total: int) -> None:
    context.run.report_progress("fit", done, total)
    if done < total and context.stop_wished():
        raise RunStopped("Stopped on request; go on with `evenhand resume`.")


def _refit_count(context: AuditContext) -> int:
    """Return how many refits a checked plan has; 3 in runs of versions that did not write it."""
    return (context.plan.refits or LEAST_REFITS) if REPEAT in (context.plan.controls or ()) else 0


def _embedder(context: AuditContext) -> Embedder | None:
    kind = mimic_kind(context.plan.roles["target"].model) or ""
    return open_embedder(kind, context.workspace / EMBEDDINGS)


def _fit_plan(context: AuditContext, chosen: RunVisits) -> FitPlan:
    plan = context.plan
    return fit_plan(
        chosen.visits,
        mimic=mimic_kind(plan.roles["target"].model) or "",
        seed=plan.seed,
        class_weights=plan.class_weights,
        source={"dataset": plan.dataset, "decider": chosen.decider},
    )


async def answer(context: AuditContext) -> Counts:
    """Ask the mimic, and each refit, for the level of every visit that passed the gate.

    Reads variants.jsonl and gate.jsonl; writes scores/part-*.parquet. The refits are asked the full
    arm only. Resume: askings that are in a part are not made again.
    """
    rejected = {v.subject_id for v in context.run.gate() if v.value != "accepted"}
    variants = [v for v in context.run.variants() if v.status == "ok" and v.id not in rejected]
    done = set(await asyncio.to_thread(lambda: list(score_keys(context.run.path))))
    embedder = await asyncio.to_thread(_embedder, context)
    whole = [variant for variant in variants if variant.arm == "full"]
    jobs = [(0, variants), *((n, whole) for n in range(1, 1 + _refit_count(context)))]
    total = sum(len(asked) for _, asked in jobs)
    for repeat, asked in jobs:
        missing = [variant for variant in asked if (variant.id, repeat) not in done]
        if missing:
            folder = MODEL if repeat == 0 else f"{REFITS}/refit-{repeat}"
            path = context.run.path / folder
            fitted = await asyncio.to_thread(load_mimic, path, embedder)
            async for keys in _ask(context, fitted, repeat, missing):
                done.update(keys)
                context.run.report_progress("answer", len(done), total)
    return {"ok": total}


async def _ask(
    context: AuditContext, fitted: FittedMimic, repeat: int, variants: Sequence[Variant]
) -> AsyncIterator[list[ScoreKey]]:
    """Ask a mimic part by part; yield the keys of each part when it is on disk."""
    for start in range(0, len(variants), _ROWS_A_PART):
        if context.stop_wished():
            raise RunStopped("Stopped on request; go on with `evenhand resume`.")
        part = variants[start : start + _ROWS_A_PART]
        keys = [(variant.id, repeat) for variant in part]
        await asyncio.to_thread(_score_part, context.run.path, fitted, keys, part)
        yield keys


def _score_part(
    run: Path, fitted: FittedMimic, keys: Sequence[ScoreKey], variants: Sequence[Variant]
) -> None:
    rows = mimic_rows(
        [v.text for v in variants], [v.columns for v in variants], fitted.card.columns
    )
    probabilities = fitted.mimic.predict_probabilities(rows)
    write_scores(run, scored(keys, likeliest_levels(probabilities), probabilities))


async def measure(context: AuditContext) -> Counts:
    """Turn pairs of levels into Measurements with n, interval and control; writes measurements."""
    card = read_card(context.run.path / MODEL)
    names, seed = context.recipe.metrics, context.plan.seed
    made = await asyncio.to_thread(measure_pairs_of, context.run, names, seed, card)
    lines = "".join(one.model_dump_json() + "\n" for one in made)
    # Derived, so written anew in one step: an old number may not be left behind.
    context.run.write_text("measurements.jsonl", lines)
    return by_status(made)
