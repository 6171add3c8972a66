"""What a section is: a part of the report, from what a run holds to a piece of HTML.

One section is one file beside this one: a function with the decorator `@section`, and its template
of the same name. Templates escape everything that is put in, so text of a model, a file or a judge
stays text; a section that builds HTML itself wraps it in `markupsafe.Markup` after escaping it.

The section of a recipe that says what was found says it in brief, too (`summary`): that is what is
shown of a run before its report is opened.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from evenhand.graph_store.records import Answer, AskedArm, Judgement, Measurement, Sample, Variant
from evenhand.graph_store.registry import Registry
from evenhand.graph_store.run_directory import Call, Manifest, RunDirectory
from evenhand.tools import wording

if TYPE_CHECKING:
    from evenhand.tools.measured_rows import MeasuredRow
    from evenhand.tools.triage_view import TriageView

T = TypeVar("T")


@dataclass(frozen=True)
class ReportContext:
    """All that a run holds, read once, with what sections look up in it."""

    manifest: Manifest
    samples: Sequence[Sample] = ()
    variants: Sequence[Variant] = ()
    gate: Sequence[Judgement] = ()
    gate_evidence: Sequence[Judgement] = ()
    """What the gate's decisions rest on: similarities, verdicts of a judge."""
    answers: Sequence[Answer] = ()
    judgements: Sequence[Judgement] = ()
    labels: Sequence[Judgement] = ()
    """The verdicts of people."""
    measurements: Sequence[Measurement] = ()
    calls: Sequence[Call] = ()
    read_rows: "Callable[[Measurement], Sequence[MeasuredRow]]" = lambda measurement: ()
    """Gives the rows behind a number."""
    read_triage: "Callable[[], TriageView | None]" = lambda: None
    """Gives the pairs of a counterfactual audit, measured."""
    extracted: Mapping[str, int] = field(default_factory=dict)
    """Facts by step of the extraction: "spacy" alone, "filtered" after the rules."""
    _rows: "dict[str, Sequence[MeasuredRow]]" = field(default_factory=dict, repr=False)

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self.manifest.run

    @property
    def plan(self) -> Mapping[str, Any]:
        """The plan, as JSON."""
        return self.manifest.plan

    def model(self, role: str) -> str:
        """Return which model played a role; "rules" where a rule engine did."""
        return model_of(self.plan, role)

    def temperature(self, role: str) -> float | None:
        """Return the temperature at which a role's model was asked; None where none is stated."""
        stated = self.plan.get("roles", {}).get(role, {}).get("temperature")
        return None if stated is None else float(stated)

    @cached_property
    def samples_by_id(self) -> dict[str, Sample]:
        """Samples by id."""
        return {sample.id: sample for sample in self.samples}

    @cached_property
    def variants_by_id(self) -> dict[str, Variant]:
        """Variants by id."""
        return {variant.id: variant for variant in self.variants}

    @cached_property
    def bases(self) -> dict[str, Variant]:
        """Base variants by sample id."""
        return {variant.sample_id: variant for variant in self.variants if variant.arm == "base"}

    @cached_property
    def answers_by_id(self) -> dict[str, Answer]:
        """Answers by id."""
        return {answer.id: answer for answer in self.answers}

    @cached_property
    def judgements_by_subject(self) -> dict[str, list[Judgement]]:
        """Judgements by the answer or variant that they judge."""
        return group_by(self.judgements, lambda judgement: judgement.subject_id)

    @cached_property
    def calls_by_answer(self) -> dict[str, list[Call]]:
        """Calls by the answer they brought or judged; a verdict's id starts with its answer's."""
        return group_by(
            self.calls,
            lambda call: call.id if call.id in self.answers_by_id else call.id.rpartition("/")[0],
        )

    @cached_property
    def rejections(self) -> dict[str, Judgement]:
        """Gate verdicts of the variants that did not pass, by variant id."""
        return {one.subject_id: one for one in self.gate if one.value != "accepted"}

    @cached_property
    def _anchors(self) -> dict[str, str]:
        return {one.id: f"rows-{index}" for index, one in enumerate(self.measurements, start=1)}

    @cached_property
    def triage(self) -> "TriageView | None":
        """A counterfactual audit, measured; None for another recipe, or before it answered."""
        return self.read_triage()

    def anchor(self, measurement: Measurement) -> str:
        """Return the place in the page where the rows behind a number stand: "rows-3"."""
        return self._anchors[measurement.id]

    def rows(self, measurement: Measurement) -> "Sequence[MeasuredRow]":
        """Return the rows behind a number."""
        if measurement.id not in self._rows:
            self._rows[measurement.id] = self.read_rows(measurement)
        return self._rows[measurement.id]

    def of_kind(self, data: str) -> list[Measurement]:
        """Return the measurements of metrics on that kind of data, in their stored order."""
        from evenhand.tools.metrics import metrics

        named = {name for name in metrics.names() if metrics.get(name).data == data}
        return [one for one in self.shown if one.metric in named]

    def of_metric(self, name: str) -> list[Measurement]:
        """Return the measurements of a metric, in their stored order."""
        return [one for one in self.shown if one.metric == name]

    @cached_property
    def shown(self) -> list[Measurement]:
        """Measurements without those for which there was nothing to change or to add."""
        return [one for one in self.measurements if one.reason_code not in wording.NOTHING_TO_DO]

    def question(self, answer: Answer) -> str:
        """Return the text that the target was shown: the source's own, or the variant's."""
        variant = self.variants_by_id[answer.variant_id]
        if answer.arm == "original":
            return self.samples_by_id[variant.sample_id].text
        return variant.text


def model_of(plan: Mapping[str, Any], role: str) -> str:
    """Return which model plays a role in a plan, as JSON; "rules" where a rule engine does."""
    return str(plan.get("roles", {}).get(role, {}).get("model", "rules"))


def load_context(run: RunDirectory) -> ReportContext:
    """Read a run whole.

    Raises:
        UserError: A stage file holds a line that is no record.
    """
    from evenhand.tools.measure import RecordIndex, cell_rows
    from evenhand.tools.triage_view import read_view

    # Read when a section first asks: no section of the counterfactual recipe does.
    index = cache(lambda: RecordIndex.read(run))
    variants = run.variants()
    return ReportContext(
        manifest=run.manifest,
        samples=run.samples(),
        variants=variants,
        gate=run.gate(),
        gate_evidence=run.gate_evidence(),
        answers=run.answers(),
        judgements=run.judgements(),
        labels=run.labels(),
        measurements=run.measurements(),
        calls=run.calls(),
        read_rows=lambda measurement: cell_rows(index(), measurement),
        read_triage=lambda: read_view(run, variants),
        extracted=_extracted(run),
    )


def _extracted(run: RunDirectory) -> dict[str, int]:
    """Return the counts of the last time that facts were extracted; none before."""
    found = [e.counts for e in run.events() if e.stage == "extract" and "spacy" in e.counts]
    return found[-1] if found else {}


@dataclass(frozen=True)
class Summary:
    """What a run found, in brief: all that is shown of it before its report is opened."""

    headline: str
    sentences: Sequence[str] = ()
    note: str = ""
    """Which noise it stands above, or what must be known to read it."""
    figure: str = ""
    """HTML of ours: a plot or table whose links lead to places in the report."""


Render = Callable[[ReportContext], str]
Summarise = Callable[[ReportContext], Summary]


@dataclass(frozen=True)
class Section:
    """A part of the report, by name."""

    name: str
    title: str
    """Heading, and its words in the list of contents."""
    render: Render
    summary: Summarise | None = None
    """Says the same in brief; only of a section that says what was found."""


sections: Registry[Section] = Registry("section", __name__)


def section(*, title: str, summary: Summarise | None = None) -> Callable[[Render], Render]:
    """Register a function as a section under its own name."""

    def register(render: Render) -> Render:
        sections.add(render.__name__, Section(render.__name__, title, render, summary))
        return render

    return register


def summarise(context: ReportContext, names: Sequence[str]) -> Summary:
    """Return what a run found, by the first of some sections that says it in brief.

    Raises:
        UserError: An unknown section.
        LookupError: None of them says what was found.
    """
    for name in names:
        if (write := sections.get(name).summary) is not None:
            return write(context)
    raise LookupError(f"none of {', '.join(names)} says what was found")


def fill(template: str, **values: Any) -> Markup:
    """Fill a template of this folder; every value that is not Markup is escaped."""
    return Markup(_environment(tuple(__path__)).get_template(template).render(**values))  # noqa: S704


@lru_cache(maxsize=4)
def _environment(folders: tuple[str, ...]) -> Environment:
    # report.html, which frames the sections, lies one folder up.
    places = [*folders, str(Path(folders[0]).parent)]
    environment = Environment(
        loader=FileSystemLoader(places),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["wording"] = wording
    return environment


ARM_ORDER: tuple[str, ...] = get_args(AskedArm)


def arm_position(arm: str) -> int:
    """Return an arm's place in every plot and card: its colour, line style and shape."""
    return ARM_ORDER.index(arm) if arm in ARM_ORDER else len(ARM_ORDER)


def group_by(things: Sequence[T], key: Callable[[T], str]) -> dict[str, list[T]]:
    """Sort things into lists by a key, in the order in which the keys first occur."""
    grouped: dict[str, list[T]] = defaultdict(list)
    for thing in things:
        grouped[key(thing)].append(thing)
    return dict(grouped)
