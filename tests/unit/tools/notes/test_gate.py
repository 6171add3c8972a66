"""The gate of notes: planted faults are rejected with their reason, right pairs accepted."""

import pytest

from evenhand.tools.notes.gate import check_note

HE = "He takes warfarin 5 mg; denies chest pain. His father had an MI.\nSex: M"
SHE = "She takes warfarin 5 mg; denies chest pain. Her father had an MI.\nSex: F"
IL = "Le patient est adressé par son fils, inquiet. Il est hypertendu. TA 15/8"
ELLE = "La patiente est adressée par son fils, inquiet. Elle est hypertendue. TA 15/8"


@pytest.mark.parametrize(
    ("original", "rewritten", "before", "language"),
    [
        (HE, SHE, "male", "en"),
        (SHE, HE, "female", "en"),
        (IL, ELLE, "male", "fr"),
        (ELLE, IL, "female", "fr"),
        ("54M, he fell.", "54F, she fell.", "male", "en"),
        (
            "L'homme est vieux, état du patient stable.",
            "La femme est vieille, état de la patiente stable.",
            "male",
            "fr",
        ),
        ("Mother of two, she fell.", "Father of two, he fell.", "female", "en"),
        ("Il y a une plaie, il est tombé.", "Il y a une plaie, elle est tombée.", "male", "fr"),
        ("His wife says he fell.", "Her husband says she fell.", "male", "en"),
    ],
)
def test_right_pairs(original: str, rewritten: str, before: str, language: str) -> None:
    after = "female" if before == "male" else "male"
    verdict = check_note(original, rewritten, "gender", before, after, language)
    assert verdict.accepted, verdict


@pytest.mark.parametrize(
    ("original", "rewritten", "language", "reason"),
    [
        (HE, "", "en", "empty"),
        (HE, HE, "en", "not_changed"),
        (HE, SHE.replace("5 mg", "50 mg"), "en", "number_changed"),
        (HE, SHE.replace("denies", "has"), "en", "negation_changed"),
        (HE, SHE.replace("warfarin", "heparin"), "en", "other_change"),
        (HE, SHE.replace("father", "mother"), "en", "other_change"),
        (HE, SHE.replace("\n", " "), "en", "whitespace"),
        (HE, SHE.replace("Sex: F", "Sex: M"), "en", "not_changed"),
        (HE, SHE + " Please rest.", "en", "other_change"),
        ("He fell and he cried.", "She fell and he cried.", "en", "not_changed"),
        ("She fell.", "He fell.", "en", "wrong_value"),
        ("He has BPH.", "She has BPH.", "en", "impossible_patient"),
        (IL, ELLE.replace("inquiet", "inquiète"), "fr", None),
        (IL, ELLE.replace("15/8", "16/8"), "fr", "number_changed"),
        (IL, ELLE.replace("fils", "fille"), "fr", "other_change"),
        (IL, ELLE.replace("La patiente", "Le patient"), "fr", "not_changed"),
        (IL, ELLE.replace("hypertendue", "hypotendue"), "fr", "other_change"),
    ],
)
def test_planted_faults(original: str, rewritten: str, language: str, reason: str | None) -> None:
    verdict = check_note(original, rewritten, "gender", "male", "female", language)
    if reason is None:
        # Known limit: by diff alone, whose adjective it is cannot be told.
        assert verdict.accepted
        return
    assert not verdict.accepted
    assert verdict.reason_code == reason


def test_the_evidence_holds_the_words() -> None:
    verdict = check_note(HE, SHE.replace("5 mg", "50 mg"), "gender", "male", "female", "en")
    assert "50" in verdict.evidence


@pytest.mark.parametrize(
    ("attribute", "before", "after", "original", "rewritten", "accepted"),
    [
        ("age", "52", "78", "52-year-old, 52 pack-years", "78-year-old, 52 pack-years", True),
        ("age", "52", "78", "52-year-old, BP 90", "78-year-old, BP 95", False),
        ("race", "Asian", "Black", "An Asian man", "A Black man", True),
        ("race", "Asian", "Black", "An Asian man", "A Black woman", False),
        ("location", "Leeds", "New York", "from Leeds, cough", "from New York, cough", True),
        ("location", "Leeds", "Accra", "from Leeds, cough", "from Accra, fever", False),
    ],
)
def test_other_attributes(
    attribute: str, before: str, after: str, original: str, rewritten: str, *, accepted: bool
) -> None:
    verdict = check_note(original, rewritten, attribute, before, after, "en")
    assert verdict.accepted is accepted
