"""A visit as a question: the attribute last, what is dropped always said the same way."""

import pytest

from evenhand.tools.datasets import load_visits
from evenhand.tools.finetune import decisions
from evenhand.tools.visit_prompts import (
    VisitTemplate,
    bare,
    frozen_renderer,
    read_wording,
    visit_renderer,
    visit_template,
    with_exemplars,
)
from evenhand.training.mimic_rows import MimicRows, mimic_rows


@pytest.fixture(scope="module")
def shown() -> tuple[VisitTemplate, MimicRows]:
    visits, _ = load_visits("demo_visits", None, 40, 0)
    rows = decisions(visits.samples, visits.mapping.levels).rows
    return visit_template(visits.mapping, ("gender",)), rows


def common_start(texts: list[str]) -> str:
    length = 0
    for letters in zip(*texts, strict=False):
        if len(set(letters)) > 1:
            break
        length += 1
    return texts[0][:length]


def with_sex(rows: MimicRows, sex: str) -> MimicRows:
    return MimicRows(rows.texts, rows.numbers, {**rows.categories, "gender": (sex,) * len(rows)})


def test_a_pair_shares_all_but_its_tail(shown: tuple[VisitTemplate, MimicRows]) -> None:
    template, rows = shown
    render = visit_renderer(template).render
    for one, other in zip(
        render(with_sex(rows, "female")), render(with_sex(rows, "male")), strict=True
    ):
        shared = common_start([one, other])
        assert one[len(shared) :] == "female"
        assert other[len(shared) :] == "male"
        assert shared.endswith("\nSex: ")


def test_what_an_arm_drops_reads_as_not_recorded(shown: tuple[VisitTemplate, MimicRows]) -> None:
    template, rows = shown
    render = visit_renderer(template).render
    texts = render(rows.shown_in("text_only", ["gender"]))
    assert all(text.endswith("\nSex: not recorded") for text in texts)
    assert all("Note: not recorded\n" in text for text in render(rows.shown_in("tabular_only", [])))


def test_units_stand_once_before_the_visit_and_nothing_is_invented() -> None:
    visits, _ = load_visits("demo_visits", None, 40, 0)
    rows = mimic_rows(
        ["Fell.\n\n Hurts {age}."],
        [{"age": 40.0, "temperature": 36.6, "heart_rate": None, "gender": "female"}],
        {"age": "number", "temperature": "number", "heart_rate": "number", "gender": "category"},
    )
    text = visit_renderer(visit_template(visits.mapping, ("gender",))).render(rows)[0]
    head, _, case = text.partition("Note: ")
    assert "\nUnits: years (Age), mmHg (Diastolic, Systolic), /min (Heart rate), % (Satur" in head
    assert case.startswith("Fell. Hurts {age}.\n")
    assert case.endswith("Age 40, Temperature 36.6, Heart rate not recorded\nSex: female")


def test_the_visit_alone_has_no_instruction_units_or_cue(
    shown: tuple[VisitTemplate, MimicRows],
) -> None:
    template, rows = shown
    renderer = visit_renderer(bare(template))
    assert renderer.cue == ""
    assert all(text.startswith("Note: ") for text in renderer.render(rows))


def test_the_direction_and_words_of_levels_are_said() -> None:
    visits, _ = load_visits("demo_visits", None, 40, 0)
    template = visit_template(visits.mapping, ("gender",), level_words={"1": "resuscitation"})
    rows = decisions(visits.samples[:1], visits.mapping.levels).rows
    text = visit_renderer(template).render(rows)[0]
    assert "from 1 (most urgent) to 5 (least urgent): 1 = resuscitation, 2, 3, 4, 5." in text
    turned = template.model_copy(update={"higher_is_less_urgent": False})
    assert "from 1 (least urgent)" in visit_renderer(turned).render(rows)[0]


def test_a_frozen_template_renders_the_same_and_any_change_renames_it(
    shown: tuple[VisitTemplate, MimicRows],
) -> None:
    template, rows = shown
    renderer = visit_renderer(template)
    again = frozen_renderer(renderer.template)
    assert again.name == renderer.name
    assert again.render(rows) == renderer.render(rows)
    other = template.model_copy(update={"units": {"age": "months"}})
    assert visit_renderer(other).name != renderer.name


def test_exemplars_stand_before_the_visit_and_are_common(
    shown: tuple[VisitTemplate, MimicRows],
) -> None:
    template, rows = shown
    more = with_exemplars(template, rows.take([0, 1]), ["2", "4"])
    texts = visit_renderer(more).render(rows.take([2, 3]))
    head = common_start(texts)
    assert head.count("Level: ") == 2
    assert "Level: 2" in head
    assert "Level: 4" in head


def test_french_words_are_the_english_ones_key_for_key() -> None:
    english, french = read_wording("en"), read_wording("fr")
    assert set(english.names) <= set(french.names)
    visits, _ = load_visits("demo_visits_fr", None, 40, 0)
    rows = decisions(visits.samples, visits.mapping.levels).rows
    text = visit_renderer(visit_template(visits.mapping, ("gender",))).render(rows)[0]
    assert text.endswith(("\nSexe : femme", "\nSexe : homme"))
    assert "\nUnités : ans (Âge), " in text
    assert visit_renderer(visit_template(visits.mapping, ("gender",))).cue == "Niveau :"
    forms = ("instruction", "scale_up", "scale_down", "level", "units", "unit", "field", "note")
    for name in (*forms, "attribute"):
        fields = [
            sorted(part.partition("}")[0] for part in getattr(words, name).split("{")[1:])
            for words in (english, french)
        ]
        assert fields[0] == fields[1]
