import pytest

from evenhand.graph_store.records import Triple
from evenhand.tools import sentences
from evenhand.tools.sentences import PAPER_QUESTION, gather_case, verbalise


def triples(*facts: tuple[str, str] | tuple[str, str, str]) -> list[Triple]:
    made = []
    for position, fact in enumerate(facts):
        predicate, thing, *subject = fact
        who = subject[0] if subject else "patient"
        made.append(
            Triple(
                id=f"s-0-0/t{position}",
                source_id="s-0-0",
                subject=who,
                predicate=predicate,
                object=thing,
                subject_key=who,
                object_key=thing,
                hop=0,
                origin="rules",
            )
        )
    return made


def said(*facts: tuple[str, str] | tuple[str, str, str]) -> str:
    return verbalise(triples(*facts)).removesuffix(PAPER_QUESTION).strip()


def test_the_form_of_paper_1() -> None:
    text = verbalise(
        triples(
            ("has_age", "28 years"),
            ("has_gender", "male"),
            ("has_symptom", "fever"),
            ("has_symptom", "severe headaches"),
            ("has_symptom", "fatigue"),
            ("for_duration", "the past 3 days"),
            ("lives_in", "Uige province"),
        )
    )
    assert text == (
        "A 28-year-old male patient presents with fever, severe headaches and fatigue for the past "
        "3 days. The patient lives in Uige province. What might be the causes of the symptoms?"
    )


@pytest.mark.parametrize(
    ("age", "opening"),
    [
        ("28", "A 28-year-old"),
        ("8", "An 8-year-old"),
        ("11", "An 11-year-old"),
        ("18", "An 18-year-old"),
        ("80", "An 80-year-old"),
        ("1", "A 1-year-old"),
        ("8 months", "An 8-month-old"),
        ("1 month", "A 1-month-old"),
        ("6 weeks", "A 6-week-old"),
        ("elderly", "An elderly"),
    ],
)
def test_the_article_follows_the_age(age: str, opening: str) -> None:
    text = said(("has_age", age), ("has_symptom", "fever"))
    assert text == f"{opening} patient presents with fever."


def test_what_is_not_stated_is_not_said() -> None:
    assert said(("has_gender", "male"), ("has_symptom", "fever")) == (
        "A male patient presents with fever."
    )
    assert said(("has_symptom", "fever")) == "A patient presents with fever."
    assert said(("lives_in", "Nairobi")) == "The patient lives in Nairobi."
    assert said(("has_age", "28"), ("lives_in", "Nairobi")) == (
        "A 28-year-old patient lives in Nairobi."
    )
    assert said(("has_age", "28"), ("has_gender", "male")) == (
        "The question is about a 28-year-old male patient."
    )
    assert verbalise([]) == PAPER_QUESTION


def test_every_predicate() -> None:
    text = said(
        ("has_symptom", "rash"),
        ("denies", "fever"),
        ("denies", "cough"),
        ("has_history", "diabetes"),
        ("takes_medication", "metformin"),
        ("has_exposure", "owns domestic animals"),
        ("has_exposure", "unprotected sex"),
        ("has_finding", "an enlarged liver"),
        ("family_has", "asthma", "brother"),
        ("family_has", "similar symptoms", "family member"),
        ("family_has", "was treated for tuberculosis", "sister"),
        ("travelled_to", "Accra"),
        ("lives_in", "Leeds"),
    )
    assert text == (
        "A patient presents with rash. The patient lives in Leeds. The patient has travelled to "
        "Accra. The patient denies fever or cough. The patient has a history of diabetes. The "
        "patient takes metformin. The patient owns domestic animals and has had exposure to "
        "unprotected sex. The patient is found to have an enlarged liver. The patient's brother "
        "has asthma. A family member of the patient has similar symptoms. The patient's sister was "
        "treated for tuberculosis."
    )


def test_an_unknown_predicate_is_said_too() -> None:
    assert said(("sleeps_in", "a tent"), ("bites", "people", "dog")) == (
        "The patient sleeps in a tent. The dog bites people."
    )


def test_a_second_age_is_not_lost() -> None:
    assert said(("has_age", "28"), ("has_age", "30")) == "A 28-year-old patient has age 30."


@pytest.mark.parametrize(
    ("duration", "words"),
    [
        ("3 days", "fever for 3 days"),
        ("the past month", "fever for the past month"),
        ("over 2 weeks", "fever for over 2 weeks"),
        ("since yesterday", "fever since yesterday"),
        ("a week ago", "fever that started a week ago"),
    ],
)
def test_durations(duration: str, words: str) -> None:
    text = said(("has_symptom", "fever"), ("for_duration", duration))
    assert text == f"A patient presents with {words}."


def test_a_duration_belongs_to_the_symptoms_before_it() -> None:
    text = said(
        ("has_symptom", "fever"),
        ("for_duration", "3 days"),
        ("has_symptom", "rash"),
        ("for_duration", "1 day"),
        ("has_symptom", "cough"),
    )
    assert text == (
        "A patient presents with fever for 3 days. The patient also has had rash for 1 day. "
        "The patient also has cough."
    )


def test_a_leading_duration_belongs_to_the_symptoms_after_it() -> None:
    text = said(("for_duration", "3 days"), ("has_symptom", "fever"), ("has_symptom", "rash"))
    assert text == "A patient presents with fever and rash for 3 days."


def test_a_duration_without_symptom_is_said() -> None:
    assert said(("for_duration", "3 days"), ("lives_in", "Leeds")) == (
        "A patient has had this for 3 days. The patient lives in Leeds."
    )


def test_a_list_with_an_and_of_its_own_takes_a_comma() -> None:
    text = said(("has_symptom", "fever"), ("has_symptom", "muscle and joint pain"))
    assert text == "A patient presents with fever, and muscle and joint pain."


def test_no_pronoun_and_no_doubles() -> None:
    case = gather_case(triples(("has_symptom", "fever"), ("has_symptom", "fever")))
    assert case.complaints[0].symptoms == ("fever",)


def test_a_sign_is_not_the_patients_to_deny() -> None:
    assert sentences.denying(["cough", "guarding", "rebound tenderness"]) == (
        "denies cough, and has no guarding or rebound tenderness"
    )
    assert sentences.denying(["cough", "fever"]) == "denies cough or fever"


def test_an_event_of_a_relative_is_past() -> None:
    fact = sentences.Fact("mother", "family_has", ("asthma", "a myocardial infarction"))
    assert sentences.relative_words(fact) == (
        "the patient's mother has asthma and has had a myocardial infarction"
    )
