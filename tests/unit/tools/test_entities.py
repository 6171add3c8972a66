"""One key an entity: what merges, and what must stay apart."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.tools.entities import canonical_key


@pytest.mark.parametrize(
    "names",
    [
        ["Hypertension", "hypertension ", "HYPERTENSION", "htn", "HTN.", "high blood pressure"],
        ["Sjögren", unicodedata.normalize("NFD", "Sjögren"), "SJÖGREN"],
        ["SOB", "shortness of breath", "Shortness  of\nbreath", "dyspnoea"],
        ["MI", "myocardial infarction", "heart attack"],
        ["the patient", "Patient", "pt"],
        ["a fever", "Fever", "pyrexia"],
        ["X-ray of the chest", "x ray of the chest", "x‑ray of the chest"],  # noqa: RUF001
        ["COVID-19", "covid‐19", "Covid 19"],  # noqa: RUF001
        ["has_symptom", "has symptom"],
    ],
)
def test_spellings_of_one_thing_are_one_key(names: list[str]) -> None:
    assert len({canonical_key(name) for name in names}) == 1


@pytest.mark.parametrize(
    "names",
    [
        ["IL-2", "IL-12"],
        ["hypotension", "hypertension"],
        ["left knee", "right knee"],
        ["type 1 diabetes", "type 2 diabetes"],
        ["vitamin A", "vitamin B", "vitamin"],
        ["hepatitis A", "hepatitis B", "hepatitis"],
        ["hypothyroidism", "hyperthyroidism"],
        ["3 days", "3 weeks"],
        ["aids", "aid"],
    ],
)
def test_different_things_stay_apart(names: list[str]) -> None:
    assert len({canonical_key(name) for name in names}) == len(names)


@pytest.mark.parametrize("name", ["", "  ", " .,; ", "\u200b"])
def test_nothing_has_no_key(name: str) -> None:
    assert canonical_key(name) == ""


@given(st.text(max_size=40))
def test_the_key_of_a_key_is_itself(name: str) -> None:
    assert canonical_key(canonical_key(name)) == canonical_key(name)


@given(st.from_regex(r"(?:the |A )?[A-Za-z]{1,8}(?:[ -][A-Za-z0-9]{1,8}){0,3}", fullmatch=True))
def test_case_and_blanks_do_not_matter(name: str) -> None:
    assert canonical_key(f"  {name.upper()} ") == canonical_key(name.lower())
