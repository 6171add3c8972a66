"""The model that stands in for the decider: what it was fitted to, and how well it agrees."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from evenhand.tools.plots.calibration import calibration
from evenhand.tools.sections import ReportContext, fill, section
from evenhand.tools.triage import words
from evenhand.tools.triage_view import TriageView
from evenhand.training.fit_quality import FitQuality
from evenhand.training.mimic_rows import ARMS, MimicArm
from evenhand.training.model_card import ModelCard

FAIR_KAPPA = 0.4
"""Below it the model decides too unlike the people for a finding to be pinned on them."""


@section(title="The model of the decider")
def mimic(context: ReportContext) -> str:
    """Show the model card: agreement in each arm, confusion matrix, calibration curve."""
    view = context.triage
    model = view.model if view else None
    card = model.card if model else None
    quality = model.quality if model else {}
    full = quality.get("full")
    drawn = (
        calibration(full.calibration, title="Calibration of the model") if full is not None else ""
    )
    return fill(
        "mimic.html",
        name=model.name if model else "",
        card=card,
        levels=view.results.levels if view else (),
        full=full,
        quality=[(words.arm(arm), kappa_text(one), one) for arm, one in quality.items()],
        beside=kappa_table(view) if view else [],
        arms=[words.arm_short(arm) for arm in ARMS],
        warnings=warnings(quality, full) if full else [],
        calibration=Markup(drawn),  # noqa: S704 - our own SVG, escaped by construction
        facts=facts(card) if card else [],
    )


def kappa_table(view: TriageView) -> list[tuple[str, str, list[str]]]:
    """Return kappa_w of each model of this decider on these visits: name, run, a cell an arm.

    Empty where there is one model.
    """
    rows = [
        (
            model.name,
            run,
            [kappa_text(model.quality[arm]) if arm in model.quality else "" for arm in ARMS],
        )
        for model, run in view.models
    ]
    return rows if len(rows) > 1 else []


def kappa_text(quality: FitQuality) -> str:
    """Return kappa_w with its interval, or why there is none."""
    if quality.kappa_w is None:
        return f"not estimable: {quality.not_estimable}"
    text = f"{quality.kappa_w:.2f}"
    if quality.kappa_w_low is None or quality.kappa_w_high is None:
        return text
    return f"{text} [{quality.kappa_w_low:.2f}, {quality.kappa_w_high:.2f}]"


def warnings(quality: Mapping[MimicArm, FitQuality], full: FitQuality) -> list[str]:
    """Return what a reader must know before a finding is pinned on the people."""
    said = []
    if full.kappa_w is None or full.kappa_w < FAIR_KAPPA:
        said.append(
            "The model agrees with the people little: what moves it need not be what moves them, "
            "and what moves them may not move it."
        )
    if full.recall <= full.majority_share:
        how = "as" if full.recall == full.majority_share else "more"
        said.append(
            f"Saying the commonest level every time would be right {how} often "
            f"({100 * full.majority_share:.0f} %; the model {100 * full.recall:.0f} %)."
        )
    if full.never_given:
        said.append(
            f"It never gives level {', '.join(full.never_given)}, which people gave; no pair can "
            "move to it."
        )
    said += [
        f"Shown as in arm {words.arm(arm)} it agrees with kappa_w {one.kappa_w:.2f}: less than "
        "half as well, so read that arm with care."
        for arm, one in quality.items()
        if arm != "full"
        and one.kappa_w is not None
        and full.kappa_w is not None
        and one.kappa_w < full.kappa_w / 2
        and full.kappa_w > 0
    ]
    return said


def facts(card: ModelCard) -> list[tuple[str, str]]:
    """Return what the fit was, a line each."""
    lines = [
        ("Model", f"{card.title} ({card.mimic}), fitted for {words.arm(card.fitted_for)}"),
        ("Fitted to", f"{card.n_train:,} visits of {card.n_patients:,} patients"),
        ("Levels", _counts(card.levels, card.train_levels)),
        ("Chosen", ", ".join(f"{name} {value}" for name, value in card.chosen.items())),
        (
            "Class weights",
            ", ".join(f"{level}: {weight:.2f}" for level, weight in card.class_weights.items())
            or "none: every visit counts the same",
        ),
        ("Columns", ", ".join(card.columns) or "none"),
        ("Sentence vectors", card.lent.get("embedder", "")),
        ("Pretrained model", card.lent.get("base", "")),
        ("Prompt template", card.lent.get("renderer", "")),
        ("Data", f"SHA-256 {card.data_hash[:16]}…"),
    ]
    return [(name, text) for name, text in lines if text]


def _counts(levels: Sequence[str], counts: dict[str, int]) -> str:
    return ", ".join(f"{level}: {counts.get(level, 0):,}" for level in levels)
