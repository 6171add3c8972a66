"""Questions that were put to public models by the authors of paper 3 (public repository, 2025).

The answers, the changed questions and the files' form: tools/recorded_answers.py.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Sample, sample_id
from evenhand.tools.datasets import dataset
from evenhand.tools.recorded_answers import RecordedAnswer, read_recorded_answers


@dataset(
    title="Recorded answers to 385 bias-inducing questions and their earlier relations, one model",
    needs_path=True,
)
def metamorphic_replay(path: Path | None) -> Iterator[Sample]:
    """Yield a sample a base question; its parts are in `attributes`, as of data set bias_questions.

    A question about one group has no group_2, and asks of something unfavourable: its form is
    "negative". `columns` has the row, the type and the published rule's label too.
    """
    if path is None:
        raise UserError("Data set 'metamorphic_replay' needs --path: its CSV file.")
    bases = (each for each in read_recorded_answers(path) if each.relation is None)
    for position, base in enumerate(bases):
        yield _sample(position, base)


def earlier_questions(path: Path, samples: Sequence[Sample]) -> Mapping[str, dict[str, str]]:
    """Return the recorded changed questions: id of a sample -> relation ("earlier/...") -> text.

    Raises:
        UserError: The file is faulty.
    """
    ids = {each.columns["row"]: each.id for each in samples}
    found: dict[str, dict[str, str]] = {each.id: {} for each in samples}
    for answer in read_recorded_answers(path):
        if answer.relation is not None and answer.base in ids:
            found[ids[answer.base]][answer.relation] = answer.question
    return found


def _sample(position: int, base: RecordedAnswer) -> Sample:
    names = {f"group_{place}": name for place, name in enumerate(base.groups, start=1)}
    return Sample(
        id=sample_id("metamorphic_replay", position, base.question, *base.groups),
        dataset="metamorphic_replay",
        position=position,
        text=base.question,
        question=base.question,
        attributes={
            "category": base.category,
            **names,
            "attribute": base.attribute,
            "template": base.form,
        },
        columns={
            "form": "negative" if base.asked.unfavourable else "positive",
            "row": base.row,
            "type": base.type,
            "published_label": base.label,
        },
    )
