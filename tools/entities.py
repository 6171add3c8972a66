"""One name an entity: the exact key under which a graph keeps a subject or an object.

Only what is written the same way, or stands in the small table entities.csv, becomes one node.
Likeness merges nothing: hypotension is not hypertension, the left knee not the right one. What
embeddings find near is a suggestion for a person (tools/entity_links.py).
"""

import csv
import re
import unicodedata
from functools import cache
from importlib.resources import files

_HYPHENS = re.compile("[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]")
_QUOTES = {ord("\u2018"): "'", ord("\u2019"): "'", ord("\u201c"): '"', ord("\u201d"): '"'}
_INVISIBLE = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff]")
# IL-2 and COVID-19 keep their hyphen: beside a digit it is part of the name.
_LETTER_HYPHEN = re.compile(r"(?<=[^\W\d_])-(?=[^\W\d_])")
_ARTICLE = re.compile(r"(?:the|an|a) (?=\w)")


def canonical_key(name: str) -> str:
    """Return the key of an entity's name; equal keys are one node of the graph.

    Unicode NFC, case folded, one blank between words, hyphens and quotes of one kind (a hyphen
    between letters is a blank), no punctuation at the ends, no leading article; then a whole name
    that stands in entities.csv (an abbreviation or a synonym) takes the key given there. Plurals,
    numbers, sides and prefixes stay apart. The key of a key is itself.

    Args:
        name: A name as written; may be empty.

    Returns:
        The key; "" where nothing but blanks and punctuation was given.

    Example:
        >>> canonical_key(" HTN. "), canonical_key("Hypotension")
        ('hypertension', 'hypotension')
    """
    key = _plain(name)
    synonyms = _synonyms()
    while key not in synonyms and (article := _ARTICLE.match(key)):
        key = key[article.end() :]
    return synonyms.get(key, key)


def _plain(name: str) -> str:
    text = unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
    text = _HYPHENS.sub("-", _INVISIBLE.sub("", text)).translate(_QUOTES)
    text = " ".join(_LETTER_HYPHEN.sub(" ", text.replace("_", " ")).split())
    return text.rstrip(" .,;:!?\"'").lstrip(" .,;:\"'")


@cache
def _synonyms() -> dict[str, str]:
    text = (files("evenhand.tools") / "entities.csv").read_text(encoding="utf-8")
    return {_plain(row["name"]): _plain(row["key"]) for row in csv.DictReader(text.splitlines())}
