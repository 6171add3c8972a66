"""The HTML of the chat page. Every text is escaped here; nothing else writes HTML."""

from collections.abc import Iterable
from html import escape

from evenhand.agents.estimate import Estimate
from evenhand.agents.jobs import RunState
from evenhand.agents.plan import Plan
from evenhand.agents.recipe import load_recipe
from evenhand.graph_store.run_directory import RunDirectory
from evenhand.ui.glossary import glossary
from evenhand.ui.talks import Said
from evenhand.ui.words import (
    STAGE_WORDS,
    Fact,
    asked_facts,
    cost_facts,
    duration,
    rate,
)

EMPTY = (
    "<p class='hint'>Say which model, on which data, and what is to be changed. The plan is shown "
    "first, with its calls, its cost and where text goes; nothing is sent before you approve it. "
    "These need no key, and nothing leaves this machine:</p>"
)
STARTING = "<p class='strip-line'><strong>Starting</strong> checking models and data</p>"

_WHO = {"person": "You", "evenhand": "evenhand", "error": "Not possible"}


def page_header() -> str:
    """Return skip link, navigation, title and purpose."""
    return (
        "<a class='skip' href='#ask'>Skip to the question</a>"
        "<nav aria-label='evenhand'><span class='brand'>evenhand</span>"
        "<a href='/' aria-current='page'>Chat</a>"
        "<span class='gap'></span><a class='new' href='/'>New talk</a>"
        "<button type='button' id='theme-choice' aria-label='Switch between light and dark'>"
        "<span aria-hidden='true'>\N{CIRCLE WITH LEFT HALF BLACK}</span></button></nav>"
        "<h1>Chat</h1><p class='purpose'>Ask in words whether a model answers differently when "
        "only the patient changes.</p>"
    )


def turns(said: Iterable[Said]) -> str:
    """Return the talk so far."""
    items = "".join(
        f"<li class='turn {turn.who}'><span class='who'>{_WHO[turn.who]}</span>"
        f"<p>{_lines(turn.text)}</p></li>"
        for turn in said
    )
    return f"<ol class='turns' role='log' aria-label='Conversation'>{items}</ol>" if items else ""


def _lines(text: str) -> str:
    return escape(text).replace("\n", "<br>")


def read_as(plan: Plan) -> str:
    """Return in one sentence what a plan asks."""
    from evenhand.tools.report import question

    asked = question(plan.model_dump(mode="json"))
    return f"I read this as: {asked[:1].lower()}{asked[1:]}"


def asked_list(plan: Plan) -> str:
    """Return what is asked of whom, as a list of terms."""
    return f"<dl class='facts'>{''.join(_fact(fact) for fact in asked_facts(plan))}</dl>"


def _fact(fact: Fact) -> str:
    return f"<div><dt>{_term(fact)}</dt><dd>{escape(fact.value)}</dd></div>"


def _term(fact: Fact) -> str:
    sentence = glossary().get(fact.term)
    label = escape(fact.label)
    if sentence is None:
        return label
    return (
        f"{label} <details class='term'><summary aria-label='What does {label} mean?'>?</summary>"
        f"<span>{escape(sentence)}</span></details>"
    )


def cost_list(plan: Plan, estimate: Estimate) -> str:
    """Return what follows n: calls, cost, time, smallest difference, where text goes, notes."""
    tiles = "".join(_fact(fact) for fact in cost_facts(plan, estimate))
    notes = "".join(f"<li>{escape(note)}</li>" for note in estimate.notes)
    more = f"<ul class='notes'>{notes}</ul>" if notes else ""
    return f"<dl class='facts costs' aria-live='polite'>{tiles}</dl>{more}"


def problem(sentence: str) -> str:
    """Return what is wrong with the plan as it stands in the card."""
    return f"<p class='problem' role='alert'><strong>Not possible:</strong> {escape(sentence)}</p>"


def strip(state: RunState, *, stopping: bool) -> str:
    """Return how far a run is: stage, done, rate, time left, what was refused or failed."""
    if state.status == "failed":
        return _ended("Failed", state, "What was answered is safe. Mend it, then press Go on.")
    if state.status in ("stopped", "planned"):
        return _ended("Stopped", state, "What was answered is kept. Go on does not ask it again.")
    word = "Stopping" if stopping else "Running"
    stage = state.current
    if stage is None:
        return f"<p class='strip-line'><strong>{word}</strong> opening the models</p>{_bar(None)}"
    name = STAGE_WORDS.get(stage.stage, stage.stage)
    known = stage.total > 1
    done = f"{stage.done:,} of {stage.total:,}" if known else ""
    left = duration(stage.seconds_left) + " left" if stage.seconds_left else ""
    trouble = f"refused {state.count('refused')} \N{MIDDLE DOT} errors {state.count('error')}"
    said = (rate(stage.per_minute), left, escape(stage.note), trouble)
    small = " \N{MIDDLE DOT} ".join(part for part in said if part)
    share = stage.done / stage.total if known else None
    note = ", waiting for the answers in flight" if stopping else f" {done}"
    return (
        f"<p class='strip-line'><strong>{word}</strong> {escape(name.lower())}{note}</p>"
        f"{_bar(share)}<p class='quiet'>{escape(small)}</p>"
        + "".join(
            f"<p class='quiet'>{escape(text)}</p>" for text in (*state.notes, *state.warnings)[-2:]
        )
    )


def _ended(word: str, state: RunState, hint: str) -> str:
    # What follows the first clause of a stop is a command for the terminal; here is a button.
    reason = (state.message or "").split(";")[0] if word == "Stopped" else state.message or ""
    said = reason if reason.startswith(word) else f"{word}. {reason}"
    first, _, rest = said.partition(" ")
    return (
        f"<p class='strip-line'><strong>{escape(first)}</strong> {escape(rest)}</p>"
        f"<p class='quiet'>{hint}</p>"
    )


def _bar(share: float | None) -> str:
    if share is None:
        return "<div class='bar unknown' role='progressbar' aria-label='Working'><i></i></div>"
    percent = round(100 * min(max(share, 0), 1))
    return (
        f"<div class='bar' role='progressbar' aria-label='Progress of this stage' "
        f"aria-valuemin='0' aria-valuemax='100' aria-valuenow='{percent}'>"
        f"<i style='width:{percent}%'></i></div>"
    )


def result(run: RunDirectory) -> str:
    """Return what a finished run found: verdict, plot or table, link to the report."""
    from evenhand.tools.report import facts
    from evenhand.tools.sections import load_context, summarise

    context = load_context(run)
    found = summarise(context, load_recipe(str(context.plan["recipe"])).sections)
    address = f"/report/{escape(run.run_id, quote=True)}"
    said = "".join(f"<p>{escape(sentence)}</p>" for sentence in found.sentences)
    note = f"<p class='quiet'>{escape(found.note)}</p>" if found.note else ""
    # The sections escape what they show; their links lead to places in the report.
    figure = found.figure.replace('href="#', f'target="_blank" href="{address}#')
    about = escape(" \N{MIDDLE DOT} ".join((*facts(context), run.run_id)))
    return (
        f"<h2>What was found</h2><p class='headline'>{escape(found.headline)}</p>{said}{note}"
        f"<p><a class='open-report' target='_blank' href='{address}'>Open the report</a> "
        f"<span class='quiet'>{about}</span></p>"
        f"<div class='plot-box'>{figure}</div>"
    )
