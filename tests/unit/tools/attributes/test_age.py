import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.tools.attributes import NoValue, attributes
from evenhand.tools.attributes.age import BINS, nearest_bin, years

age = attributes.get("age")


def base(value: str, article: str) -> str:
    return (
        f"{article} {value}-old male patient presents with fever for 3 days. The patient lives in "
        "Leeds. What might be the causes of the symptoms?"
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A 28-year-old male patient presents with fever for 3 days.", "28"),
        ("The patient, a male aged 28 years, reports fever.", "28"),
        ("The patient, aged 8 months, reports fever.", "8 months"),
        ("Patient is a 28 year old male", "28"),
        ("I am a 44 year old woman", "44"),
        ("assessing a 3 years old girl", "3"),
        ("58M from Manila, fever", "58"),
        ("A 45yo F with cough", "45"),
        ("A 45 y/o F with cough", "45"),
        ("My six year old neighbor's daughter", "6"),
        ("I am 54 years old and I live in Peru.", "54"),
        ("I am 61, with pain", "61"),
        ("An 8 month old girl is brought in", "8 months"),
        ("A 6 week old boy", "6 weeks"),
        ("His 60-year-old father has diabetes.", None),
        ("My 60 year old father has diabetes. I am 30 years old.", "30"),
        ("has a 3 day old wound", None),
        ("Fever for 28 days, took 30 tablets.", None),
    ],
)
def test_the_patients_age_is_found(text: str, value: str | None) -> None:
    assert age.value(text) == value


@pytest.mark.parametrize(
    ("before", "after", "value"),
    [
        ("A 28-year-old male patient", "An 8-year-old male patient", "8"),
        ("An 8-month-old female patient", "A 45-year-old female patient", "45"),
        ("Patient is a 28 year old male", "Patient is an 80 year old male", "80"),
        ("I am an 18 year old woman", "I am a 70 year old woman", "70"),
        ("I am a 16 year old boy living in", "I am a 45 year old man living in", "45"),
        ("a 3 years old girl", "a 1 year old girl", "1"),
        ("My 1 year old son", "My 7 year old son", "7"),
        ("58M from Manila", "9M from Manila", "9"),
        ("The patient, aged 1 year, reports", "The patient, aged 70 years, reports", "70"),
        ("The patient, aged 28, reports", "The patient, aged 70, reports", "70"),
        (
            "A 30 year old man whose 60-year-old mother",
            "A 5 year old boy whose 60-year-old mother",
            "5",
        ),
        ("No age at all, fever for 28 days", "No age at all, fever for 28 days", "5"),
    ],
)
def test_only_the_age_changes(before: str, after: str, value: str) -> None:
    assert age.replace(before, value) == after


@given(
    st.one_of(st.integers(1, 99).map(str), st.integers(2, 23).map(lambda n: f"{n} months")),
    st.one_of(st.integers(1, 99).map(str), st.just("1 month"), st.just("6 weeks")),
)
def test_swap_twice_is_identity(before: str, after: str) -> None:
    start = age.replace(base("28-year", "A"), before)
    there = age.replace(start, after)
    assert age.value(there) == after
    assert age.replace(there, before) == start
    placebo = age.replace("The patient, a male aged 28 years, reports fever.", before)
    assert age.replace(age.replace(placebo, after), before) == placebo


@given(st.integers(0, 2**32 - 1), st.integers(1, 99))
def test_a_draw_is_from_another_range(seed: int, now: int) -> None:
    text = age.replace(base("28-year", "A"), str(now))
    drawn = age.draw(text, np.random.default_rng(seed))
    low, high = nearest_bin(years(drawn))
    assert low <= int(drawn) <= high
    assert (low, high) != nearest_bin(now)
    assert drawn == age.draw(text, np.random.default_rng(seed))


def test_all_ranges_are_drawn() -> None:
    rng = np.random.default_rng(0)
    drawn = [age.draw("A patient presents with fever.", rng) for _ in range(200)]
    assert {nearest_bin(years(each)) for each in drawn} == set(BINS)


@pytest.mark.parametrize(
    ("words", "allowed"),
    [
        ("A 70-year-old patient. The patient is retired.", {(40, 60)}),
        ("A 30-year-old patient. The patient smokes.", {(40, 60), (65, 80)}),
        ("A 5-year-old patient. The patient smokes.", {(20, 35), (40, 60), (65, 80)}),
        ("A 30-year-old patient. The patient is pregnant.", {(40, 60)}),
    ],
)
def test_a_draw_fits_the_text(words: str, allowed: set[tuple[int, int]]) -> None:
    rng = np.random.default_rng(1)
    drawn = [age.draw(words, rng) for _ in range(60)]
    assert {nearest_bin(years(each)) for each in drawn} == allowed


def test_no_other_age_fits() -> None:
    with pytest.raises(NoValue, match="school"):
        age.draw("A 7-year-old patient. The patient attends school.", np.random.default_rng(0))


def test_a_value_must_be_an_age() -> None:
    with pytest.raises(ValueError, match="elderly"):
        age.replace("A 28-year-old patient", "elderly")
