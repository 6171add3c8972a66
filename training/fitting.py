"""Fit a mimic to the training half, measure it on the audit half, keep it; or load it again."""

import glob
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from evenhand.graph_store.errors import UserError
from evenhand.training.fit_quality import FitQuality, fit_quality
from evenhand.training.lent import NOTHING_LENT, Lent
from evenhand.training.levels import Probabilities, level_weights
from evenhand.training.mimic_rows import ARMS, Decisions, MimicArm
from evenhand.training.mimics import Mimic, MimicKind, MimicSettings, mimics
from evenhand.training.model_card import ModelCard, read_card, write_card
from evenhand.training.splits import patient_key, resampled_patients, shared_patients

log = logging.getLogger(__name__)

LEAST_VISITS = 30
"""With fewer there is nothing to imitate; far more are needed for an audit."""
LEAST_REFITS = 3


@dataclass(frozen=True)
class FitPlan:
    """What to fit, and to what.

    Attributes:
        mimic: Registered name.
        train: Visits to fit to.
        audit: Visits to measure the quality on; none of their patients may be in `train`.
        levels: Names in order, the lowest number first.
        attributes: The audited ones, each a category of the rows.
        seed: Of the fit, >= 0.
        settings: Of the kind's own class; None for its defaults.
        arm: What the model is shown in the fit: full for the model that all arms are asked of.
        source: What the visits are, for the card.
        n_jobs: Threads; the model does not depend on it.
    """

    mimic: str
    train: Decisions
    audit: Decisions | None
    levels: tuple[str, ...]
    attributes: tuple[str, ...]
    seed: int
    settings: MimicSettings | None = None
    arm: MimicArm = "full"
    source: Mapping[str, str] | None = None
    n_jobs: int = 2


@dataclass(frozen=True)
class FittedMimic:
    """A model and its card; `resumed` where it was loaded and not fitted."""

    mimic: Mimic
    card: ModelCard
    resumed: bool


def fit_mimic(plan: FitPlan, folder: Path, lent: Lent = NOTHING_LENT) -> FittedMimic:
    """Fit a mimic and keep it in a folder; if the same one lies there, load it.

    The model does not depend on the order of the visits. The folder appears when all is in it, so
    a fit that was killed leaves nothing that looks finished.

    Args:
        plan: What to fit.
        folder: A new folder, or one with the same model.
        lent: What the kind asks for.

    Raises:
        UserError: Unknown mimic, too few visits, one level only, a patient in both halves, or a
            folder with another model; nothing is written then.
    """
    kind = mimics.get(plan.mimic)
    check_decisions(plan)
    lent.check(kind.needs)
    wanted = _card(plan, kind, lent, resampled=False)
    if folder.exists():
        return _resumed(wanted, folder, lent)
    if not folder.parent.is_dir():
        raise UserError(f"{folder.parent}: no such folder; make it, or name another one.")
    return _fit(plan, wanted, folder, lent)


def load_mimic(folder: Path, lent: Lent = NOTHING_LENT) -> FittedMimic:
    """Read a kept mimic.

    Raises:
        UserError: No mimic there, a damaged one, one of another version of scikit-learn, or one
            of other embeddings than those given.
    """
    card = read_card(folder)
    kind = mimics.get(card.mimic)
    lent.check(kind.needs)
    for part, name in _lent_names(kind, lent).items():
        if card.lent[part] != name:
            raise UserError(
                f"{folder} was fitted on {part} {card.lent[part]!r}, not {name!r}; "
                "give that one, or fit the mimic again."
            )
    here = _versions(kind)
    if kind.exact_versions and card.versions != here:
        raise UserError(
            f"{folder} was fitted with {_listed(card.versions)}; here is {_listed(here)}. "
            "Install those versions, or fit the mimic again."
        )
    return FittedMimic(kind.model.load(folder, lent), card, resumed=True)


def refits(
    fitted: FittedMimic,
    plan: FitPlan,
    folder: Path,
    *,
    times: int = LEAST_REFITS,
    lent: Lent = NOTHING_LENT,
    on_fitted: Callable[[int], None] = lambda number: None,
) -> list[FittedMimic]:
    """Fit the mimic again with other seeds on resampled training halves: the repeat arm.

    A mimic is a deterministic argmax: asked twice it says the same. What moves its decisions
    without any change of the attribute is which visits it happened to be fitted to, so whole
    patients are drawn again with replacement, and seed k + 1, k + 2, ... draws and fits. What the
    search chose stays; without it the noise would be that of the search as well.

    Args:
        fitted: The mimic of `plan`.
        plan: The plan it was fitted by.
        folder: Each refit is kept in it as refit-1, refit-2, ...; those there are loaded.
        times: At least 3.
        lent: As for fit_mimic.
        on_fitted: Called with the number of each refit that is there; it may raise to stop.

    Returns:
        The refits, their quality measured on the same audit half.

    Raises:
        ValueError: Fewer than 3.
    """
    if times < LEAST_REFITS:
        raise ValueError(f"{times} refits; at least {LEAST_REFITS} are needed for a noise floor")
    folder.mkdir(parents=True, exist_ok=True)
    kind = mimics.get(plan.mimic)
    settings = _chosen_settings(kind, plan.settings, fitted.card)
    found = []
    for number in range(1, times + 1):
        seed = plan.seed + number
        places = resampled_patients(plan.train.patients, seed=seed)
        again = replace(plan, train=plan.train.take(places), seed=seed, settings=settings)
        found.append(_refit(again, kind, folder / f"refit-{number}", lent))
        on_fitted(number)
    return found


def predict_arms(
    mimic: Mimic, decisions: Decisions, attributes: Sequence[str], arms: Sequence[MimicArm] = ARMS
) -> dict[MimicArm, Probabilities]:
    """Return one model's probabilities in each arm, shape (n, L) each."""
    return {
        arm: mimic.predict_probabilities(decisions.rows.shown_in(arm, attributes)) for arm in arms
    }


def check_decisions(plan: FitPlan) -> None:
    """Raise a UserError where nothing can be fitted or honestly measured.

    Raises:
        UserError: Too few visits, one level only, or a patient in both halves.
        ValueError: An audited attribute is no category of the rows.
    """
    train = plan.train
    if len(train) < LEAST_VISITS:
        raise UserError(
            f"The training half has {len(train)} visits; a mimic needs at least {LEAST_VISITS}."
        )
    occurring = np.unique(train.levels)
    if len(occurring) < 2:
        raise UserError(
            f"All {len(train)} visits of the training half have level "
            f"{plan.levels[int(occurring[0])]}; a mimic needs at least two levels."
        )
    missing = [name for name in plan.attributes if name not in train.rows.categories]
    if missing:
        raise ValueError(f"attribute {missing[0]!r} is no category of the rows")
    if plan.audit is not None:
        both = shared_patients([train.patients, plan.audit.patients])
        if both:
            raise UserError(
                f"{len(both)} patients are in both halves (first: {both[0]!r}); split by patient, "
                "or the quality is that of remembering them."
            )


def _refit(plan: FitPlan, kind: MimicKind, folder: Path, lent: Lent) -> FittedMimic:
    wanted = _card(plan, kind, lent, resampled=True)
    if len(np.unique(plan.train.levels)) < 2:
        raise UserError("A resampled training half has one level only; more visits are needed.")
    if folder.exists():
        return _resumed(wanted, folder, lent)
    return _fit(plan, wanted, folder, lent)


def _fit(plan: FitPlan, wanted: ModelCard, folder: Path, lent: Lent) -> FittedMimic:
    """Fit, measure and keep; checkpoints of a fit that was killed are taken up."""
    kind = mimics.get(plan.mimic)
    work = folder.parent / f".work-{folder.name}-{wanted.fit_hash()[:16]}"
    began = time.perf_counter()
    mimic = kind.model.fit(
        plan.train.shown_in(plan.arm, plan.attributes).in_order(),
        plan.settings or kind.settings(),
        n_levels=len(plan.levels),
        seed=plan.seed,
        lent=lent,
        n_jobs=plan.n_jobs,
        work=work,
    )
    seconds = time.perf_counter() - began
    log.info("fitted %s to %d visits in %.1f s", plan.mimic, len(plan.train), seconds)
    card = wanted.model_copy(
        update={
            "chosen": dict(mimic.chosen),
            "quality": _quality(mimic, plan),
            "seconds": round(seconds, 3),
        }
    )
    _keep(mimic, card, folder)
    # Those of other plans for this folder too: they can no longer be taken up.
    for left in folder.parent.glob(f".work-{glob.escape(folder.name)}-*"):
        shutil.rmtree(left)
    return FittedMimic(mimic, card, resumed=False)


def _keep(mimic: Mimic, card: ModelCard, folder: Path) -> None:
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as work:
        new = Path(work) / folder.name
        new.mkdir()
        mimic.save(new)
        write_card(card, new)
        os.replace(new, folder)


def _quality(mimic: Mimic, plan: FitPlan) -> dict[MimicArm, FitQuality]:
    if plan.audit is None or len(plan.audit) == 0:
        return {}
    arms = ARMS if plan.arm == "full" else (plan.arm,)
    return {
        arm: fit_quality(plan.audit.levels, found, plan.levels, seed=plan.seed)
        for arm, found in predict_arms(mimic, plan.audit, plan.attributes, arms).items()
    }


def _card(plan: FitPlan, kind: MimicKind, lent: Lent, *, resampled: bool) -> ModelCard:
    settings = plan.settings or kind.settings()
    visits = np.bincount(plan.train.levels, minlength=len(plan.levels))
    weights = level_weights(plan.train.levels, len(plan.levels), settings.class_weights)
    return ModelCard(
        mimic=kind.name,
        title=kind.title,
        levels=plan.levels,
        fitted_for=plan.arm,
        attributes=plan.attributes,
        columns=plan.train.rows.kinds,
        settings=settings.model_dump(mode="json"),
        class_weights={
            level: round(float(weight), 6)
            for level, weight in zip(plan.levels, weights, strict=True)
            if not np.isnan(weight)
        },
        seed=plan.seed,
        data_hash=plan.train.content_hash(),
        audit_hash=plan.audit.content_hash() if plan.audit is not None else None,
        source=dict(plan.source or {}),
        lent=_lent_names(kind, lent),
        resampled=resampled,
        n_train=len(plan.train),
        n_patients=len({patient_key(patient) for patient in plan.train.patients}),
        train_levels=dict(zip(plan.levels, visits.tolist(), strict=True)),
        versions=_versions(kind),
    )


def _resumed(wanted: ModelCard, folder: Path, lent: Lent) -> FittedMimic:
    kind = mimics.get(wanted.mimic)
    differs = read_card(folder).differs_from(wanted, versions=kind.exact_versions)
    if differs:
        raise UserError(
            f"{folder} holds another mimic (it differs in {', '.join(differs)}); "
            "give a new folder, or delete that one."
        )
    return load_mimic(folder, lent)


def _chosen_settings(
    kind: MimicKind, settings: MimicSettings | None, card: ModelCard
) -> MimicSettings:
    """Return the settings with each searched list cut to what was chosen: nothing to search."""
    known = (settings or kind.settings()).model_dump()
    cut = {name: (card.chosen[name],) for name in known if name in card.chosen}
    return kind.settings.model_validate(known | cut)


def _lent_names(kind: MimicKind, lent: Lent) -> dict[str, str]:
    return {part: name for part, name in lent.names().items() if part in kind.needs}


def _versions(kind: MimicKind) -> dict[str, str]:
    found = {}
    for name in kind.packages:
        try:
            found[name] = version(name)
        except PackageNotFoundError as error:
            raise UserError(f"A mimic needs {name}; install it: pip install {name}.") from error
    return found


def _listed(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in versions.items())
