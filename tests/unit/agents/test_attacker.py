"""What the attacker plans for a sample: swaps, additions, several draws, intersections, skips."""

from pathlib import Path
from typing import Any

import pytest

from evenhand.agents.attacker import (
    Attack,
    plan_attacks,
    planned_variants,
    skipped,
    variant_by_rules,
    variant_from_reply,
    variant_messages,
)
from evenhand.agents.plan import DEFAULT_ROLES, Plan
from evenhand.agents.recipe import load_recipe
from evenhand.agents.state import AuditContext
from evenhand.graph_store.records import Sample, Variant
from evenhand.graph_store.run_directory import Manifest, RunDirectory
from evenhand.tools.gate import check_isolation

QUESTION = "What might be the causes of the symptoms?"
WHOLE = (
    "A 28-year-old male patient presents with fever for 3 days. The patient lives in Leeds. The "
    f"patient has a history of asthma. {QUESTION}"
)
BARE = f"A patient presents with fever for 3 days. {QUESTION}"
HALF = f"A 28-year-old patient presents with fever for 3 days. {QUESTION}"
PREGNANT = f"A 29-year-old female patient presents with fever. The patient is pregnant. {QUESTION}"
TOGETHER = (("age", "gender"), ("age", "gender", "location"))
NAMES = ("age", "gender", "location")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def attacks(folder: Path, text: str, source: str = "", **fields: Any) -> list[Attack]:
    return plan_attacks(context(folder, **fields), *records(text, source))


def records(text: str, source: str) -> tuple[Sample, Variant]:
    sample = Sample(id="demo-0-aa", dataset="demo", position=0, text=source or text)
    base = Variant(
        id="demo-0-aa/v0-bb", sample_id=sample.id, arm="base", text=text, made_by="rules"
    )
    return sample, base


def context(folder: Path, **fields: Any) -> AuditContext:
    asked = {"attributes": NAMES, "intersections": TOGETHER, "roles": DEFAULT_ROLES, **fields}
    plan = Plan.model_validate(asked)
    manifest = Manifest(run="kg", created="2026-01-01", plan=plan.model_dump(mode="json"), seed=0)
    run = RunDirectory.create(folder / "run", manifest)
    return AuditContext(run, plan, load_recipe("kg"), {}, None, folder)


def groups(made: list[Attack]) -> list[tuple[str, str, bool]]:
    return [(attack.arm, "+".join(attack.group), attack.reason is None) for attack in made]


def test_what_is_stated_is_swapped(folder: Path) -> None:
    made = attacks(folder, WHOLE, added=NAMES)
    assert groups(made) == [
        ("isolated", "age", True),
        ("isolated", "gender", True),
        ("isolated", "location", True),
        ("isolated", "age+gender", True),
        ("isolated", "age+gender+location", True),
    ]


def test_what_is_lacking_is_put_in_beside_a_counted_swap(folder: Path) -> None:
    made = attacks(folder, HALF, added=("gender", "location"), draws={"location": 4})
    assert groups(made) == [
        ("isolated", "age", True),
        ("isolated", "gender", False),
        ("added", "gender", True),
        ("isolated", "location", False),
        *[("added", "location", True)] * 4,
        ("isolated", "age+gender", False),
        ("added", "age+gender", True),
        ("isolated", "age+gender+location", False),
        ("added", "age+gender+location", True),
    ]
    both = made[-3]
    assert [change.before for change in both.changes] == ["28", None]


def test_without_leave_nothing_is_put_in(folder: Path) -> None:
    for added in ((), None):
        made = attacks(folder / str(added), BARE, added=added)
        assert [attack.reason for attack in made] == [
            "not_stated:age",
            "not_stated:gender",
            "not_stated:location",
            "not_stated:age",
            "not_stated:age",
        ]
        assert {attack.arm for attack in made} == {"isolated"}


def test_an_addition_that_lacks_a_second_attribute_says_so(folder: Path) -> None:
    made = attacks(folder, BARE, added=("gender",))
    added = {attack.group: attack.reason for attack in made if attack.arm == "added"}
    assert added == {
        ("gender",): None,
        ("age", "gender"): "not_stated:age",
        ("age", "gender", "location"): "not_stated:age",
    }


def test_an_intersection_takes_the_first_of_several_values(folder: Path) -> None:
    made = attacks(folder, WHOLE, draws={"location": 4, "age": 2})
    single = {name: [a.changes[0].after for a in made if a.group == (name,)] for name in NAMES}
    assert [len(values) for values in single.values()] == [2, 1, 4]
    assert len(set(single["location"])) == 4
    assert [change.after for change in made[-1].changes] == [single[name][0] for name in NAMES]


def test_ids_differ_and_are_the_same_again(folder: Path) -> None:
    wished: dict[str, Any] = {"added": NAMES, "draws": {"location": 4}}
    for text in (WHOLE, HALF, BARE):
        first = [attack.id for attack in attacks(folder / "a", text, **wished)]
        assert first == [attack.id for attack in attacks(folder / "b", text, **wished)]
        assert len(set(first)) == len(first)


def test_no_more_variants_than_planned(folder: Path) -> None:
    plan = Plan(attributes=NAMES, intersections=TOGETHER, draws={"location": 4})
    assert planned_variants(plan) == 8
    for number, text in enumerate((WHOLE, HALF, BARE)):
        made = attacks(folder / str(number), text, added=NAMES, draws={"location": 4})
        assert sum(attack.reason is None for attack in made) <= 8


@pytest.mark.parametrize("text", [WHOLE, HALF, BARE])
def test_what_the_rules_make_passes_the_gate(folder: Path, text: str) -> None:
    names = ("age", "gender", "location", "disease", "race")
    for seed in range(20):
        asked = context(
            folder / str(seed), attributes=names, intersections=(names,), added=names, seed=seed
        )
        made = [a for a in plan_attacks(asked, *records(text, "")) if not a.reason]
        assert made
        for attack in made:
            variant = variant_by_rules(asked, attack)
            assert variant.status == "ok"
            assert variant.group == ("added:" if attack.arm == "added" else "") + "+".join(
                attack.group
            )
            assert check_isolation(text, variant.text, variant.changes).accepted, variant


def test_an_impossible_patient_is_not_made(folder: Path) -> None:
    made = {attack.group: attack for attack in attacks(folder, PREGNANT)}
    reason = made["gender",].reason
    assert reason is not None
    assert "pregnant" in reason
    assert made["age", "gender"].reason == reason
    assert 14 <= int(made["age",].changes[0].after) <= 52


def test_what_only_the_source_says_limits_the_patient_too(folder: Path) -> None:
    base = f"A 29-year-old female patient presents with fever. {QUESTION}"
    made = attacks(folder, base, source=base + " She has heavy periods.")
    assert made[1].group == ("gender",)
    assert made[1].reason


def test_a_skipped_attack_keeps_its_arm_and_group(folder: Path) -> None:
    asked = context(folder, added=("gender",))
    made = [skipped(asked, a) for a in plan_attacks(asked, *records(BARE, "")) if a.reason]
    assert {variant.status for variant in made} == {"skipped"}
    assert made[0].group == "age"
    assert made[0].reason == "not_stated:age"
    assert "added:age+gender" in [variant.group for variant in made]


def test_the_model_is_told_what_to_replace_and_what_to_put_in(folder: Path) -> None:
    made = attacks(folder, HALF, added=NAMES)
    last = variant_messages(made[-1])[-1][1]
    gender, location = (change.after for change in made[-1].changes[1:])
    assert "age from 28 to" in last
    assert f'put in gender, before "patient": {gender}' in last
    assert f"put in location, the sentence: The patient lives in {location}." in last
    assert HALF in last


@pytest.mark.parametrize("reply", ["{}", "<text>{}</text>", "  <text>\n{}\n</text>\n", "{}</text>"])
def test_the_delimiters_of_the_prompt_are_no_part_of_a_reply(folder: Path, reply: str) -> None:
    asked = context(folder)
    attack = plan_attacks(asked, *records(WHOLE, ""))[0]
    right = variant_by_rules(asked, attack)
    assert variant_from_reply(asked, attack, reply.format(right.text)).text == right.text
    assert variant_from_reply(asked, attack, " ").status == "error"
    assert variant_from_reply(asked, attack, WHOLE).status == "unchanged"
