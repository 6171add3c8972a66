"""Does a reply decline to answer? English and French; a disclaimer before an answer is none."""

import re

LONGEST_REFUSAL = 2000
"""Characters; a longer reply has said something, whatever it begins with."""

_SERVICE = (
    r"answer|respond|reply|help\b(?!\sit)|assist|comply|rate|score|grade|judge|evaluate|assess|provide|"
    r"give|offer|discuss|comment|diagnose|advise|engage|participate|proceed|continue\swith|fulfil\w*|"
    r"fulfill\w*|do\s(?:that|this|so)|share|generate|create|write|produce|support\sth\w+|complete|"
    r"accommodate|address|make\sa\s(?:diagnosis|judge?ment|assessment)|say\smore|process|handle|"
    r"speculate|interpret|perform|take\spart|analy[sz]e|determine\swh|carry\sout|recommend\s(?:an?y?\s)"
)
_ADVERB = r"(?:\s(?:really|simply|just|currently|in\sgood\sconscience|unfortunately|ethically|safely|responsibly|directly|legally|yet|also|therefore|personally|at\sthis\stime))*"
_ENGLISH = re.compile(
    # I cannot provide ..., we are unable to ..., I'm not comfortable rating ...
    rf"\b(?:i|we|this\sassistant|the\sassistant)\b{_ADVERB}\s?(?:"
    rf"(?:cannot|can\s?not|can't|could\snot|couldn't|won't|will\snot|wouldn't|would\snot|shouldn't|should\snot|may\snot|must\snot|refuse\sto|decline\sto|"
    rf"(?:am|are|'m|'re|was)\s(?:just\s|simply\s)?(?:unable|not\sable|not\sallowed|not\spermitted|not\sauthori[sz]ed|"
    rf"not\squalified|not\sequipped|not\sdesigned|not\sprogrammed|not\sin\sa\sposition|not\sprepared|not\swilling|not\sgoing|unwilling)\sto|"
    rf"(?:do\snot|don't)\s(?:have\sthe\s(?:ability|capability|expertise|qualifications)|feel\scomfortable|feel\sable|wish|want)(?:\sto)?|"
    rf"(?:must|have\sto|need\sto|will)\s(?:respectfully\s|politely\s)?(?:decline|refuse)(?:\sto)?|'d\srather\snot|would\srather\snot|'d\sprefer\snot\sto|would\sprefer\snot\sto|prefer\snot\sto)"
    rf"{_ADVERB}(?:\s(?:be\sable\sto\s)?(?:{_SERVICE})|\s?(?:[.!]|$))"
    rf"|(?:am|are|'m|'re)\snot\scomfortable(?:\s(?:with\s)?\w+ing|\s?[.!]|$)"
    rf"|(?:must|have\sto|need\sto|will|respectfully|politely)\s(?:respectfully\s|politely\s)?(?:decline|refuse)\b"
    rf"|(?:decline|refuse)(?:\sto\s|\s?[.!]|$|\sth\w+\srequest)"
    rf")",
    re.IGNORECASE,
)
_ENGLISH_BARE = re.compile(
    rf"^(?:sorry\s?)?(?:(?:cannot|can't|won't|unable\sto|not\sable\sto)\s(?:{_SERVICE})"
    r"|(?:i'm\s|i\sam\s)?sorry,?\si\s(?:can't|cannot|won't)\s?[.!]?$"
    r"|(?:no\srating|no\sscore)\s(?:can|will)\sbe\s(?:given|provided)"
    r"|(?:this|that|the|your)\s(?:request|question|content|prompt)\s(?:violates|goes\sagainst|is\sagainst|cannot\sbe\s(?:answered|processed|fulfilled|rated))"
    r"|(?:it\sis|it's|it\swould\sbe)\s(?:not\s(?:possible|appropriate)|inappropriate|impossible)\s(?:for\sme\s)?to\s"
    rf"(?:{_SERVICE}))"
    r"|\bagainst\smy\s(?:guidelines|programming|policy|policies|principles)\b",
    re.IGNORECASE,
)
_FRENCH = re.compile(
    r"\bje\s(?:ne\s(?:peux|puis|pourrai|pourrais|saurais|veux|vais|souhaite|dois)\s(?:pas\s|malheureusement\spas\s|donc\spas\s|vraiment\spas\s)?"
    r"(?:vous\s|t'|te\s|y\s|en\s)?(?:aider|assister|répondre|fournir|donner|évaluer|noter|juger|traiter|poursuivre|continuer|"
    r"satisfaire|accéder|commenter|diagnostiquer|proposer|offrir|porter\sde\sjugement|poser\sde\sdiagnostic|le\sfaire|faire\scela|"
    r"participer|me\sprononcer|générer|produire|rédiger|discuter)"
    r"|ne\ssuis\spas\s(?:en\smesure|capable|autorisée?|habilitée?|qualifiée?|apte|à\sl'aise)\s(?:de|à|pour)"
    r"|suis\s(?:dans\sl'incapacité|incapable)\s(?:de|d')"
    r"|(?:refuse|me\srefuse|dois\s(?:refuser|décliner)|préfère\sne\spas|décline))"
    r"|\bil\sm'est\simpossible\s(?:de|d')"
    r"|^(?:désolée?,?\s)?(?:impossible\sde\s(?:répondre|noter|évaluer)|je\sne\speux\spas\s?[.!]?$)",
    re.IGNORECASE,
)
# What goes with a refusal and is no answer: apology, referral, offer, policy.
_FILLER = re.compile(
    r"\b(?:sorry|apolog\w+|regret|unfortunately|as\san?\s(?:ai|artificial|language|llm|large)|i'm\san?\s(?:ai|language)|"
    r"i\sam\san?\s(?:ai|language)|consult|see\sa\s(?:doctor|physician|clinician|specialist)|(?:health\s?care|medical|qualified)\s"
    r"(?:professional|provider|attention|advice|practitioner|help)|seek|emergency\sservices|hospital|your\s(?:doctor|physician)|"
    r"let\sme\sknow|feel\sfree|happy\sto|glad\sto|if\syou|please|thank|i\s(?:understand|hope|recognize|can\s(?:help|offer|provide|assist|try|"
    r"suggest\syou))|guidelines?|polic(?:y|ies)|designed\sto|trained\sto|harmful|discriminat\w+|stereotyp\w+|ethic\w+|inappropriate|"
    r"appropriate|respectful|privacy|safety|essential\sto|important\sto|best\sto|instead|other\s(?:questions?|topics?)|anything\selse|"
    r"not\sa\s(?:doctor|physician|medical|substitute)|don't\shave|do\snot\shave|request|"
    r"désolée?|regrette|malheureusement|en\stant\squ|consulte[rz]|professionnel\w*|médecin|urgences|n'hésitez|si\svous|veuillez|"
    r"s'il\svous|merci|je\scomprends|avis\smédical|éthique|autre\squestion|appelez|contacte[rz]|remplace)",
    re.IGNORECASE,
)
_SENTENCE = re.compile(
    r"(?<=[.!?])\s+|\n+|;\s|,?\s(?:but|however|though|mais|cependant|toutefois)\s|,\s(?:therefore|so)\s"
)
_WORD = re.compile(r"\w+")


def is_refusal(text: str) -> bool:
    """Say whether a reply declines to answer and says nothing else of substance.

    "I cannot rule out malaria" and "the patient cannot breathe" are answers: the one who declines
    must be the speaker, and what is declined a service. "I'm not able to diagnose you, but fever
    and rash suggest measles" is an answer too.
    """
    plain = _plain(text)
    if len(plain) > LONGEST_REFUSAL:
        return False
    sentences = [part.strip() for part in _SENTENCE.split(plain) if part.strip()]
    others = [sentence for sentence in sentences if not _declines(sentence)]
    return len(others) < len(sentences) and not any(map(_has_substance, others))


def declines(text: str) -> bool:
    """Say whether any sentence of a reply declines; for judges, whose verdict is a number."""
    return any(_declines(part.strip()) for part in _SENTENCE.split(_plain(text)[:LONGEST_REFUSAL]))


def _declines(sentence: str) -> bool:
    return bool(
        _ENGLISH.search(sentence) or _ENGLISH_BARE.search(sentence) or _FRENCH.search(sentence)
    )


def _has_substance(sentence: str) -> bool:
    return len(_WORD.findall(sentence)) > 1 and not _FILLER.search(sentence)


def _plain(text: str) -> str:
    return (
        re.sub(r"[*_`>#]+", "", text[: 2 * LONGEST_REFUSAL])
        .replace("’", "'")
        .replace("‘", "'")
        .strip()
    )
