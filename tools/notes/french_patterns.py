"""French forms by pattern: where gender shows outside agreement, and what stands before a noun."""

import re

FIELD = re.compile(
    r"\b(?:sexe|genre|H/F|F/H|M/F|F/M)\s*[:=]?\s*(?P<letter>masculin|féminin|feminin|homme|femme"
    r"|M|F"
    r"|H)\b(?!\s*[/|'\u2019])",
    re.IGNORECASE,
)
LETTER = re.compile(
    r"(?:(?<=^)|(?<=[\n.;] )|(?<=\n)"
    r"|(?<=, )|(?<=: )|(?<=\())(?P<letter>[FHM])(?=\s?[,/]?\s?(?:de\s)?\d{1,3}\s?(?:ans|a\b|mois"
    r"|m\b|sem|j\b))"
    r"|^(?P<first>[FHM])(?=[ /,]{0,2}\d{1,3}\b(?![.,/:]\d|\s?(?:mg|ml|cm|mm|kg|g|%)\b))"
    r"|\d\s?(?:ans|a|mois)[\s,/(-]{1,3}(?P<after>[FHM])\b(?![.'\u2019+]|\s?\d)"
    r"|^\d{1,3}\s?(?P<short>[FHM])\b"
    r"|\((?P<bracket>[FHM])\)|(?P<symbol>[\u2642\u2640])"
)
LETTERS = {
    "\u2642": "\u2640",
    "\u2640": "\u2642",
    "M": "F",
    "H": "F",
    "F": "H",
    "masculin": "féminin",
    "féminin": "masculin",
    "feminin": "masculin",
    "homme": "femme",
    "femme": "homme",
}
TITLE = re.compile(
    r"(?P<title>\bM(?:r\b\.?|\.)|\bMonsieur\b|\bMONSIEUR\b|\bMR\b\.?|\bMME\b\.?|\bMLLE\b\.?"
    r"|\bMADAME\b"
    r"|\bMADEMOISELLE\b|\bMme\b\.?|\bMlle\b\.?|\bMadame\b|\bMademoiselle\b)"
    r"(?P<names>(?:\s+[A-ZÉÈÀ][\w'\u2019-]*)*)"
)
ADJECTIVE = re.compile(
    r"(?:dépendant|(?<!m)ent|if|ive|ante|(?<!m)ente|euse|ien|ienne|trice|elle|ère|ise"
    r"|aise|ois|oise)$"
)
TITLE_WORDS = frozenset(["m", "mr", "mme", "mlle", "monsieur", "madame", "mademoiselle", "dr"])
NO_NAMES = frozenset(
    [
        "patient",
        "patiente",
        "il",
        "elle",
        "le",
        "la",
        "les",
        "pas",
        "adressé",
        "adressée",
        "douleur",
        "atcd",
    ]
)
TITLES = {
    "M.": "Mme",
    "Mr": "Mme",
    "Mr.": "Mme",
    "Monsieur": "Madame",
    "Mme": "M.",
    "Mme.": "M.",
    "Mlle": "M.",
    "Mlle.": "M.",
    "Madame": "Monsieur",
    "Mademoiselle": "Monsieur",
    "MR": "MME",
    "MR.": "MME",
    "MONSIEUR": "MADAME",
    "MME": "M.",
    "MME.": "M.",
    "MLLE": "M.",
    "MLLE.": "M.",
    "MADAME": "MONSIEUR",
    "MADEMOISELLE": "MONSIEUR",
}
IMPERSONAL = re.compile(
    r"\s+(?:n['\u2019]\s*)?(?:y\s+(?:a|avait|aura)|(?:ne\s+)?s['\u2019]agi(?:t|ssait|rait|ra)\b|existe"
    r"|n['\u2019]existe|faut|fallait"
    r"|(?:ne\s+)?semble(?:rait)?\s+(?:que|qu)|est\s+(?:à\s+noter|noté|possible|probable|décidé"
    r"|convenu|important|nécessaire|constaté|retrouvé\s+(?:une?|des|de)|prévu|\d)"
    r"|a\s+été\s+(?:décidé"
    r"|noté|convenu|retrouvé\s+(?:une?|des)|constaté|mis\s+en\s+(?:place|évidence))"
    r"|n['\u2019]est\s+pas\s+(?:noté|retrouvé)"
    r"|persiste(?!\s+à)|convient|fait\s+(?:chaud|froid|nuit)|pleut|pleuvait|neige"
    r"|reste\s+(?:une?(?!\s+(?:peu|homme|femme|patiente?)\b)|des|à\s+\w+(?:er|ir|re))"
    r"|apparaît\s+(?:que|une)|se\s+peut|manque\s+(?:une?|des|les?|la|\d)|faisait\s+(?:chaud|froid|nuit))\b",
    re.IGNORECASE,
)
THING_VERB = re.compile(
    r"\s+(?:ne\s+|n['\u2019])?(?:s['\u2019]|se\s+)?(?:irradi\w+|dure\b|durait|cède|cédait"
    r"|cédant|persist\w+|augment\w+"
    r"|diminu\w+|saigne|suinte|mesure\s+\d|évolu\w+|date\b|début\w+|apparaît|cicatri\w+"
    r"|étend|limite"
    r"|a\s+(?:débuté|augmenté|diminué|duré|disparu|cédé|commencé)(?!\s+(?:une?|les?|la"
    r"|l['\u2019]|des|ses|son|sa|du|à\s+\w+er)\b)|est\s+(?:apparue?|survenue?"
    r"|calmée?|soulagée?|localisée?|intense|modérée?|brutale?|constante?|permanente?|majorée?"
    r"|augmentée?|diminuée?|cotée?|évaluée?|traitée?(?!\s+pour\b)|irradiante|continue|pulsatile"
    r"|présente?"
    r"|aggravée?|améliorée?)|aggrave|améliore|calme|majore|accompagne)\b",
    re.IGNORECASE,
)
TREATED_FOR = re.compile(r"\s+est\s+traitée?\s+pour\b", re.IGNORECASE)
"""Pains are treated by a drug; patients, and animals, are treated for a disease."""
ANIMALS = frozenset(
    [
        "animal",
        "bête",
        "chat",
        "chatte",
        "cheval",
        "chien",
        "chienne",
        "chiot",
        "hamster",
        "jument",
        "lapin",
        "lapine",
        "perroquet",
        "rat",
        "souris",
        "vache",
    ]
)
FEMALE_ANIMALS = frozenset(["bête", "chatte", "chienne", "jument", "lapine", "souris", "vache"])
OTHER_VERB = re.compile(
    r"\s+(?:(?:est|était|semble|paraît)\s+(?:très\s+|assez\s+)?(?:inqui\w+|angoissée?|affolée?)"
    r"|(?:l['\u2019]\s*|la\s+|le\s+)\w+|a\s+(?:appelé|alerté|prévenu|contacté|retrouvé"
    r"|trouvé|entendu|vu)"
    r"|appelle|rapporte|signale|précise|explique|décrit|dit\b|pense|confirme|ajoute)",
    re.IGNORECASE,
)
CLITIC_VERB = re.compile(
    r"\s+(?:réveill\w+|gên(?:e|ait|ant)\b|inquièt\w+|soulag\w+|trouv(?:e|ent|ait)\b"
    r"|retrouv(?:e|ent|ait)\b"
    r"|condui\w+|amèn\w+|amen\w+|adress(?:e|ent|ait)\b|découvr\w+|fait\b|voi(?:t|ent)\b|laiss\w+"
    r"|empêch\w+|brûl\w+|démang\w+|oblig\w+|accompagn\w+|aid(?:e|ent|ait)\b|transport(?:e|ent)\b"
    r"|héberg\w+|opèr\w+|connaît|décri\w+|dit\b|relèv\w+|pouss\w+|percut\w+|renvers\w+|frapp\w+"
    r"|agress\w+|mord\w*|piqu\w+|rassur\w+|transf\w+|ramèn\w+|surveill\w+|revoi\w+|fatigu\w+"
    r"|handicap\w+|rend\b|suit\b|contraint|motiv\w+|convoqu\w+|entend\w*|gard\w+|met\b|soign\w+"
    r"|port(?:er|ent|ait)\b|p[eè]s(?:e|ait|ent)\b|(?:re)?voir\b"
    r"|(?:mobilis|stimul|examin|scop|menac|sollicit|habill|tourn)(?:e|ent|ait|er)\b|lèv(?:e|ent)\b"
    r"|\w{2,}(?:era|ira|ra|eront|iront|ront)\b|verra\b|verront\b"
    r"|nourri(?:t|r|ssait)\b|appell(?:e|ent)\b|sui(?:vre|vait)\b|assoi(?:t|ent)\b)",
    re.IGNORECASE,
)
CLITIC_BEFORE = frozenset(
    [
        "qui",
        "ne",
        "que",
        "qu",
        "on",
        "pour",
        "de",
        "sans",
        "nous",
        "il",
        "elle",
        "ils",
        "elles",
        "y",
    ]
)
CHILDREN = re.compile(
    r"\s+(?:de|d['\u2019])\s*(?:\d|un\b|une\b|deux|trois|quatre|cinq|jumea|famille)"
)
PARENTS = frozenset(["mère", "père", "parents", "maman", "papa", "grand-mère", "grand-père"])
VOWEL = re.compile(r"[aeiouyhéèêâîïôûœ]", re.IGNORECASE)
PRE = {
    "petit": "petite",
    "vieux": "vieille",
    "vieil": "vieille",
    "grand": "grande",
    "ancien": "ancienne",
    "nouveau": "nouvelle",
    "nouvel": "nouvelle",
    "gros": "grosse",
    "premier": "première",
    "seul": "seule",
    "cher": "chère",
    "bon": "bonne",
    "même": "même",
    "jeune": "jeune",
    "autre": "autre",
}
PRE_MALE = {feminine: masculine for masculine, feminine in PRE.items()} | {
    "vieille": "vieux",
    "nouvelle": "nouveau",
}
DETERMINERS = {
    "le": "la",
    "un": "une",
    "ce": "cette",
    "cet": "cette",
    "mon": "ma",
    "son": "sa",
    "ton": "ta",
    "aucun": "aucune",
    "quel": "quelle",
    "tout": "toute",
    "celui": "celle",
}
DETERMINERS_MALE = {
    "la": "le",
    "une": "un",
    "cette": "ce",
    "ma": "mon",
    "sa": "son",
    "ta": "ton",
    "aucune": "aucun",
    "quelle": "quel",
    "toute": "tout",
    "celle": "celui",
}
PRE_ALL = frozenset({*PRE, *PRE_MALE})


def simple_determiner(low: str, toward: str, vowel: bool) -> str | None:
    """Return a determiner in the gender `toward`, None for one without gender ("chaque")."""
    if toward == "female":
        new = DETERMINERS.get(low)
        return {"ma": "mon", "sa": "son", "ta": "ton"}.get(new or "", new) if vowel else new
    if low in ("cette", "ce"):
        return "cet" if vowel else "ce"
    return DETERMINERS_MALE.get(low)


def definite(lead: str, toward: str, vowel: bool) -> str:
    """Return the definite article, joined with "de" or "à" before it: "du ", "de la ", "à l'"."""
    if vowel:
        return f"{lead} l'".lstrip()
    if toward == "female":
        return f"{lead} la ".lstrip()
    return {"": "le ", "de": "du ", "à": "au "}[lead]
