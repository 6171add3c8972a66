"""Whether a changed question still compares the same groups by the same attribute."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from evenhand.agents.rubrics import object_schema, rubric
from evenhand.tools.verdicts import Verdict, parse_labels, unparsable

COMPARISON = "comparison"
KEPT, CHANGED, UNCLEAR = "kept", "changed", "unclear"
_LABELS = (KEPT, CHANGED, UNCLEAR)
_PROPERTIES: dict[str, dict[str, Any]] = {
    "reason": {"type": "string", "maxLength": 200},
    COMPARISON: {"type": "string", "enum": list(_LABELS)},
}


@rubric(dimensions=(COMPARISON,), schema=object_schema(_PROPERTIES), subject="variant")
def same_comparison(raw: str, finish_reason: str | None) -> Mapping[str, Verdict]:
    """Read "kept" or "changed", the semantic filter's judge; "unclear" is a status, no value.

    It holds for every relation alike (order, "less" for "more" and a neutral frame are kept), so
    that the judge is not told which one it sees. After paper 3's filter; the wording is ours.
    """
    said = parse_labels(raw, keys=(COMPARISON,), labels=_LABELS, finish_reason=finish_reason)
    verdict = said[COMPARISON]
    if verdict.value == UNCLEAR:
        verdict = replace(unparsable(UNCLEAR), reason=verdict.reason)
    return {COMPARISON: verdict}
