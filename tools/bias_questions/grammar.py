"""English of comparison: an attribute -> more of it, less of it, most of it; verbs that agree.

The shipped attributes bring their comparisons (attributes.csv). Any other phrase, as in an imported
file, is compared by rule: an adjective of its own ("are smart" -> "are smarter"), everything else
by likelihood ("commit crimes" -> "are more likely to commit crimes"); a negation turns the degrees
round ("do not lie" -> "are less likely to lie"). Word lists in grammar.toml.
"""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from evenhand.graph_store.errors import UserError
from evenhand.tools.bias_questions.attributes import known_attributes


@dataclass(frozen=True)
class Comparison:
    """The degrees of an attribute, as plural phrases whose first word is the verb."""

    more: str
    less: str
    most: str
    plural: bool = False
    """Whether "who" takes the plural, since the complement is a plural noun: who make better
    parents."""


def comparison(attribute: str) -> Comparison:
    """Return the degrees of an attribute.

    Args:
        attribute: A plural phrase in the present: "are honest", "have patience", "commit crimes".

    Raises:
        UserError: No such phrase ("should be free", "were late", "is late").

    Example:
        >>> comparison("are smart")
        Comparison(more='are smarter', less='are less smart', most='are the smartest', plural=False)
    """
    known = known_attributes().get(attribute)
    if known:
        return Comparison(known.more, known.less, known.most, known.plural)
    negation, infinitive = _infinitive(attribute)
    more, less, most, least = _degrees(infinitive)
    if negation:
        more, less, most = less, more, least
    return Comparison(more, less, most)


def _degrees(infinitive: str) -> tuple[str, str, str, str]:
    """Return more, less, most and least of it as plural phrases."""
    verb, _, rest = infinitive.partition(" ")
    if verb == "be" and is_adjective(rest):
        more, most = compare_adjective(rest)
        return f"are {more}", f"are less {rest}", f"are the {most}", f"are the least {rest}"
    if verb in _words().by_degree:
        before, after = f"{infinitive} ", ""
    else:
        before, after = "are ", f" likely to {infinitive}"
    more, less, most, least = (
        f"{before}{word}{after}" for word in ("more", "less", "the most", "the least")
    )
    return more, less, most, least


def negated(attribute: str) -> str:
    """Return the contrary of a plural phrase.

    Raises:
        UserError: As `comparison`.

    Example:
        >>> negated("are lazy"), negated("steal things"), negated("don't lie")
        ('are not lazy', 'do not steal things', 'lie')
    """
    negation, infinitive = _infinitive(attribute)
    verb, _, rest = infinitive.partition(" ")
    if negation:
        return f"are {rest}" if verb == "be" else infinitive
    return f"are not {rest}" if verb == "be" else f"do not {infinitive}"


def _infinitive(attribute: str) -> tuple[bool, str]:
    """Return whether a plural phrase is negated, and its infinitive without the "to".

    "Are lazy" -> be lazy; "can't afford coats" -> not, be able to afford coats; "will steal" ->
    steal: the likelihood is in what is asked.
    """
    opening, negation = _words().openings, False
    words = attribute.split()
    if words and words[0] in _words().contractions:
        words[:1] = _words().contractions[words[0]].split()
    verb, rest = words[0] if words else "", words[1:]
    if rest and rest[0] == "not":
        negation, rest = True, rest[1:]
    known = verb in _words().verbs or (verb in opening and (verb != "do" or negation))
    if not known or (not rest and verb in opening) or _COMPARES.search(attribute):
        raise UserError(
            f"Attribute {attribute!r} cannot be compared; expected a plural phrase in the present "
            "that compares nothing itself, such as 'are honest', 'help strangers' or 'do not lie'."
        )
    return negation, " ".join([*opening.get(verb, verb).split(), *rest])


_COMPARES = re.compile(r"\bthan\b|\bas \w+(?: \w+)? as\b|^are (?:not )?(?:more|less|most|least)\b")


def is_adjective(word: str) -> bool:
    """Whether a word is an adjective with degrees; a noun ("clowns") or a state ("bald") is not."""
    return word in _words().adjectives or word in _words().short or word in _words().irregular


def compare_adjective(word: str) -> tuple[str, str]:
    """Return comparative and superlative, the latter without its article.

    Example:
        >>> compare_adjective("lazy"), compare_adjective("honest"), compare_adjective("fit")
        (('lazier', 'laziest'), ('more honest', 'most honest'), ('fitter', 'fittest'))
    """
    words = _words()
    if word in words.irregular:
        more, most = words.irregular[word]
        return more, most
    if word not in words.short:
        return f"more {word}", f"most {word}"
    if word.endswith("e"):
        stem = word[:-1]
    elif re.search(r"[^aeiou]y$", word):
        stem = f"{word[:-1]}i"
    else:
        # One vowel before one consonant doubles it: fit, fitter; kind and mean do not.
        single = re.search(r"(?:^|[^aeiou])[aeiou][^aeiouwxy]$", word)
        stem = word + word[-1] if single and len(word) <= 4 else word
    return f"{stem}er", f"{stem}est"


def third_person(verb: str) -> str:
    """Return the form of a verb after "who": are -> is, have -> has, carry -> carries."""
    irregular = {"are": "is", "have": "has"}
    if verb in irregular:
        return irregular[verb]
    if re.search(r"[^aeiou]y$", verb):
        return f"{verb[:-1]}ies"
    return f"{verb}es" if re.search(r"(?:s|x|z|o|ch|sh)$", verb) else f"{verb}s"


@dataclass(frozen=True)
class _Words:
    irregular: dict[str, list[str]]
    short: frozenset[str]
    adjectives: frozenset[str]
    verbs: frozenset[str]
    by_degree: frozenset[str]
    openings: dict[str, str]
    contractions: dict[str, str]


@cache
def _words() -> _Words:
    path = files("evenhand.tools.bias_questions") / "grammar.toml"
    lists = tomllib.loads(path.read_text("utf-8"))
    return _Words(
        irregular=lists["irregular"],
        short=frozenset(lists["short"]),
        adjectives=frozenset(lists["adjectives"]),
        verbs=frozenset(lists["verbs"]),
        by_degree=frozenset(lists["by_degree"]),
        openings=lists["openings"],
        contractions=lists["contractions"],
    )
