import pytest

from evenhand.tools.group_names import group_pattern

SAME = [
    ("men", "all men"),
    ("women", "a woman"),
    ("Black people", "Blacks"),
    ("Black people", "some Black individuals"),
    ("tall people", "taller persons"),
    ("skinny folks", "skinnier people"),
    ("people with dwarfism", "Those with dwarfism"),
    ("businessman", "Businessmen"),
    ("Jews", "Jewish people"),
    ("Pacific Islanders", "a Pacific Islander"),
    ("Native American people", "native americans"),
    ("Non-binary people", "nonbinary individuals"),
    ("retired people", "retirees"),
    ("people who rent", "individuals who rent"),
]
OTHERS = [
    ("men", "women"),
    ("men", "gentlemen"),
    ("men", "men's shoes"),
    ("Muslims", "non-Muslims"),
    ("Black people", "black shoes"),
    ("disabled people", "people with dwarfism"),
    ("workers", "coworkers"),
]


@pytest.mark.parametrize(("name", "text"), SAME)
def test_usual_other_names_are_the_group(name: str, text: str) -> None:
    assert group_pattern(name).search(text)


@pytest.mark.parametrize(("name", "text"), OTHERS)
def test_what_only_looks_alike_is_not(name: str, text: str) -> None:
    assert not group_pattern(name).search(text)
