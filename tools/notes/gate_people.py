"""What a rewritten note may not have changed or left: signs that need no reading of who is meant.

Independent of the rewriters: a few patterns over the source, each with the words that must still
be in the rewritten note.
"""

import re
from collections.abc import Iterator

_ANIMAL = {
    "en": r"(?:dog|cat|horse|puppy|kitten|pony|parrot|rabbit|bull|cow)",
    "fr": r"(?:chien|chienne|chat|chatte|cheval|jument|chiot|lapin|animal)",
}
_SOMEBODY = {
    "en": r"(?:neighbou?r|witness|bystander|driver|carer|caregiver|paramedic|nurse|doctor|GP|Dr \w+"
    r"|friend|flatmate|roommate|colleague|teacher|coach|warden|manager|officer|PC|son-in-law"
    r"|brother-in-law|sister-in-law|son|daughter|brother|sister|mother|father|mum|dad)",
    "fr": r"(?:voisine?|témoin|passante?|conducteur|conductrice|aide|infirmière?|médecin|docteur"
    r"|Dr \w+|amie?|colocataire|collègue|professeure?|gendre|bru|fils|fille|frère|sœur|mère|père)",
}
_HE = {"en": r"(?P<who>he|she)", "fr": r"(?P<who>il|elle)"}
_DID = {
    "en": r"(?:has gone|went home|stayed|left|called|rang|phoned|gave|brought|drove|is waiting"
    r"|was waiting|waited|will (?:call|ring|collect|return)|did (?:CPR|compressions)|found|saw)",
    "fr": r"(?:est\sresté|est\sreparti|attend|a\sappelé|a\salerté|a\sprévenu|a\sdéposé|a\slaissé"
    r"|a\sapporté|repasse|rappelle|revient|arrive|a\sdonné|a\strouvé|a\svu)",
}
_OF_ANIMALS = {
    "en": r"(?:\w+\s){0,3}?(?:vaccinated|bitten|bites?|friendly|gentle|microchipped|kicked"
    r"|growled)",
    "fr": r"(?:\w+\s){0,3}?(?:vaccinée?|mordu|tatouée?|pucée?|agressi\w+|gentille?|errante?)",
}
_TWO = {
    "en": re.compile(
        r"\b(?P<who>he|she)\s(?:(?:could|couldn't|had|has|would|can|did|not|to|also|then|never"
        r"|tried|managed)\s)*(?!(?:is|was|has|had|says|said|with|of|in|on|to|at)\b)[a-z]+\s"
        r"(?P<whom>him|her)(?=[.,;]|$|\s(?:back|in|up|out|on|and|into|off|down|home|from|again)\b)",
        re.IGNORECASE,
    ),
}


def others_changed(original: str, rewritten: str, language: str) -> str | None:
    """Return words of the source that speak of somebody else, or an animal, and were changed."""
    for found in _of_others(original, language):
        if not re.search(rf"\b{re.escape(found)}", rewritten):
            return found
    return None


def _of_others(text: str, language: str) -> Iterator[str]:
    """Yield the pronoun with its verb where another person's deed, or an animal's, is told."""
    start = r"(?:^|[.;\n]\s*)(?:(?:the|his|her|a|an|le|la|l['\u2019]|un|une|son|sa)\s?)?"
    patterns = (
        rf"{start}{_SOMEBODY[language]}\b[^.;\n,]{{0,50}},\s(?P<told>{_HE[language]}\s{_DID[language]})",
        rf"\b{_ANIMAL[language]}\s(?:is|was|est|était|has|had|a)\s[^.;\n]{{0,40}}?(?:,|\band|\bet)\s"
        rf"(?P<told>{_HE[language]}\s{_OF_ANIMALS[language]})\b",
        rf"{start}{_ANIMAL[language]}\s(?:is|was|est|était|has|had|a)\s[^.;\n]{{0,40}}?[.;]\s"
        rf"(?P<told>{_HE[language]}\s{_OF_ANIMALS[language]})\b",
    )
    for pattern in patterns:
        for match in re.finditer(pattern, text, re.IGNORECASE):
            yield match["told"]


def two_in_one(original: str, rewritten: str, language: str) -> str | None:
    """Return "he could not lift him" where both words changed: they cannot both be the patient."""
    pattern = _TWO.get(language)
    for match in pattern.finditer(original) if pattern else ():
        both = (match["who"].lower(), match["whom"].lower())
        if both in (("he", "him"), ("she", "her")) and not re.search(
            rf"\b{re.escape(match[0])}", rewritten
        ):
            changed = re.sub(
                r"\b(?:he|she|him|her|his)\b", r"\\w+", re.escape(match[0]), flags=re.I
            )
            if re.search(changed, rewritten):
                return match[0]
    return None


_THINGS = (
    r"douleur|chaleur|pâleur|rougeur|sueur|peur|tumeur|raideur|lourdeur|humeur|odeur|stupeur"
    r"|premier|première|dernier|dernière|cicatrice|matrice|varice|bien|lien|soutien|entretien"
    r"|chien|ancien|ancienne|moteur|escalier|dossier|courrier|lumière|paupière|artère"
)
_OPENS = {
    ("en", "female"): re.compile(
        r"\W*(?:(?:an?|the|retired|young|elderly)\s){0,2}(?P<word>\w*(?:mistress|woman|girl|lady)"
        r"|widow|spinster|waitress|actress|stewardess|hostess|nun|housewife)\b(?=[^.\n]{0,30}\d)",
        re.IGNORECASE,
    ),
    ("en", "male"): re.compile(
        r"\W*(?:(?:an?|the|retired|young|elderly)\s){0,2}(?P<word>\w*(?:headmaster|(?<!wo)(?<!hu)"
        r"(?<!ger)(?<!ro)man|boy|gentleman)|lad|gent|bloke|widower|bachelor|waiter|monk)\b"
        r"(?=[^.\n]{0,30}\d)",
        re.IGNORECASE,
    ),
    ("fr", "female"): re.compile(
        rf"\W*(?:(?:une|jeune|petite)\s){{0,2}}(?!(?:{_THINGS})\b)(?P<word>jf|fillette|gamine|mamie"
        r"|veuve|retraitée|[^\W\d_]{3,}(?:euse|trice|ière|ienne))\b(?=[^.\n]{0,25}\d\s?(?:ans|a\b))",
        re.IGNORECASE,
    ),
    ("fr", "male"): re.compile(
        rf"\W*(?:(?:un|jeune|petit)\s){{0,2}}(?!(?:{_THINGS})\b)(?P<word>jh|garçonnet|gamin|papi|papy"
        r"|veuf|retraité|[^\W\d_]{3,}(?:[^è]eur|ier|ien))\b(?=[^.\n]{0,25}\d\s?(?:ans|a\b))",
        re.IGNORECASE,
    ),
}
_OTHER_SIDE = re.compile(r"\b(?:chauffeur|professeur|docteur|médecin|ingénieur|sapeur)\b", re.I)


def opens_as(text: str, sex: str, language: str) -> str | None:
    """Return the word of that sex with which a note names its patient at the very start."""
    match = _OPENS[language, sex].match(text)
    return match["word"] if match and not _OTHER_SIDE.fullmatch(match["word"]) else None
