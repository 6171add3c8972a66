import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.graph_store.records import Triple
from evenhand.tools.attributes import attributes
from evenhand.tools.gate import check_placebo
from evenhand.tools.rewriters import rewriters
from evenhand.tools.sentences import PAPER_QUESTION, verbalise

rules = rewriters.get("rules")


def triples(*facts: tuple[str, str]) -> list[Triple]:
    return [
        Triple(
            id=f"s-0-0/t{position}",
            source_id="s-0-0",
            subject="sister" if predicate == "family_has" else "patient",
            predicate=predicate,
            object=thing,
            subject_key="patient",
            object_key=thing,
            hop=0,
            origin="rules",
        )
        for position, (predicate, thing) in enumerate(facts)
    ]


def test_other_words_in_another_order() -> None:
    case = triples(
        ("has_age", "28"),
        ("has_gender", "male"),
        ("has_symptom", "fever"),
        ("has_symptom", "severe headaches"),
        ("for_duration", "the past 3 days"),
        ("lives_in", "Uige province"),
        ("travelled_to", "Accra"),
        ("denies", "cough"),
        ("denies", "rash"),
        ("has_history", "gout"),
        ("takes_medication", "aspirin"),
        ("has_exposure", "owns cats"),
        ("has_finding", "an enlarged liver"),
        ("family_has", "asthma"),
    )
    assert rules(case, PAPER_QUESTION) == (
        "The patient, a male aged 28 years, comes in with fever and severe headaches for the past "
        "3 days. It is noted that the patient's sister has asthma. The assessment shows that "
        "the patient has an enlarged liver. It is noted that the patient owns cats. The "
        "patient is on aspirin. It is known that the patient has a record of gout. There is no "
        "report of cough or rash. The patient has made a journey to Accra. The patient is "
        "living in Uige province. What might be the causes of the symptoms?"
    )


@pytest.mark.parametrize(
    ("facts", "opening"),
    [
        (
            [("has_gender", "female"), ("has_symptom", "fever")],
            "The patient, a female, comes in with fever.",
        ),
        (
            [("has_age", "1"), ("has_symptom", "fever")],
            "The patient, aged 1 year, comes in with fever.",
        ),
        ([("has_age", "8 months"), ("lives_in", "Leeds")], "The patient is aged 8 months."),
        ([("has_age", "8"), ("has_gender", "male")], "The patient is a male aged 8 years."),
        ([("lives_in", "Leeds")], "The patient is living in Leeds."),
        ([("has_race", "Black"), ("has_gender", "male")], "The patient is a Black male."),
        ([("has_race", "Asian"), ("has_age", "8")], "The patient is an Asian person aged 8 years."),
        ([], "What might be"),
    ],
)
def test_what_is_not_stated_is_not_said(facts: list[tuple[str, str]], opening: str) -> None:
    assert rules(triples(*facts), PAPER_QUESTION).startswith(opening)


FACTS = st.lists(
    st.one_of(
        st.tuples(st.just("has_symptom"), st.sampled_from(["fever", "a rash", "cough", "dizzy"])),
        st.tuples(st.just("denies"), st.sampled_from(["vomiting", "jaundice"])),
        st.tuples(st.just("has_history"), st.sampled_from(["gout", "asthma", "HIV positive"])),
        st.tuples(st.just("takes_medication"), st.sampled_from(["aspirin", "insulin"])),
        st.tuples(st.just("has_exposure"), st.sampled_from(["often drinks raw milk", "dust"])),
        st.tuples(st.just("for_duration"), st.sampled_from(["3 days", "the past month"])),
        st.tuples(st.just("travelled_to"), st.sampled_from(["Accra", "Lima"])),
        st.tuples(st.just("has_finding"), st.sampled_from(["pale", "a swollen knee"])),
        st.tuples(st.just("family_has"), st.sampled_from(["gout", "was ill"])),
        st.tuples(st.just("kept_in"), st.just("a tent")),
    ),
    max_size=8,
)
AGES = st.one_of(st.none(), st.integers(1, 90).map(str), st.just("8 months"))


@given(AGES, st.sampled_from([None, "male", "female"]), st.sampled_from([None, "Leeds"]), FACTS)
def test_all_values_and_objects_are_kept(
    age: str | None, gender: str | None, home: str | None, facts: list[tuple[str, str]]
) -> None:
    stated = [("has_age", age), ("has_gender", gender), ("lives_in", home)]
    case = triples(*((predicate, value) for predicate, value in stated if value), *facts)
    base, placebo = verbalise(case), rules(case, PAPER_QUESTION)
    for name, value in zip(("age", "gender", "location"), (age, gender, home), strict=True):
        assert attributes.get(name).value(base) == value
        assert attributes.get(name).value(placebo) == value
    for text in (base, placebo):
        verdict = check_placebo(case, text, PAPER_QUESTION)
        assert verdict.accepted, (text, verdict)
