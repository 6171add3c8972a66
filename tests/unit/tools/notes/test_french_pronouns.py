"""Il and elle beside a thing of the same grammatical gender: who is treated, and by or for what."""

import pytest

from evenhand.tools.notes import rewrite_note
from evenhand.tools.notes.edits import RewrittenNote


def swapped(text: str, before: str) -> RewrittenNote:
    after = "female" if before == "male" else "male"
    return rewrite_note(text, attribute="gender", before=before, after=after, language="fr")


@pytest.mark.parametrize(
    ("text", "before", "expected"),
    [
        (
            "Patient venu pour un zona. Il est traité pour une goutte.",
            "male",
            "Patiente venue pour un zona. Elle est traitée pour une goutte.",
        ),
        (
            "Patiente vue pour toux. ATCD : asthme. Elle est traitée pour une goutte.",
            "female",
            "Patient vu pour toux. ATCD : asthme. Il est traité pour une goutte.",
        ),
    ],
)
def test_who_is_treated_for_a_disease_is_the_patient(text: str, before: str, expected: str) -> None:
    assert swapped(text, before).text == expected


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("Patiente vue pour une toux. Elle est traitée par corticoïdes.", "female"),
        ("Patient mordu par son chien. Il est traité pour la gale.", "male"),
        ("Patiente vue avec sa fille. Elle est inquiète.", "female"),
    ],
)
def test_what_may_mean_something_else_is_refused(text: str, before: str) -> None:
    made = swapped(text, before)
    assert (made.status, made.reason) == ("refused", "ambiguous_pronoun")
