import numpy as np
import pytest

from evenhand.tools.attributes import NoValue, attributes
from evenhand.tools.attributes.race import races

race = attributes.get("race")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A 28-year-old Black female patient presents with fever.", "Black"),
        ("An Asian patient presents with fever.", "Asian"),
        ("A 48-year-old caucasian man presents with pain.", "caucasian"),
        ("A 30-year-old African-American woman has a rash.", "African-American"),
        ("A 54-year-old obese Hispanic male presents with pain.", "Hispanic"),
        ("The patient, a Black male aged 28 years, comes in with fever.", "Black"),
        ("A 28-year-old male patient presents with black stools.", None),
        ("A male patient ate Indian food with a white man.", None),
        ("A 28-year-old male patient presents with a white patch on the tongue.", None),
    ],
)
def test_the_patients_race_is_found(text: str, value: str | None) -> None:
    assert race.value(text) == value


def test_the_article_follows() -> None:
    assert race.replace("An Asian patient has fever.", "Black") == "A Black patient has fever."
    assert race.insert("A patient has fever. Why?", "Asian") == "An Asian patient has fever. Why?"


def test_another_word_for_the_same_race_is_not_drawn() -> None:
    text = "A 48-year-old caucasian man presents with pain."
    drawn = {race.draw(text, np.random.default_rng(seed)) for seed in range(60)}
    assert drawn == {name for name, _ in races()} - {"White"}


def test_a_stated_people_is_a_race_already() -> None:
    with pytest.raises(NoValue):
        race.insert("A patient has fever. The patient is of the Turkana tribe. Why?", "Asian")
