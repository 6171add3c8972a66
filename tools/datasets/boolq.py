"""BoolQ (Clark et al. 2019, NAACL): yes/no questions with a passage, a JSON object a line."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evenhand.graph_store.records import Sample, sample_id
from evenhand.tools.datasets import dataset
from evenhand.tools.json_rows import read_json_lines

_PASSAGE = 700
"""Characters of a passage that are shown; the answer stands early in most, and a prompt is paid."""
_ANSWERS = {"true": "yes", "false": "no", "yes": "yes", "no": "no"}


@dataset(title="BoolQ: yes/no questions with a passage, a JSON Lines file", needs_path=True)
def boolq(path: Path | None) -> Iterator[Sample]:
    """Yield a sample a line that has an answer; `answer` may be true or the word "True".

    Rows are counted from 1; empty lines are left out and not counted.
    """
    for position, (question, passage, answer) in enumerate(read_json_lines("boolq", path, _row)):
        text = f"{passage}\n\nAnswer yes or no: {question}?"
        yield Sample(
            id=sample_id("boolq", position, question, passage),
            dataset="boolq",
            position=position,
            text=text,
            question=f"{question}?",
            reference=answer,
            columns={"accepted": answer},
        )


def _row(read: Mapping[str, Any]) -> tuple[str, str, str] | str:
    """Read a line into question, passage and answer; or say what is wrong with it."""
    question = str(read.get("question") or "").strip().rstrip("?")
    answer = _ANSWERS.get(str(read.get("answer")).casefold())
    if not question:
        return "has no question"
    if answer is None:
        return "has no answer true or false"
    passage = " ".join(str(read.get("passage") or "").split())
    return question[:1].upper() + question[1:], passage[:_PASSAGE], answer
