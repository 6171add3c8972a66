import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.tools.attributes import NoValue, attributes
from evenhand.tools.attributes.location import Location, is_relevant, place_named, places, signs

location = attributes.get("location")
NAMES = [place.name for place in places()]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A 28-year-old male patient lives in Leeds. The patient owns cats.", "Leeds"),
        ("A patient has fever. The patient lives in Uige province. Why?", "Uige province"),
        ("The patient reports fever. The patient is a resident of St. Louis. Why?", "St. Louis"),
        ("A patient lives in a refugee camp in Al Salam.", "Al Salam"),
        ("A patient lives in a house of mud, near a stream, in Ghana. Why?", "Ghana"),
        ("A patient lives in a village outside of Gorakhpur. Why?", "Gorakhpur"),
        ("A patient lives in a care home in Miami, Florida. Why?", "Miami, Florida"),
        ("A patient lives in the Sarh area in Chari.", "the Sarh area in Chari"),
        ("A patient lives in the rural area of Bahia, Brazil. Why?", "Bahia, Brazil"),
        ("The 28-year-old patient lives in the state of Bahia. Why?", "the state of Bahia"),
        ("A patient lives in Kabul city in Herat on the farm. Why?", "Kabul city in Herat"),
        ("A patient lives in Gizho in the western province. Why?", "Gizho in the western province"),
        ("A patient lives in a shelter. Why?", None),
        ("A patient lives in the Turkana tribe. Why?", None),
        ("Patient lives in the Uige province and owns domestic animals.", "the Uige province"),
        ("Patient is a health worker from Vuhovi. She has a cough.", "Vuhovi"),
        ("A 34 year old woman from Nairobi with fever", "Nairobi"),
        ("He recently moved to Leeds and coughs.", "Leeds"),
        ("I am based in Natal in the state of Bahia.", "Natal in the state of Bahia"),
        ("living in Recife, Pernambuco, Brazil. Why?", "Recife, Pernambuco, Brazil"),
        ("We live in Mila, please tell me what to do.", "Mila"),
        ("58M from Davao, thirst", "Davao"),
        ("The family lives in Sylhet. She has", "Sylhet"),
        ("She returned from a trip to Accra last week.", None),
        ("He visited Thanda Safari with his family.", None),
        ("I came back on a long flight from Osaka.", None),
        ("His brother lives in Leeds.", None),
        ("She is of the Turkana tribe.", None),
        ("Patient is from the Semai tribe.", None),
        ("Patient lives with a cat.", None),
        ("Patient lives in Johannesburg but visited Thanda Safari.", "Johannesburg"),
    ],
)  # fmt: skip
def test_the_patients_home_is_found(text: str, value: str | None) -> None:
    assert location.value(text) == value


def test_the_words_around_it_stay() -> None:
    text = "Patient lives in Johannesburg but visited Durban. He works in Johannesburg."
    assert location.replace(text, "Lima") == (
        "Patient lives in Lima but visited Durban. He works in Johannesburg."
    )


HOMES = [*NAMES, "Uige province", "a camp in Al Salam", "a house near a stream, in Ghana"]


@given(st.sampled_from(NAMES), st.sampled_from(HOMES))
def test_swap_twice_is_identity(after: str, now: str) -> None:
    for text in (
        f"A 28-year-old male patient presents with fever. The patient lives in {now}. The patient "
        "has travelled to Accra and Lima. The patient owns cats. What might be the cause?",
        f"A patient lives in {now}. What might be the cause?",
        f"The patient reports fever. The patient is a resident of {now}. What might it be?",
    ):
        named = location.value(text)
        assert named is not None
        there = location.replace(text, after)
        assert location.value(there) == after
        assert location.replace(there, named) == text


def test_the_list_of_places() -> None:
    assert len(places()) >= 60
    assert len(set(NAMES)) == len(NAMES)
    assert {place.income for place in places()} == {"low", "lower middle", "upper middle", "high"}
    assert len({place.region for place in places()}) == 7
    assert all(place.country and place.climate for place in places())


@given(st.integers(0, 2**32 - 1))
def test_a_draw_is_a_place_that_the_text_does_not_name(seed: int) -> None:
    text = "A patient lives in Recife, Brazil. The patient has travelled to Accra."
    drawn = location.draw(text, np.random.default_rng(seed))
    assert drawn in NAMES
    assert drawn not in ("Recife", "Manaus", "Accra")
    assert drawn == location.draw(text, np.random.default_rng(seed))


def test_several_places_differ_in_region() -> None:
    drawn = Location().draw_several("A patient has fever.", np.random.default_rng(0), 4)
    by_name = {place.name: place for place in places()}
    assert len({by_name[name].region for name in drawn}) == 4
    many = Location().draw_several("A patient has fever.", np.random.default_rng(0), 20)
    assert len(set(many)) == 20


def test_no_place_is_left() -> None:
    with pytest.raises(NoValue, match="places"):
        location.draw(" ".join(NAMES), np.random.default_rng(0))


def test_of_several_places_half_are_relevant_to_the_question() -> None:
    text = "A patient presents with fever. The patient does not sleep under a mosquito net. Why?"
    by_name = {place.name: place for place in places()}
    for seed in range(20):
        drawn = Location().draw_several(text, np.random.default_rng(seed), 4)
        assert len(set(drawn)) == 4
        assert sum(is_relevant(by_name[name], text) for name in drawn) == 2
        assert len({by_name[name].region for name in drawn}) == 4


def test_the_first_of_several_places_is_not_always_a_relevant_one() -> None:
    text = "A patient presents with watery diarrhoea. Why?"
    by_name = {place.name: place for place in places()}
    first = [
        is_relevant(by_name[Location().draw_several(text, np.random.default_rng(s), 4)[0]], text)
        for s in range(40)
    ]
    assert 10 < sum(first) < 30


def test_every_endemic_disease_has_its_signs() -> None:
    listed = {disease for place in places() for disease in place.endemic}
    assert listed <= set(signs())


@pytest.mark.parametrize(
    "text",
    [
        "A patient presents with fever. The patient works on a farm in Prey Veng province. Why?",
        "A patient is a livestock worker in Thiqar. What is it?",
        "A patient has fever. The patient is of the Turkana tribe. What is it?",
    ],
)
def test_a_patient_who_is_bound_to_a_place_gets_no_other_home(text: str) -> None:
    with pytest.raises(NoValue, match="binds"):
        location.draw(text, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("home", "shown"),
    [("rural Punjab", "rural {}"), ("the countryside in Peru", "the countryside in {}")],
)
def test_country_life_is_given_a_country(home: str, shown: str) -> None:
    base = f"A patient presents with fever. The patient lives in {home}. What is it?"
    for seed in range(30):
        drawn = location.draw(base, np.random.default_rng(seed))
        place = place_named(drawn)
        assert place is not None
        assert drawn.removeprefix("the ") == place.country
        variant = location.replace(base, drawn)
        assert shown.format(drawn) in variant
        assert location.value(variant) == drawn


def test_every_place_of_the_list_is_read_back_as_it_was_put_in() -> None:
    base = "A patient presents with fever. The patient lives in rural Peru. What is it?"
    countries = [f"the {p.country}" if p.country.startswith("D") else p.country for p in places()]
    for name in [*NAMES, *countries]:
        assert location.value(location.replace(base, name)) == name
