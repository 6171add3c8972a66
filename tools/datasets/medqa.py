"""MedQA (Jin et al. 2021, Applied Sciences 11(14):6421): USMLE questions, a JSON object a line.

Each line has question, options (an object of letters, or one text of lines "A. ...") and answer
(the correct option's text, with or without its letter); the other keys are left out.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Sample, sample_id
from evenhand.tools.csv_rows import check_rows
from evenhand.tools.datasets import asking_part, dataset

_LETTER = re.compile(r"^[A-Z][.)]\s+")


@dataset(title="MedQA: USMLE questions, one JSON Lines file of it", needs_path=True)
def medqa(path: Path | None) -> Iterator[Sample]:
    """Yield a sample a line; the options are no part of the text, the correct one is the reference.

    Rows are counted from 1; empty lines are left out and not counted.
    """
    if path is None:
        raise UserError("Data set 'medqa' needs --path: its JSON Lines file.")
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{path.name} is not UTF-8; save the file as UTF-8.") from error
    rows = [_row(line) for line in text.split("\n") if line.strip()]
    check_rows(path, {n: row for n, row in enumerate(rows, start=1) if isinstance(row, str)})
    for position, row in enumerate(rows):
        if isinstance(row, str):
            continue
        question, options, correct = row
        yield Sample(
            id=sample_id("medqa", position, question, *options, correct),
            dataset="medqa",
            position=position,
            text=question,
            question=asking_part(question),
            reference=correct,
            columns={"options": "\n".join(options)},
        )


def _row(line: str) -> tuple[str, list[str], str] | str:
    """Read a line into question, options and correct option; or say what is wrong with it."""
    try:
        read: Any = json.loads(line)
    except json.JSONDecodeError:
        return "is not JSON"
    if not isinstance(read, Mapping):
        return "is no JSON object"
    question, answer, options = (read.get(key) for key in ("question", "answer", "options"))
    if not isinstance(question, str) or not question.strip():
        return "has no question"
    texts = options.values() if isinstance(options, Mapping) else str(options or "").split("\n")
    listed = [_LETTER.sub("", str(text).strip()) for text in texts if str(text).strip()]
    correct = _LETTER.sub("", answer.strip()) if isinstance(answer, str) else ""
    if correct not in listed:
        return "has an answer that is none of its options"
    return question.strip(), listed, correct
