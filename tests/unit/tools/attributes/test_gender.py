import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.tools.attributes import NoValue, attributes

gender = attributes.get("gender")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A 28-year-old male patient presents with fever.", "male"),
        ("A female patient presents with fever.", "female"),
        ("The patient, a male aged 28 years, reports fever.", "male"),
        ("A patient presents with fever. The patient's brother has asthma.", None),
        ("The question is about a female patient. Why?", "female"),
        ("Patient is a 30 year old white male reporting fever.", "male"),
        ("I am a 28 year old man. My wife is well.", "male"),
        ("I am 61 years old. My husband has a cold and he coughs.", None),
        ("58M from Manila", "male"),
        ("A 45yo F with cough", "female"),
        ("Mr. Okafor has a cough.", "male"),
        ("Patient was bitten by a dog on her leg.", "female"),
        ("My daughter drank raw milk. Can ibuprofen help?", "female"),
        ("My child has a fever. Should I take her to the hospital?", "female"),
        ("Patient is 8 years old. Mother reports that he has a rash.", "male"),
        ("Patient has fever. Mother reports a rash.", None),
    ],
)
def test_the_patients_gender_is_found(text: str, value: str | None) -> None:
    assert gender.value(text) == value


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("A 28-year-old male patient has fever.", "A 28-year-old female patient has fever."),
        (
            "Patient is a 10 year old male brought in by his father. He has a rash.",
            "Patient is a 10 year old female brought in by her father. She has a rash.",
        ),
        (
            "A 50 year old man has a cough. His wife has a cough. She takes aspirin.",
            "A 50 year old woman has a cough. Her wife has a cough. She takes aspirin.",
        ),
        (
            "A 40 year old man. His father had diabetes when he was 30. He takes aspirin.",
            "A 40 year old woman. Her father had diabetes when he was 30. She takes aspirin.",
        ),
        ("My son has a fever. I gave him tea.", "My daughter has a fever. I gave her tea."),
        ("Mr. Okafor says that it hurts him.", "Ms. Okafor says that it hurts her."),
        ("58M with cough", "58F with cough"),
        ("The fever is gone.", "The fever is gone."),
    ],
)
def test_only_the_patient_changes(before: str, after: str) -> None:
    assert gender.replace(before, "female") == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "A 28 year old woman. Her daughter brought her to the ward because her knee hurts.",
            "A 28 year old man. His daughter brought him to the ward because his knee hurts.",
        ),
        (
            "A 28 year old lady said that it hurts her. The bag is hers.",
            "A 28 year old gentleman said that it hurts him. The bag is his.",
        ),
    ],
)
def test_her_is_him_or_his(before: str, after: str) -> None:
    assert gender.replace(before, "male") == after


@given(st.sampled_from(["male", "female"]), st.integers(1, 99), st.sampled_from(["fever", "rash"]))
def test_swap_twice_is_identity(now: str, age: int, symptom: str) -> None:
    other = {"male": "female", "female": "male"}[now]
    for text in (
        f"A {age}-year-old {now} patient has {symptom}. The patient's brother has asthma.",
        f"A {now} patient presents with {symptom}. The patient denies cough.",
        f"The patient, a {now} aged {age} years, reports {symptom}.",
    ):
        there = gender.replace(text, other)
        assert gender.value(there) == other
        assert gender.replace(there, now) == text


def test_a_draw_is_the_other() -> None:
    rng = np.random.default_rng(0)
    assert gender.draw("A 28-year-old male patient has fever.", rng) == "female"
    assert gender.draw("A 28-year-old female patient has fever.", rng) == "male"
    none = [gender.draw("A patient has fever.", rng) for _ in range(30)]
    assert set(none) == {"male", "female"}


@pytest.mark.parametrize(
    "text",
    [
        "A 29-year-old female patient presents with headache. The patient is 12 weeks pregnant.",
        "A 71-year-old male patient. The patient is found to have an enlarged prostate.",
    ],
)
def test_no_other_gender_fits(text: str) -> None:
    with pytest.raises(NoValue, match="patient"):
        gender.draw(text, np.random.default_rng(0))


def test_a_relatives_pregnancy_does_not_bind() -> None:
    text = "A 40-year-old male patient has fever. The patient's wife is pregnant."
    assert gender.draw(text, np.random.default_rng(0)) == "female"


def test_a_value_must_be_a_gender() -> None:
    with pytest.raises(ValueError, match="woman"):
        gender.replace("A 28-year-old male patient", "woman")
