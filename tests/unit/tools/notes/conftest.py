"""Notes that are made from parts, for properties over many of them."""

from collections.abc import Callable

import numpy as np
import pytest

# Each sentence in the male form; the patient's words alone carry a gender.
ENGLISH = (
    "{age}-year-old man with chest pain since this morning.",
    "{age}M c/o dizziness x2d.",
    "He denies fever.",
    "His blood pressure is {number}/90 and his pulse is regular.",
    "The nurse gave him 2 tablets.",
    "He says he hurt himself at work.",
    "Sex: M. Seen in room {number}.",
    "Mr. Harlow was brought by ambulance.",
    "This gentleman lives alone;  he walks with a stick.",
    "On exam he is pale, his abdomen is soft.",
    "The pain wakes him at night.",
    "HE IS ALERT. HIS GCS IS 15.",
    "His mother has asthma.",
    "No known allergies, Na {number} mM.",
)
FRENCH = (
    "Patient de {age} ans, hypertendu, adressé par son médecin pour douleur thoracique.",
    "Homme de {age} ans, vit seul.",
    "Il est fatigué et confus.",
    "Il y a une plaie de {number} mm.",
    "Le patient a été opéré de la hanche.",
    "Examen du patient : conscient, orienté, abdomen souple.",
    "M. Vasseur est tombé chez lui.",
    "La douleur le réveille la nuit.",
    "Retrouvé au sol ce matin.",
    "Sexe : M.",
    "Cet homme est anxieux, ancien fumeur.",
    "HTA traitée,  diabète équilibré.",
    "Il s'est fracturé le poignet.",
    "Ses parents sont asthmatiques.",
)


@pytest.fixture(scope="session")
def made_notes() -> Callable[[str, int], list[str]]:
    """Return n notes of 3 to 6 sentences in one language, all of male patients, by a seed."""

    def make(language: str, n: int) -> list[str]:
        rng = np.random.default_rng(6)
        parts = ENGLISH if language == "en" else FRENCH
        return [
            rng.choice([" ", "\n", "  "]).join(
                parts[i].format(age=rng.integers(20, 90), number=rng.integers(110, 180))
                for i in rng.choice(len(parts), size=rng.integers(3, 7), replace=False)
            )
            for _ in range(n)
        ]

    return make
