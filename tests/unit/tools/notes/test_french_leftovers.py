"""What a French note may not keep of the old sex: adjectives and pronouns that nothing explains."""

import pytest

from evenhand.tools.notes import rewrite_note
from evenhand.tools.notes.edits import RewrittenNote


def swapped(text: str, before: str) -> RewrittenNote:
    after = "female" if before == "male" else "male"
    return rewrite_note(text, attribute="gender", before=before, after=after, language="fr")


@pytest.mark.parametrize(
    ("text", "before", "expected"),
    [
        ("Mme Leroy très douloureuse.", "female", "M. Leroy très douloureux."),
        ("M. Petit un peu confus.", "male", "Mme Petit un peu confuse."),
        (
            "Il est tombé. Il reste un peu ralenti.",
            "male",
            "Elle est tombée. Elle reste un peu ralentie.",
        ),
        ("Chute de vélo, casqué, ganté.", "male", "Chute de vélo, casquée, gantée."),
        (
            "Elle a fait un malaise. Pâle, couverte de sueurs, puis mieux une fois allongée.",
            "female",
            "Il a fait un malaise. Pâle, couvert de sueurs, puis mieux une fois allongé.",
        ),
        (
            "Il est venu seul. Il a été mis en salle 3.",
            "male",
            "Elle est venue seule. Elle a été mise en salle 3.",
        ),
    ],
)
def test_what_is_far_from_its_noun_still_agrees(text: str, before: str, expected: str) -> None:
    assert swapped(text, before).text == expected


@pytest.mark.parametrize(
    ("text", "before", "reason"),
    [
        ("Douloureux à la palpation. Il est apyrétique.", "male", "unread_agreement"),
        (
            "Aide à domicile au téléphone : elle l'a trouvée au sol, souillée.",
            "female",
            "unread_agreement",
        ),
        (
            "Patiente vue hier. La plaie est profonde. Elle a été suturée.",
            "female",
            "ambiguous_pronoun",
        ),
        ("Collègue : il est tombé. Selon lui, pas de PC.", "male", "ambiguous_pronoun"),
        (
            "Auxiliaire de vie présente, elle connaît bien la patiente.",
            "female",
            "ambiguous_pronoun",
        ),
        ("AVP, conducteur éjecté. Passager décédé. Il est agité.", "male", "two_patients"),
        ("Patiente triste. La bête avait 14 ans, elle dormait.", "female", "ambiguous_pronoun"),
    ],
)
def test_what_may_be_anothers_is_refused(text: str, before: str, reason: str) -> None:
    made = swapped(text, before)
    assert (made.status, made.reason) == ("refused", reason)
