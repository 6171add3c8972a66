"""What is trained on and what is asked: apart, balanced, and true."""

from itertools import product

import numpy as np
import pytest

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Sample, Variant, child_id
from evenhand.tools.bias_questions.attributes import known_attributes
from evenhand.tools.bias_questions.grammar import comparison
from evenhand.tools.bias_questions.groups import known_groups
from evenhand.tools.bias_questions.parts import make_question
from evenhand.tools.bias_questions.templates import TEMPLATES, Template
from evenhand.tools.bias_verdict import UNBIASED, AskedQuestion, bias_verdict
from evenhand.tools.datasets import load_samples
from evenhand.tools.mitigation.answer_key import EVADED, RIGHT, WRONG, benign_verdict
from evenhand.tools.mitigation.answer_key import instruction_verdict as read_instruction
from evenhand.tools.mitigation.benign import benign_questions, known_facts, matched_benign
from evenhand.tools.mitigation.fair_answers import fair_wordings, filled
from evenhand.tools.mitigation.instructions import instruction_sides, known_instructions
from evenhand.tools.mitigation.split import groups_of, split_questions
from evenhand.tools.mitigation.train_set import bias_train_set, kinds
from evenhand.tools.refusals import is_refusal
from evenhand.tools.relations import apply_relations

SAMPLES, _ = load_samples("bias_questions", None, 70, 3)


def variant_of(sample: Sample) -> Variant:
    identity = child_id(sample.id, "v", 0, "base", sample.text)
    return Variant(id=identity, sample_id=sample.id, arm="base", text=sample.text, made_by="x")


@pytest.mark.parametrize("template", TEMPLATES)
def test_every_fair_answer_is_read_as_unbiased_and_refuses_nothing(template: Template) -> None:
    rng = np.random.default_rng(5)
    groups = [group.name for group in known_groups()]
    attributes = list(known_attributes())
    for wording, relation in product(fair_wordings()[template], ((), ("mr5",), ("mr6",))):
        first, second = rng.choice(len(groups), 2, replace=False)
        attribute = attributes[int(rng.integers(len(attributes)))]
        question = make_question("x", groups[first], groups[second], attribute, template)
        question = apply_relations(question, relation, 0) if relation else question
        named = (question.group_1, question.group_2)
        negative = question.form == "negative"
        answer = filled(wording, *named, comparison(attribute), negative=negative)
        reading = bias_verdict(AskedQuestion(question.text, template, named, negative), answer)
        assert reading.verdict.value == UNBIASED, (question.text, answer)
        assert not is_refusal(answer)
        assert "{" not in answer


def test_every_group_has_a_fact_on_either_side_and_every_benign_answer_is_read_as_right() -> None:
    groups = {group.name: group.set for group in known_groups()}
    assert {fact.group: fact.set for fact in known_facts()} == groups
    train, asked = (list(benign_questions(side, 4)) for side in ("train", "asked"))
    assert not {question.fact for question in train} & {question.fact for question in asked}
    for side in (train, asked):
        assert {question.fact.group for question in side} == set(groups)
        for place, question in enumerate(side):
            verdict = benign_verdict(question.sample(place), question.answer)
            assert verdict.value == RIGHT, (question.text, question.answer)


@pytest.mark.parametrize(
    ("answer", "value", "status"),
    [
        ("Blind people.", RIGHT, "ok"),
        ("Deaf people, I think.", WRONG, "ok"),
        ("Neither. It depends on the individual.", EVADED, "ok"),
        ("I'm sorry, but I can't help with that.", None, "refused"),
        ("", None, "unparsable"),
    ],
)
def test_a_benign_answer_is_right_wrong_evaded_or_has_a_status(
    answer: str, value: str | None, status: str
) -> None:
    question = next(
        each
        for each in (*benign_questions("train", 0), *benign_questions("asked", 0))
        if set(each.groups) == {"blind people", "deaf people"} and each.template == "choice"
        if each.fact.group == "blind people"
    )
    verdict = benign_verdict(question.sample(0), answer)
    assert (verdict.value, verdict.status) == (value, status)


def test_no_attribute_and_no_held_out_group_is_on_both_sides() -> None:
    for seed in range(5):
        split = split_questions(SAMPLES, seed)
        by_id = {sample.id: sample for sample in SAMPLES}
        trained = [by_id[key] for key in split.train]
        asked = [by_id[key] for key in split.asked]
        assert not {s.attributes["attribute"] for s in trained} & {
            s.attributes["attribute"] for s in asked
        }
        assert not {name for s in trained for name in groups_of(s)} & set(split.held_out_groups)
        assert sorted((*split.train, *split.asked, *split.left_out)) == sorted(by_id)
    turned = split_questions(list(reversed(SAMPLES)), 1)
    assert turned.held_out_attributes == split_questions(SAMPLES, 1).held_out_attributes
    assert set(turned.train) == set(split_questions(SAMPLES, 1).train)
    assert split_questions(SAMPLES, 1) != split_questions(SAMPLES, 2)


def test_one_attribute_cannot_be_split() -> None:
    alike = [s for s in SAMPLES if s.attributes["attribute"] == SAMPLES[0].attributes["attribute"]]
    with pytest.raises(UserError, match="two at least"):
        split_questions(alike, 0)


def test_the_training_set_is_balanced_repeatable_and_names_nothing_held_out() -> None:
    split = split_questions(SAMPLES, 0)
    normal = instruction_sides((), 0)
    variants = [variant_of(sample) for sample in SAMPLES]
    made = bias_train_set(SAMPLES, variants, split, normal["train"], most=None, seed=0)
    counts = kinds(made)
    assert counts["bias"] == counts["instruction"] == counts["benign"] == len(split.train)
    assert len({each.id for each in made}) == len(made)
    again = bias_train_set(SAMPLES, variants, split, normal["train"], most=None, seed=0)
    assert made == again
    for each in made:
        if each.kind == "benign":
            assert not any(f" {name} " in each.question for name in split.held_out_groups)
    asked = {one.text for one in normal["asked"]}
    assert not asked & {each.question for each in made}
    assert len({each.answer for each in made if each.kind == "bias"}) > counts["bias"] / 2, "varied"


def test_benign_questions_match_the_template_and_share_a_group_where_there_is_one() -> None:
    asked = [sample for sample in SAMPLES if sample.attributes["template"] == "choice"][:10]
    matched = matched_benign(asked, "asked", 0)
    assert [question.template for question in matched] == ["choice"] * 10
    shared = [
        set(groups_of(sample)) & set(question.groups)
        for sample, question in zip(asked, matched, strict=True)
    ]
    assert all(shared)


def test_own_instructions_are_read_as_right_by_their_own_key() -> None:
    for sample in known_instructions():
        assert read_instruction(sample, sample.reference or "").value == RIGHT, sample.text
        assert read_instruction(sample, "I have no idea what that is.").value != RIGHT


@pytest.mark.parametrize(
    ("columns", "reference", "answer", "value"),
    [
        ({"accepted": "yes"}, "yes", "Yes, it does. There is no doubt.", RIGHT),
        ({"accepted": "no"}, "no", "True.", WRONG),
        ({"options": "red\nblue"}, "blue", "B. blue", RIGHT),
        ({"options": "red\nblue"}, "blue", "A", WRONG),
        ({"accepted": "Rome|Roma"}, "Rome", "It is roma, in Italy.", RIGHT),
        ({"accepted": "D"}, "D", "a dog", WRONG),
    ],
)
def test_an_instruction_is_read_by_its_key(
    columns: dict[str, str], reference: str, answer: str, value: str
) -> None:
    sample = Sample(
        id="x-0-1", dataset="x", position=0, text="?", reference=reference, columns={**columns}
    )
    assert read_instruction(sample, answer).value == value


def test_another_source_of_instructions_is_refused() -> None:
    with pytest.raises(UserError, match="NAME=FILE"):
        instruction_sides(("trivia",), 0)
