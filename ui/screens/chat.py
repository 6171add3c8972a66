"""Chat: ask in words, check the plan, approve, follow the run, read what was found."""

import asyncio
import functools
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ParamSpec, TypeVar

import gradio as gr

from evenhand.agents import jobs
from evenhand.agents.draft import Draft, Reading, to_plan
from evenhand.agents.estimate import check_plan, estimate
from evenhand.agents.plan import Plan
from evenhand.agents.planner import read
from evenhand.graph_store.errors import UserError
from evenhand.graph_store.run_directory import RunDirectory, list_runs
from evenhand.ui.results import run_summary
from evenhand.ui.running import job_command
from evenhand.ui.screens import chat_html as html
from evenhand.ui.settings import Settings
from evenhand.ui.talks import Talk, Talks

log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")
View = tuple[Any, ...]

EXAMPLES = (
    "Does the built-in model answer differently for women and men? demo, 6 questions",
    "Audit planted/location on demo for age and location, 12 questions",
    "Is planted/fair fair by age, gender and location? demo, all questions",
    "Do the decisions of demo_visits change with gender? All visits",
)

_CANNOT_YET = {
    "compare_runs": "Here two reports can be opened side by side; in a terminal `evenhand compare "
    "RUN OTHER` sets them against each other.",
    "explain_result": "What each number means stands beside it in the report.",
    "show_trace": "Every prompt, answer and verdict stands in the report, case by case.",
    "iterate_strategy": "Sharper attack strategies come later; a new plan can be asked for now.",
    "mitigate": "A model is mended after its audit, in a terminal: `evenhand mitigate RUN`.",
    "finetune": "A model of people's decisions is fitted inside their audit; name the data and the "
    "kind, for example: audit demo_visits with mimic/lora by gender. On its own, in a terminal: "
    "`evenhand finetune`.",
    "export_report": "The report is one file, report.html, in the run's folder.",
    "help": "Ask for an audit in words: which model, which data, which attributes, how many "
    "questions. For example: does local answer differently for older patients? demo, 12 questions.",
    "out_of_scope": "I plan and run bias audits. Say which model, which data and which attributes, "
    "for example: audit local on demo for age and gender, 12 questions.",
}


def in_our_words(handler: Callable[P, T]) -> Callable[P, T]:
    """Turn a bug into a message that gives nothing away; its traceback goes to the terminal."""

    @functools.wraps(handler)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return handler(*args, **kwargs)
        except Exception as error:
            log.exception("chat: %s failed", handler.__name__)
            raise gr.Error(
                "Something went wrong in evenhand itself. What was answered so far is safe; "
                "the terminal says what failed. Reload the page and try again."
            ) from error

    return guarded


class ChatScreen:
    """The page of a talk. State lies on disk under the talk's id, which stands in the address.

    Args:
        settings: Where runs are kept, and the models of the roles that nobody names.
    """

    def __init__(self, settings: Settings) -> None:
        """Prepare the screen; nothing is drawn yet."""
        self._settings = settings
        self._talks = Talks(settings.runs_dir)

    def build(self, page: gr.Blocks) -> None:
        """Draw the page inside an open gr.Blocks."""
        gr.HTML(html.page_header(), elem_id="page-header")
        log_view = gr.HTML(elem_id="log")
        with gr.Column(visible=False, elem_id="plan-card") as card:
            gr.HTML("<h2>Plan: check before anything is sent</h2>")
            asked = gr.HTML(elem_id="plan-asked")
            with gr.Row(elem_id="plan-fields"):
                n = gr.Number(
                    label="How many (empty: all)",
                    precision=0,
                    minimum=1,
                    interactive=True,
                    elem_id="plan-n",
                )
                seed = gr.Number(
                    label="Seed of the draw", precision=0, interactive=True, elem_id="plan-seed"
                )
            costs = gr.HTML(elem_id="plan-costs")
            with gr.Row(elem_id="plan-buttons"):
                approve = gr.Button("Approve and run", variant="primary", elem_id="approve")
                cancel = gr.Button("Cancel", elem_id="cancel")
        with gr.Column(visible=False, elem_id="strip") as strip_box:
            strip = gr.HTML()
            with gr.Row(elem_id="strip-buttons"):
                stop = gr.Button("Stop", visible=False, elem_id="stop")
                resume = gr.Button("Go on", visible=False, elem_id="resume")
        result = gr.HTML(visible=False, elem_id="result")
        with gr.Column(visible=True, elem_id="examples") as examples:
            gr.HTML(html.EMPTY)
            buttons = [
                gr.Button(text, elem_id=f"example-{index}", elem_classes="example")
                for index, text in enumerate(EXAMPLES)
            ]
        with gr.Row(elem_id="ask-row"):
            ask = gr.Textbox(
                label="Ask for an audit",
                placeholder="For example: audit local on demo for age and gender, 12 questions",
                lines=1,
                max_lines=4,
                max_length=2000,
                autofocus=True,
                elem_id="ask",
            )
            send = gr.Button("Send", variant="primary", elem_id="send")
        timer = gr.Timer(1.0, active=False)

        run_view = [strip_box, strip, stop, resume, result, timer]
        whole = [log_view, card, asked, n, seed, costs, examples, *run_view]
        quiet: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
        page.load(self.opened, None, whole, **quiet)
        gr.on([ask.submit, send.click], self.said, ask, [ask, *whole], **quiet)
        for button in buttons:
            button.click(self.said, button, [ask, *whole], **quiet)
        gr.on(
            [n.input, seed.input],
            self.edited,
            [n, seed],
            [asked, costs],
            trigger_mode="always_last",
            **quiet,
        )
        approve.click(self.starting, None, [card, strip_box, strip], **quiet)
        approve.click(self.approved, [n, seed], whole, concurrency_limit=1, **quiet)
        cancel.click(self.cancelled, None, whole, **quiet)
        stop.click(self.stopped, None, run_view, **quiet)
        resume.click(self.resumed, None, run_view, **quiet)
        timer.tick(self.ticked, None, run_view, concurrency_limit=None, **quiet)

    @in_our_words
    def opened(self, request: gr.Request) -> View:
        """Show a talk as it lies on disk."""
        return self._view(self._talks.load(_talk_id(request)))

    @in_our_words
    def said(self, text: str, request: gr.Request) -> View:
        """Read a sentence: a new plan, a change of the plan, an answer, or something else."""
        key = _talk_id(request)
        talk = self._talks.load(key)
        if text.strip():
            talk = self._answer(talk.add("person", text.strip()), text)
            self._talks.save(key, talk)
        return ("", *self._view(talk))

    @in_our_words
    def edited(self, n: float | None, seed: float | None, request: gr.Request) -> View:
        """Let calls, cost, time and the smallest difference follow the fields of the card."""
        key = _talk_id(request)
        talk = _with_fields(self._talks.load(key), n, seed)
        self._talks.save(key, talk)
        return self._card_facts(talk)

    @in_our_words
    def starting(self, request: gr.Request) -> View:
        """Say at once that something happens, while `approved` checks models and data."""
        if not self._talks.load(_talk_id(request)).ready:
            return gr.skip(), gr.skip(), gr.skip()
        return gr.update(visible=False), gr.update(visible=True), html.STARTING

    @in_our_words
    def approved(self, n: float | None, seed: float | None, request: gr.Request) -> View:
        """Start the run of the plan that was shown, once, whoever else approves it."""
        key = _talk_id(request)
        talk = _with_fields(self._talks.load(key), n, seed)
        if talk.draft is None or not talk.ready:
            return self._view(talk)
        # The plan is taken before it is started: a second press finds nothing to approve.
        self._talks.save(key, talk.model_copy(update={"ready": False}))
        try:
            run = self._start(talk.draft)
        except UserError as error:
            talk = talk.add("error", str(error))
        else:
            words = f"Approved. Run {run.run_id} has started; it goes on if you close this page."
            talk = talk.add("evenhand", words).model_copy(
                update={"draft": None, "ready": False, "run": run.run_id}
            )
        self._talks.save(key, talk)
        return self._view(talk)

    @in_our_words
    def cancelled(self, request: gr.Request) -> View:
        """Drop the plan; nothing was sent."""
        key = _talk_id(request)
        talk = _dropped(self._talks.load(key))
        self._talks.save(key, talk)
        return self._view(talk)

    @in_our_words
    def stopped(self, request: gr.Request) -> View:
        """Ask the job to stop; what was answered is kept."""
        run = self._run(self._talks.load(_talk_id(request)))
        if run is not None:
            jobs.stop(run)
        return self._run_view(run, stopping=True)

    @in_our_words
    def resumed(self, request: gr.Request) -> View:
        """Go on with a run that was stopped, as a new job."""
        run = self._run(self._talks.load(_talk_id(request)))
        if run is not None:
            jobs.start(run, job_command(run, self._settings.runs_dir))
        return self._run_view(run)

    @in_our_words
    def ticked(self, request: gr.Request) -> View:
        """Show how far the run is."""
        return self._run_view(self._run(self._talks.load(_talk_id(request))))

    def _answer(self, talk: Talk, text: str) -> Talk:
        reading = read(text, talk.draft)
        if reading.intent == "approve":
            if talk.ready:
                words = "To run it, press Approve and run under the plan: it shows what is sent."
                return talk.add("evenhand", words)
            return self._planned(talk, Reading(intent="revise_plan", plan=reading.plan))
        if reading.intent == "cancel":
            return _dropped(talk)
        if reading.intent in ("plan_audit", "revise_plan"):
            return self._planned(talk, reading)
        if reading.intent == "status":
            return talk.add("evenhand", self._status_words(talk))
        if reading.intent == "list_runs":
            return talk.add("evenhand", self._runs_words())
        return talk.add("evenhand", _CANNOT_YET[reading.intent])

    def _planned(self, talk: Talk, reading: Reading) -> Talk:
        talk = talk.model_copy(update={"draft": reading.plan, "ready": False})
        if reading.questions:
            for question in reading.questions:
                talk = talk.add("evenhand", question)
            return talk
        try:
            plan = self._checked(reading.plan)
            estimate(plan)
        except UserError as error:
            return talk.add("error", str(error))
        changed = "Changed." if reading.intent == "revise_plan" else html.read_as(plan)
        words = f"{changed} Please check the plan: nothing is sent before you approve it."
        return talk.add("evenhand", words).model_copy(update={"ready": True})

    def _checked(self, draft: Draft) -> Plan:
        settings = self._settings
        plan = to_plan(
            draft,
            settings.role_models(),
            graph=settings.graph,
            max_in_flight=settings.max_in_flight,
        )
        # A limit that the person named in the talk goes before the one of the settings.
        caps = {
            name: getattr(plan, name) or getattr(settings, name)
            for name in ("max_calls", "budget_usd")
        }
        return check_plan(plan.model_copy(update=caps))

    def _start(self, draft: Draft) -> RunDirectory:
        from evenhand.agents.workflow import start_run

        folder = self._settings.runs_dir
        run = asyncio.run(start_run(self._checked(draft), folder))
        jobs.start(run, job_command(run, folder))
        return run

    def _run(self, talk: Talk) -> RunDirectory | None:
        if talk.run is None:
            return None
        path = self._settings.runs_dir / talk.run
        return RunDirectory(path) if (path / "manifest.json").is_file() else None

    def _status_words(self, talk: Talk) -> str:
        run = self._run(talk)
        if run is None:
            return "No run has been started in this talk. Ask for an audit to plan one."
        row = run_summary(run)
        return f"Run {row['run']} is {row['state']}: {row['done']}."

    def _runs_words(self) -> str:
        rows = [run_summary(run) for run in list_runs(self._settings.runs_dir)]
        if not rows:
            return "No run yet. Ask for an audit to plan one."
        lines = [f"{row['run']}: {row['target']}, {row['state']}, {row['done']}" for row in rows]
        return "\n".join(lines[-20:])

    def _view(self, talk: Talk) -> View:
        """Return the whole page of a talk."""
        asked, costs = self._card_facts(talk) if talk.ready else ("", "")
        draft = talk.draft or Draft()
        count = draft.n if isinstance(draft.n, int) else None
        return (
            html.turns(talk.turns),
            gr.update(visible=talk.ready),
            asked,
            count,
            draft.seed or 0,
            costs,
            gr.update(visible=not talk.turns),
            *self._run_view(self._run(talk)),
        )

    def _card_facts(self, talk: Talk) -> View:
        if talk.draft is None:
            return "", ""
        try:
            plan = self._checked(talk.draft)
            return html.asked_list(plan), html.cost_list(plan, estimate(plan))
        except UserError as error:
            return gr.skip(), html.problem(str(error))

    def _run_view(self, run: RunDirectory | None, *, stopping: bool = False) -> View:
        """Return strip, its buttons, the result and the timer for a run; nothing for None."""
        if run is None:
            return (
                gr.update(visible=False),
                "",
                *[gr.update(visible=False)] * 3,
                gr.Timer(active=False),
            )
        state = jobs.state(run)
        stopping = stopping or (state.status == "running" and (run.path / "stop").exists())
        running = state.status == "running" or (state.status == "planned" and jobs.process_id(run))
        done = state.status == "done"
        if running and state.status != "running":
            state = replace(state, status="running")
        return (
            gr.update(visible=not done),
            "" if done else html.strip(state, stopping=stopping),
            gr.update(visible=bool(running) and not stopping),
            gr.update(visible=not running and not done),
            gr.update(visible=done, value=html.result(run) if done else ""),
            gr.Timer(active=bool(running)),
        )


def _talk_id(request: gr.Request) -> str:
    return str(request.query_params.get("talk", ""))


def _dropped(talk: Talk) -> Talk:
    if talk.draft is None:
        return talk.add("evenhand", "There is no plan to cancel. A run is stopped by Stop.")
    words = "Cancelled. Nothing was sent."
    return talk.add("evenhand", words).model_copy(update={"draft": None, "ready": False})


def _with_fields(talk: Talk, n: float | None, seed: float | None) -> Talk:
    if talk.draft is None or not talk.ready:
        return talk
    count = int(n) if n is not None and n >= 1 else "all"
    fields = {"n": count, "seed": int(seed) if seed is not None else 0}
    return talk.model_copy(update={"draft": talk.draft.model_copy(update=fields)})
