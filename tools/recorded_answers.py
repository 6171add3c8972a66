"""Recorded answers of a model to bias-inducing questions: the files of paper 3's public repository.

A CSV file (also .csv.gz) of one model in one arm, a row an answer, with the columns of `COLUMNS`.
The questions are base questions (variant "basic") and their changed forms under an EARLIER set of
relations than the paper's six: their names begin with "earlier/", so that "earlier/MR1" is never
taken for MR1. A changed question stands in another row than its base; the k-th row of a variant
with a category, type and groups belongs to the k-th base row with the same.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evenhand.graph_store.errors import UserError
from evenhand.tools.bias_verdict import BIASED, UNBIASED, AskedQuestion, Form
from evenhand.tools.csv_rows import check_rows
from evenhand.tools.table_files import read_rows
from evenhand.tools.table_format import TableFormat

COLUMNS = (
    *("model", "arm", "variant", "category", "type", "group_1", "group_2"),
    *("attribute", "question", "answer", "biased"),
)
FORMS: dict[str, Form] = {
    **{"choice": "choice", "yes-no": "yes_no", "alt inv": "yes_no", "alt order": "yes_no"},
    **{"why": "why", "wh inv": "why", "wh order": "why"},
}
"""What each type asks; "alt" and "wh" are yes/no and why about two groups, in either order."""
BASE = "basic"
EARLIER = "earlier/"


@dataclass(frozen=True)
class RecordedAnswer:
    """One row of a file."""

    row: int
    """From 1, without the header."""
    model: str
    arm: str
    """How the model was treated: base, fewshot, finetuned."""
    relation: str | None
    """"earlier/..." or None for a base question."""
    category: str
    type: str
    groups: tuple[str, ...]
    """One or two."""
    attribute: str
    question: str
    answer: str
    label: str
    """What the published rule said: "False", "True", or the group that is favoured."""
    base: int = 0
    """The row of its base question."""

    @property
    def form(self) -> Form:
        """What kind of question it is."""
        return FORMS[self.type]

    @property
    def asked(self) -> AskedQuestion:
        """The question as a verdict needs it; of one group only unfavourable things are asked."""
        return AskedQuestion(self.question, self.form, self.groups, len(self.groups) == 1)

    @property
    def published_verdict(self) -> str:
        """The published rule's verdict, biased or unbiased; it counts refusals as unbiased."""
        return UNBIASED if self.label == "False" else BIASED


def read_recorded_answers(path: Path) -> list[RecordedAnswer]:
    """Return the rows of a file, each with its base question's row.

    Raises:
        UserError: A column is missing, a cell is empty, a type is unknown, or a changed question
            has no base; the message names the rows.
    """
    rows = list(read_rows(path, TableFormat()))
    missing = [name for name in COLUMNS if rows and name not in rows[0]]
    if missing:
        raise UserError(
            f"{path.name}: no column {', '.join(missing)}; expected {', '.join(COLUMNS)}; "
            "give a file of recorded answers in its original format."
        )
    cells = [{name: row[name] or "" for name in COLUMNS} for row in rows]
    check_rows(path, {n: fault for n, row in enumerate(cells, start=1) if (fault := _fault(row))})
    answers = [_answer(number, row) for number, row in enumerate(cells, start=1)]
    bases = base_rows(answers)
    check_rows(path, {a.row: "has no base question" for a in answers if a.row not in bases})
    return [replace(answer, base=bases[answer.row]) for answer in answers]


def is_table_of_answers(path: Path) -> bool:
    """Say by its name whether a recording is such a table, not JSON lines."""
    return path.name.endswith((".csv", ".csv.gz"))


def base_rows(answers: Sequence[RecordedAnswer]) -> dict[int, int]:
    """Return, by row, the row of the base question; a row without one is left out."""
    bases: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for answer in answers:
        if answer.relation is None:
            bases[_key(answer)].append(answer.row)
    taken = Counter[tuple[str | None, ...]]()
    found: dict[int, int] = {}
    for answer in answers:
        place = taken[answer.relation, *_key(answer)]
        taken[answer.relation, *_key(answer)] += 1
        if place < len(bases[_key(answer)]):
            found[answer.row] = bases[_key(answer)][place]
    return found


def published_resiliency(answers: Iterable[RecordedAnswer]) -> float:
    """Share that the published rule calls unbiased; of base questions, the published figure."""
    verdicts = [answer.published_verdict for answer in answers]
    return verdicts.count(UNBIASED) / len(verdicts)


def _key(answer: RecordedAnswer) -> tuple[str, ...]:
    return (answer.category, answer.type, *answer.groups)


def _answer(number: int, row: dict[str, str]) -> RecordedAnswer:
    return RecordedAnswer(
        row=number,
        model=row["model"],
        arm=row["arm"],
        relation=None if row["variant"] == BASE else EARLIER + row["variant"],
        category=row["category"],
        type=row["type"],
        groups=tuple(group for group in (row["group_1"], row["group_2"]) if group),
        attribute=row["attribute"],
        question=row["question"].strip(),
        answer=row["answer"],
        label=row["biased"],
    )


def _fault(row: dict[str, str]) -> str | None:
    empty = [
        name for name in COLUMNS if not row[name].strip() and name not in ("group_2", "answer")
    ]
    if empty:
        return f"has an empty cell in column {', '.join(empty)}"
    if row["type"] not in FORMS:
        return f"has type {row['type']!r}, expected one of {', '.join(FORMS)}"
    if row["type"] not in ("why", "yes-no") and not row["group_2"]:
        return f"has type {row['type']} and no second group"
    return None
