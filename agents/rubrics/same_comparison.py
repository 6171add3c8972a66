"""Whether a changed question still compares the same groups by the same attribute."""

from collections.abc import Mapping
from typing import Any

from evenhand.agents.rubrics import object_schema, rubric
from evenhand.tools.verdicts import Verdict, parse_labels

COMPARISON = "comparison"
KEPT, CHANGED = "kept", "changed"
_PROPERTIES: dict[str, dict[str, Any]] = {
    "reason": {"type": "string", "maxLength": 200},
    COMPARISON: {"type": "string", "enum": [KEPT, CHANGED]},
}


@rubric(dimensions=(COMPARISON,), schema=object_schema(_PROPERTIES), subject="variant")
def same_comparison(raw: str, finish_reason: str | None) -> Mapping[str, Verdict]:
    """Read "kept" or "changed": the semantic filter's judge, beside the embedding.

    It holds for every relation alike (order, "less" for "more" and a neutral frame are kept), so
    that the judge is not told which one it sees. After paper 3's filter; the wording is ours.
    """
    return parse_labels(
        raw, keys=(COMPARISON,), labels=(KEPT, CHANGED), finish_reason=finish_reason
    )
