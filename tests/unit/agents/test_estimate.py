"""A plan is checked, filled and priced before anything costs a call."""

import pytest

from evenhand.agents.estimate import check_plan, count_calls, estimate, least_effect_sentence
from evenhand.agents.plan import DEFAULT_ROLES, Plan, RoleModel
from evenhand.graph_store.errors import UserError


def plan(**changes: object) -> Plan:
    target = RoleModel(model=str(changes.pop("target", "planted/fair")))
    return Plan.model_validate({"n": 6, **changes, "roles": {**DEFAULT_ROLES, "target": target}})


def test_the_recipe_fills_what_the_plan_leaves_open() -> None:
    filled = check_plan(plan())
    assert filled.attributes == ("age", "gender", "location")
    assert filled.intersections == (("age", "gender"),)
    assert filled.asked == ("original", "no_hop", "multi_hop")
    assert check_plan(filled) == filled


def test_named_attributes_are_changed_alone_unless_an_intersection_is_named_too() -> None:
    assert check_plan(plan(attributes=("age", "gender"))).intersections == ()
    both = check_plan(plan(attributes=("age",), intersections=(("age", "location"),)))
    assert both.intersections == (("age", "location"),)


def test_calls_are_counted_by_role() -> None:
    filled = check_plan(plan())
    # 6 samples: original; base, 3 attributes, 1 intersection, placebo in 2 ways; repeat in 2 ways.
    assert count_calls(filled, 6) == {"target": 6 * (1 + 6 * 2 + 2)}
    judged = filled.model_copy(
        update={"roles": {**filled.roles, "judge": RoleModel(model="echo/garbage")}}
    )
    assert count_calls(judged, 6)["judge"] == 6 * 13


def test_an_estimate_says_that_nothing_leaves_the_machine() -> None:
    made = estimate(plan(target="local"))
    assert made.hosts == ()
    assert made.cost_usd == 0
    assert made.total_calls == 90


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
        ({"target": "locl"}, "locl", "local"),
        ({"target": "planted/nonsense"}, "nonsense", "location"),
        ({"target": "rules"}, "rules", "planted/fair"),
        ({"dataset": "trinds"}, "trinds", "--path"),
        ({"dataset": "trinds", "path": "no_such_file.csv"}, "no_such_file.csv", "file"),
        ({"target": "replay/no_such_file.jsonl"}, "no_such_file.jsonl", ""),
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


def test_few_questions_show_only_large_effects() -> None:
    assert "36 points" in least_effect_sentence(20)
    assert "57 points" in least_effect_sentence(20)
