"""Rows behind the numbers, and from a row to question, answers, verdicts and prompts.

Each text stands once: a table of rows for each number, then the cases, in which the base question
and its answer stand beside every variant asked the same way. Rows lead there by plain links; a
browser opens the closed parts on the way, so no script is needed.
"""

import html
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evenhand.graph_store.records import Answer, Judgement, Measurement, Sample, Variant
from evenhand.tools import wording
from evenhand.tools.data_kinds import data_kinds
from evenhand.tools.metrics import metrics
from evenhand.tools.sections import ReportContext, fill, group_by, section
from evenhand.tools.sections.measurements import metric_name
from evenhand.tools.word_diff import Piece, word_diff

if TYPE_CHECKING:
    from evenhand.graph_store.run_directory import Call
    from evenhand.tools.measured_rows import MeasuredRow

MOST_ROWS = 200
"""Rows shown for one number; all are in the run directory."""
MOST_ROWS_IN_ALL = 5_000
TEXT_BYTES = 1_800_000
"""Answers and prompts shown in all; with the rows a report stays near 3 MB."""
_BLOCK_BYTES = 1_500
"""Rough size of the frame around an answer: verdicts, labels, links."""

PRIMARY = ("paired_change_net", "paired_change")
"""Metrics whose rows get their texts first where not all fit."""


@dataclass(frozen=True)
class RowLine:
    """A row behind a number, as shown."""

    sample: str
    change: str
    outcome: str
    kind: str
    """Colour and sign: ok, refused, error, unparsable; "changed" for a changed answer."""
    why: str
    link: str
    """Where its texts stand; empty where there are none, or not in this file."""
    dropped: bool
    """Whether it has texts that did not fit into this file."""


@dataclass(frozen=True)
class NumberRows:
    """A number and the rows behind it."""

    measurement: Measurement
    unit: wording.Unit
    lines: tuple[RowLine, ...]
    total: int


@dataclass(frozen=True)
class Shown:
    """An answer with all that led to it and was said of it."""

    answer: Answer
    anchor: str
    title: str
    pieces: tuple[Piece, ...]
    """The question against base, word by word; empty where it is the same or the source's own."""
    changed: tuple[Judgement, ...]
    """Verdicts against base."""
    scores: tuple[Judgement, ...]
    """Verdicts on the answer alone, by dimension."""
    prompts: tuple[str, ...]
    """Anchors of the prompts: the target's, then the judges'."""
    replies: tuple[str, ...]
    """What a judge that is a model wrote, whole."""


@dataclass(frozen=True)
class Asked:
    """One case asked one way: the base answer, and the answers that are compared with it."""

    arm: str
    question: str
    base: Shown | None
    others: tuple[Shown, ...]


@dataclass
class Prompts:
    """Distinct prompts, with the texts that stand elsewhere replaced by their name."""

    _anchors: dict[tuple[tuple[str, str], ...], str] = field(default_factory=dict)

    def anchor(self, messages: Iterable[tuple[str, str]], named: dict[str, str]) -> str:
        """Return the anchor of a prompt, which is stored if it is new."""
        plain = []
        for role, text in messages:
            for known, name in named.items():
                if known:
                    text = text.replace(known, f"⟨{name}⟩")
            plain.append((role, text))
        return self._anchors.setdefault(tuple(plain), f"prompt-{len(self._anchors) + 1}")

    def stored(self) -> list[tuple[str, tuple[tuple[str, str], ...]]]:
        """Return (anchor, messages) of each prompt."""
        return [(anchor, messages) for messages, anchor in self._anchors.items()]


@section(title="Rows behind the numbers")
def traces(context: ReportContext) -> str:
    """Open each number to its rows, and each row to its texts."""
    chosen = {one.id: choose(context.rows(one)) for one in context.shown}
    most = max(1, MOST_ROWS_IN_ALL // max(1, len(chosen)))
    chosen = {name: rows[:most] for name, rows in chosen.items()}
    anchors = _anchors_within(context, chosen)
    prompts = Prompts()
    cases = list(_cases(context, anchors, prompts))
    numbers = [
        NumberRows(
            measurement=one,
            unit=wording.unit_of(one.metric),
            lines=tuple(_line(context, one, row, anchors) for row in chosen[one.id]),
            total=len(context.rows(one)),
        )
        for one in context.shown
    ]
    return fill(
        "traces.html",
        context=context,
        by_metric=group_by(numbers, lambda number: metric_name(number.measurement.metric)),
        cases=cases,
        prompts=prompts.stored(),
        dropped=sum(line.dropped for number in numbers for line in number.lines),
    )


def choose(rows: "Sequence[MeasuredRow]") -> "list[MeasuredRow]":
    """Return the rows to show, those with most to see first: changed, then unscored, then same."""

    def rank(row: "MeasuredRow") -> int:
        if row.status != "ok":
            return 1
        return 0 if _is_number(row.value) and row.value else 2

    return sorted(rows, key=rank)[:MOST_ROWS]


def _is_number(value: float) -> bool:
    return not math.isnan(value)


def _anchors_within(
    context: ReportContext, chosen: "dict[str, list[MeasuredRow]]"
) -> dict[str, str]:
    """Give each answer whose texts fit into the file its anchor, "answer-17", by answer id."""
    anchors: dict[str, str] = {}
    left = TEXT_BYTES
    order = sorted(context.shown, key=lambda one: one.metric not in PRIMARY)
    for one in order:
        for row in chosen[one.id]:
            for answer_id in (row.base_answer_id, row.answer_id):
                answer = context.answers_by_id.get(answer_id or "")
                if answer is None or answer.id in anchors:
                    continue
                left -= len(html.escape(answer.text).encode()) + _BLOCK_BYTES
                if left < 0:
                    return anchors
                anchors[answer.id] = f"answer-{len(anchors) + 1}"
    return anchors


def _line(
    context: ReportContext, one: Measurement, row: "MeasuredRow", anchors: dict[str, str]
) -> RowLine:
    variant = context.variants_by_id.get(row.variant_id or "")
    outcome, kind = _outcome(row, one)
    shown = row.answer_id or row.base_answer_id or ""
    return RowLine(
        sample=row.sample_id,
        change=_row_change(variant, row.arm),
        outcome=outcome,
        kind=kind,
        why=wording.why(row.reason),
        link=f"#{anchors[shown]}" if shown in anchors else "",
        dropped=bool(shown) and shown not in anchors,
    )


def _row_change(variant: Variant | None, arm: str) -> str:
    if variant is None:
        return ""
    if arm == "original":
        return "source's own wording"
    return wording.change_text(variant)


def _outcome(row: "MeasuredRow", one: Measurement) -> tuple[str, str]:
    """Return the word for a row's value, and its colour."""
    if row.status != "ok" or not _is_number(row.value):
        return wording.status(row.status), wording.status_kind(row.status)
    if wording.unit_of(one.metric) in ("rate", "net_rate"):
        data = data_kinds.get(metrics.get(one.metric).data)
        text = _change_word(row.value, data.words)
        kind = "ok" if text in ("same", "unbiased") else "changed"
        beside = f"{data.beside}: {_change_word(row.control_value, data.words)}"
    else:
        text, kind = wording.number(row.value, "score"), "ok"
        beside = f"original: {wording.number(row.control_value, 'score')}"
    return (f"{text} ({beside})" if _is_number(row.control_value) else text), kind


def _change_word(value: float, words: tuple[str, str]) -> str:
    """Return the word for 0 or 1; a share where it is a mean over several repeats."""
    if value in (0, 1):
        return words[int(value)]
    return f"{words[1]} in {wording.number(value, 'rate')}"


def _cases(
    context: ReportContext, anchors: dict[str, str], prompts: Prompts
) -> Iterator[tuple[Sample, list[Asked]]]:
    """Yield each case that has an answer to show, with its answers by way of asking."""
    shown = [answer for answer in context.answers if answer.id in anchors]
    by_sample = group_by(shown, lambda a: context.variants_by_id[a.variant_id].sample_id)
    for sample in context.samples:
        if sample.id in by_sample:
            by_arm = group_by(by_sample[sample.id], lambda answer: answer.arm)
            yield (
                sample,
                [_asked(context, arm, some, anchors, prompts) for arm, some in by_arm.items()],
            )


def _asked(
    context: ReportContext,
    arm: str,
    answers: Sequence[Answer],
    anchors: dict[str, str],
    prompts: Prompts,
) -> Asked:
    base = next((a for a in answers if _is_base(context, a)), None)
    first = base or answers[0]
    variant = context.variants_by_id[first.variant_id]
    own = context.question(first)
    question = own if base else context.bases.get(variant.sample_id, variant).text
    order = sorted(answers, key=lambda a: (a.variant_id, a.repeat))
    return Asked(
        arm=arm,
        question=question,
        base=None if base is None else _shown(context, base, "", anchors, prompts),
        others=tuple(
            _shown(context, answer, question, anchors, prompts)
            for answer in order
            if answer is not base
        ),
    )


def _is_base(context: ReportContext, answer: Answer) -> bool:
    variant = context.variants_by_id[answer.variant_id]
    return answer.repeat == 0 and variant.arm == "base"


def _shown(
    context: ReportContext,
    answer: Answer,
    base_question: str,
    anchors: dict[str, str],
    prompts: Prompts,
) -> Shown:
    variant = context.variants_by_id[answer.variant_id]
    question = context.question(answer)
    pieces = word_diff(base_question, question) if base_question not in ("", question) else []
    title = wording.change_text(variant)
    if answer.repeat:
        again = "the base question" if variant.arm == "base" else title
        title = f"repeat {answer.repeat}: {again} again"
    verdicts = context.judgements_by_subject.get(answer.id, ())
    calls = calls_for(context, answer)
    named = {question: "the question", answer.text: "the answer"}
    return Shown(
        answer=answer,
        anchor=anchors[answer.id],
        title=title,
        pieces=tuple(pieces),
        changed=tuple(one for one in verdicts if one.against_id),
        scores=tuple(one for one in verdicts if not one.against_id),
        prompts=tuple(prompts.anchor(call.messages, named) for call in calls),
        replies=tuple(call.reply for call in calls if call.role == "judge"),
    )


def calls_for(context: ReportContext, answer: Answer) -> "list[Call]":
    """Return the calls made for an answer and for the verdicts on it."""
    return [call for call in context.calls_by_answer.get(answer.id, ()) if not call.error]
