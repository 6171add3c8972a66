"""What a comparison says beside its numbers."""

import dataclasses
from typing import Any

import pytest

from evenhand.graph_store.records import Measurement
from evenhand.tools.comparison import Comparison
from evenhand.tools.contrasts import Contrast
from evenhand.tools.plan_differences import PlanDifference
from evenhand.ui.comparison_tables import note_sentences, print_comparison
from evenhand.ui.tables import print_paired_changes

CONTRAST = Contrast(
    metric="paired_change_net",
    first_arm="no_hop",
    second_arm="no_hop",
    groups=("age",),
    status="ok",
    first=0.0,
    second=0.3,
    value=0.3,
    low=0.1,
    high=0.5,
    n=20,
    unscored={},
    p=0.02,
    p_adjusted=0.04,
    method="Tango score",
    family="paired_change_net",
    confirmatory=True,
    flags=(),
    reason_code=None,
)
COMPARISON = Comparison("kg-a", "kg-b", (), 20, 0, 0, 0, (CONTRAST,), ())


def contrast(**fields: Any) -> Contrast:
    return dataclasses.replace(CONTRAST, **fields)


def comparison(**fields: Any) -> Comparison:
    return dataclasses.replace(COMPARISON, **fields)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("target.model",), False),
        (("target.model", "target.temperature"), False),
        (("target.model", "judge.model"), True),
        (("n", "seed"), False),
    ],
)
def test_two_roles_that_differ_cannot_be_told_apart(names: tuple[str, ...], said: bool) -> None:
    differences = tuple(PlanDifference(name, "a", "b") for name in names)
    notes = note_sentences(comparison(differences=differences))
    assert any("may come from either" in note for note in notes) == said


def test_few_samples_and_other_words_are_said() -> None:
    notes = note_sentences(comparison(contrasts=(contrast(flags=("other_texts",)),)))
    assert any("in other words" in note for note in notes)
    assert any("below about 20 points" in note for note in notes)
    assert not note_sentences(comparison(shared_samples=21))


def test_what_no_source_could_have_is_left_out_in_one_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    empty: dict[str, Any] = {"status": "not_estimable", "value": None, "n": 0}
    nothing = contrast(**empty, groups=("added:age",), unscored={"first_not_needed": 20})
    refused = contrast(**empty, groups=("gender",), unscored={"first_answer_refused": 20})
    print_comparison(comparison(contrasts=(CONTRAST, nothing, refused)))
    shown = capsys.readouterr().out
    assert "1 comparison left out" in shown
    assert "age (added)" not in shown
    assert "gender" in shown
    assert "+30.0 points [10.0, 50.0]" in shown


def test_a_table_of_a_run_leaves_them_out_as_well(capsys: pytest.CaptureFixture[str]) -> None:
    def net(group: str, reason: str) -> Measurement:
        return Measurement(
            id=group,
            status="not_estimable",
            metric="paired_change_net",
            arm="no_hop",
            groups=(group,),
            reason_code=reason,
        )

    print_paired_changes([net("added:age", "not_needed"), net("gender", "all_unscored")])
    shown = capsys.readouterr().out
    assert "age (added)" not in shown
    assert "gender" in shown
    assert "1 row left out" in shown
