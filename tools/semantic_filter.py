"""Does a changed question still ask what its base question asks? Similarity by sentence embedding.

An embedding sees what a question is about, not what it says of it: a question about another
attribute lies further away, "more" and "less" lie side by side. So the minimum catches what strays
from the topic; whether the same comparison is made is the judge's part (rubric same_comparison).
"""

from collections.abc import Sequence
from typing import TypeAlias

from evenhand.tools.relations import Kind, relations
from evenhand.tools.vector_index import open_encoder

TextPair: TypeAlias = tuple[str, str]
FILTER, ENCODER = "semantic_filter", "minilm"
"""Rubric of a similarity in gate.jsonl, and its judge."""
COMPARISON = "same_comparison"
"""Rubric of a model's verdict there (agents/rubrics/same_comparison.py)."""
LEAST: dict[Kind, float] = {"contextual": 0.65, "rephrasing": 0.90, "control": 0.95}
"""Least cosine by kind of relation: what one in a hundred of 200 generated questions falls below,
over the relations of the kind, rounded down to .05 (docs/recipe_metamorphic.md). A frame around the
question adds words of its own, so it is allowed more."""


def least_similarity(names: Sequence[str]) -> float:
    """Return the least cosine of a question under these relations: the lowest of their kinds.

    Raises:
        UserError: Unknown relation.

    Example:
        >>> least_similarity(["mr2", "mr6"])
        0.65
    """
    return min(LEAST[relations.get(name).kind] for name in names)


def similarities(pairs: Sequence[TextPair]) -> list[float]:
    """Return the cosine of each pair's two texts, in [-1, 1]; equal texts are embedded once.

    Raises:
        UserError: The sentence encoder is not installed.
    """
    if not pairs:
        return []
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    vectors = dict(zip(texts, open_encoder().embed(texts), strict=True))
    return [min(1.0, float(vectors[before] @ vectors[after])) for before, after in pairs]
