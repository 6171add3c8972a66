"""A language model asked as it is: the probability of each level after each visit's prompt."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from evenhand.agents.label_targets import LabelTarget
from evenhand.agents.state import AuditContext
from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Variant
from evenhand.graph_store.run_directory import Event
from evenhand.graph_store.scores import Scores, write_scores
from evenhand.tools.run_visits import RunVisits
from evenhand.tools.score_labels import score_labels
from evenhand.tools.scoring import LabelScores, OpenScorer, open_scorer
from evenhand.tools.visit_prompts import visit_renderer, visit_template
from evenhand.training.lent import Renderer
from evenhand.training.mimic_rows import column_kinds, mimic_rows

_PART_ROWS, _PART_SECONDS = 2_048, 20.0
"""What a kill costs, at most: so many levels, or the levels of so long."""


async def ask_directly(
    context: AuditContext,
    target: LabelTarget,
    chosen: RunVisits,
    variants: Sequence[Variant],
    on_scored: Callable[[int], None],
) -> None:
    """Ask a model for the levels of visits; to scores/part-*.parquet in the target's folder.

    Args:
        context: Of the run.
        target: A model that is no mimic.
        chosen: The visits of the run: levels, and how they are said.
        variants: Not asked yet.
        on_scored: Told how many came, after each part of the model's; may raise to stop.

    Raises:
        UserError: The model cannot be asked, or is not the one that the run was begun with.
    """
    renderer = visit_renderer(visit_template(chosen.mapping, (chosen.attribute,)))
    prompts = await asyncio.to_thread(_prompts, renderer, chosen, variants)
    scorer = await open_scorer(target.spec, replace(target.settings, cue=renderer.cue))
    try:
        _same_model(context, target, scorer)
        for sentence in scorer.says:
            say_once(context, f"{target.name}: {sentence}")
        waiting: list[LabelScores] = []
        written = time.monotonic()

        async def write() -> None:
            nonlocal written
            if waiting:
                await asyncio.to_thread(_write, context, target, variants, waiting)
            waiting.clear()
            written = time.monotonic()

        try:
            async for part in score_labels(prompts, chosen.levels, scorer):
                waiting.append(part)
                full = sum(map(len, waiting)) >= _PART_ROWS
                if full or time.monotonic() - written >= _PART_SECONDS:
                    await write()
                on_scored(len(part))
        finally:
            # Also where a stop is wished: what was scored is kept.
            await write()
    finally:
        await scorer.close()


def say_once(context: AuditContext, message: str) -> None:
    """Tell whoever follows the run a sentence, unless it was told before it was resumed."""
    if not any(event.message == message for event in context.run.events()):
        context.run.append_event(Event(at=time.time(), kind="note", message=message))


def _prompts(renderer: Renderer, chosen: RunVisits, variants: Sequence[Variant]) -> list[str]:
    # Kinds are seen from all visits: a column may be empty in those that are asked now.
    kinds = column_kinds([{**s.columns, **s.attributes} for s in chosen.visits.samples])
    return renderer.render(
        mimic_rows([v.text for v in variants], [v.columns for v in variants], kinds)
    )


def _write(
    context: AuditContext,
    target: LabelTarget,
    variants: Sequence[Variant],
    parts: Sequence[LabelScores],
) -> None:
    places = np.concatenate([part.places for part in parts])
    write_scores(
        context.run.path / target.folder,
        Scores(
            tuple(variants[place].id for place in places),
            np.zeros(len(places), dtype=np.int64),
            np.concatenate([part.levels for part in parts]),
            np.concatenate([part.probabilities for part in parts]),
            tuple(status for part in parts for status in part.statuses),
        ),
    )


def _same_model(context: AuditContext, target: LabelTarget, scorer: OpenScorer) -> None:
    """Write into the manifest what really answers; on resume it must be the same.

    Raises:
        UserError: It differs.
    """
    role = target.folder or "target"
    manifest = context.run.manifest
    before = manifest.models.get(role)
    if before is not None and before != scorer.identity:
        raise UserError(
            f"Run {context.run.run_id} was begun with {before} as {role}, but here is "
            f"{scorer.identity}. Put the former model back, or start a run with another seed."
        )
    if before is None:
        models = {**manifest.models, role: scorer.identity}
        context.run.write_manifest(manifest.model_copy(update={"models": models}))
