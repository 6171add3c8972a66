"""What a counterfactual audit found: the sentence, a card for each direction, and what it rests on.

The verdict itself is drawn in tools/triage/verdict.py; here it is only said.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from evenhand.tools import wording
from evenhand.tools.sections import ReportContext, Summary, fill, section
from evenhand.tools.sections.mimic import kappa_text
from evenhand.tools.sections.triage_forest import DRAWN, figures
from evenhand.tools.sections.verdict import OUTCOME_WORDS
from evenhand.tools.triage import words
from evenhand.tools.triage.asked_models import AskedModel
from evenhand.tools.triage.measure import DTS, NET_DTS, PDR, TriageNumber
from evenhand.tools.triage.metrics import Way
from evenhand.tools.triage.pairs import CONTROL_ARMS
from evenhand.tools.triage.verdict import Outcome, outcome_of
from evenhand.tools.triage_view import TriageView


@dataclass(frozen=True)
class Card:
    """One direction between two groups: what it shows."""

    title: str
    outcome: Outcome
    word: str
    """What a reader takes from it: "less urgent", or that none was found."""
    number: TriageNumber
    raw: TriageNumber | None
    """The same before the control was taken off; None where nothing was."""


def summary(context: ReportContext) -> Summary:
    """Return the verdict in brief, with the plot of the shares by arm."""
    view = context.triage
    if view is None:
        return Summary("It cannot be said from this run.", ["No pair was measured in this run."])
    plot = figures(view, (DRAWN,))
    return Summary(headline(view), view.verdict.sentences, noise_sentence(view), plot)


@section(title="What was found", summary=summary)
def triage_verdict(context: ReportContext) -> str:
    """Say in plain sentences which way decisions move when only the attribute changes."""
    view = context.triage
    return fill(
        "triage_verdict.html",
        view=view,
        headline=headline(view) if view else "",
        cards=list(cards(view)) if view else [],
        notes=list(notes(view)) if view else [],
        words=words,
    )


def headline(view: TriageView) -> str:
    """Return the answer in a few words."""
    verdict = view.verdict
    if verdict.status == "no_verdict":
        return "No verdict."
    sure = [finding for finding in verdict.findings if not finding.is_borderline]
    if sure:
        parts = "; ".join(
            f"shown as {finding.shown_as} instead of {finding.instead_of}, visits are decided "
            f"{finding.words}"
            for finding in sure
        )
        return f"Yes: {parts}."
    if verdict.findings:
        return "Not decided: what was found is borderline."
    return "Not found, which is not the same as fair."


def cards(view: TriageView) -> Iterator[Card]:
    """Yield a card for each direction of the main arm, net of the placebo where that informs."""
    if view.verdict.status == "no_verdict":
        return
    main = view.results.main_arm
    for raw in view.results.find(DTS, arm=main):
        net = next(
            (
                number
                for number in view.results.find(NET_DTS, arm=main, groups=raw.groups)
                if number.control_arm == "placebo" and number.control_is_informative
            ),
            None,
        )
        number = net or raw
        outcome = outcome_of(number)
        yield Card(
            title=words.shown(raw.groups),
            outcome=outcome,
            word=_word(view, number, outcome),
            number=number,
            raw=raw if net else None,
        )


def _word(view: TriageView, number: TriageNumber, outcome: Outcome) -> str:
    if outcome not in ("found", "borderline"):
        return OUTCOME_WORDS[outcome]
    way: Way = "up" if (number.estimate.value or 0.0) > 0 else "down"
    said = words.moved(way, view.direction)
    return said if outcome == "found" else f"{said}, borderline"


def notes(view: TriageView) -> Iterator[str]:
    """Yield what the verdict rests on: scale, decider, noise, what was left out."""
    yield words.scale(view.results.levels, view.direction)
    if view.card is not None:
        yield mimic_sentence(view)
    elif view.model is not None:
        yield model_sentence(view.model)
    yield noise_sentence(view)
    yield from fits_sentences(view)
    yield left_out_sentence(view)


def mimic_sentence(view: TriageView) -> str:
    """Say whose decisions a model stands in for, and how well."""
    card = view.card
    quality = card.quality.get("full") if card else None
    whose = f"decisions of decider {view.decider}" if view.decider else "recorded decisions"
    sentence = f"A model fitted to the {whose} was asked, not the people themselves"
    if quality is None or quality.kappa_w is None:
        return f"{sentence}; how well it agrees with them is not known."
    return (
        f"{sentence}; on {quality.n:,} other visits it agrees with them with a quadratically "
        f"weighted kappa of {kappa_text(quality)} (0: chance, 1: always)."
    )


def model_sentence(model: AskedModel) -> str:
    """Say that a model was asked as it is, and how well it decides as the people did."""
    quality = model.quality.get("full")
    sentence = f"{model.name} was asked as it is; it was fitted to none of the decisions"
    if quality is None or quality.kappa_w is None:
        return f"{sentence}, and how well it agrees with them is not known."
    return (
        f"{sentence}, and on {quality.n:,} visits it agrees with them with a quadratically "
        f"weighted kappa of {kappa_text(quality)} (0: chance, 1: always)."
    )


def noise_sentence(view: TriageView) -> str:
    """Say how often decisions moved where nothing relevant was changed."""
    parts = []
    for control in CONTROL_ARMS:
        for number in view.results.find(PDR, arm=control)[:1]:
            if number.estimate.value is None:
                continue
            moved = wording.number(number.estimate.value, "rate")
            told = moved if number.estimate.value else f"none: {words.NO_INFORMATION}"
            parts.append(f"{control} {told}")
    if not parts:
        return "There is no control arm in this run, so no noise floor to compare with."
    return f"Noise, pairs that moved in the control arms: {', '.join(parts)}."


def fits_sentences(view: TriageView) -> Iterator[str]:
    """Say how far models fitted again differ, and that a finding must hold for them too."""
    number = next(iter(view.results.find(DTS, arm=view.results.main_arm)), None)
    if view.card is None or number is None or number.over_fits is None:
        return
    yield (
        "Fitted to another half of the same decisions, the model would have leaned otherwise; "
        f"{number.over_fits.method.split(' refits')[0].rpartition(' ')[2]} refits say how much. "
        "What is found must also leave 0 out of the wider interval with the chance of the fit."
    )


def left_out_sentence(view: TriageView) -> str:
    """Say how many pairs of the main arm could not be scored, and that they are not fair."""
    pairs = view.main
    lost = pairs.unscored
    if not lost:
        return f"All {len(pairs):,} pairs of the main arm were scored."
    return (
        f"{len(pairs.scored):,} of {wording.counted(len(pairs), 'pair')} of the main arm were "
        f"scored. Left out, and not counted as fair: {words.unscored(lost)}."
    )
