"""The models of a run that gave levels: which they are, and how well each decides as people did.

A mimic's agreement was measured when it was fitted and stands in its card; that of a model that is
asked as it is comes from the levels it gave the visits as they are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evenhand.graph_store.records import Variant
from evenhand.graph_store.run_directory import RunDirectory
from evenhand.tools.triage.pairs import MAIN_ARM, TriagePairs
from evenhand.tools.triage.run_pairs import AGAINST, OK, RunPairs, asked_model
from evenhand.training.fit_quality import FitQuality, fit_quality
from evenhand.training.mimic_rows import ARMS, MimicArm
from evenhand.training.model_card import CARD_FILE, ModelCard, read_card

MODEL_FOLDER = "model"


@dataclass(frozen=True)
class AskedModel:
    """A model of a run.

    Attributes:
        name: As the plan names it.
        arms: Its pairs by arm.
        quality: Arm -> agreement with people on the visits of the audit half.
        card: Of a mimic; None for a model that is asked as it is.
        refits: Its full arm as each refit decides it; none for a model that is asked as it is.
    """

    name: str
    arms: Mapping[str, TriagePairs]
    quality: Mapping[MimicArm, FitQuality]
    card: ModelCard | None
    refits: Sequence[TriagePairs] = ()


def read_models(run: RunDirectory, variants: Sequence[Variant] | None = None) -> list[AskedModel]:
    """Return the models of a run, the one under audit first.

    Args:
        run: Of the counterfactual recipe.
        variants: Its variants, where they have been read.

    Raises:
        UserError: The run has no visits, or a file of it is damaged.
    """
    folders = [""] if run.manifest.plan.get(AGAINST) is None else ["", AGAINST]
    return [_read_model(run, folder, variants) for folder in folders]


def _read_model(run: RunDirectory, folder: str, variants: Sequence[Variant] | None) -> AskedModel:
    manifest = run.manifest
    read = RunPairs.read(run, folder, variants)
    card = read_kept_card(run.path / folder)
    quality = asked_quality(read, manifest.seed) if card is None else card.quality
    return AskedModel(
        name=asked_model(manifest.plan, folder),
        arms={arm: read.pairs(arm) for arm in read.arms},
        quality=quality,
        card=card,
        refits=() if card is None or MAIN_ARM not in read.arms else read.refit_pairs(),
    )


def read_kept_card(folder: Path) -> ModelCard | None:
    """Return the card of the mimic that is kept in a folder; None where there is none (yet)."""
    model = folder / MODEL_FOLDER
    return read_card(model) if (model / CARD_FILE).is_file() else None


def asked_quality(read: RunPairs, seed: int) -> dict[MimicArm, FitQuality]:
    """Return how a model that is asked as it is agrees with people, by arm.

    Args:
        read: A run's pairs.
        seed: Of the interval's resamples.

    Returns:
        Over the visits of the audit half, as they are, to which it gave a level; an arm without
        any is left out.
    """
    levels = read.chosen.levels
    places = {level: place for place, level in enumerate(levels)}
    found: dict[MimicArm, FitQuality] = {}
    for arm in ARMS:
        shown = [
            (places[sample.label or ""], variant.id)
            for sample in read.chosen.audit
            if (variant := read.variants.get((sample.id, arm, None))) is not None
            and read.scores.status(variant.id) == OK
        ]
        if shown:
            rows = [read.scores.places[name, 0] for _, name in shown]
            decided = np.array([level for level, _ in shown], dtype=np.int64)
            shares = read.scores.probabilities[rows]
            found[arm] = fit_quality(decided, shares, levels, seed=seed)
    return found
