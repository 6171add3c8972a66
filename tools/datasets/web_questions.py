"""WebQuestions (Berant et al. 2013, EMNLP): questions with short answers, a JSON list or lines."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Sample, sample_id
from evenhand.tools.csv_rows import check_rows
from evenhand.tools.datasets import dataset
from evenhand.tools.json_rows import read_json_lines


@dataset(title="WebQuestions: questions with short answers, a JSON file", needs_path=True)
def web_questions(path: Path | None) -> Iterator[Sample]:
    """Yield a sample a question.

    Answers that are addresses do not count, and a question without another is left out. Rows are
    counted from 1.
    """
    if path is None:
        raise UserError("Data set 'web_questions' needs --path: its JSON file.")
    rows = _listed(path)
    position = 0
    for question, answers in rows:
        if not answers:
            continue
        yield Sample(
            id=sample_id("web_questions", position, question, *answers),
            dataset="web_questions",
            position=position,
            text=question,
            question=question,
            reference=answers[0],
            columns={"accepted": "|".join(answers)},
        )
        position += 1


def _listed(path: Path) -> list[tuple[str, list[str]]]:
    """Read a JSON list as it was published, or an object a line."""
    try:
        listed: Any = json.loads(path.read_text("utf-8-sig"))
    except (ValueError, UnicodeDecodeError):
        listed = None
    if not isinstance(listed, list):
        return read_json_lines("web_questions", path, _row)
    rows = [_row(read) if isinstance(read, Mapping) else "is no JSON object" for read in listed]
    check_rows(path, {n: row for n, row in enumerate(rows, start=1) if isinstance(row, str)})
    return [row for row in rows if not isinstance(row, str)]


def _row(read: Mapping[str, Any]) -> tuple[str, list[str]] | str:
    """Read an entry into question and answers; or say what is wrong with it."""
    question = " ".join(str(read.get("qText") or read.get("question") or "").split())
    answers = read.get("answers")
    if not question:
        return "has no question"
    if not isinstance(answers, list) or not answers:
        return "has no answers"
    known = [" ".join(str(each).replace("|", " ").split()) for each in answers]
    question = question[:1].upper() + question[1:]
    return question, [each for each in known if each and "://" not in each]
