import pytest

from evenhand.tools.patients import ages_allowed, impossible, limits, sex_required


@pytest.mark.parametrize(
    ("text", "sex"),
    [
        ("She is 30 weeks pregnant.", "female"),
        ("The patient has had heavy menstrual periods.", "female"),
        ("The patient is found to have an enlarged prostate.", "male"),
        ("Swelling in the scrotal area.", "male"),
        ("The patient gave birth 9 days ago.", "female"),
        ("The patient's wife is pregnant.", None),
        ("A family member of the patient has prostate cancer.", None),
        ("His father had prostate cancer.", None),
        ("The computer operator has neck pain from cervical spondylosis.", None),
        ("Lactic acid is raised and the patient keeps prostrate.", None),
        ("The patient has breast cancer.", None),
        ("A period of fever.", None),
    ],
)
def test_what_only_one_sex_can_have(text: str, sex: str | None) -> None:
    required = sex_required(text)
    assert (required[0] if required else None) == sex


@pytest.mark.parametrize(
    ("text", "possible", "not_possible"),
    [
        ("The patient is a retired miner.", [60, 80], [5, 30, 50]),
        ("The patient smokes.", [20, 70], [4, 10]),
        ("The patient attends primary school.", [6, 10], [2, 20, 70]),
        ("The patient attends day care.", [2], [20, 40]),
        ("The patient works as a nurse.", [30, 60], [9, 78]),
        ("The patient has smoked for 40 years.", [60], [30, 45]),
        ("The patient is pregnant.", [20, 40], [5, 60]),
        ("The patient has fever.", [1, 30, 90], []),
    ],
)
def test_ages_that_a_text_allows(
    text: str, possible: list[float], not_possible: list[float]
) -> None:
    youngest, oldest, _ = ages_allowed(text)
    for age in possible:
        assert youngest <= age <= oldest
    for age in not_possible:
        assert not youngest <= age <= oldest


def test_impossible_patients_are_named() -> None:
    assert impossible("pregnant", age_years=30, gender="male") == "'pregnant' in a male patient"
    assert impossible("pregnant", age_years=30, gender="female") is None
    assert impossible("a smoker", age_years=4, gender=None) == "'smoker' at an age of 4 years"


def test_the_list_is_sound() -> None:
    for limit in limits():
        assert limit.youngest <= limit.oldest
        assert limit.sex or limit.youngest > 0 or limit.oldest < 120, limit.pattern
