"""Which attributes a sentence names: to be changed, left out, put in another's place, combined."""

import itertools
import re

from evenhand.agents.utterance import REMOVE, Mention, Text, mentions, words

_TOGETHER = (
    r"combined|combination\w*|jointly|together|cross(?:ed|ing)?|intersect\w*|interaction\w*|"
    r"croise\w*|combine\w*|conjointement|ensemble"
)
_PEOPLE_OF_A_PLACE = (
    r"\b(?:women|men|patients|people|woman|man) (?:who (?:live|are) )?"
    r"(?:from|living in|in) (?=[A-Z][a-z])"
)


def find_text_only(text: Text) -> str | None:
    """Return the attribute of "change only the notes, not the sex column": the text-only arm."""
    match = text.take_first(
        r"(?:(?:change|modif\w+)\W+(?:only |just )?(?:que )?(?:the |le )?(?:notes?|text\w*)\W+)?"
        r"(?:but )?(?:not|pas|leave) (?:the |la )?(sex|gender|age|race|sexe) (?:column|field)"
        r"|(?:ne )?modif\w+ (?:que |uniquement )?le texte\W+pas la colonne (sexe|age)"
    )
    if match is None:
        return None
    name = match.group(1) or match.group(2)
    return "gender" if name.lower() in ("sex", "sexe", "gender") else name.lower()


def find_attributes(text: Text) -> tuple[list[str], list[Mention], bool, bool]:
    """Return attributes taken away, asked for, whether one is swapped, and forbidden to change."""
    table = words("attributes")
    either = {name: "|".join(patterns) for name, patterns in table.items()}
    removed: list[str] = []
    swapped = never = False
    for name, pattern in either.items():
        if text.take_first(rf"(?:never|do not|don't|without) chang\w+ (?:the )?(?:{pattern})"):
            never = True
        if text.take_first(
            rf"(?:swap|replace|exchange|switch) (?:the )?(?:{pattern})(?= (?:for|by|with))"
        ):
            removed.append(name)
            swapped = True
        negated = rf"(?:but )?(?:{REMOVE})(?: the| on)? (?:{pattern})(?! column)"
        if text.take_first(negated):
            removed.append(name)
    place = re.search(_PEOPLE_OF_A_PLACE, text.rest)
    found = mentions(text, table)
    if place:
        found.append(Mention("location", place.end(), place.end()))
    return removed, [m for m in found if m.name not in removed], swapped, never


def find_intersections(sentence: str, found: list[Mention]) -> tuple[tuple[str, ...], ...]:
    """Return the groups of attributes that the sentence asks for in combination."""
    names = sorted({m.name for m in found})
    groups: list[tuple[str, ...]] = []
    spans = sorted(found, key=lambda m: m.start)
    trigger = re.search(rf"\b(?:{_TOGETHER})\b", sentence, re.IGNORECASE)
    for one, two in itertools.pairwise(spans):
        between = sentence[one.end : two.start]
        joined = r"\s*[+x*\u00d7]\s*" + (r"|\s+(?:with|by|avec|par)\s+(?:the )?" if trigger else "")
        if one.name != two.name and re.fullmatch(joined, between):
            groups.append(tuple(sorted((one.name, two.name))))
    if groups or trigger is None or len(names) < 2:
        return tuple(dict.fromkeys(groups))
    if re.search(rf"\ball (?:of them |\d+ )?(?:{_TOGETHER})", sentence, re.IGNORECASE):
        return (tuple(names),)
    clause = _clause(sentence, trigger)
    inside = sorted({m.name for m in found if clause[0] <= m.start < clause[1]})
    return (tuple(inside if len(inside) > 1 else names),)


def _clause(sentence: str, trigger: re.Match[str]) -> tuple[int, int]:
    """Return where the clause begins and ends that holds the word "combined"."""
    stops = [m.end() for m in re.finditer(r"[;.:]|,? (?:and|et) (?:also|aussi)\b", sentence)]
    start = max([0, *(s for s in stops if s <= trigger.start())])
    end = min([len(sentence), *(s for s in stops if s > trigger.end())])
    return start, end
