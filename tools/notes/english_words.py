"""English gendered words and their counterparts; "her" and "his" by their grammatical role."""

import csv
import re
from functools import cache
from importlib.resources import files

from evenhand.tools.notes.english_families import families
from evenhand.tools.notes.words import Word

_STRICT = (
    r"to|in|on|at|for|with|by|from|of|and|or|but|because|when|if|that|after|before|as|than|the|a"
    r"|an|was|is|are|were|has|had|about|into|up|out|off|over|while|since|until|so|during|again"
    r"|today|yesterday|now|then|there|here|through|under|without|not|this|these|those|some|any"
    r"|who|which|how|why|what|where|whether|once|twice|nor|per|via|onto|upon|towards?|every|each"
    r"|too|also|around|across|away|against|would|could|should|will|can|may|might|must|did|does|do"
    r"|be|been|have|it|he|she|they|we|you|tonight|lately|x\d|tomorrow|down(?!\s?syndrome|'s)"
    r"|weekly|monthly|regularly|often|sometimes|more|less|alone|together|overnight|asap"
    r"|last (?:week|night|month|year|time"
    r"|mon|tues|wednes"
    r"|thurs|fri|satur|sun)|next (?:week|month|day)|earlier|later|outside|inside|upstairs"
    r"|downstairs"
    r"|his|her|my|their|our|your|daily(?=\s*[.,;]|\s*$)|instead|soon|immediately|straight|as"
    r"|never|either|anyway|already|just|before|behind|below|beside"
    r"|\d+ (?:yrs?|years?|min|minutes|hours?|hrs?|h|days?|d|wks?|weeks?|months?|mo|times?)"
    r"|two (?:days|hours"
    r"|weeks)|a"
)
_BOUNDARY = rf"\s*(?:[.,;:?!)\]\"\u201d(]|-\s|\u2013|\u2014|$|(?:{_STRICT})\b(?!-))"
_AFTER_OBJECT = re.compile(_BOUNDARY, re.IGNORECASE)
_NOUN_IN_LY = r"(?!(?:family|belly|supply|anomaly|ally|bully|assembly|fly|only|daily|elderly)\b)"
_NOUN_IN_ING = (
    r"(?!(?:swelling|feeling|hearing|wedding|morning|evening|clothing|training|meeting|reading"
    r"|building|dressing|coughing|voiding|stocking|bleed|teething|drooling|understanding"
    r"|belonging)\b)"
)
_STATE = re.compile(
    rf"\s+(?:{_NOUN_IN_LY}\w+ly\s+)?(?:unconscious|awake|asleep|alone|apart|dizzy"
    r"|clammy|sweaty|cyanosed|mottled|slumped|hypoglyc\w+|lifeless|soaked|grey|flushed|quiet|tearful"
    rf"|short(?=\sof)|breathless|unable"
    r"|safe|anxious|weak|worse|better|comfortable|sleepy|drowsy|tired|stable|well|sick|cold|blue"
    r"|grey|gray|pale|stiff|limp|floppy|lying|sit|fall|collapse|trip|stumble|drop|go|shake|fit"
    r"|choke|cough|un(?:responsive|rousable|conscious|well|steady|tidy)|incoherent|confused|dead"
    r"|hypo|hot|wet"
    r"|fine|fall|cry"
    rf"|down|back|home|both|all|still|{_NOUN_IN_ING}\w{{3,}}(?:ed|ing|less|ous))\b"
    rf"(?:\s+\w+ly\b)?(?={_BOUNDARY})",
    re.IGNORECASE,
)
_FINDS = re.compile(
    r"\b(?:found|finds?|finding|saw|sees?|heard|hears?|left|leav(?:es|ing)|ma[dk]es?|making|keeps?"
    r"|kept|noticed|watched|felt|got|gets?|woke|wakes|brought|brings?|called|calls?|sent"
    r"|sends?|took"
    r"|takes|drove|drives?|carried|helped|helps?|put|laid|lay|sat|pull(?:ed|s)|turned|let"
    r"|lets|want(?:ed|s)"
    r"|discharged|escorted|transferred|deemed|considered|has|had|having|showed)\s$",
    re.IGNORECASE,
)
_SEES_DO = re.compile(
    r"\b(?:found|heard|hears|saw|sees|watched|noticed|caught|left|spotted)\s$", re.IGNORECASE
)
_HALF = re.compile(
    r"\s+(?:half|partly|partially|halfway)[\s-]+(?:out|off|in|on|under|down|way|undressed"
    r"|dressed|asleep)\b",
    re.IGNORECASE,
)
_ADVERB = re.compile(rf"\s+{_NOUN_IN_LY}\w+ly(?={_BOUNDARY})", re.IGNORECASE)
_DATIVE = re.compile(
    r"\b(?:g[ai]ve[sn]?|giving|offer(?:ed|s)?|prescribe[sd]?|administer(?:ed|s)|hand(?:ed|s)"
    r"|cost"
    r"|caus(?:ed|es|ing))\s$",
    re.IGNORECASE,
)
_OWN_THING = re.compile(
    r"\s+(?:\w+\s)?(?:mother|father|sister|brother|son|daughter|husband|wife|partner|friend|boss"
    r"|doctor|GP|PCP|family|children|kids|parents|neighbou?r|arm|leg|head|chest|back|hand|foot|knee"
    r"|hip|wrist|ankle|own|purse|bag|keys|inhaler|home|house|job|work|meds|medications?|medicines?"
    r"|pills?|bed|room|car|symptoms?|usual|left|right|history|name|address|details|consent|account"
    r"|employer|teacher|roommate|mom|dad|cousin|aunt|uncle|boyfriend|girlfriend|insulin|morning"
    r"|evening|daily|regular)\b",
    re.IGNORECASE,
)
_HERS = re.compile(
    r"\s*(?:[.,;:?!)\]]|$|(?:is|was|and|or|but|to|in|on|at|who|that|were|had|has|when|while"
    r"|started|began|lasted|hurts?|keeps)\b)",
    re.IGNORECASE,
)


@cache
def _rows() -> tuple[tuple[str, str, str], ...]:
    text = (files("evenhand.tools.notes") / "english.csv").read_text("utf-8")
    return tuple(
        (row["male"], row["female"], row["kind"]) for row in csv.DictReader(text.splitlines())
    )


@cache
def _genders() -> dict[str, str]:
    table = {male: "male" for male, _, _ in _rows()}
    return table | {female: "female" for _, female, _ in _rows()}


@cache
def _kinds() -> dict[str, str]:
    return {word: row[2] for row in _rows() for word in row[:2]}


@cache
def _counterparts(after: str) -> dict[str, str]:
    table: dict[str, str] = {}
    for male, female, _ in _rows():
        source, target = (female, male) if after == "male" else (male, female)
        table.setdefault(source, target)
    return table


def kind_of(low: str) -> str | None:
    """Return noun, title, pronoun, role, kin or spouse; None for a word without gender."""
    return _kinds().get(low) or ("role" if low in families() else None)


_SPELT_OUT = ("female", "woman", "gentleman", "lady")
_REAL = frozenset(("women", "gentlemen", "woman", "lay", "lad", "ladys", "oman"))


@cache
def _slips() -> dict[str, str]:
    table: dict[str, str] = dict.fromkeys(("mlae", "mael", "amle"), "male")
    for word in _SPELT_OUT:
        for place in range(len(word)):
            without = word[:place] + word[place + 1 :]
            swapped = word[:place] + word[place : place + 2][::-1] + word[place + 2 :]
            doubled = word[:place] + word[place] + word[place:]
            for slip in (swapped, *((without, doubled) if len(word) > 5 else ())):
                table.setdefault(slip, word)
    return {slip: word for slip, word in table.items() if slip not in _REAL and not kind_of(slip)}


def respelt(low: str) -> str | None:
    """Return the sex word that a word with one slip of the keys means: "femlae" -> "female"."""
    return _slips().get(low)


def gender_of(low: str) -> str:
    """Return "male" or "female" of a gendered word in small letters."""
    return _genders().get(low) or families()[low][0]


def counterpart(low: str, after: str, text: str = "", word: Word | None = None) -> str:
    """Return the word of the other gender; "her" and "his" need the text around them."""
    if low == "her" and word:
        return "him" if is_object(text, word) else "his"
    if low == "his" and word:
        return "hers" if _is_independent(text, word) else "her"
    return _counterparts(after).get(low) or families()[low][1]


_HER_THING = re.compile(
    r"\s+(?:\w+\s)?(?:speech|face|eyes?|mouth|lips?|skin|breathing|heart|pulse|bp|sats|sugars?"
    r"|bm|temp\w*"
    r"|wounds?|dressing|catheter|stoma|line|pills?|tablets?|glasses|voice|cries|screams|gait"
    r"|balance"
    r"|words?|smile|hair|clothes|nappy|diaper|dog|cat|phone|bike|stick|frame|walker|wheelchair"
    r"|urine"
    r"|stools?|blood|legs?|arms?|hands?|feet|toes?|fingers?|ears?|nose|throat|neck|belly|tummy"
    r"|abdomen"
    r"|ankles?|behaviou?r|mood|memory|weight|appetite|sleep|rash|swelling|pain|jaw|tongue|teeth"
    r"|tooth"
    r"|lid|baby|babies|newborn|twins?|toddler|grandchild\w*|breath|insurance\scard|cards?|bins?|paperwork|dosette|hearing\saids?|shopping|handbag"
    r"|belongings|walking\said|scar|stitches|cast|ring|bp|fever|cough|body|door|flat|address|note|letter|specialist"
    r"|consultant|nurse|midwife|dentist|cardiologist|oncologist|surgeon|physio\w*|counsellor)\b",
    re.IGNORECASE,
)


def is_own_thing(rest: str) -> bool:
    """Tell what a patient has ("her arm", "her GP") from any other word behind "her"."""
    return bool(_HER_THING.match(rest) or _OWN_THING.match(rest))


def is_object(text: str, word: Word) -> bool:
    """Tell "brought her in" from "her arm"."""
    rest = text[word.end : word.end + 60]
    before = text[max(0, word.start - 30) : word.start]
    if _AFTER_OBJECT.match(rest) or _ADVERB.match(rest):
        return True
    if _STATE.match(rest) and _FINDS.search(before):
        return True
    if _SEES_DO.search(before) and re.match(rf"\s+{_NOUN_IN_ING}\w{{3,}}ing\b", rest):
        return True
    if _HALF.match(rest) and _FINDS.search(before):
        return True
    if re.search(r"\bt[ao]kes?\s$|\btook\s$", before) and re.match(r"\s+\d", rest):
        return True
    return bool(_DATIVE.search(before)) and not _OWN_THING.match(rest)


def _is_independent(text: str, word: Word) -> bool:
    return bool(_HERS.match(text, word.end))
