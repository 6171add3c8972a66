"""Visits as a mimic is shown them."""

from typing import Any

import pytest

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Sample
from evenhand.tools.datasets import load_visits
from evenhand.tools.finetune import decisions, fit_plan, open_lent, shown_columns
from evenhand.training.lent import NOTHING_LENT


def visit(**fields: Any) -> Sample:
    made = {"id": "v", "dataset": "d", "position": 0, "text": "fell", "label": "2"} | fields
    return Sample.model_validate(made)


def test_the_attribute_comes_last_and_the_decision_not_at_all() -> None:
    sample = visit(columns={"age": 40}, attributes={"gender": "female"}, reference="3")
    assert list(shown_columns(sample)) == ["age", "gender"]
    found = decisions([sample], ["1", "2", "3"])
    assert found.levels.tolist() == [1]
    assert found.patients == ("v",), "a visit without a patient is its own"
    assert found.rows.texts == ("fell",)


def test_a_column_named_like_an_attribute_is_refused() -> None:
    with pytest.raises(UserError, match="'gender' is a column and an attribute"):
        shown_columns(visit(columns={"gender": "F"}, attributes={"gender": "female"}))


@pytest.mark.parametrize("label", [None, "9"])
def test_a_label_that_is_no_level_is_refused(label: str | None) -> None:
    with pytest.raises(UserError, match="is none of 1, 2"):
        decisions([visit(label=label)], ["1", "2"])


def test_the_halves_are_those_of_the_visits() -> None:
    visits, _ = load_visits("demo_visits", None, 100, 0)
    plan = fit_plan(visits, mimic="random_forest", seed=0, class_weights="balanced")
    assert plan.audit is not None
    assert len(plan.train) + len(plan.audit) == 100
    assert not set(plan.train.patients) & set(plan.audit.patients)
    assert plan.train.rows.kinds == plan.audit.rows.kinds
    assert plan.attributes == ("gender",)
    assert plan.settings is not None
    assert plan.settings.class_weights == "balanced"


def test_a_forest_asks_for_no_embeddings() -> None:
    assert open_lent("random_forest") == NOTHING_LENT
    with pytest.raises(UserError, match="expected one of"):
        open_lent("forest")
