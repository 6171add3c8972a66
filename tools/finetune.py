"""Visits in, a mimic of who decided them out."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Sample, Scalar
from evenhand.tools.visits import Visits
from evenhand.training.embedding_cache import EmbeddingCache
from evenhand.training.fitting import FitPlan
from evenhand.training.levels import ClassWeights
from evenhand.training.mimic_rows import ColumnKind, Decisions, MimicArm, mimic_rows
from evenhand.training.mimics import Embedder, mimics

EMBEDDINGS = "all-MiniLM-L6-v2"


def shown_columns(sample: Sample) -> dict[str, Scalar]:
    """Return what a mimic is shown of a visit besides the note: columns, then attributes.

    Raises:
        UserError: A column has an attribute's name.
    """
    both = sorted(set(sample.columns) & set(sample.attributes))
    if both:
        raise UserError(
            f"{both[0]!r} is a column and an attribute; rename the column in the mapping."
        )
    return {**sample.columns, **sample.attributes}


def decisions(
    samples: Sequence[Sample],
    levels: Sequence[str],
    kinds: Mapping[str, ColumnKind] | None = None,
) -> Decisions:
    """Return visits as a mimic sees them, with what was decided.

    Args:
        samples: Visits with a label; one without a patient is its own patient.
        levels: Names in order.
        kinds: Kinds of the columns, as in a model card; None to see them from the values.

    Raises:
        UserError: A label is no level, or a column holds numbers and words.
    """
    places = {level: place for place, level in enumerate(levels)}
    unknown = sorted({str(each.label) for each in samples if each.label not in places})
    if unknown:
        raise UserError(
            f"Level {unknown[0]!r} is none of {', '.join(levels)}; add it to the mapping's levels."
        )
    return Decisions(
        mimic_rows(
            [sample.text for sample in samples], [shown_columns(each) for each in samples], kinds
        ),
        np.array([places[sample.label or ""] for sample in samples], dtype=np.int64),
        tuple(sample.patient or sample.id for sample in samples),
    )


def fit_plan(
    visits: Visits,
    *,
    mimic: str,
    seed: int,
    class_weights: ClassWeights | None = None,
    arm: MimicArm = "full",
    source: Mapping[str, str] | None = None,
) -> FitPlan:
    """Return the plan to fit a mimic to the training half and to measure it on the audit half.

    Raises:
        UserError: Unknown mimic, or a faulty label or column.
    """
    kind = mimics.get(mimic)
    both = decisions(visits.samples, visits.mapping.levels)
    sides = np.array([sample.split for sample in visits.samples])
    return FitPlan(
        mimic=mimic,
        train=both.take(np.flatnonzero(sides == "train")),
        audit=both.take(np.flatnonzero(sides == "audit")),
        levels=visits.mapping.levels,
        attributes=(visits.attribute,),
        seed=seed,
        settings=kind.settings(class_weights=class_weights),
        arm=arm,
        source={"direction": visits.mapping.direction, **(source or {})},
    )


def open_embedder(mimic: str, cache: Path | None = None) -> Embedder | None:
    """Return the sentence encoder that a mimic asks for, with a memory; None where it asks none.

    Args:
        mimic: Registered name.
        cache: Folder that keeps the vectors; None for this process only.

    Raises:
        UserError: Unknown mimic, or the sentence encoder is not installed.
    """
    if not mimics.get(mimic).needs_embedder:
        return None
    from evenhand.tools.vector_index import open_encoder

    return EmbeddingCache(Embedder(EMBEDDINGS, open_encoder().embed), cache).embedder
