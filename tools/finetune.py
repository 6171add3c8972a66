"""Visits in, a mimic of who decided them out."""

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Sample, Scalar
from evenhand.tools.visit_mapping import VisitMapping
from evenhand.tools.visit_prompts import bare, frozen_renderer, visit_renderer, visit_template
from evenhand.tools.visits import Visits
from evenhand.training.embedding_cache import EmbeddingCache
from evenhand.training.fitting import FitPlan
from evenhand.training.lent import TEMPLATE_FILE, Embedder, FitProgress, Lent, no_report
from evenhand.training.levels import ClassWeights
from evenhand.training.mimic_rows import ColumnKind, Decisions, MimicArm, mimic_rows
from evenhand.training.mimics import MimicKind, MimicSettings, mimics
from evenhand.training.model_card import read_card

EMBEDDINGS = "all-MiniLM-L6-v2"
_IMPORTED = {"scikit-learn": "sklearn"}
"""Package -> what it is imported as, where that differs."""


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
    changes: Mapping[str, Any] | None = None,
) -> FitPlan:
    """Return the plan to fit a mimic to the training half and to measure it on the audit half.

    Args:
        visits: With their halves.
        mimic: Registered name.
        seed: Of the fit.
        class_weights: As in the settings.
        arm: What the model is shown in the fit.
        source: What the visits are, for the card.
        changes: Settings of the kind's own that are not its defaults.

    Raises:
        UserError: Unknown mimic, a setting that it does not have or that cannot be, or a faulty
            label or column.
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
        settings=checked_settings(kind, {**(changes or {}), "class_weights": class_weights}),
        arm=arm,
        source={"direction": visits.mapping.direction, **(source or {})},
    )


def checked_settings(kind: MimicKind, changes: Mapping[str, Any]) -> MimicSettings:
    """Return a kind's settings with some changed.

    Raises:
        UserError: It has no such setting, or the value cannot be.
    """
    known = kind.settings.model_fields
    unknown = [name for name in changes if name not in known]
    if unknown:
        raise UserError(
            f"{kind.name} has no setting {unknown[0]!r}; it has: {', '.join(sorted(known))}."
        )
    try:
        return kind.settings.model_validate(dict(changes))
    except ValidationError as error:
        first = error.errors()[0]
        raise UserError(
            f"Setting {'.'.join(map(str, first['loc']))} of {kind.name}: {first['input']!r} cannot "
            f"be ({first['msg'].lower()})."
        ) from error


def open_lent(
    mimic: str,
    mapping: VisitMapping | None = None,
    *,
    attributes: Sequence[str] = (),
    settings: MimicSettings | None = None,
    cache: Path | None = None,
    on_progress: Callable[[FitProgress], None] = no_report,
) -> Lent:
    """Return what a kind of mimic is lent for a fit; no language model is opened yet.

    Args:
        mimic: Registered name.
        mapping: Of the visits: how a kind that reads prompts is told of them; None lends none.
        attributes: The audited attributes.
        settings: Of the fit; their base is lent.
        cache: Folder that keeps sentence vectors; None for this process only.
        on_progress: Told while a fit lasts.

    Raises:
        UserError: Unknown mimic, or what it asks for is not installed.
    """
    kind = mimics.get(mimic)
    check_packages(kind)
    renderer = None
    if "renderer" in kind.needs and mapping is not None:
        template = visit_template(mapping, attributes)
        # Who has read nothing else has no use for an instruction.
        renderer = visit_renderer(template if "base" in kind.needs else bare(template))
    base = getattr(settings or kind.settings(), "base", None)
    return replace(_lent(kind, base, cache), renderer=renderer, on_progress=on_progress)


def lent_to(folder: Path, cache: Path | None = None) -> Lent:
    """Return what a kept mimic is lent to be loaded: the template beside it, its base.

    Raises:
        UserError: No mimic there, or what it asks for is not here.
    """
    card = read_card(folder)
    kind = mimics.get(card.mimic)
    check_packages(kind)
    lent = _lent(kind, card.settings.get("base"), cache)
    if "renderer" not in kind.needs:
        return lent
    path = folder / TEMPLATE_FILE
    try:
        return replace(lent, renderer=frozen_renderer(path.read_text("utf-8")))
    except (OSError, ValueError) as error:
        raise UserError(
            f"{path}: no prompt template ({type(error).__name__}); fit the mimic again."
        ) from error


def check_packages(kind: MimicKind) -> None:
    """Check that the packages of a kind of mimic are installed; nothing is imported.

    Raises:
        UserError: One is not; the message says what to install.
    """
    for name in kind.packages:
        if importlib.util.find_spec(_IMPORTED.get(name, name)) is None:
            what = "evenhand[torch]" if "torch" in kind.packages else name
            raise UserError(
                f"mimic/{kind.name} needs {name}, which is not installed; install it: "
                f"pip install '{what}'."
            )


def _lent(kind: MimicKind, base: str | None, cache: Path | None) -> Lent:
    lent = Lent(embedder=_embedder(cache) if "embedder" in kind.needs else None)
    if "base" not in kind.needs or base is None:
        return lent
    from evenhand.tools.scoring.torch import lend_scorer, torch_base

    return replace(lent, base=torch_base(base), scorer=lend_scorer)


def _embedder(cache: Path | None) -> Embedder:
    from evenhand.tools.vector_index import open_encoder

    return EmbeddingCache(Embedder(EMBEDDINGS, open_encoder().embed), cache).embedder
