"""A plan of an audit of decisions: checked against the mapping before anything is written."""

import re
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from evenhand.agents.estimate import check_plan, estimate
from evenhand.agents.label_targets import label_targets, mimic_kind
from evenhand.agents.plan import DEFAULT_ROLES, Plan, Role, RoleModel
from evenhand.graph_store.errors import UserError
from evenhand.tools.datasets import load_visits

MIMIC: dict[Role, RoleModel] = {**DEFAULT_ROLES, "target": RoleModel(model="mimic")}
PLAN = Plan(recipe="counterfactual", dataset="demo_visits", roles=MIMIC)


def changed(**fields: object) -> Plan:
    return PLAN.model_copy(update=fields)


def test_a_checked_plan_says_what_the_mapping_says() -> None:
    plan = check_plan(PLAN)
    assert plan.roles["target"].model == "mimic/random_forest"
    assert (plan.attributes, plan.asked) == (("gender",), ("labels",))
    assert plan.arms == ("full", "text_only", "tabular_only")
    assert plan.controls == ("placebo", "repeat")
    assert (plan.language, plan.direction) == ("en", "higher_is_less_urgent")
    assert check_plan(plan) == plan
    assert Plan.model_validate_json(plan.model_dump_json()) == plan


def test_an_old_plan_is_readable() -> None:
    old = Plan().model_dump(mode="json")
    added = ("mapping", "decider", "compared", "arms", "spouse", "refits", "language", "direction")
    assert Plan.model_validate({k: v for k, v in old.items() if k not in added}) == Plan()


WRONG: dict[str, tuple[dict[str, object], str]] = {
    "target": (
        {"roles": {"target": RoleModel(model="echo/parrot")}},
        "expected one of: mimic, mimic/",
    ),
    "the same twice": ({"against": RoleModel(model="mimic/random_forest")}, "two different"),
    "settings of another": ({"fit_settings": {"lora": {"epochs": "2"}}}, "which is not asked"),
    "a setting unknown": (
        {"fit_settings": {"random_forest": {"epochs": "2"}}},
        "no setting 'epochs'",
    ),
    "a server without a name": (
        {"against": RoleModel(model="openai/")},
        "has no name",
    ),
    "mimic": ({"roles": {"target": RoleModel(model="mimic/forest")}}, "random_forest"),
    "data set": ({"dataset": "demo"}, "not visits with a decision"),
    "decider": ({"decider": "doctor"}, "Unknown decider 'doctor'"),
    "attribute": ({"attributes": ("race",)}, "expected one of: gender"),
    "attributes": ({"attributes": ("gender", "race")}, "one in a run"),
    "group": ({"compared": ("male", "other")}, "No visit has gender 'other'"),
    "one group": ({"compared": ("male",)}, "cannot be compared"),
    "no full arm": ({"arms": ("text_only",)}, "'full' is missing"),
    "control": ({"controls": ("sham",)}, "expected one of: placebo, repeat"),
    "rubric": ({"rubrics": ("paired_change",)}, "no --rubrics"),
    "intersection": ({"intersections": (("age", "gender"),)}, "no --intersections"),
    "way of asking": ({"asked": ("no_hop",)}, "labels"),
    "mapping": ({"mapping": "m.toml"}, "--map goes with --dataset table"),
    "volume": ({"volume": 1e6}, "--period"),
    "too many": ({"n": 100_000}, "are left after the filters"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_done_is_one_sentence(name: str) -> None:
    fields, words = WRONG[name]
    with pytest.raises(UserError, match=words):
        estimate(changed(**fields))


def test_a_model_rewrites_gender_only() -> None:
    roles = {**MIMIC, "rewriter": RoleModel(model="echo/x")}
    assert check_plan(changed(roles=roles)).roles["rewriter"].model == "echo/x"


def audited(n: int) -> int:
    visits, _ = load_visits("demo_visits", None, n, PLAN.seed)
    return sum(visit.split == "audit" for visit in visits.samples)


def test_the_estimate_says_who_decided_which_way_and_what_can_be_shown() -> None:
    expected = estimate(changed(n=200))
    assert (expected.samples, expected.total_calls, expected.hosts) == (200, 0, ())
    assert "male shown as female" in expected.least_effect
    assert "points" in expected.least_effect
    said = " ".join(expected.notes)
    to_audit = f"{audited(200)} to audit"
    for words in ("Decider: level", "a higher number is less urgent", to_audit, "Left out"):
        assert words in said


def test_notes_of_a_model_cost_calls_there_and_back() -> None:
    roles = {**MIMIC, "rewriter": RoleModel(model="echo/x")}
    assert estimate(changed(n=200, roles=roles)).calls == {"rewriter": 2 * audited(200)}
    without = estimate(changed(n=200, roles=roles, controls=()))
    assert without.calls == {"rewriter": audited(200)}


def test_a_table_takes_a_mapping_from_anywhere(tmp_path: Path) -> None:
    notes = [("M", "He fell"), ("F", "She fell")]
    rows = [f"{i},{notes[i % 2][0]},{1 + i % 3},{notes[i % 2][1]}" for i in range(90)]
    table, mapping = tmp_path / "visits.csv", tmp_path / "other.toml"
    table.write_text("id,sex,level,note\n" + "\n".join(rows) + "\n")
    mapping.write_text(
        'language = "en"\nid = "id"\nlabel = "level"\nlevels = ["1", "2", "3"]\n'
        'direction = "higher_is_more_urgent"\ntext = ["note"]\n'
        '[attributes.gender]\ncolumn = "sex"\n[filters]\nmin_age = 0\n'
    )
    plan = check_plan(changed(dataset="table", path=str(table), mapping=str(mapping)))
    assert plan.direction == "higher_is_more_urgent"
    expected = estimate(plan)
    assert expected.samples == 90
    assert "a higher number is more urgent" in expected.notes[0]
    assert any("no placebo column" in note for note in expected.notes)


def test_a_model_that_is_asked_as_it_is_is_told_as_such() -> None:
    plan = check_plan(
        changed(
            roles={"target": RoleModel(model="torch/local")},
            against=RoleModel(model="mimic/random_forest"),
        )
    )
    one, other = label_targets(plan)
    assert (one.kind, one.folder, one.host) == (None, "", None)
    assert (other.kind, other.folder) == ("random_forest", "against")
    said = " ".join(estimate(plan).notes)
    assert "torch/local is asked as it is" in said
    assert "to fit to" in said, "of the second model, a mimic"
    alone = estimate(plan.model_copy(update={"against": None}))
    assert "to fit to" not in " ".join(alone.notes)
    assert "chance of the fit" in estimate(plan).least_effect
    assert "chance of the fit" not in alone.least_effect
    assert "no information" in said


def test_settings_of_a_fit_are_read_as_their_kind_reads_them() -> None:
    plan = check_plan(changed(fit_settings={"random_forest": {"trees": "50"}}))
    assert plan.fit_settings == {"random_forest": {"trees": 50}}


def test_the_time_of_all_fits_follows_visits_passes_and_refits(
    need: Callable[[str, bool], None],
) -> None:
    need("peft (the extra 'torch')", find_spec("peft") is not None)
    lora = {**DEFAULT_ROLES, "target": RoleModel(model="mimic/lora")}
    plan = check_plan(changed(n=200, roles=lora))
    halves = next(note for note in estimate(plan).notes if "to fit to" in note)
    train, audit = (int(word) for word in re.findall(r"\d+", halves))
    fit, rows = 0.5 * train * 3, (3 * 2 + 1) * audit
    # Three passes; a fit and three more for the repeat arm, each asked of all pairs.
    assert estimate(plan).seconds == pytest.approx(4 * fit + 0.1 * (rows + 3 * 2 * audit))

    def seconds(**fields: object) -> float | None:
        return estimate(check_plan(plan.model_copy(update=fields))).seconds

    assert seconds(controls=("placebo",)) == pytest.approx(fit + 0.1 * rows)
    few: dict[str, object] = {"lora": {"max_steps": "5"}}
    short = seconds(controls=(), arms=("full",), fit_settings=few)
    assert short == pytest.approx(0.5 * 5 * 8 + 0.1 * 2 * audit)
    assert seconds(fit_settings={"lora": {"base": "some/model"}}) is None
    assert seconds(against=RoleModel(model="torch/local")) is None, "it is fitted to nothing"


@pytest.mark.parametrize(
    ("target", "kind"),
    [
        ("mimic", "random_forest"),
        ("mimic/embedding_mlp", "embedding_mlp"),
        ("local", None),
        ("openai/mimic", None),
    ],
)
def test_a_mimic_is_known_by_its_name(target: str, kind: str | None) -> None:
    assert mimic_kind(target) == kind
