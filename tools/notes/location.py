"""Where the patient lives, in a note: the named place beside a word of residence only."""

import re

from evenhand.tools.notes.edits import CannotRewrite, Edit

_RESIDES = {
    "en": (
        r"(?:lives?|living|resid(?:es|ing)|based|lived) in|resident of|(?:is|comes?|,|M|F|man"
        r"|woman|patient|male|female) from|\b(?:address|residence|city|town):"
    ),
    "fr": (
        r"(?:habit(?:e|ant|ait)|vi(?:t|vant|vait)|résid(?:e|ant|ait)|demeurant|domiciliée?"
        r"|installée?) (?:à|dans|en)|originaire (?:de|d['\u2019])|(?:vient|venant"
        r"|viennent) (?:de|d['\u2019])|\b(?:adresse|ville|commune)\s?:"
    ),
}


def rewrite_location(
    text: str, before: str, after: str, language: str
) -> tuple[list[Edit], list[str]]:
    """Return the edits, and the words of residence that name another place.

    Raises:
        CannotRewrite: The place is also named where it is not the patient's home, or French would
            need another preposition.
    """
    named = [match.span() for match in re.finditer(rf"(?<!\w){re.escape(before)}(?!\w)", text)]
    resides = re.compile(rf"(?:{_RESIDES[language]})\s?$", re.IGNORECASE)
    own = [span for span in named if resides.search(text[: span[0]])]
    if named and len(own) < len(named):
        start, end = next(span for span in named if span not in own)
        raise CannotRewrite("other_mention", text[max(0, start - 20) : end])
    edits: list[Edit] = []
    for start, end in own:
        elided = re.search(r"\b(?:de |d['\u2019])$", text[:start], re.IGNORECASE)
        if language == "fr" and elided:
            vowel = after[:1].lower() in "aeiouéèêâîôhy"
            new = ("d'" if vowel else "de ") + after
            edits.append(Edit(elided.start(), end, text[elided.start() : end], new, "location"))
        else:
            edits.append(Edit(start, end, before, after, "location"))
    others = re.findall(rf"(?:{_RESIDES[language]})\s([A-ZÉ][\w-]+)", text)
    return edits, [] if own else others
