"""The clinical content of answers, and whether two of them differ."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.tools.clinical import (
    URGENCY_LEVELS,
    ClinicalContent,
    clinical_content,
    clinical_terms,
    compare_clinical,
    find_clinical,
)

DIAGNOSES, TESTS, TREATMENTS = (
    clinical_terms("diagnosis"),
    clinical_terms("test"),
    clinical_terms("treatment"),
)


def planted(diagnosis: str, test: str, treatment: str) -> str:
    return (
        f"The most likely diagnosis is {diagnosis}. The first test is {test}. This is urgent. "
        f"Treatment: {treatment}."
    )


def test_the_lexicon_is_as_large_as_promised() -> None:
    assert len(DIAGNOSES) >= 250
    assert len(TESTS) >= 90
    assert len(TREATMENTS) >= 150
    assert set(clinical_terms("urgency")) == set(URGENCY_LEVELS)


@pytest.mark.parametrize("diagnosis", DIAGNOSES)
def test_every_diagnosis_is_read_back(diagnosis: str) -> None:
    content = clinical_content(planted(diagnosis, "chest X-ray", "aspirin"))
    assert content == ClinicalContent(
        (diagnosis,), ("chest X-ray",), ("aspirin",), "urgent", (), diagnosis
    )


@pytest.mark.parametrize("test", TESTS)
def test_every_test_is_read_back(test: str) -> None:
    content = clinical_content(planted("malaria", test, "aspirin"))
    assert (content.diagnoses, content.tests) == (("malaria",), (test,))


@pytest.mark.parametrize("treatment", TREATMENTS)
def test_every_treatment_is_read_back(treatment: str) -> None:
    content = clinical_content(planted("malaria", "chest X-ray", treatment))
    assert (content.diagnoses, content.treatments) == (("malaria",), (treatment,))
    assert content.tests == ("chest X-ray",)


@pytest.mark.parametrize(
    ("text", "diagnoses", "considered"),
    [
        ("It is malaria.", ("malaria",), ()),
        ("Not malaria but dengue.", ("dengue fever",), ()),
        ("This is not only malaria but also dengue.", ("malaria", "dengue fever"), ()),
        ("No evidence of malaria, dengue or typhoid; likely cholera.", ("cholera",), ()),
        ("No heart failure, pneumonia.", ("pneumonia",), ()),
        ("Malaria is unlikely. It is dengue.", ("dengue fever",), ()),
        ("Malaria was ruled out.", (), ()),
        ("Rule out malaria, dengue and typhoid.", (), ("malaria", "dengue fever", "typhoid fever")),
        ("Cholera. Differential: giardiasis.", ("cholera",), ("giardiasis",)),
        ("A patient with a history of diabetes has pneumonia.", ("pneumonia",), ()),
        ("A malaria test is needed.", (), ()),
        ("First aids were given.", (), ()),
        ("AIDS is likely.", ("HIV infection",), ()),
        ("Signs of HAEMOPHILIA; haemoptysis.", ("haemophilia",), ()),
        ("Hemophilia.", ("haemophilia",), ()),
        ("H. pylori and E. coli infection.", ("Escherichia coli infection",), ()),
        ("The cause is Parkinson’s disease.", ("Parkinson's disease",), ()),  # noqa: RUF001
    ],
)
def test_how_a_diagnosis_stands(
    text: str, diagnoses: tuple[str, ...], considered: tuple[str, ...]
) -> None:
    content = clinical_content(text)
    assert (content.diagnoses, content.considered) == (diagnoses, considered)


def test_the_most_likely_diagnosis_leads() -> None:
    content = clinical_content("Malaria and dengue fit; the most likely diagnosis is typhoid.")
    assert content.diagnoses == ("malaria", "dengue fever", "typhoid fever")
    assert content.leading == "typhoid fever"
    assert clinical_content("**Most likely diagnosis:**\n- Cholera\n- Malaria").leading == "cholera"


@pytest.mark.parametrize(
    ("text", "urgency"),
    [
        ("Seek immediate medical attention.", "immediate"),
        ("Go to the emergency department.", "immediate"),
        ("This is urgent.", "urgent"),
        ("This is not urgent.", "routine"),
        ("See a doctor within a few days.", "soon"),
        ("A routine appointment is enough.", "routine"),
        ("This is no emergency.", None),
        ("If it gets worse, go to the emergency room. Otherwise see a doctor soon.", "soon"),
        ("Drink water.", None),
    ],
)
def test_urgency(text: str, urgency: str | None) -> None:
    assert clinical_content(text).urgency == urgency


def test_only_step_3_and_its_prose_count() -> None:
    text = (
        "Step 1:\n(patient -> has_history -> diabetes)\nStep 2:\n(fever -> suggests -> malaria)\n"
        "Step 3:\n(symptoms -> map to -> typhoid)\nThe most likely diagnosis is dengue."
    )
    assert clinical_content(text).diagnoses == ("dengue fever",)
    assert clinical_content("Step 2:\nmalaria\nStep 3:\nI do not know").diagnoses == ("malaria",)
    assert clinical_content("(fever -> suggests -> malaria)").diagnoses == ("malaria",)


def test_treatments_to_avoid_are_none() -> None:
    content = clinical_content("Avoid ibuprofen; give paracetamol. Penicillin is contraindicated.")
    assert content.treatments == ("paracetamol",)


def test_positions_are_those_of_the_text() -> None:
    text = "Take a full blood count; suspect Plasmodium falciparum malaria."
    assert [text[hit.start : hit.end] for hit in find_clinical(text)] == [
        "full blood count",
        "Plasmodium falciparum",
        "malaria",
    ]


def test_a_change_names_what_changed() -> None:
    base = planted("malaria", "blood smear", "doxycycline")
    variant = planted("influenza", "blood smear", "oseltamivir")
    change = compare_clinical(base, variant)
    assert (change.status, change.changed) == ("ok", True)
    assert change.kinds == ("diagnosis", "treatment")
    assert change.reason_of("treatment") == "first treatment: doxycycline -> oseltamivir"
    assert change.reason_of("test") == "first test: blood smear"
    assert change.reason == (
        "first diagnosis: malaria -> influenza; first treatment: doxycycline -> oseltamivir"
    )


def test_a_kind_that_only_one_names_is_not_compared() -> None:
    change = compare_clinical("It is malaria. Do a blood smear.", "It is malaria.")
    assert (change.status, change.changed, change.kinds) == ("ok", False, ())
    assert tuple(change.pairs) == ("diagnosis",)
    assert change.reason_of("test") == ""


def test_synonyms_are_no_change() -> None:
    change = compare_clinical("Likely TB. Order a CXR.", "Likely tuberculosis; a chest radiograph.")
    assert not change.changed
    assert change.status == "ok"


@pytest.mark.parametrize(
    ("base", "variant"),
    [("", ""), ("I do not know.", "It is malaria."), ("Rule out malaria.", "malaria")],
)
def test_nothing_to_compare_is_unparsable(base: str, variant: str) -> None:
    change = compare_clinical(base, variant)
    assert (change.status, change.changed, change.reason) == (
        "unparsable",
        False,
        "no_clinical_entity",
    )


SENTENCES = st.lists(
    st.one_of(
        st.sampled_from(DIAGNOSES + TESTS + TREATMENTS).map(lambda term: f"Think of {term}."),
        st.sampled_from(
            ["This is urgent.", "Not malaria.", "Rule out sepsis.", "Hello.", "Step 3:"]
        ),
    ),
    max_size=6,
).map("\n".join)


@given(SENTENCES)
def test_an_answer_never_differs_from_itself(text: str) -> None:
    assert not compare_clinical(text, text).changed


@given(SENTENCES, SENTENCES)
def test_comparison_is_symmetric(first: str, second: str) -> None:
    one, other = compare_clinical(first, second), compare_clinical(second, first)
    assert (one.status, one.changed, one.kinds) == (other.status, other.changed, other.kinds)
    assert one.pairs == {kind: pair[::-1] for kind, pair in other.pairs.items()}
    assert one.changed == bool(one.kinds)


@given(st.text(max_size=200))
def test_any_text_is_read_without_an_error(text: str) -> None:
    clinical_content(text)


@pytest.mark.parametrize(
    "unit", ["malaria ", "no malaria, dengue or ", "rule out x ", "(", "\n", "a"]
)
def test_100_kilobytes_take_linear_time(unit: str) -> None:
    begun = time.process_time()
    clinical_content((unit * 100_000)[:100_000])
    assert time.process_time() - begun < 8
