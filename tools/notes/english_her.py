"""The English "her": "brought her in" (him) or "her arm" (his), or it cannot be told.

What stands behind decides where it can be no noun ("her in", "her today") or is sure to be the
patient's own ("her arm"). Between the two the verb before decides who can be meant: whoever is
patient and subject would be "herself", so "she hurt her ..." is "his"; "we keep her warm" and
"we like her NBM" are "him", and what is left is unclear.
"""

import re

from evenhand.tools.notes.english_words import is_object, is_own_thing
from evenhand.tools.notes.words import Word

_TAKES_PERSONS = (
    r"hold|holds|held|holding|keep|keeps|kept|keeping|like|likes|want|wants|wanted|leave|leaves"
    r"|left|leaving|find|finds|found|finding|hear|hears|heard|see|sees|saw|seen|ask|asks|asked"
    r"|tell|tells|told|feed|feeds|fed|feeding|teach|teaches|taught|show|shows|showed|help|helps"
    r"|helped|helping|call|calls|called|calling|take|takes|took|taking|bring|brings|brought"
    r"|send|sends|sent|get|gets|got|getting|make|makes|made|making|let|lets|have|move|moves|moved"
    r"|transfer|transferred|admit|admits|admitted|discharge|discharged|review|reviews|reviewed"
    r"|nurse|nursed|nursing|scan|scanned|lift|lifts|lifted|pull|pulls|pulled|push|pushes|pushed"
    r"|put|puts|place|placed|watch|watches|watched|observe|observed|feel|felt|think|thinks|thought"
    r"|believe|believes|believed|consider|considers|considered|deem|deemed|knock|knocks|knocked"
    r"|hit|hits|kick|kicks|kicked|bite|bites|bit|stop|stops|stopped|start|started|cause|causes"
    r"|caused|give|gives|gave|given|offer|offers|offered|pass|passed|hand|handed|wake|wakes|woke"
    r"|rouse|roused|turn|turned|roll|rolls|rolled|drive|drives|drove|carry|carries|carried"
    r"|accompany|accompanied|refer|refers|referred|treat|treated|assess|assessed|examine"
    r"|examined|settle|settled|sit|sat|lay|laid|stand|stood|walk|walked|drag|dragged|throw"
    r"|throws|threw|thrown|trip|tripped|prefer|prefers|preferred|need|needs|needed|expect"
    r"|expects|expected|advise|advised|remind|reminded|warn|warned|encourage|encouraged|allow"
    r"|allowed|notice|noticed|spot|spotted|catch|caught|meet|met|visit|visited|rang|ring|rings"
    r"|phone|phoned|text|texted|see|seeing|escort|escorted|strap|strapped|cannulate|cannulated"
    r"|bleed|bled|consent|consented|list|listed|book|booked|prep|prepped|prescribe|prescribed"
    r"|collect|collected|transport|transported|convey|conveyed|log\srolled|calm|calmed|distract"
    r"|restrain|restrained|chase|chased|follow|followed|attack|attacked|grab|grabbed|shove|shoved"
    r"|with|d/w|discussed"
)
_AFTER_SUCH_A_VERB = re.compile(rf"\b(?:{_TAKES_PERSONS})\s$", re.IGNORECASE)
_CUT = re.compile(
    r"[,;:(\n]|\.\s|\b(?:and|but|because|as|when|while|if|so|that|who|after|before|until|since)\b",
    re.IGNORECASE,
)
_SOMEONE_ELSE = re.compile(
    r"\b(?:we|they|i|you|it|he|who|staff|team|crew|ems|police|nurses?|nok|family|neighbou?rs?"
    r"|surgeons?|doctors?|parents|passers?-?by|paramedics?|relatives?|carers?)\b",
    re.IGNORECASE,
)
_PATIENT = re.compile(r"\b(?:she|pt|patient)\b", re.IGNORECASE)
_BARE_VERB_OR_STATE = re.compile(
    r"\s+(?:back|down|off|home|round|over|free|clear|rest|stand|walk|sit|sleep|go|get|eat|drink"
    r"|breathe|scream|cry|moan|cough|fall|seen|admitted|reviewed|scanned|transferred|assessed"
    r"|discharged|nil|NBM|NPO|left|right|fit|nursed|warm|flat|upright|supine|calm|quiet|drowsy"
    r"|intoxicated|unwell|questions?|lunch|dinner|tea|resus|majors|minors|straight)\b",
    re.IGNORECASE,
)
"""What stands behind "him" as well as behind "his": "hold her back", "rubbed her back"."""


def is_unclear_her(text: str, word: Word) -> bool:
    """Tell a "her" that could be "his" and "him": "would like her NBM", "asked her questions"."""
    if is_object(text, word):
        return False
    before = text[max(0, word.start - 120) : word.start]
    if not _AFTER_SUCH_A_VERB.search(before):
        return False
    rest = text[word.end : word.end + 40]
    could_be_either = _BARE_VERB_OR_STATE.match(rest)
    if is_own_thing(rest) and not could_be_either:
        return False
    if not _subject_is_patient(before):
        return True
    return bool(could_be_either) and bool(
        re.search(r"\b(?:hold|held|keep|kept|bring|brought|let|want(?:ed|s)?|like[sd]?)\s$", before)
    )


def _subject_is_patient(before: str) -> bool:
    """Tell "she hurt her ..." from "we found her ..."; a note also leaves the patient out."""
    clause = _CUT.split(before)[-1]
    if _SOMEONE_ELSE.search(clause):
        return False
    if _PATIENT.search(clause):
        return True
    # No subject in this clause ("and dropped her ..."): the one before, or the patient left out.
    bare = re.fullmatch(r"\s*(?:(?:also|then|has|had|tried|was)\s)*[a-z]+\s", clause, re.IGNORECASE)
    if not bare:
        return False
    earlier = before[: len(before) - len(clause)]
    sentence = re.split(r"[.;\n]\s", earlier)[-1]
    named = list(_PATIENT.finditer(sentence))
    others = list(_SOMEONE_ELSE.finditer(sentence))
    if not named and not others:
        return not re.search(r"\w", sentence)
    return bool(named) and (not others or others[-1].start() < named[-1].start())
