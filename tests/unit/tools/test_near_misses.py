"""What may not be one entity, however near it lies; and what must stay possible."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.tools.near_misses import difference, own_words

OPPOSITES = """
hypotension | hypertension
low blood sugar | hyperglycemia
slow heart rate | tachycardia
left knee pain | pain in the right knee
IL-2 | IL-12
vitamin B6 | vitamin B12
vitamin A | vitamin D
hepatitis A infection | hepatitis B infection
type 1 diabetes | type II diabetes
stage II cancer | stage III cancer
3 days | 3 weeks
fever for two days | fever for 3 days
0.5 mg | 5 mg
fever | no fever
fever | afebrile
chest pain | denies chest pain
HIV test positive | HIV test negative
acute bronchitis | chronic bronchitis
benign tumor | malignant tumor
systolic blood pressure | diastolic blood pressure
weight gain | loss of weight
diarrhea | constipation
leukocytosis | leukopenia
mother | father
male patient | woman patient
North Korea | South Korea
bought street food | sold street food
"""
NEAR_MISSES = """
type 1 diabetes | diabetes
left lung | lung
cerebral malaria | malaria
aspiration pneumonia | pneumonia
malaria | malaria test
yellow fever | fever
dengue fever | typhoid fever
chest pain | back pain
tick bite | mosquito bite
hyponatremia | hypokalemia
lisinopril | enalapril
hydralazine | hydroxyzine
vasodilation | vasoconstriction
perineal pain | peroneal pain
vaccinated | unvaccinated
painless swelling | painful swelling
CT scan | MRI scan
rash after fever | fever after rash
Niger | Nigeria
malaria medicine | malaria
eye swelling | eyelid swelling
swollen legs | swelling
skin rash | rash
migraine | headache
nausea | vomiting
"""
ONE_THING = """
abdominal pain | pain in the abdomen
belly pain | stomach pain
yellow skin | yellowing of the skin
rapid heart rate | fast heart rate
fast heartbeat | rapid heart beat
kidney stones | renal stones
blood in the stool | bloody stool
malaria infection | malaria
low back pain | lower back pain
low blood sugar | hypoglycemia
stage 4 cancer | stage IV cancer
1,000 mg | 1000 mg
3.50 mg | 3.5 mg
sore throat | soreness of the throat
tumour growth | tumor growth
doctor | physician
vitamin B12 | vitamin B-12
bite of a mosquito | mosquito bites
head ache | headache
malaria medication | malaria drugs
the patient's mother | mother
"""


def pairs(text: str) -> list[tuple[str, str]]:
    return [
        (one, other) for one, _, other in (row.partition(" | ") for row in text.split("\n")[1:-1])
    ]


@pytest.mark.parametrize(("one", "other"), pairs(OPPOSITES))
def test_opposites_exclude_each_other(one: str, other: str) -> None:
    found = difference(one, other)
    assert found is not None
    assert found.opposite


@pytest.mark.parametrize(("one", "other"), pairs(NEAR_MISSES))
def test_a_near_miss_is_kept_apart(one: str, other: str) -> None:
    assert difference(one, other) is not None


@pytest.mark.parametrize(("one", "other"), pairs(ONE_THING))
def test_other_words_for_one_thing_stay_possible(one: str, other: str) -> None:
    assert difference(one, other) is None


def test_a_person_may_still_take_a_near_miss_for_a_typing_error() -> None:
    found = difference("hypertention", "hypertension")
    assert found is not None
    assert not found.opposite


def test_own_words_leave_out_what_both_have() -> None:
    assert own_words("swimming in fresh water", "swimming in the salt water") == ("fresh", "salt")
    assert own_words("pain in the chest", "chest pains") == ("", "")


NAMES = st.one_of(
    st.text(max_size=30),
    st.sampled_from([name for pair in pairs(OPPOSITES + NEAR_MISSES[1:]) for name in pair]),
)


@given(NAMES, NAMES)
def test_a_difference_has_no_direction_and_nothing_differs_from_itself(
    one: str, other: str
) -> None:
    there, back = difference(one, other), difference(other, one)
    assert (there is None) == (back is None)
    if there is not None and back is not None:
        assert there.opposite == back.opposite
    assert difference(one, one) is None
    assert own_words(one, other) == own_words(other, one)[::-1]
