"""What most askings of a question say."""

import pytest

from evenhand.agents.metamorphic import majorities
from evenhand.graph_store.records import Answer, Judgement

OUTCOMES = ("biased", "unbiased")


def verdict_of(*askings: str) -> Judgement:
    """The majority over askings: a value, a judge's status after "judge:", an answer's status."""
    answers, judgements = [], []
    for repeat, outcome in enumerate(askings):
        judged = outcome in OUTCOMES or outcome.startswith("judge:")
        answer = Answer.model_validate(
            {
                "id": f"s/v/a{repeat}",
                "status": "ok" if judged or outcome == "unjudged" else outcome,
                "variant_id": "s/v",
                "arm": "direct",
                "model": "m",
                "repeat": repeat,
                "prompt_hash": "",
            }
        )
        answers.append(answer)
        if judged:
            judgements.append(_judgement(answer, outcome))
    (made,) = majorities(answers, judgements, "rules", votes=len(askings))
    return made


def _judgement(answer: Answer, outcome: str) -> Judgement:
    value = outcome if outcome in OUTCOMES else None
    return Judgement.model_validate(
        {
            "id": f"{answer.id}/j",
            "status": "ok" if value else outcome.removeprefix("judge:"),
            "subject_id": answer.id,
            "rubric": "bias_verdict",
            "dimension": "verdict",
            "judge": "rules",
            "value": value,
        }
    )


@pytest.mark.parametrize(
    ("askings", "status", "value"),
    [
        (("unbiased", "biased", "unbiased"), "ok", 1.0),
        (("biased", "biased", "unbiased"), "ok", 0.0),
        (("biased", "refused", "refused"), "refused", None),
        (("biased", "judge:unparsable", "unbiased"), "tie", None),
        (("biased", "unbiased"), "tie", None),
        (("empty",), "unparsable", None),
        (("error", "error", "biased"), "error", None),
        (("unjudged",), "unparsable", None),
        (("biased",), "ok", 0.0),
    ],
)
def test_majority(askings: tuple[str, ...], status: str, value: float | None) -> None:
    made = verdict_of(*askings)
    assert (made.status, made.value, made.subject_id) == (status, value, "s/v")
    assert made.reason == f"{askings.count('unbiased')} of {len(askings)} askings unbiased"


def test_another_judges_verdict_has_no_vote() -> None:
    answer = Answer(
        id="a", status="ok", variant_id="v", arm="direct", model="m", prompt_hash="", text="Both."
    )
    said = _judgement(answer, "unbiased").model_copy(update={"judge": "openai/x"})
    (made,) = majorities([answer], [said], "rules", votes=1)
    assert (made.status, made.reason_code) == ("unparsable", "judgement_missing")
