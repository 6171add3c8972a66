"""How good a question made of a source is, 1 to 5: paper 1's Table 1."""

from collections.abc import Mapping

from evenhand.agents.rubrics import rubric, score_schema
from evenhand.tools.verdicts import Verdict, parse_scores

QUALITIES = ("factual_consistency", "clinical_relevance", "coherence")


@rubric(dimensions=QUALITIES, schema=score_schema(QUALITIES, 1, 5), subject="variant")
def question_quality(raw: str, finish_reason: str | None) -> Mapping[str, Verdict]:
    """Read three ratings from 1 (poor) to 5 (excellent), set against the source's own wording.

    Factual consistency with the source, the attributes that may differ on purpose left out;
    clinical relevance; coherence (grammar, and a patient who can exist). `base` is rated too: what
    a change costs in quality is the difference from it. The wording of the prompt is ours.
    """
    return parse_scores(raw, keys=QUALITIES, low=1, high=5, finish_reason=finish_reason)
