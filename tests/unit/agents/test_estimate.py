"""A plan is checked, filled and priced before anything costs a call."""

import pytest

from evenhand.agents.estimate import check_plan, count_calls, estimate
from evenhand.agents.plan import DEFAULT_ROLES, Plan, RoleModel
from evenhand.graph_store.errors import UserError


def plan(**changes: object) -> Plan:
    target = RoleModel(model=str(changes.pop("target", "planted/fair")))
    judge = changes.pop("judge", DEFAULT_ROLES["judge"])
    roles = {**DEFAULT_ROLES, "target": target, "judge": judge}
    return Plan.model_validate({"n": 6, **changes, "roles": roles})


def test_the_recipe_fills_what_the_plan_leaves_open() -> None:
    filled = check_plan(plan())
    assert filled.attributes == ("age", "gender", "location")
    assert filled.intersections == (("age", "gender"), ("age", "gender", "location"))
    assert filled.draws == {"location": 4}
    assert filled.added == ("age", "gender", "location")
    assert filled.controls == ("repeat", "placebo")
    assert filled.rubrics == ("attribute_association", "paired_change")
    assert filled.asked == ("original", "no_hop", "multi_hop")
    assert check_plan(filled) == filled


def test_named_attributes_are_changed_alone_unless_an_intersection_is_named_too() -> None:
    assert check_plan(plan(attributes=("age", "gender"))).intersections == ()
    both = check_plan(plan(attributes=("age",), intersections=(("age", "location"),)))
    assert both.intersections == (("age", "location"),)
    assert both.added == ("age", "location")
    assert both.draws == {}


def test_what_a_plan_says_itself_stays_as_it_says() -> None:
    made = plan(draws={"location": 1, "age": 2}, added=(), controls=())
    filled = check_plan(made)
    assert (filled.draws, filled.added, filled.controls) == ({"location": 1, "age": 2}, (), ())
    assert check_plan(filled) == filled
    assert not filled.has_control("repeat")
    assert not filled.adds("age")
    # 3 attributes (2 ages), 2 intersections and base, in 2 ways; the original.
    assert count_calls(filled, 1) == {"target": 2 * (2 + 1 + 1 + 2 + 1) + 1}


def test_calls_are_counted_by_role() -> None:
    filled = check_plan(plan())
    # A sample: original; base, age, gender, 4 locations, 2 intersections, placebo; repeat; 2 ways.
    assert count_calls(filled, 6) == {"target": 6 * (1 + 10 * 2 + 2)}


GARBAGE = RoleModel(model="echo/garbage")
ASSOCIATED, PAIRED, RATED = 21, (8 + 1 + 1) * 2 * 2, 10
"""Calls a sample: an answer without repeats; a pair in 2 ways and 2 orders; a question."""


@pytest.mark.parametrize(
    ("rubrics", "calls"),
    [
        ((), ASSOCIATED + PAIRED + RATED),
        (("paired_change",), None),
        (("attribute_association",), ASSOCIATED),
        (("pairwise_change",), PAIRED),
        (("question_quality",), RATED),
    ],
)
def test_a_model_as_judge_is_asked_for_each_rubric(
    rubrics: tuple[str, ...], calls: int | None
) -> None:
    filled = check_plan(plan(judge=GARBAGE, rubrics=rubrics))
    assert count_calls(filled, 6).get("judge") == (6 * calls if calls else None)
    # The numbers rest on it and it costs no call.
    assert "paired_change" in filled.rubrics


def test_rules_leave_out_what_needs_a_model_and_say_so() -> None:
    notes = " ".join(estimate(plan()).notes)
    assert "Not judged, as rules cannot: pairwise change, question quality." in notes
    with pytest.raises(UserError, match=r"question_quality.*--judge"):
        check_plan(plan(rubrics=("question_quality",)))
    assert "Not judged" not in " ".join(estimate(plan(judge=GARBAGE)).notes)


def test_a_dearer_judging_costs_more() -> None:
    few = estimate(plan(judge=GARBAGE, rubrics=("attribute_association",)))
    many = estimate(plan(judge=GARBAGE))
    assert many.tokens > 2 * few.tokens


def test_an_estimate_says_that_nothing_leaves_the_machine() -> None:
    made = estimate(plan(target="local"))
    assert made.hosts == ()
    assert made.cost_usd == 0
    assert made.total_calls == 138


def test_the_first_command_of_the_readme_stays_short() -> None:
    assert estimate(plan(target="local", attributes=("gender",))).total_calls == 54


def test_where_text_goes_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-a-real-key")
    made = estimate(plan(target="openai/gpt-4o"))
    assert len(made.hosts) == 1
    assert made.cost_usd is not None
    assert made.cost_usd > 0
    assert made.seconds is None


@pytest.mark.parametrize(
    ("graph", "hosts"),
    [
        ("bolt://127.0.0.1:7687", ()),
        ("neo4j://localhost", ()),
        ("bolt://[::1]:7687", ()),
        ("neo4j+s://graph.example.org:7687", ("graph.example.org",)),
    ],
)
def test_a_graph_elsewhere_is_a_place_that_text_is_sent_to(
    graph: str, hosts: tuple[str, ...]
) -> None:
    assert estimate(plan(graph=graph)).hosts == hosts


@pytest.mark.parametrize(
    ("changes", "named", "expected"),
    [
        ({"recipe": "kgg"}, "kgg", "kg"),
        ({"dataset": "demmo"}, "demmo", "demo"),
        ({"attributes": ("gendre",)}, "gendre", "gender"),
        ({"controls": ("placbo",)}, "placbo", "placebo"),
        ({"asked": ("labels",)}, "labels", "multi_hop"),
        ({"rubrics": ("question_qualty",)}, "question_qualty", "question_quality"),
        ({"draws": {"locaton": 4}}, "locaton", "location"),
        ({"attributes": ("age",), "draws": {"location": 4}}, "location", "age"),
        ({"added": ("gendre",)}, "gendre", "gender"),
        ({"attributes": ("age",), "added": ("location",)}, "location", "age"),
        ({"target": "locl"}, "locl", "local"),
        ({"target": "planted/nonsense"}, "nonsense", "location"),
        ({"target": "rules"}, "rules", "planted/fair"),
        ({"dataset": "trinds"}, "trinds", "--path"),
        ({"dataset": "trinds", "path": "no_such_file.csv"}, "no_such_file.csv", "file"),
        ({"target": "replay/no_such_file.jsonl"}, "no_such_file.jsonl", ""),
        ({"encoder": "no_such_folder"}, "no_such_folder", "minilm"),
        ({"n": 10_000}, "10", "48"),
        ({"graph": "http://127.0.0.1:7687"}, "http", "bolt://HOST:PORT"),
    ],
)
def test_a_mistake_is_named_with_what_was_expected(
    changes: dict[str, object], named: str, expected: str
) -> None:
    with pytest.raises(UserError) as raised:
        estimate(plan(**changes))
    assert named in str(raised.value)
    assert expected in str(raised.value)
    assert "\n" not in str(raised.value)
