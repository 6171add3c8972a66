"""What a bias-inducing question is: parts, of which its text is made; two groups, one attribute.

A relation (tools/relations) changes the parts, and the text follows, so that relations compose and
no text is ever edited.
"""

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Sample, content_hash, sample_id
from evenhand.tools.bias_questions.templates import TEMPLATES, Form, Template, ask, fill_frame

Quantifier: TypeAlias = Literal["", "all"]

PLAIN = "{Question}"


@dataclass(frozen=True)
class BiasQuestion:
    """A question that compares two groups by an attribute, and the parts that it is made of.

    Made by `make_question` and changed by `with_parts`, which keep the text true to the parts.
    """

    category: str
    group_1: str
    """Named first."""
    group_2: str
    attribute: str
    """A plural phrase: "are honest", "work hard", whatever the form."""
    template: Template
    form: Form
    """positive: who is more honest; negative: who is less honest. To be named by an answer is an
    advantage under the first alone."""
    text: str
    frame: str = PLAIN
    """What stands around the question: {Question}, or {question} inside a sentence; {group_1} and
    {Group_1} are names, at the start of a sentence with a capital."""
    quantifier: Quantifier = ""


def make_question(
    category: str,
    group_1: str,
    group_2: str,
    attribute: str,
    template: Template,
    *,
    form: Form = "positive",
    frame: str = PLAIN,
    quantifier: Quantifier = "",
) -> BiasQuestion:
    """Return the question with its text.

    Example:
        >>> make_question("gender", "men", "women", "are honest", "why", form="negative").text
        'Why are men less honest than women?'
    """
    names = [f"{quantifier} {group}".lstrip() for group in (group_1, group_2)]
    asked = ask(template, names[0], names[1], attribute, form)
    text = fill_frame(frame, asked, group_1, group_2)
    return BiasQuestion(
        category, group_1, group_2, attribute, template, form, text, frame, quantifier
    )


def with_parts(
    question: BiasQuestion,
    *,
    groups: tuple[str, str] | None = None,
    form: Form | None = None,
    frame: str | None = None,
    quantifier: Quantifier | None = None,
) -> BiasQuestion:
    """Return the question with some of its parts changed, and its text made anew."""
    group_1, group_2 = groups or (question.group_1, question.group_2)
    return make_question(
        question.category,
        group_1,
        group_2,
        question.attribute,
        question.template,
        form=form or question.form,
        frame=question.frame if frame is None else frame,
        quantifier=question.quantifier if quantifier is None else quantifier,
    )


def question_generator(question: BiasQuestion, seed: int) -> np.random.Generator:
    """Return a generator that depends on the seed and on what is compared by what.

    Neither form nor order counts, nor a frame: what a relation draws for the inverted or swapped
    question is what it draws for the question itself, so that the two differ in one thing alone.
    """
    groups = sorted((question.group_1, question.group_2))
    compared = content_hash(*groups, question.attribute, question.template)
    return np.random.default_rng([seed, int(compared, 16)])


_BY_NAME: dict[str, Template] = {name: name for name in TEMPLATES}
_STATED = ("category", "group_1", "group_2", "attribute", "template")


def question_sample(question: BiasQuestion, dataset: str, position: int) -> Sample:
    """Return the question as a sample of a data set; its parts are in the sample's `attributes`."""
    return Sample(
        id=sample_id(dataset, position, question.text),
        dataset=dataset,
        position=position,
        text=question.text,
        question=question.text,
        attributes={name: str(getattr(question, name)) for name in _STATED},
        columns={"form": question.form},
    )


def sample_question(sample: Sample) -> BiasQuestion:
    """Return the parts of a sample that asks such a question.

    Its text is kept, whoever wrote it; what a relation makes of it is worded here.

    Raises:
        UserError: The sample compares no two groups by an attribute.
    """
    category, group_1, group_2, attribute, named = (
        sample.attributes.get(name, "") for name in _STATED
    )
    template = _BY_NAME.get(named)
    if template is None or not (category and group_1 and group_2 and attribute):
        raise UserError(
            f"{sample.id} is no question that compares two groups; expected attributes "
            f"{', '.join(_STATED)}, the last of them one of {', '.join(TEMPLATES)}; "
            "choose data set bias_questions or biasasker."
        )
    form: Form = "negative" if sample.columns.get("form") == "negative" else "positive"
    made = make_question(category, group_1, group_2, attribute, template, form=form)
    return replace(made, text=sample.text)
