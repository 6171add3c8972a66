"""Which words are two gender forms of one: what the gate lets differ, in tables of its own."""

import re

_ENGLISH = """he she|him her|his her|his hers|himself herself|man woman|male female|boy girl
|gentleman lady|guy gal|mr ms|mr mrs|mr miss|widower widow|bachelor bachelorette|waiter waitress
|actor actress|steward stewardess|policeman policewoman|fireman firewoman|salesman saleswoman
|businessman businesswoman|serviceman servicewoman|fisherman fisherwoman|househusband housewife
|monk nun|landlord landlady|schoolboy schoolgirl
|hes shes|barman barmaid|lad lass|gent lady|bloke woman|guy woman|john jane
|bachelor spinster|host hostess
|sportsman sportswoman|postman postwoman|mailman mailwoman|chairman chairwoman|foreman forewoman
|handyman handywoman|wm wf|bm bf|aam aaf|male femlae|m f|husband wife|boyfriend girlfriend
|fiancé fiancée|father mother|son daughter|grandson granddaughter|nephew niece|dad mom|dad mum"""
_FRENCH = """il elle|lui elle|le la|un une|ce cette|cet cette|celui celle|homme femme|monsieur dame
|monsieur madame|m mme|mr mme|m mlle|mr mlle|monsieur mademoiselle|garçon fille|garçonnet fillette
|père mère|fils fille|grand-père grand-mère|son sa|mon ma|vieux vieille|vieil vieille
|nouveau nouvelle|nouvel nouvelle|beau belle|bel belle|veuf veuve|h f|m f|sec sèche|las lasse
|mari femme|époux épouse|tout toute|gros grosse|roux rousse|copain copine|compagnon compagne
|aucun aucune|quel quelle|masculin féminin|homme fille|garçon femme|mr mme|s si
|jh jf|gamin gamine|papi mamie|papy mamy|papy mamie"""
_ENDINGS = (
    ("", "e"),
    ("eux", "euse"),
    ("eur", "euse"),
    ("teur", "trice"),
    ("if", "ive"),
    ("er", "ère"),
    ("n", "nne"),
    ("l", "lle"),
    ("s", "sse"),
    ("et", "ète"),
    ("f", "ve"),
    ("c", "que"),
)
_ENGLISH_ENDINGS = (("man", "woman"), ("boy", "girl"), ("master", "mistress"))
_RELATIVES = frozenset(
    [
        "father",
        "mother",
        "dad",
        "mom",
        "mum",
        "père",
        "mère",
        "son",
        "daughter",
        "grandson",
        "granddaughter",
        "nephew",
        "niece",
        "fils",
        "fille",
    ]
)
_CHILDREN = frozenset(
    ["son", "daughter", "grandson", "granddaughter", "nephew", "niece", "fils", "fille"]
)
_PARENT = re.compile(
    r"\b(?:mother|father|mom|mum|dad|parents?|grand(?:mother|father|parents)|aunt|uncle|mère|père"
    r"|maman|papa)\b",
    re.IGNORECASE,
)


def _table(pairs: str) -> frozenset[tuple[str, str]]:
    return frozenset((male, female) for male, female in (pair.split() for pair in pairs.split("|")))


_PAIRS = {"en": _table(_ENGLISH), "fr": _table(_FRENCH)}


_SPOUSES = _table(
    "husband wife|boyfriend girlfriend|fiancé fiancée|mari femme|époux épouse|conjoint conjointe"
    "|compagnon compagne|copain copine"
)
"""With the policy "swap" a spouse changes the other way round."""


def gender_pair(gone: str, come: str, before: str, language: str) -> bool:
    """Tell whether a stretch differs by gender forms alone, from `before` to the other.

    Example:
        >>> gender_pair("du patient", "de la patiente", "male", "fr")
        True
        >>> gender_pair("warfarin", "heparin", "male", "en")
        False
    """
    old, new = _words(gone, language), _words(come, language)
    if len(old) != len(new) or not old:
        return False
    return all(
        a == b or _one_pair(*((a, b) if before == "male" else (b, a)), language)
        for a, b in zip(old, new, strict=True)
    ) and _marks(gone) == _marks(come)


def _words(text: str, language: str) -> list[str]:
    low = text.lower().replace("\u2019", "'")
    if language == "fr":
        low = re.sub(r"\bdu\b", "de le", low)
        low = re.sub(r"\bau\b", "à le", low)
        low = re.sub(r"\bl'|\bl\b", "l ", low)
        low = re.sub(r"\bd'|\bd\b", "de ", low)
    return re.findall(r"\w+", low)


def _marks(text: str) -> str:
    return re.sub(r"[\w\s.'\u2019]", "", text)


def _one_pair(male: str, female: str, language: str) -> bool:
    if (male, female) in _PAIRS[language] or (female, male) in _SPOUSES:
        return True
    shorthand = re.compile(r"\d*(?:yo|y|yr|mo)?(?:m|f)")
    if male[:-1] == female[:-1] and male[-1:] + female[-1:] in ("mf", "hf"):
        return len(male) > 1 and bool(shorthand.fullmatch(male))
    if male[1:] == female[1:] and male[:1] + female[:1] in ("mf", "hf") and male[1:].isdigit():
        return True
    if language == "en":
        return any(
            male.endswith(m) and female == male.removesuffix(m) + f and len(male) - len(m) >= 2
            for m, f in _ENGLISH_ENDINGS
        )
    if {male, female} <= {"l", "le", "la"}:
        return True
    return any(
        male.endswith(m) and female == male[: len(male) - len(m)] + f
        for m, f in _ENDINGS
        if len(male) - len(m) >= 2
    )


def relative_changed(gone: str, original: str) -> str | None:
    """Return a relative who changed with the patient and is neither the patient nor a role.

    "Mother of two" is a role; a son or daughter beside a parent may be the patient.
    """
    words: list[str] = re.findall(r"\w+", gone.lower())
    for word in words:
        if word not in _RELATIVES:
            continue
        role = re.search(rf"\b{word}\s+(?:of|to|de|d['\u2019])\s*\w", original, re.IGNORECASE)
        child = word in _CHILDREN and (
            _PARENT.search(original)
            or re.search(rf"\b{word}\s(?:de\s)?\d", original, re.IGNORECASE)
        )
        if not role and not child:
            return word
    return None


def article_changed(gone: str, come: str) -> bool:
    """Tell "a" from "an"."""
    return {gone.lower(), come.lower()} == {"a", "an"}


def stage_pair(gone: str, come: str) -> bool:
    """Tell man from boy, woman from girl."""
    return {gone.lower(), come.lower()} in ({"man", "boy"}, {"woman", "girl"})


_RACES = {
    "Black": "black african american noir noire d origine africaine",
    "White": "white caucasian blanc blanche d origine européenne",
    "Asian": "asian asiatique d origine",
    "Hispanic": "hispanic latino latina hispanique d origine",
    "Native American": "native american",
    "Middle Eastern": "middle eastern arab arabe d origine maghrébine",
    "Pacific Islander": "pacific islander",
}


def race_words(value: str) -> set[str]:
    """Return the words that state a value of race or ethnicity."""
    return set(_RACES.get(value, value.lower()).split())
