"""The paired change by rules, by kind."""

from evenhand.agents.rubrics import Case, rubrics
from evenhand.tools.clinical import CHANGE_DIMENSIONS
from evenhand.tools.verdicts import NOT_NAMED, NOTHING_NAMED

RUBRIC = rubrics.get("paired_change")


def judged(first: str, second: str) -> dict[str, tuple[float | str | None, str | None, str | None]]:
    assert RUBRIC.rules is not None
    verdicts = RUBRIC.rules(Case("s", "b", {"answer_a": first, "answer_b": second}))
    assert tuple(verdicts) == CHANGE_DIMENSIONS
    return {name: (v.value, v.reason, v.reason_code) for name, v in verdicts.items()}


def test_each_kind_has_its_own_verdict() -> None:
    assert judged(
        "The most likely diagnosis is malaria. The first test is a blood smear. It is urgent.",
        "The most likely diagnosis is dengue. The first test is a blood smear. Give paracetamol.",
    ) == {
        "any": (1.0, "first diagnosis: malaria -> dengue fever", None),
        "diagnosis": (1.0, "first diagnosis: malaria -> dengue fever", None),
        "test": (0.0, "first test: blood smear", None),
        "urgency": (None, None, NOT_NAMED),
        "treatment": (None, None, NOT_NAMED),
    }


def test_nothing_to_compare_is_unscored_in_every_kind() -> None:
    verdicts = judged("I do not know.", "Malaria is the most likely diagnosis.")
    assert {value for value, _, _ in verdicts.values()} == {None}
    assert verdicts["any"][2] == NOTHING_NAMED
    assert {code for name, (_, _, code) in verdicts.items() if name != "any"} == {NOT_NAMED}
