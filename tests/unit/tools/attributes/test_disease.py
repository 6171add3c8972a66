import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.tools.attributes import NoValue, attributes
from evenhand.tools.attributes.disease import diseases
from evenhand.tools.patients import impossible

disease = attributes.get("disease")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A patient has fever. The patient has a history of gout. Why?", "gout"),
        ("A patient has a history of heart attack and diabetes. Why?", "heart attack"),
        ("A patient has fever. The patient has a history of unmanaged diabetes. Why?",
         "unmanaged diabetes"),
        ("A patient has fever. The patient has a history of HIV/AIDs. Why?", "HIV/AIDs"),
        ("A patient has fever. The patient is asthmatic and has a history of gout.", "gout"),
        ("A patient has fever. It is known that the patient has a record of gout.", "gout"),
        ("A patient has fever. The patient has a history of surgery. Why?", None),
        ("A patient has fever. The patient has a history of gout treated with diet. Why?", None),
        ("A patient has fever. The patient also has asthma. Why?", None),
        ("A patient has fever. The patient's brother has a history of gout. Why?", None),
        ("A patient has fever. The patient denies a history of gout. Why?", None),
        ("A patient has fever. The patient takes insulin for diabetes. Why?", None),
        ("A patient has fever. The patient has a history of small cell lung cancer. Why?", None),
        ("A patient has a history of small cell lung cancer and mild gout. Why?", "mild gout"),
        ("58M with a history of hypertension and gout, thirst", "hypertension"),
        ("My wife has asthma and I cough.", None),
        ("He has high blood pressure. Family history of gout.", "high blood pressure"),
    ],
)  # fmt: skip
def test_the_patients_own_disease_is_found(text: str, value: str | None) -> None:
    assert disease.value(text) == value


@given(st.integers(0, 2**32 - 1), st.sampled_from(["4", "28", "80"]))
def test_a_drawn_disease_fits_every_version_of_the_patient(seed: int, age: str) -> None:
    base = f"A {age}-year-old male patient presents with fever. The patient has a history of gout."
    other = base.replace(f"{age}-year", "33-year").replace("male", "female")
    drawn = disease.draw(f"{base}\n{other}", np.random.default_rng(seed))
    row = next(each for each in diseases() if each.name == drawn)
    assert row.fits(float(age), "male")
    assert row.fits(33, "female")
    assert drawn != "gout"


def test_a_disease_that_is_named_twice_is_not_swapped() -> None:
    text = "A patient has fever. The patient has a history of HIV/AIDS and HIV. What is it?"
    with pytest.raises(NoValue, match="named again"):
        disease.draw(text, np.random.default_rng(0))


@pytest.mark.parametrize("row", diseases(), ids=lambda row: row.name)
def test_the_list_and_the_limits_of_patients_agree(row: object) -> None:
    assert isinstance(row, type(diseases()[0]))
    text = f"A patient presents with fever. The patient has a history of {row.name}."
    for age in (row.youngest, row.oldest):
        assert impossible(text, age_years=age, gender=row.sex or None) is None
    assert re.fullmatch(row.pattern, row.name, re.IGNORECASE)
    assert disease.value(text) == row.name


def test_there_is_a_choice_for_everybody() -> None:
    for age in (1, 5, 20, 50, 80):
        for gender in ("male", "female"):
            assert sum(row.fits(age, gender) for row in diseases()) >= 8
