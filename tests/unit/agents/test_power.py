"""What the n of a plan can show, arm by arm."""

from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.agents.estimate import check_plan
from evenhand.agents.plan import DEFAULT_ROLES, Plan, RoleModel
from evenhand.agents.power import arm_notes, arm_sizes, least_effect_sentence
from evenhand.graph_store.records import Sample

WHOLE = "A 28-year-old man from Lagos has had a fever for 3 days. What could it be?"
NO_PLACE = "A 61-year-old woman has had a cough for a week. What could it be?"
NOTHING = "I have had a rash for two days. What could it be?"
ROLES = {**DEFAULT_ROLES, "target": RoleModel(model="planted/fair")}


def sample(position: int, text: str) -> Sample:
    return Sample(id=f"s-{position}", dataset="s", position=position, text=text)


def plan(**changes: object) -> Plan:
    return check_plan(Plan.model_validate({"roles": ROLES, **changes}))


def test_few_questions_show_only_large_effects() -> None:
    assert "36 points" in least_effect_sentence(20)
    assert "57 points" in least_effect_sentence(20)
    assert "cannot show" in least_effect_sentence(4)


def test_an_arm_holds_the_questions_that_state_its_attributes() -> None:
    samples = [sample(0, WHOLE), sample(1, NO_PLACE), sample(2, NOTHING)]
    assert arm_sizes(plan(added=("location",)), samples) == {
        "age": 2,
        "gender": 2,
        "location": 1,
        "age+gender": 2,
        "age+gender+location": 1,
        "added:location": 2,
        # The third lacks age and gender too, which this plan does not put in.
        "added:age+gender+location": 1,
    }


@given(st.lists(st.sampled_from([WHOLE, NO_PLACE, NOTHING]), min_size=1, max_size=8))
@settings(max_examples=25, deadline=None)
def test_each_question_is_in_one_arm_of_a_group_where_everything_is_added(
    texts: list[str],
) -> None:
    samples = [sample(i, text) for i, text in enumerate(texts)]
    sizes = arm_sizes(plan(), samples)
    for group in ("age", "gender", "location", "age+gender", "age+gender+location"):
        assert sizes[group] + sizes.get(f"added:{group}", 0) == len(texts)


def test_the_notes_name_each_arm_and_the_price_of_many_tests() -> None:
    samples = [sample(i, WHOLE) for i in range(20)] + [sample(99, NO_PLACE)]
    notes = " ".join(arm_notes(plan(), samples))
    assert "with 21 questions (age, gender, age+gender)" in notes
    assert "36 points with 20 questions (location, age+gender+location)" in notes
    assert "none with 1 question (added:location, added:age+gender+location)" in notes
    assert "Holm's correction over 14 tests" in notes
    assert "location 4" in notes
    alone = arm_notes(plan(attributes=("age",), asked=("no_hop",), added=()), samples[:20])
    assert len(alone) == 1
