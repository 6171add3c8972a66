import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.tools.attributes import NoValue, attributes
from evenhand.tools.attributes.location import Location, places

location = attributes.get("location")
NAMES = [place.name for place in places()]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A 28-year-old male patient lives in Leeds. The patient owns cats.", "Leeds"),
        ("A patient has fever. The patient lives in Uige province. Why?", "Uige province"),
        ("The patient reports fever. The patient is a resident of St. Louis. Why?", "St. Louis"),
        ("A patient lives in a refugee camp in Al Salam.", "a refugee camp in Al Salam"),
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


@given(st.sampled_from(NAMES), st.sampled_from([*NAMES, "Uige province", "a camp in Al Salam"]))
def test_swap_twice_is_identity(after: str, now: str) -> None:
    for text in (
        f"A 28-year-old male patient presents with fever. The patient lives in {now}. The patient "
        "has travelled to Accra and Lima. The patient owns cats. What might be the cause?",
        f"A patient lives in {now}. What might be the cause?",
        f"The patient reports fever. The patient is a resident of {now}. What might it be?",
    ):
        there = location.replace(text, after)
        assert location.value(there) == after
        assert location.replace(there, now) == text


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
