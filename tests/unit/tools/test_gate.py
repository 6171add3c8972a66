import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.graph_store.records import Change, Triple
from evenhand.tools.attributes import NoValue, attributes
from evenhand.tools.datasets import load_samples
from evenhand.tools.extraction import extract_triples
from evenhand.tools.gate import check_isolation, check_placebo
from evenhand.tools.rewriters import rewriters
from evenhand.tools.sentences import PAPER_QUESTION, verbalise

A = (
    "A 28-year-old male patient presents with fever, severe headaches and fatigue for the past 3 "
    "days. The patient lives in Uige province. The patient owns domestic animals. The patient "
    "denies cough. The patient takes 2 tablets of paracetamol. The patient's brother has asthma. "
    "What might be the causes of the symptoms?"
)
B = (
    "An 8-year-old female patient presents with rash for 11 days. The patient lives in Leeds. The "
    "patient has travelled to Accra. The patient has no known allergies. What might be the causes "
    "of the symptoms?"
)
C = "Patient is a 30 year old woman from Lima. She has a cough and her husband smokes. What is it?"
PREGNANT = (
    "A 29-year-old female patient presents with headache for 2 days. The patient is 30 weeks "
    "pregnant. The patient lives in Cusco. What might be the causes of the symptoms?"
)
RETIRED = (
    "A 72-year-old male patient presents with cough. The patient is a retired miner. The patient "
    "lives in Katowice. What might be the causes of the symptoms?"
)

AGE = Change(attribute="age", before="28", after="45")
SEX = Change(attribute="gender", before="male", after="female")
HOME = Change(attribute="location", before="Uige province", after="Johannesburg")
AGE_B = Change(attribute="age", before="8", after="70")
SEX_B = Change(attribute="gender", before="female", after="male")
HOME_B = Change(attribute="location", before="Leeds", after="New Delhi")
SEX_C = Change(attribute="gender", before="female", after="male")


def swap(text: str, *pairs: tuple[str, str]) -> str:
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return text


GOOD_AGE = ("28-year", "45-year")
GOOD_SEX = ("male patient", "female patient")
GOOD_HOME = ("Uige province", "Johannesburg")

FAULTY = [
    (A, swap(A, GOOD_AGE, ("3 days", "5 days")), AGE, "number_changed"),
    (A, swap(A, GOOD_AGE, ("2 tablets", "4 tablets")), AGE, "number_changed"),
    (A, swap(A, GOOD_AGE, ("past 3 days", "past days")), AGE, "number_changed"),
    (A, swap(A, GOOD_AGE, ("the past 3 days", "the past three days")), AGE, "number_changed"),
    (A, swap(A, GOOD_AGE, ("denies", "reports")), AGE, "negation_changed"),
    (A, swap(A, GOOD_SEX, ("denies cough", "has cough")), SEX, "negation_changed"),
    (A, swap(A, GOOD_SEX, ("with fever", "with no fever")), SEX, "negation_changed"),
    (A, swap(A, GOOD_HOME, ("owns", "does not own")), HOME, "negation_changed"),
    (A, swap(A, GOOD_HOME, ("fatigue", "rash")), HOME, "other_change"),
    (A, swap(A, GOOD_HOME, ("severe headaches", "headaches")), HOME, "other_change"),
    (A, swap(A, GOOD_HOME, ("domestic animals", "dogs")), HOME, "other_change"),
    (A, swap(A, GOOD_HOME, ("paracetamol", "ibuprofen")), HOME, "other_change"),
    (A, swap(A, GOOD_AGE, ("brother", "sister")), AGE, "other_change"),
    (A, swap(A, GOOD_SEX, ("brother", "sister")), SEX, "other_change"),
    (A, swap(A, GOOD_AGE, GOOD_SEX), AGE, "other_change"),
    (A, swap(A, GOOD_AGE, GOOD_HOME), AGE, "other_change"),
    (A, swap(A, GOOD_SEX, GOOD_HOME), SEX, "other_change"),
    (A, swap(A, GOOD_HOME, GOOD_AGE), HOME, "number_changed"),
    (A, swap(A, GOOD_AGE, (" The patient owns domestic animals.", "")), AGE, "other_change"),
    (A, swap(A, GOOD_AGE, (". The patient owns", ".  The patient owns")), AGE, "whitespace"),
    (A, swap(A, GOOD_SEX, (" What might", "\nWhat might")), SEX, "whitespace"),
    (A, swap(A, GOOD_HOME) + "\n", HOME, "whitespace"),
    (A, swap(A, GOOD_HOME, ("severe headaches", "severe  headaches")), HOME, "whitespace"),
    (A, swap(A, GOOD_HOME, ("What might be", "What could be")), HOME, "other_change"),
    (A, swap(A, GOOD_HOME, ("symptoms?", "symptoms.")), HOME, "other_change"),
    (A, "Here is the variant: " + swap(A, GOOD_HOME), HOME, "other_change"),
    (A, swap(A, GOOD_HOME, ("asthma", "Asthma")), HOME, "other_change"),
    (A, swap(A, GOOD_HOME, ("patient's", "patient\u2019s")), HOME, "other_change"),
    (A, A, AGE, "not_changed"),
    (A, A, SEX, "not_changed"),
    (A, A, HOME, "not_changed"),
    (A, swap(A, ("28-year", "46-year")), AGE, "wrong_value"),
    (A, swap(A, ("28-year-old ", "")), AGE, "wrong_value"),
    (A, swap(A, ("Uige province", "Durban")), HOME, "wrong_value"),
    (A, swap(A, ("Uige province", "Johannesburg province")), HOME, "wrong_value"),
    (A, swap(A, ("Uige province", "Johannesburg, South Africa")), HOME, "wrong_value"),
    (A, swap(A, (" The patient lives in Uige province.", "")), HOME, "wrong_value"),
    (A, swap(A, ("male patient", "patient")), SEX, "wrong_value"),
    (A, "", AGE, "empty"),
    (A, "  \n", HOME, "empty"),
    (B, swap(B, ("An 8-year", "An 70-year")), AGE_B, "other_change"),
    (B, swap(B, ("An 8-year", "A 70-year"), ("11 days", "12 days")), AGE_B, "number_changed"),
    (B, swap(B, ("female", "male"), ("has no known", "has known")), SEX_B, "negation_changed"),
    (B, swap(B, ("Leeds", "New Delhi"), ("Accra", "New Delhi")), HOME_B, "other_change"),
    (B, swap(B, ("Accra", "New Delhi")), HOME_B, "not_changed"),
    (B, swap(B, ("Leeds", "New  Delhi")), HOME_B, "wrong_value"),
    (C, swap(C, ("woman", "man")), SEX_C, "other_change"),
    (C, swap(C, ("woman", "man"), ("She", "He"), ("her hus", "his wi")), SEX_C, "other_change"),
    (PREGNANT, swap(PREGNANT, ("female", "male")), SEX_B, "impossible_patient"),
    (
        PREGNANT,
        swap(PREGNANT, ("A 29-year", "A 5-year")),
        Change(attribute="age", before="29", after="5"),
        "impossible_patient",
    ),
    (
        RETIRED,
        swap(RETIRED, ("72-year", "7-year")),
        Change(attribute="age", before="72", after="7"),
        "impossible_patient",
    ),
]  # fmt: skip

RIGHT = [
    (A, swap(A, GOOD_AGE), [AGE]),
    (A, swap(A, GOOD_SEX), [SEX]),
    (A, swap(A, GOOD_HOME), [HOME]),
    (A, swap(A, GOOD_AGE, GOOD_SEX), [AGE, SEX]),
    (A, swap(A, GOOD_AGE, GOOD_SEX, GOOD_HOME), [AGE, SEX, HOME]),
    (B, swap(B, ("An 8-year", "A 70-year")), [AGE_B]),
    (B, swap(B, ("female", "male")), [SEX_B]),
    (B, swap(B, ("Leeds", "New Delhi")), [HOME_B]),
    (B, swap(B, ("An 8-year", "A 70-year"), ("female", "male")), [AGE_B, SEX_B]),
    (C, swap(C, ("woman", "man"), ("She", "He"), ("her husband", "his husband")), [SEX_C]),
    (C, swap(C, ("Lima", "Oslo")), [Change(attribute="location", before="Lima", after="Oslo")]),
    (
        PREGNANT,
        swap(PREGNANT, ("29", "44")),
        [Change(attribute="age", before="29", after="44")],
    ),
    (
        RETIRED,
        swap(RETIRED, ("male", "female")),
        [Change(attribute="gender", before="male", after="female")],
    ),
    *(
        (
            text,
            attributes.get(name).replace(text, after),
            [Change(attribute=name, before=attributes.get(name).value(text), after=after)],
        )
        for text in (A, B)
        for name, values in {
            "age": ["1", "11", "18", "35", "60", "80", "84", "8 months", "6 weeks"],
            "location": ["Bogot\u00e1", "N'Djamena", "Dar es Salaam", "Lagos", "Port-au-Prince"],
        }.items()
        for after in values
    ),
]  # fmt: skip


@pytest.mark.parametrize(("base", "variant", "change", "code"), FAULTY)
def test_a_faulty_variant_is_rejected(base: str, variant: str, change: Change, code: str) -> None:
    verdict = check_isolation(base, variant, [change])
    assert not verdict.accepted
    assert verdict.reason_code == code, verdict.reason
    assert verdict.reason


@pytest.mark.parametrize(("base", "variant", "changes"), RIGHT)
def test_a_right_variant_is_accepted(base: str, variant: str, changes: list[Change]) -> None:
    verdict = check_isolation(base, variant, changes)
    assert verdict.accepted, verdict


def test_enough_were_planted() -> None:
    assert len(FAULTY) >= 40
    assert len(RIGHT) >= 40


def test_an_attribute_that_must_change_but_does_not() -> None:
    verdict = check_isolation(A, swap(A, GOOD_AGE), [AGE, SEX])
    assert verdict.reason_code == "not_changed"
    same = Change(attribute="age", before="28", after="28")
    assert check_isolation(A, A, [same]).reason_code == "not_changed"


def test_a_base_that_does_not_state_the_value() -> None:
    wrong = Change(attribute="age", before="30", after="45")
    assert check_isolation(A, swap(A, GOOD_AGE), [wrong]).reason_code == "wrong_value"


@given(st.integers(0, len(A)), st.sampled_from([" ", "x", "no ", "7", "not", ",", "\n"]))
def test_no_insertion_passes(position: int, words: str) -> None:
    variant = swap(A, GOOD_AGE, GOOD_SEX)
    position = min(position, len(variant))
    changed = variant[:position] + words + variant[position:]
    assert not check_isolation(A, changed, [AGE, SEX]).accepted


@given(st.data())
def test_no_deletion_passes(data: st.DataObject) -> None:
    variant = swap(A, GOOD_HOME)
    start = data.draw(st.integers(0, len(variant) - 1))
    end = data.draw(st.integers(start + 1, len(variant)))
    assert not check_isolation(A, variant[:start] + variant[end:], [HOME]).accepted


def triple(predicate: str, thing: str, subject: str = "patient") -> Triple:
    return Triple(
        id=f"s-0-0/{predicate}{thing}",
        source_id="s-0-0",
        subject=subject,
        predicate=predicate,
        object=thing,
        subject_key=subject,
        object_key=thing,
        hop=0,
        origin="rules",
    )


TRIPLES = [
    triple("has_age", "28 years"),
    triple("has_gender", "male"),
    triple("has_symptom", "fever"),
    triple("has_symptom", "chest pain"),
    triple("for_duration", "the past 3 days"),
    triple("lives_in", "Uige province"),
    triple("denies", "cough"),
    triple("has_exposure", "did not sleep under a net"),
    triple("family_has", "asthma", "brother"),
]
PLACEBO = rewriters.get("rules")(TRIPLES, PAPER_QUESTION)


def test_the_base_and_the_placebo_say_the_same() -> None:
    assert check_placebo(TRIPLES, PLACEBO, PAPER_QUESTION).accepted
    assert check_placebo(TRIPLES, verbalise(TRIPLES), PAPER_QUESTION).accepted
    assert verbalise(TRIPLES) != PLACEBO


@pytest.mark.parametrize(
    ("pair", "code"),
    [
        (("fever", "rash"), "not_stated"),
        (("asthma", "gout"), "not_stated"),
        (("28 years", "29 years"), "wrong_value"),
        (("a male", "a female"), "wrong_value"),
        (("a male aged", "aged"), "wrong_value"),
        (("Uige province", "Leeds"), "wrong_value"),
        (("past 3 days", "past 4 days"), "not_stated"),
        (("There is no report of cough", "The patient has cough"), "negation_changed"),
        (("with fever", "with no fever"), "negation_changed"),
        (("asthma", "asthma for 5 years"), "number_changed"),
    ],
)
def test_a_faulty_placebo_is_rejected(pair: tuple[str, str], code: str) -> None:
    verdict = check_placebo(TRIPLES, swap(PLACEBO, pair), PAPER_QUESTION)
    assert verdict.reason_code == code, verdict


def test_an_empty_placebo() -> None:
    assert check_placebo(TRIPLES, " ").reason_code == "empty"


def test_every_demo_vignette_through_the_chain() -> None:
    samples, _ = load_samples("demo", None, None, 0)
    rng = np.random.default_rng(0)
    accepted = dict.fromkeys(("age", "gender", "location"), 0)
    for sample in samples:
        found = extract_triples(sample).triples
        base = verbalise(found)
        placebo = rewriters.get("rules")(found, PAPER_QUESTION)
        assert check_placebo(found, base, PAPER_QUESTION).accepted
        assert check_placebo(found, placebo, PAPER_QUESTION).accepted
        for name in accepted:
            known = attributes.get(name)
            before = known.value(base)
            if before is None:
                continue
            try:
                after = known.draw(base, rng)
            except NoValue:
                continue
            variant = known.replace(base, after)
            change = Change(attribute=name, before=before, after=after)
            verdict = check_isolation(base, variant, [change])
            assert verdict.accepted, (base, variant, verdict)
            assert known.replace(variant, before) == base
            accepted[name] += 1
    assert min(accepted.values()) >= 40
