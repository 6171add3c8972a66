"""A last look at French pronouns: who else could "il" be, apart from the rules that decided?

The rules take a pronoun for the patient where nothing speaks against it. Here the question is
turned round: where somebody else of that sex was the last to act, the words behind the pronoun
must be a patient's, or the note is refused.
"""

import re
from collections.abc import Sequence

from evenhand.tools.notes.edits import CannotRewrite
from evenhand.tools.notes.french_patterns import ANIMALS, FEMALE_ANIMALS
from evenhand.tools.notes.french_reading import Sentence, Token
from evenhand.tools.notes.french_words import GROUPS, PREPOSITIONS

_PATIENTS = re.compile(
    r"\s+(?:ne\s|n['\u2019])?(?:(?:s['\u2019]|se\s|y\s|lui\s|en\s)\s?)?"
    r"(?:(?:est|était|reste|semble|a\sété|avait\sété|a|avait|va|doit|peut|ne\speut|sera)\s)?"
    r"(?:(?:très|peu|pas|plus|bien|toujours|aussi|déjà|encore|un\speu|assez|rapidement)\s){0,2}"
    r"(?:tomb|chut|vomi|perdu|mal\b|conscient|confus|somnolent|agité|désorient|orienté|algique"
    r"|douloureu|essouffl|dyspn|pâle|gris|fébrile|apyrétique|diabétique|asthmatique|épileptique"
    r"|fumeu|opéré|hypertendu|tousse|tremble|boite|marche|mange|boit\b|bu\b|dort|dormi|pleur"
    r"|refuse|refusé|crache|saigne|souffre|respire|convuls|présente|décrit|plaint|sent\b|senti"
    r"|allergique|porteur|porteuse|suivi|traité|hospitalisé|perfusé|scopé|intubé|installé"
    r"|transfér|brûlé|blessé|mordu|griffé|renvers|percuté|réveillé|levé|endormi|évanoui|relevé"
    r"|sous\s|des\s|de\sla\s|une?\s(?:plaie|douleur|fièvre|fracture|hématome|malaise)|de\sfièvre"
    r"|\d|calme|stable|mutique|lucide|ivre|alcoolisé|sédaté|déshydrat|fatigué|épuisé\spar"
    r"|nauséeu|soulagé|amélioré|habite\sseul|vit\b|prend\b|pris\b|avalé|ingéré)",
    re.IGNORECASE,
)
_AS_RIVAL = re.compile(
    r"\s+(?:ne\s|n['\u2019])?(?:"
    r"(?:est|était|sera)\s(?:(?:très|aussi|bien)\s)?(?:resté|reparti|parti|venu|revenu|passé|présent"
    r"|absent|prévenu|au\scourant|en\sroute|joignable|sur\splace|dehors|là\b|inqui|choqué|épuisé"
    r"|indemne|vacciné|connu\sdu|tatoué|pucé|gentil|agressif|en\sgarde|en\scongé|infirmi|médecin"
    r"|avocat|son\s|sa\s|le\s|la\s|l['\u2019]|en\ssalle|à\sl['\u2019]accueil|rentré|énervé|hors)"
    r"|(?:a|avait|aurait)\s(?:appelé|alerté|prévenu|donné|laissé|déposé|apporté|amené|fait|vu|trouvé|entendu"
    r"|massé|débuté|commencé|pratiqué|appliqué|mis|posé|comprimé|pansé|nettoyé|prescrit|demandé"
    r"|conseillé|proposé|noté|constaté|assisté|filmé|conduit|suivi|attendu|quitté|fui|accompagné)"
    r"|(?:attend|arrive|arrivera|revient|reviendra|passe|passera|repasse|rappelle|rappellera|vient"
    r"|viendra|donne|apporte|apportera|accompagne|traduit|explique|dit|pense|précise|raconte|signale"
    r"|rapporte|confirme|affirme|demande|souhaite|voudrait|veut|travaille|surveille|garde|gère"
    r"|s['\u2019]en\soccupe|s['\u2019]occupe|sait|ignore|connaît|suit|gardait|suspecte|préconise"
    r"|adresse|nous\s|l['\u2019]|la\s|le\s|lui\s|mord|aboie|grogne)\b)",
    re.IGNORECASE,
)
_JOINED = re.compile(r"(?:[,;:(]|\bet|\bmais|\bpuis|\bcar)\s*$", re.IGNORECASE)
_SAYS = re.compile(
    r"\b(?:dit|disait|rapporte|signale|précise|raconte|explique|affirme|pense|décrit|note|confirme"
    r"|inquiète?|trouve)\s(?:que|qu['\u2019])\s?$",
    re.IGNORECASE,
)
_AGENT = frozenset(("par", "avec", "de", "d", "du", "chez", "à", "au", "sur", "contre", "pour"))


def check_rival(text: str, sentence: Sentence, token: Token, near: Sequence[Token]) -> None:
    """Refuse an "il" or "elle" of the patient's that somebody else could claim as well.

    Args:
        text: The note.
        sentence: The pronoun's sentence.
        token: The pronoun, which the rules take for the patient's.
        near: The words of this sentence and the one before, up to the pronoun.

    Raises:
        CannotRewrite: It could be another's.
    """
    rival = _last_actor(near, token)
    if rival is None:
        return
    between = text[rival.word.end : token.word.start]
    rest = text[token.word.end : token.word.end + 60]
    owned = [
        each for each in near if each.owner == "patient" and each.word.start > rival.word.start
    ]
    named = [each for each in owned if each.work == "person" or each.low in ("il", "elle")]
    if named or _SAYS.search(between):
        return
    here = rival in sentence.tokens
    patients = _PATIENTS.match(rest)
    as_rival = _AS_RIVAL.match(rest)
    if (as_rival and (here or not patients)) or (here and _JOINED.search(between) and not patients):
        raise CannotRewrite("ambiguous_pronoun", f"{token.word.text} ({rival.word.text})")


def _last_actor(near: Sequence[Token], pronoun: Token) -> Token | None:
    """Return the last person or animal of the pronoun's sex that no preposition governs."""
    found = None
    for place, each in enumerate(near):
        animal = each.low in ANIMALS
        if each.work != "person" and not animal:
            continue
        if each.owner == "patient" or each.low in GROUPS:
            continue
        gender = each.gender
        if animal:
            gender = "female" if each.low in FEMALE_ANIMALS else "male"
        if gender not in (pronoun.gender, None):
            continue
        governed = any(
            other.low in _AGENT or other.low in PREPOSITIONS
            for other in near[max(0, place - 2) : place]
        )
        if not governed:
            found = each
    return found
