"""What the graph is made of: labels, relationship types, and names that are safe in a query.

| relationship | from -> to | says |
|---|---|---|
| INCLUDES | Run -> Sample | the run asks about this sample |
| VARIANT_OF | Variant -> Sample | the text was made from this sample |
| PERTURBS {attribute, from, to} | Variant -> Sample | a changed attribute, one each |
| ANSWERS | Answer -> Variant | the target said this when shown that |
| JUDGES | Judgement -> Answer or Variant | a verdict on it |
| COMPARES_WITH | Judgement -> Answer | the other side of a paired verdict |
| MENTIONS | Sample or Answer -> Entity | a triple of this text has that entity |
| a triple's own type | Entity -> Entity | a fact: IS_TREATED_WITH {predicate, run, hop ...} |

Entities are shared by all runs, known by their canonical key; every other node belongs to one run
and is known by run and id, since two runs may ask the same and be told different things.
"""

import functools
import re
import unicodedata
from typing import Literal, get_args

from evenhand.graph_store.records import content_hash

SCHEMA_VERSION = 1

Label = Literal["Run", "Sample", "Entity", "Variant", "Answer", "Judgement"]
LinkType = Literal[
    "INCLUDES", "VARIANT_OF", "PERTURBS", "ANSWERS", "JUDGES", "COMPARES_WITH", "MENTIONS"
]
LABELS: tuple[Label, ...] = get_args(Label)
LINK_TYPES: tuple[LinkType, ...] = get_args(LinkType)

KNOWN_BY: dict[Label, tuple[str, ...]] = {
    label: ("id",) if label == "Entity" else ("run", "id") for label in LABELS
}
"""The properties that a node is merged by: a uniqueness constraint each, which is an index too."""
FOUND_BY: tuple[tuple[Label, str], ...] = (("Sample", "id"), ("Variant", "id"), ("Answer", "id"))
"""Further indexes: a record of any run, by its id."""
SCHEMA_LABEL = "EvenhandSchema"
"""The one node in Neo4j that says which schema the graph has; no part of the graph."""

GATE_RUBRIC = "validity"
"""Rubric of the gate's verdicts on a Variant."""
RELATED_TO = "RELATED_TO"
"""Type of a triple whose predicate has no letter and no digit."""
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LONGEST_TYPE = 64
_HALF_PAIR = re.compile("[\ud800-\udfff]")
_LETTERED_ID = re.compile(r"/([a-z])(\d+)-[0-9a-f]{8}$")
_LETTER_LABELS: dict[str, Label] = {
    "v": "Variant",
    "a": "Answer",
    "j": "Judgement",
    "g": "Judgement",
}


# A model's few predicates come back in every triple.
@functools.lru_cache(maxsize=1024)
def relation_type(predicate: str) -> str:
    """Return a relationship type, safe as an identifier, for a predicate in anyone's words.

    Accents are taken off, letters made upper case, everything else becomes one underscore:
    "is treated with" is IS_TREATED_WITH. What ASCII cannot hold, and what is longer than 64
    characters, ends in a hash of the predicate, so that two such predicates keep two types. A
    digit in front, or one of our own link types, gets the prefix REL_. Without a letter or digit
    it is RELATED_TO. The predicate itself is kept as a property, so nothing is lost.
    """
    text = predicate_key(predicate)
    if not any(character.isalnum() for character in text):
        return RELATED_TO
    folded = _without_accents(text)
    name = re.sub(r"[^A-Z0-9]+", "_", folded.upper()).strip("_")
    if not name or name[0].isdigit() or name in LINK_TYPES:
        name = f"REL_{name}".rstrip("_")
    if len(name) > _LONGEST_TYPE or any(c.isalnum() and not c.isascii() for c in folded):
        name = f"{name[: _LONGEST_TYPE - 9].rstrip('_')}_{content_hash(text).upper()}"
    return name


@functools.lru_cache(maxsize=1024)
def predicate_key(predicate: str) -> str:
    """Return what makes two predicates the same: NFKC, lower case, single spaces."""
    return " ".join(unicodedata.normalize("NFKC", clean_text(predicate)).casefold().split())


def clean_text(text: str) -> str:
    """Return the text in NFC, with a replacement sign for half a surrogate pair.

    Stores compare strings by their code points, and no store can encode half a pair.
    """
    if text.isascii():
        return text
    return _HALF_PAIR.sub("\ufffd", unicodedata.normalize("NFC", text))


def label_of(record_id: str) -> Label:
    """Return the label of a record by the letter in its id: .../v3-a2fe2da7 is a Variant.

    An id without a letter of its own is a Sample's.
    """
    found = _LETTERED_ID.search(record_id)
    return _LETTER_LABELS.get(found.group(1), "Sample") if found else "Sample"


def source_of(record_id: str) -> str:
    """Return the id whose lineage is asked: a triple's source, any other record itself."""
    found = _LETTERED_ID.search(record_id)
    return record_id[: found.start()] if found and found.group(1) == "t" else record_id


def position_of(record_id: str) -> int:
    """Return the position that stands in a record's id, 0 where none does."""
    found = _LETTERED_ID.search(record_id)
    return int(found.group(2)) if found else 0


def _without_accents(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
