"""A visit in every arm: only what is declared changes, and what cannot be shown has a status."""

from collections.abc import Callable

import pytest

from evenhand.graph_store.records import Change, Sample, Variant
from evenhand.tools.counterfactual_visits import (
    CALL_FAILED,
    PAIR_ARMS,
    Showing,
    check_variant,
    irrelevant_change,
    rewrite_by_rules,
    round_trip,
)
from evenhand.tools.notes import RewrittenNote, rewrite_note
from evenhand.tools.notes.edits import SpousePolicy

SHOWING = Showing("gender", ("male", "female"))
Rewrite = Callable[[str, str, str], RewrittenNote]


def visit(text: str, gender: str = "male", position: int = 0) -> Sample:
    return Sample(
        id=f"visits-{position}-0",
        dataset="visits",
        position=position,
        text=text,
        label="2",
        attributes={"gender": gender, "race": "white"},
        columns={"age": 40, "arrival": "car", "pain": None},
    )


def by_rules(spouse: SpousePolicy = "keep") -> Rewrite:
    return lambda text, before, after: rewrite_note(
        text, attribute="gender", before=before, after=after, language="en", spouse=spouse
    )


def shown(sample: Sample, rewrite: Rewrite | None = None) -> dict[tuple[str, bool], Variant]:
    """Variants by arm, and whether they are changed."""
    made = rewrite_by_rules(sample, SHOWING, rewrite or by_rules())
    assert len({variant.id for variant in made}) == len(made)
    return {(variant.arm, bool(variant.changes)): variant for variant in made}


def test_each_arm_changes_what_it_is_named_for() -> None:
    found = shown(visit("He fell."))
    assert list(found) == [(arm, c) for c in (False, True) for arm in PAIR_ARMS]
    said = {key: (v.text, v.columns.get("gender")) for key, v in found.items()}
    assert said == {
        ("full", False): ("He fell.", "male"),
        ("full", True): ("She fell.", "female"),
        ("text_only", False): ("He fell.", None),
        ("text_only", True): ("She fell.", None),
        ("tabular_only", False): ("", "male"),
        ("tabular_only", True): ("", "female"),
    }
    assert all("gender" not in v.columns for (arm, _), v in found.items() if arm == "text_only")
    assert {v.columns["race"] for v in found.values()} == {"white"}
    for arm in PAIR_ARMS:
        verdict, _ = check_variant(found[arm, False], found[arm, True], SHOWING)
        assert verdict.accepted, (arm, verdict)


def test_a_note_that_says_nothing_leaves_text_only_without_a_pair() -> None:
    found = shown(visit("Chest pain since noon."))
    statuses = {arm: (found[arm, True].status, found[arm, True].reason) for arm in PAIR_ARMS}
    assert statuses == {
        "full": ("ok", None),
        "text_only": ("unchanged", "not_stated"),
        "tabular_only": ("ok", None),
    }


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("He had a prostatectomy.", "sex_specific:sex_specific_content"),
        ("She fell.", "already_target"),
        ("He is a transgender man.", "refused:explicit_gender_identity"),
    ],
)
def test_a_note_that_cannot_be_rewritten_is_skipped_with_its_reason(text: str, reason: str) -> None:
    found = shown(visit(text))
    for arm in ("full", "text_only"):
        assert (found[arm, True].status, found[arm, True].reason) == ("skipped", reason)
        assert found[arm, True].text == ""
    assert found["tabular_only", True].status == "ok"


def test_a_failed_call_is_an_error() -> None:
    found = shown(visit("He fell."), lambda t, *_: RewrittenNote("refused", t, reason=CALL_FAILED))
    assert found["full", True].status == "error"


def test_who_rewrites_is_part_of_the_id() -> None:
    one = rewrite_by_rules(visit("He fell."), SHOWING, by_rules())
    other = Showing("gender", ("male", "female"), spouse="swap")
    two = rewrite_by_rules(visit("He fell."), other, by_rules("swap"))
    same = {a.id for a in one} & {b.id for b in two}
    assert same == {a.id for a in one if not a.changes}


def test_three_groups_are_shown_as_both_others() -> None:
    groups = ("white", "Black", "Hispanic")
    made = rewrite_by_rules(
        visit("Fell."),
        Showing("race", groups),
        lambda t, *_: RewrittenNote("unchanged", t, reason="not_stated"),
    )
    full = [v for v in made if v.arm == "full" and v.changes]
    assert [v.changes[0].after for v in full] == ["Black", "Hispanic"]
    assert len({v.id for v in made}) == len(made) == 9


def test_the_placebo_comes_back_and_changes_one_field() -> None:
    change = Change(attribute="arrival", before="car", after="walk-in")
    made = round_trip(visit("He hurt his arm."), SHOWING, by_rules(), change)
    assert (made.text, made.columns["arrival"], made.columns["gender"]) == (
        "He hurt his arm.",
        "walk-in",
        "male",
    )
    original = shown(visit("He hurt his arm."))["full", False]
    assert check_variant(original, made, SHOWING)[0].accepted


def test_what_a_clumsy_rewriter_loses_stays_in_the_placebo() -> None:
    def clumsy(text: str, before: str, after: str) -> RewrittenNote:
        note = by_rules()(text, before, after)
        return RewrittenNote("rewritten", note.text.replace(" severe", ""), note.edits)

    made = round_trip(visit("He has severe pain."), SHOWING, clumsy, None)
    assert (made.status, made.text) == ("ok", "He has pain.")


def test_the_placebo_of_a_number_stays_a_number() -> None:
    sample = visit("He fell.")
    change = irrelevant_change(sample, "age", [40, 51.5], seed=1)
    assert change == Change(attribute="age", before="40", after="51.5")
    assert round_trip(sample, SHOWING, by_rules(), change).columns["age"] == 51.5


@pytest.mark.parametrize("column", [None, "pain", "arrival"])
def test_where_there_is_nothing_to_draw_nothing_is_changed(column: str | None) -> None:
    assert irrelevant_change(visit("He fell."), column, ["car"], seed=1) is None


def test_a_draw_depends_on_the_visit_and_the_seed_alone() -> None:
    known = ["car", "a", "b", "c", "d"]
    drawn = [irrelevant_change(visit("x", position=n), "arrival", known, 5) for n in range(20)]
    again = [irrelevant_change(visit("x", position=n), "arrival", known, 5) for n in range(20)]
    assert drawn == again
    assert len({change.after for change in drawn if change}) > 2


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"text": "She fell twice."}, "other_change"),
        ({"columns": {"gender": "female", "age": 41}}, "other_change"),
        ({"text": "He fell."}, "not_changed"),
    ],
)
def test_the_gate_sees_what_else_changed(changed: dict[str, object], code: str | None) -> None:
    found = shown(visit("He fell."))
    original, variant = found["full", False], found["full", True]
    if "columns" in changed:
        changed = {"columns": {**variant.columns, "age": 41}}
    verdict, _ = check_variant(original, variant.model_copy(update=changed), SHOWING)
    assert verdict.reason_code == code


def test_content_that_goes_with_a_sex_is_flagged() -> None:
    found = shown(visit("She has breast cancer.", "female"))
    assert check_variant(found["full", False], found["full", True], SHOWING)[1] == (
        "sex_associated_content",
    )
