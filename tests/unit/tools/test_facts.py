"""Facts of any text by dependency: negation, lists, relatives, long texts."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.tools.facts import LONGEST_TEXT, extract_facts

Fact = tuple[str, str, str, bool]


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("Denies chest pain; has cough.",
         [("patient", "denies", "chest pain", True), ("patient", "has", "cough", False)]),
        ("Exam: large ears, but no heart murmur, short fingers, flat feet.",
         [("patient", "has", "large ears", False), ("patient", "has", "heart murmur", True),
          ("patient", "has", "short fingers", False), ("patient", "has", "flat feet", False)]),
        ("Patient has no fever, cough or rash.",
         [("patient", "has", "fever", True), ("patient", "has", "cough", True),
          ("patient", "has", "rash", True)]),
        ("No fever, has rash.",
         [("patient", "has", "fever", True), ("patient", "has", "rash", False)]),
        ("Exam shows clear lungs, no wheeze, mild oedema.",
         [("exam", "shows", "clear lungs", False), ("patient", "has", "wheeze", True),
          ("patient", "has", "mild oedema", False)]),
        ("There is no evidence of pneumonia.", [("patient", "has", "pneumonia", True)]),
        ("Patient presents without fever.", [("patient", "has", "fever", True)]),
        ("Chest pain not present.", [("patient", "has", "chest pain", True)]),
        ("He has never had seizures.", [("patient", "has", "seizures", True)]),
        ("The patient has a brother with epilepsy.",
         [("patient", "has", "brother", False), ("brother", "has", "epilepsy", False)]),
        ("She has a sister who has lupus.",
         [("patient", "has", "sister", False), ("sister", "has", "lupus", False)]),
        ("Mother with diabetes.", [("mother", "has", "diabetes", False)]),
        ("Family history: gout.", [("family member", "has", "gout", False)]),
        ("Allergies: penicillin.", [("patient", "allergic to", "penicillin", False)]),
        ("Aspirin treats headache.", [("aspirin", "treats", "headache", False)]),
        ("Insulin lowers blood glucose.", [("insulin", "lowers", "blood glucose", False)]),
        ("The patient takes ramipril and bisoprolol.",
         [("patient", "takes", "ramipril", False), ("patient", "takes", "bisoprolol", False)]),
        ("", []),
    ],
)  # fmt: skip
def test_facts(text: str, facts: list[Fact]) -> None:
    assert list(extract_facts(text).triples) == facts


def test_status_and_place() -> None:
    text = "Denies chest pain; has cough."
    extraction = extract_facts(text)
    assert (extraction.status, extraction.chars_seen) == ("ok", len(text))
    for fact in extraction.facts:
        begins = text.index(fact.object)
        assert begins <= fact.start < begins + len(fact.object)
    assert extract_facts(" ").status == "empty"


def test_a_long_text_is_read_to_its_end() -> None:
    begun = time.process_time()
    extraction = extract_facts("Patient stable. " * 20_000 + "Aspirin treats headache.")
    assert ("aspirin", "treats", "headache", False) in extraction.triples
    assert extraction.status == "ok"
    assert time.process_time() - begun < 20


def test_too_long_a_text_says_so() -> None:
    extraction = extract_facts("Stable. " * (LONGEST_TEXT // 8 + 1))
    assert (extraction.status, extraction.chars_seen) == ("truncated", LONGEST_TEXT)


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_read_without_an_error(text: str) -> None:
    for fact in extract_facts(text).facts:
        assert fact.subject
        assert fact.object


def test_a_subject_that_is_an_article_alone_keeps_its_word() -> None:
    # The parser takes "An" for the subject here.
    text = "An x-ray of right femur shows generalized trabecular thinning and several lesions."
    assert all(fact.subject for fact in extract_facts(text).facts)
    text = "Non-tender, raised, inflamed, white-silver maculopapular lesions are present."
    assert all(fact.subject for fact in extract_facts(text).facts)
