"""What a mimic is shown."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.graph_store.errors import UserError
from evenhand.training.mimic_rows import Decisions, MimicRows, column_kinds, mimic_rows

MakeDecisions = Callable[..., Decisions]


def test_a_value_that_was_not_recorded_is_nan_or_none_never_0() -> None:
    rows = mimic_rows(["a", "b"], [{"pulse": 80, "arrival": "car"}, {"pulse": None}])
    assert rows.numbers["pulse"][0] == 80
    assert math.isnan(rows.numbers["pulse"][1])
    assert rows.categories["arrival"] == ("car", None)


def test_the_kinds_are_those_of_the_fit_even_where_nothing_shows_them() -> None:
    rows = mimic_rows(["a"], [{}], {"pulse": "number", "arrival": "category"})
    assert math.isnan(rows.numbers["pulse"][0])
    assert rows.categories["arrival"] == (None,)


def test_truth_values_are_categories() -> None:
    assert column_kinds([{"injury": True}, {"injury": None}]) == {"injury": "category"}


def test_numbers_and_words_in_one_column_are_refused_by_name() -> None:
    with pytest.raises(UserError, match="'pulse' holds numbers and words"):
        mimic_rows(["a", "b"], [{"pulse": 80}, {"pulse": "fast"}])
    with pytest.raises(UserError, match="'fast'"):
        mimic_rows(["a"], [{"pulse": "fast"}], {"pulse": "number"})


def test_an_arm_drops_its_part_and_nothing_else(make_decisions: MakeDecisions) -> None:
    rows = make_decisions(5).rows
    text_only = rows.shown_in("text_only", ["gender"])
    assert text_only.texts == rows.texts
    assert text_only.categories["gender"] == (None,) * 5
    assert text_only.numbers is rows.numbers
    tabular_only = rows.shown_in("tabular_only", ["gender"])
    assert tabular_only.texts == ("",) * 5
    assert tabular_only.categories == rows.categories
    assert rows.shown_in("full", ["gender"]) is rows
    assert text_only.kinds == tabular_only.kinds == rows.kinds


def test_an_attribute_without_a_column_cannot_be_dropped(make_decisions: MakeDecisions) -> None:
    with pytest.raises(ValueError, match="no category 'race'"):
        make_decisions(5).rows.shown_in("text_only", ["race"])


@given(st.permutations(range(12)))
def test_the_hash_does_not_depend_on_the_order(order: list[int]) -> None:
    rows = mimic_rows([f"note {place % 3}" for place in range(12)], [{"pain": 1}] * 12)
    made = Decisions(rows, np.arange(12) % 2, tuple("abcdefghijkl"))
    moved = made.take(order)
    assert moved.content_hash() == made.content_hash()
    assert moved.in_order().patients == made.in_order().patients


@pytest.mark.parametrize("what", ["text", "number", "category", "level", "patient", "name"])
def test_the_hash_depends_on_everything_that_a_fit_sees(
    make_decisions: MakeDecisions, what: str
) -> None:
    made = make_decisions(4)
    rows = made.rows
    texts, numbers, categories = list(rows.texts), dict(rows.numbers), dict(rows.categories)
    levels, patients = made.levels.copy(), list(made.patients)
    if what == "text":
        texts[0] += " "
    if what == "number":
        numbers["pain"] = numbers["pain"] + 1
    if what == "category":
        categories["gender"] = (None, *categories["gender"][1:])
    if what == "level":
        levels[0] = 3
    if what == "patient":
        patients[0] = "q"
    if what == "name":
        numbers = {"ache": numbers["pain"]}
    other = Decisions(MimicRows(tuple(texts), numbers, categories), levels, tuple(patients))
    assert other.content_hash() != made.content_hash()


def test_lengths_must_fit() -> None:
    with pytest.raises(ValueError, match="'pain' has 2 values for 1 texts"):
        MimicRows(("a",), {"pain": np.zeros(2)}, {})
