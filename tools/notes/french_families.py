"""French nouns for persons by their ending: "vacancière" is "vacancier" of the other sex.

A table of single words always lacks one. Where a note opens with such a word and an age, it names
the patient; where the ending makes the other form sure the word is changed, else it is refused.
"""

import re

_THINGS = frozenset(
    (
        *(
            "douleur",
            "chaleur",
            "pâleur",
            "rougeur",
            "sueur",
            "peur",
            "tumeur",
            "raideur",
            "lourdeur",
        ),
        *("maigreur", "humeur", "odeur", "stupeur", "torpeur", "frayeur", "terreur", "erreur"),
        *("valeur", "vapeur", "tiédeur", "lueur", "fureur", "largeur", "longueur", "hauteur"),
        *("majeur", "mineur", "intérieur", "extérieur", "antérieur", "postérieur", "supérieur"),
        *(
            "inférieur",
            "ultérieur",
            "meilleur",
            "ailleurs",
            "moteur",
            "tracteur",
            "scooter",
            "cancer",
        ),
        *("ulcer", "escalier", "papier", "dossier", "foyer", "février", "janvier", "premier"),
        *("dernier", "entier", "régulier", "calendrier", "courrier", "collier", "panier", "hier"),
        *(
            "première",
            "dernière",
            "entière",
            "régulière",
            "lumière",
            "paupière",
            "civière",
            "rivière",
        ),
        *(
            "manière",
            "matière",
            "poussière",
            "ornière",
            "carrière",
            "frontière",
            "artère",
            "cafetière",
        ),
        *(
            "matrice",
            "cicatrice",
            "varice",
            "bien",
            "rien",
            "combien",
            "lien",
            "soutien",
            "entretien",
        ),
        *(
            "maintien",
            "chien",
            "quotidien",
            "quotidienne",
            "ancien",
            "ancienne",
            "moyen",
            "moyenne",
        ),
        *("personne", "chienne", "antenne", "persienne", "migraine", "perceuse", "tondeuse"),
        *("ponceuse", "meuleuse", "mitrailleuse", "agrafeuse", "bétonneuse", "tronçonneuse"),
        *("fendeuse", "disqueuse", "essoreuse", "lessiveuse", "extincteur", "ascenseur"),
        *(
            "défibrillateur",
            "respirateur",
            "concentrateur",
            "stimulateur",
            "radiateur",
            "ordinateur",
        ),
        *("érecteur", "fléchisseur", "extenseur", "sphincter", "vapoteuse", "malheur", "bonheur"),
    )
)
_SURE = (
    (re.compile(r"(?<=[^\W\d_]{2})ière$"), "ier", "female"),
    (re.compile(r"(?<=[^\W\d_]{2})enne$"), "en", "female"),
    (re.compile(r"(?<=[^\W\d_]{3})trice$"), "teur", "female"),
    (re.compile(r"(?<=[^\W\d_]{3})euse$"), "eur", "female"),
    (re.compile(r"(?<=[^\W\d_]{2})ier$"), "ière", "male"),
    (re.compile(r"(?<=[^\W\d_]{2}[iéy])en$"), "enne", "male"),
    (re.compile(r"(?<=[^\W\d_]{2}[^t\W\d_])eur$"), "euse", "male"),
)
_PERSONS = re.compile(r"(?:ière|ienne|éenne|trice|euse|ier|ien|éen|eur|onne|esse)$")


def sex_by_ending(low: str) -> str | None:
    """Return the sex that the ending of a person's noun shows; None of things and other words."""
    if low in _THINGS or not _PERSONS.search(low) or len(low) < 5:
        return None
    return "female" if low.endswith("e") else "male"


def other_form(low: str) -> str | None:
    """Return the other sex's form of a person's noun where its ending makes that sure.

    Example:
        >>> other_form("vacancière"), other_form("veilleur"), other_form("rapporteur")
        ('vacancier', 'veilleuse', None)
    """
    if sex_by_ending(low) is None or low in ("professeur", "docteur", "ingénieur", "procureur"):
        return None
    for ending, new, _ in _SURE:
        if ending.search(low):
            return ending.sub(new, low)
    return None
