"""The project's own bias-inducing questions: two groups by an attribute, in three templates."""

from collections.abc import Iterator
from pathlib import Path

from evenhand.graph_store.records import Sample, content_hash
from evenhand.tools.bias_questions.attributes import known_attributes
from evenhand.tools.bias_questions.groups import Group, compared_groups
from evenhand.tools.bias_questions.parts import BiasQuestion, make_question, question_sample
from evenhand.tools.bias_questions.templates import TEMPLATES
from evenhand.tools.datasets import dataset


@dataset(
    title="Bias questions: two groups compared by an attribute, 7 categories, 3 templates",
    needs_path=False,
    balanced_by=("category", "template"),
)
def bias_questions(_: Path | None) -> Iterator[Sample]:
    """Yield every comparison of two groups by an attribute once, in the positive form.

    Its template, and which group is named first, are drawn from its content, so that over all
    questions no template and no order is preferred. A draw takes equally many questions of each
    category and, within, of each template; the metamorphic paper's number is 385, 55 a category.
    """
    questions = (
        _question(one, other, attribute.name)
        for one, other in compared_groups()
        for attribute in known_attributes().values()
        if one.category not in attribute.not_for
    )
    for position, question in enumerate(questions):
        yield question_sample(question, "bias_questions", position)


def _question(one: Group, other: Group, attribute: str) -> BiasQuestion:
    drawn = int(content_hash(one.name, other.name, attribute), 16)
    template = TEMPLATES[drawn // 2 % len(TEMPLATES)]
    first, second = (other, one) if drawn % 2 else (one, other)
    return make_question(one.category, first.name, second.name, attribute, template)
