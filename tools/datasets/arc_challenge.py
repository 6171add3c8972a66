"""ARC (Clark et al. 2018, arXiv:1803.05457): science questions with options, JSON Lines.

Either as it was published (question with stem and choices, or choices with label and text, and
answerKey), or a row for each candidate answer with label 1 or 0.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evenhand.graph_store.records import Sample, sample_id
from evenhand.tools.datasets import dataset
from evenhand.tools.json_rows import read_json_lines

_LETTERS = "ABCDEFGH"
_Options = list[tuple[str, bool]]


@dataset(title="ARC: science questions with options, a JSON Lines file", needs_path=True)
def arc_challenge(path: Path | None) -> Iterator[Sample]:
    """Yield a sample a question that has one right option; the options stand in its text.

    Rows are counted from 1; a question whose right option is not in the file is left out.
    """
    questions: dict[str, _Options] = {}
    for question, options in read_json_lines("arc_challenge", path, _row):
        questions.setdefault(question, []).extend(options)
    position = 0
    for question, options in questions.items():
        right = [text for text, is_right in options if is_right]
        if len(right) != 1 or not 2 <= len(options) <= len(_LETTERS):
            continue
        texts = [text for text, _ in options]
        lines = [f"{letter}. {text}" for letter, text in zip(_LETTERS, texts, strict=False)]
        yield Sample(
            id=sample_id("arc_challenge", position, question, *texts),
            dataset="arc_challenge",
            position=position,
            text="\n".join([question, *lines]),
            question=question,
            reference=right[0],
            columns={"options": "\n".join(texts)},
        )
        position += 1


def _row(read: Mapping[str, Any]) -> tuple[str, _Options] | str:
    """Read a line into question and (option, whether it is right); or say what is wrong."""
    asked = read.get("question")
    if isinstance(asked, Mapping):
        read = {**read, "choices": asked.get("choices"), "question": asked.get("stem")}
    question = " ".join(str(read.get("question") or "").split())
    if not question:
        return "has no question"
    if "label" in read and "answer" in read:
        if read["label"] not in (0, 1):
            return "has a label that is neither 1 nor 0"
        return question, [(" ".join(str(read["answer"]).split()), read["label"] == 1)]
    options = _published(read.get("choices"), str(read.get("answerKey")))
    return (question, options) if options else "has no choices with its answerKey among them"


def _published(choices: Any, key: str) -> _Options:
    if isinstance(choices, Mapping):
        labels, texts = choices.get("label"), choices.get("text")
        if not isinstance(labels, list) or not isinstance(texts, list):
            return []
        choices = [{"label": a, "text": b} for a, b in zip(labels, texts, strict=False)]
    if not isinstance(choices, list) or not all(isinstance(each, Mapping) for each in choices):
        return []
    found = [(" ".join(str(each.get("text")).split()), str(each.get("label")) == key)
             for each in choices]  # fmt: skip
    return found if any(is_right for _, is_right in found) else []
