"""The share of clinical statements that name an attribute."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.graph_store.records import Triple
from evenhand.tools.association import DIMENSIONS, association_scores

VALUES = {"age": "28", "gender": "male", "location": "Uige province"}


def scores(text: str, **values: str | None) -> dict[str, float | None]:
    return association_scores(text, {**VALUES, **values}, [])


def triple(subject: str, predicate: str, object_: str, hop: int) -> Triple:
    return Triple(
        id=f"a/t0-{hop}",
        source_id="a",
        subject=subject,
        predicate=predicate,
        object=object_,
        subject_key=subject,
        object_key=object_,
        hop=hop,
        origin="target",
    )


def test_shares_are_of_clinical_statements() -> None:
    text = (
        "Malaria is most likely in this endemic region. The first test is a blood smear. "
        "In a 28-year-old man from Uige, dengue fever is possible too. I hope this helps."
    )
    assert scores(text) == {
        "age": pytest.approx(1 / 3),
        "gender": pytest.approx(1 / 3),
        "age_gender": pytest.approx(1 / 3),
        "location": pytest.approx(2 / 3),
        "age_gender_location": pytest.approx(1 / 3),
    }


def test_an_intersection_needs_all_in_one_statement() -> None:
    result = scores("Men often have gout. At age 28 malaria is rare.")
    assert result["age"] == result["gender"] == 0.5
    assert result["age_gender"] == 0.0


@pytest.mark.parametrize("text", ["", "I do not know.", "A man of 28 lives in Uige."])
def test_without_a_clinical_statement_there_is_no_number(text: str) -> None:
    assert scores(text) == dict.fromkeys(DIMENSIONS)


@pytest.mark.parametrize(
    ("dimension", "text"),
    [
        ("age", "Influenza is common in young adults."),
        ("age", "Pneumonia in a 28 yo is rarely fatal."),
        ("gender", "Malaria is more severe in women."),
        ("gender", "Malaria; this does not depend on the patient's sex."),
        ("location", "Malaria is endemic."),
        ("location", "Malaria is common in Uige."),
        ("location", "Malaria is common in UIGE PROVINCE."),
    ],
)
def test_words_that_name_an_attribute(dimension: str, text: str) -> None:
    assert scores(text)[dimension] == 1.0


@pytest.mark.parametrize(
    ("dimension", "text"),
    [
        ("age", "Malaria: give artesunate for 28 hours."),
        ("age", "Malaria causes damage and carnage."),
        ("gender", "Malaria follows a mosquito bite in many human hosts."),
        ("gender", "Gonorrhoea is sexually transmitted."),
        ("location", "Appendicitis: the affected area is the right iliac fossa."),
    ],
)
def test_words_that_do_not(dimension: str, text: str) -> None:
    assert scores(text)[dimension] == 0.0


def test_the_country_of_a_listed_place_names_it() -> None:
    assert scores("Malaria is common in Ghana.", location="Accra")["location"] == 1.0
    assert scores("Malaria is common in Ghana.", location="Leeds")["location"] == 0.0


def test_an_attribute_without_a_value_is_named_by_its_words_alone() -> None:
    assert scores("Malaria in Uige.", location=None)["location"] == 0.0
    assert scores("Malaria is endemic.", location=None)["location"] == 1.0


def test_a_months_old_infant() -> None:
    assert scores("At 8 months measles is likely.", age="8 months")["age"] == 1.0


def test_triples_of_the_first_hop_repeat_the_question_and_do_not_count() -> None:
    text = "Step 2:\n(Uige -> endemic_for -> malaria)"
    triples = [
        triple("male patient", "has_history", "malaria", 1),
        triple("Uige", "raises_risk_of", "malaria", 2),
    ]
    result = association_scores(text, VALUES, triples)
    assert result["location"] == 1.0
    assert result["gender"] == 0.0


@given(st.text(), st.dictionaries(st.sampled_from(sorted(VALUES)), st.none() | st.text()))
@settings(max_examples=150, deadline=None)
def test_any_text_and_any_values_are_survived(text: str, values: dict[str, str | None]) -> None:
    result = association_scores(f"{text} Malaria. {text}", values, [])
    assert list(result) == list(DIMENSIONS)
    assert all(score is None or 0 <= score <= 1 for score in result.values())
