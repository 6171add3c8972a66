"""A last look at English pronouns: who else could "he" be, apart from the rules that decided?

The rules take a pronoun for the patient where nothing speaks against it. Here the question is
turned round: where somebody else of that sex, or an animal, was the last to act, the words behind
the pronoun must be a patient's, or the note is refused.
"""

import re
from collections.abc import Sequence

from evenhand.tools.notes import english_predicates as predicates
from evenhand.tools.notes.edits import CannotRewrite
from evenhand.tools.notes.english_people import ANIMALS
from evenhand.tools.notes.english_reading import Person, Reading, is_oblique, unclear
from evenhand.tools.notes.english_words import is_object
from evenhand.tools.notes.words import Word

_BREAKS = re.compile(
    r"[,;:.()]|\b(?:us|we|they|i|it|that|who|which|what|if|when|because|as|while|and|but|so|before"
    r"|after|until|since|for|with|around|behind|near|beside|about|of|on|in|at|over|under|from|by"
    r"|onto|into|him|his|her|the|an?|this|to(?=\s*$)|like|than|is|was|are|mum|dad|crew|staff"
    r"|police|family|wife|husband|partner)\b",
    re.IGNORECASE,
)
_PATIENT_STATE = re.compile(
    r"\s+(?:(?:also|then|still|now|just|only|has|had|have|is|was|has been|looks?|looked|seems?"
    r"|seemed|feels?|felt|remains?|appears?|became|got|gets|very|quite|more|a bit|not|never"
    r"|usually|normally|often)\s+)*"
    r"(?:\d|on (?:apix|warf|aspirin|clopi|\w+in\b|\w+ol\b|\w+ban\b|methotrex|insulin|oxygen|O2|the"
    r"|a|home)"
    r"|unable|ill|sick|sore|tender|weak|hot|cold|pale|grey|blue|clammy|sweaty|well|better|worse"
    r"|stable|calm|tearful|agitated|quiet|settled|comfortable|able|mobile|independent|known"
    r"|allergic|diabetic|asthmatic|epileptic|hypertensive|pregnant|in pain|in a lot|pain"
    r"|pyrexial|apyrexial|tachy\w*|brady\w*|hypo\w*|hyper\w*|GCS|orientated|oriented|immobile"
    r"|bedbound|frail|lives?|lived|smokes?|drinks?|takes|mobilises?|walks?|sleeps?|eats?|weighs?"
    r"|denie[sd]|complain\w*|describes?|c/o|suffer\w*|present(?:s|ed)|attend(?:s|ed)|bled|bleeds"
    r"|bleeding|vomit\w*|fell|falls|tripped|collaps\w*|faint\w*|lost|losing|eaten|drunk"
    r"|passed|opened|bow\w+|missed|forgot|needs?|needed|received|given|seen|reviewed|taken|moved"
    r"|transferred|admitted|discharged|cannulated|sedated|intubated|scanned|cross-?matched|told"
    r"|advised|aware|may|can|cannot|can['\u2019]t|could|should|must|refus\w+|declin\w+|agree[sd]"
    r"|consent\w*|tolerat\w+|allerg\w+|a (?:smoker|diabetic|known)|had (?:a|an|two|three|no)"
    r"|have (?:a|an)|has (?:a|an|no|been|had)|temp\w*|short of|no\b|the (?:same|rash|pain)"
    r"|getting|feeling|started|starting|developed|woke|wakes|slipped|landed|hit|twisted|cut"
    r"|burn\w+|scald\w+|swallow\w+|stopp\w+|drowsy|sleepy|alert|awake|confused|breathless"
    r"|wheez\w+|cough\w*|itch\w*|shak\w+|shiver\w*|dizzy|light-?headed|numb\w*|nauseous)\b",
    re.IGNORECASE,
)
_AS_RIVAL = re.compile(
    r"\s+(?:(?:also|then|has|had|now|just|will|would|is|was)\s+)*(?:left|leaves|leaving|went|gone"
    r"|go|going|stay\w*|wait\w*|come|coming|came|back|return\w*|collect\w*|bring\w*|brought"
    r"|ring\w*|rang|rung|phon\w+|call\w*|text\w*|gave|give[sn]?|giving|hand\w+|show\w*|offer\w*"
    r"|help\w*|lift\w*|carr\w+|drove|driv\w+|park\w*|follow\w*|travel\w*|arriv\w*|visit\w*"
    r"|check\w*|look\w* (?:after|at|for)|watch\w*|saw|sees|heard|hears|notic\w+|found|finds"
    r"|witness\w*|think\w*"
    r"|thought|say|says|said|report\w*|stat\w+|add\w*|explain\w*|ask\w*|want\w*|like|prefer\w*"
    r"|happy|keen|request\w*"
    r"|refer\w*|suspect\w*|query|queries|queried|examin\w+|prescrib\w+|advis\w+|arrang\w+"
    r"|speak\w* (?:to|for|with)|spoke|translat\w+|interpret\w*|confirm\w*"
    r"|insist\w*|at work|abroad|away|outside"
    r"|present|here|with|in (?:the )?(?:waiting|car|WR|custody|cells)|unhurt|uninjured|fine|ok"
    r"|okay|unharmed|retired|works|working|trained|a (?:nurse|doctor|vet|teacher|carer|first)"
    r"|an? \w+er\b|the (?:owner|driver|manager|NOK|carer|mother|father)|holding|pressing|pulled"
    r"|push\w*|stop(?:ped)? (?:at|his|her|the)|held|kept|keeps|wrapped|applied|did|performed"
    r"|started CPR|on (?:his|her) way|en route|known to police|arrested|fled|ran)\b",
    re.IGNORECASE,
)
_OWN_WORDS = re.compile(r"\s+(?:also\s)?(?:says?|said|states?|reports?|adds?)\b", re.IGNORECASE)
_FEELS = re.compile(
    r"\s+(?:(?:also|then|has been|is|was|very|quite|so|really|pretty|understandably)\s+)*"
    r"(?:worr\w+|concerned|upset|anxious|frightened|shaken|sorry|distressed|cross|angry)\b",
    re.IGNORECASE,
)
_OF_ANIMAL = re.compile(
    r"\s+(?:(?:also|is|was|has|had|usually|normally|never|not|been|very|always|up)\s+)*"
    r"(?:vaccinat\w+|gentle|friendly|bitten|bites?|bit|growl\w+|chipped|micro\w+|kick\w*|rear\w*"
    r"|bolt\w*|spook\w*|moved|shut|locked|to date|known|jabs|old|tied|loose|on a lead|barks?"
    r"|barking|snapp\w+|lunged|attack\w*|scratch\w*|a (?:rescue|collie|stray|cross)|her jabs"
    r"|his jabs|nervous|aggressive|good|calm|well)\b",
    re.IGNORECASE,
)
_GROUPS = frozenset(
    (
        *("parents", "friends", "staff", "crew", "police", "relatives", "neighbours", "neighbors"),
        *("officers", "paramedics", "carers", "nurses", "doctors", "firefighters", "medics"),
        *("workmates", "teammates", "housemates", "mates", "pals", "attackers", "grandparents"),
        *("pupils", "siblings", "guards", "men", "women", "boys", "girls", "lads", "ladies"),
        *("dogs", "cats"),
    )
)
_POSSESSED = re.compile(
    r"\s+(?:(?:left|right|L|R|own|usual|regular|old|new|upper|lower|home|morning|evening|daily"
    r"|first|second|last|own|lower|whole|entire)\s){0,2}(?:\w*(?:pain|ache|itis|oma|gram)\b|meds?\b"
    r"|medic\w+|tablets?|pills?|inhalers?|epi-?pen|insulin|warfarin|head|face|eyes?|ears?|nose"
    r"|mouth|lips?|tongue|teeth|tooth|jaw|chin|neck|throat|shoulders?|arms?|elbows?|wrists?|hands?"
    r"|fingers?|thumbs?|nails?|chest|ribs?|back|spine|tummy|belly|abdo\w*|stomach|flank|groin|hips?"
    r"|thighs?|knees?|legs?|calf|calves|shins?|ankles?|feet|foot|heels?|toes?|skin|hair|scalp"
    r"|heart|pulse|bp|blood|sats?|temp\w*|sugars?|bm|glucose|pressure|breath\w*|speech|vision"
    r"|sight|hearing|memory|balance|gait|mobility|mood|behaviou?r|sleep|appetite|weight|consent"
    r"|symptoms?|condition|illness|fall|seizures?|fits?|collapse|injur\w+|wounds?|burns?|rash"
    r"|swelling|cough|fever|wheeze|asthma|epilepsy|diabetes|dementia|airway|pupils?|ecg|x-?ray"
    r"|scan|bloods|results|stoma|catheter|cannula|drip|dressing|cast|splint|pacemaker|sling"
    r"|pads?|nappy|clothes|shirt|trousers|bed|room|notes|care|side|body|recovery|discharge|age"
    r"|frame|stick|wheelchair|hearing aids?|glasses|name|details|urine|stools?|bowels?|bladder"
    r"|mum|mom|mother|dad|father|parents?|wife|husband|partner|son|daughter|brother|sister|family"
    r"|power of|poa|lpa|proxy|emergency contact"
    r"|children|kids|gp|pcp|doctor|carers?|caregivers?|next of kin|nok|friends?|neighbou?r)\b",
    re.IGNORECASE,
)


def check_rival(reading: Reading, gender: str) -> None:
    """Refuse a pronoun of the patient's that somebody else, or an animal, could claim as well.

    Args:
        reading: The pronoun, which the rules take for the patient's.
        gender: The pronoun's sex.

    Raises:
        CannotRewrite: It could be another's.
    """
    word = reading.pronoun
    is_obj = word.low == "him" or (word.low == "her" and is_object(reading.text, word))
    if is_obj:
        _two_arguments(reading)
    rival = _last_actor(reading, gender)
    if rival is None:
        return
    mentions = [m for m in reading.mentions if rival.word.end <= m.start < word.start]
    rest = reading.rest()
    if rival.word.low in ANIMALS:
        here = rival.word.sentence == word.sentence and not _by_animal(reading, rival)
        if not mentions and (here or _OF_ANIMAL.match(rest)):
            raise unclear(reading, rival.word.text)
        return
    if word.low in ("he", "she"):
        _subject(reading, rival, mentions)
    elif word.low in ("his", "her") and not is_obj and not mentions:
        here = rival.word.sentence == word.sentence
        if here and rival.role != "staff" and not _POSSESSED.match(rest):
            raise unclear(reading, rival.word.text)


def _subject(reading: Reading, rival: Person, mentions: Sequence[Word]) -> None:
    """He or she after another person who acted."""
    between, rest = reading.between(rival), reading.rest()
    said = any(each.low not in ("him", "her", "his") for each in mentions)
    if said or predicates.HISTORY.match(reading.text, rival.word.end):
        return
    here = rival.word.sentence == reading.pronoun.sentence
    told = predicates.RIGHT_AFTER_SAYS.search(between)
    joined = r"\b(?:because|as|when|after|if|since|until|how|whether|why|where|what)\s$"
    if here and (told or re.search(joined, between)):
        return
    patient_like = predicates.SICK.match(rest) or _PATIENT_STATE.match(rest)
    if here and not patient_like:
        raise unclear(reading, rival.word.text)
    if rival.role == "staff" and mentions and _OWN_WORDS.match(rest):
        return  # "The nurse gave him paracetamol. He says ..."
    like_rival = _AS_RIVAL.match(rest) or (_FEELS.match(rest) and not mentions)
    if not here and like_rival and not predicates.SICK.match(rest):
        raise unclear(reading, rival.word.text)


def _two_arguments(reading: Reading) -> None:
    """Refuse "he could not lift him" and "she had to hold her back": one of them is another's."""
    word = reading.pronoun
    before = [m for m in reading.mentions if m.sentence == word.sentence and m.start < word.start]
    if not before or before[-1].low not in ("he", "she"):
        return
    between = reading.text[before[-1].end : word.start]
    if len(between.split()) <= 6 and not _BREAKS.search(between):
        raise CannotRewrite("ambiguous_pronoun", reading.text[before[-1].start : word.end])


def _last_actor(reading: Reading, gender: str) -> Person | None:
    """Return the last person of that sex, or of unknown sex, or animal, who is a subject."""
    word = reading.pronoun
    near = [
        person
        for person in reading.people
        if person.gender in (gender, None)
        and person.word.end <= word.start
        and word.sentence - person.word.sentence <= 1
        and person.word.low not in _GROUPS
        and not _opens_with_age(reading.text, person)
        and not re.match(r"['\u2019]s?\b", reading.text[person.word.end :])
        and (person.word.low in ANIMALS or not is_oblique(reading, person))
    ]
    return near[-1] if near else None


def _opens_with_age(text: str, person: Person) -> bool:
    """Tell "Chef, 38, oil burn to his forearm": the first word is the patient's own work."""
    own = re.match(r",?\s(?:of\s|aged\s)?\d", text[person.word.end :])
    return bool(own) and not re.search(r"\w", text[: person.word.start])


def _by_animal(reading: Reading, rival: Person) -> bool:
    """Tell "bitten by her dog", "dog bite" and "walking the dog" from "the dog is ..."."""
    text = reading.text
    before = text[max(0, rival.word.start - 30) : rival.word.start]
    if re.match(r"[ -](?:bites?|bit|bitten|scratch\w*|lead|kick\w*)\b", text[rival.word.end :]):
        return True
    governed = re.search(
        r"\b(?:by|with|from|off|over|to|on|of|at|walk\w*|rid\w+|feed\w*|tripp\w+|milk\w*)\s"
        r"(?:(?:his|her|the|an?|their|own|neighbou?r['\u2019]?s?|friend['\u2019]?s?|\w+)\s){0,3}$",
        before,
        re.IGNORECASE,
    )
    return bool(governed)
