import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.graph_store.records import child_id
from evenhand.graph_store.schema import (
    IDENTIFIER,
    LINK_TYPES,
    RELATED_TO,
    clean_text,
    label_of,
    position_of,
    predicate_key,
    relation_type,
    source_of,
)

ANY_TEXT = st.text(st.characters(), max_size=200)


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        ("is treated with", "IS_TREATED_WITH"),
        ("  Is  treated\nwith ", "IS_TREATED_WITH"),
        ("co-occurs with", "CO_OCCURS_WITH"),
        ("has_age", "HAS_AGE"),
        ("provoqué par", "PROVOQUE_PAR"),
        ("ﬁts", "FITS"),
        ("2nd line for", "REL_2ND_LINE_FOR"),
        ("TREATS`]->(x) DETACH DELETE x //", "TREATS_X_DETACH_DELETE_X"),
        ("perturbs", "REL_PERTURBS"),
        ("", RELATED_TO),
        (" -> ", RELATED_TO),
        ("🩺", RELATED_TO),
    ],
)
def test_relation_types(predicate: str, expected: str) -> None:
    assert relation_type(predicate) == expected


def test_other_scripts_and_long_predicates_keep_types_of_their_own() -> None:
    predicates = [
        "用于治疗",
        "治疗",
        "лечит",
        "αω blocks",
        "β blocks",
        "a" * 99,
        "a" * 100,
        "9" * 64,
        "علاج",
    ]
    types = [relation_type(predicate) for predicate in predicates]
    assert len(set(types)) == len(types)
    assert RELATED_TO not in types
    assert relation_type("αω blocks").startswith("BLOCKS_")


@given(ANY_TEXT | st.text("a 9", min_size=55, max_size=75))
def test_every_relation_type_is_a_short_identifier_of_its_own_kind(predicate: str) -> None:
    name = relation_type(predicate)
    assert name
    assert IDENTIFIER.fullmatch(name)
    assert len(name) <= 64
    assert name not in LINK_TYPES
    assert relation_type(name) == name


@given(ANY_TEXT)
def test_predicates_that_are_the_same_have_the_same_type(predicate: str) -> None:
    key = predicate_key(predicate)
    assert predicate_key(key) == key
    assert relation_type(f"  {key.upper()} ") == relation_type(key.upper())


@given(ANY_TEXT)
def test_clean_text_can_be_stored_and_is_stable(text: str) -> None:
    cleaned = clean_text(text)
    cleaned.encode()
    assert clean_text(cleaned) == cleaned
    assert unicodedata.is_normalized("NFC", cleaned)


def test_half_a_surrogate_pair_becomes_a_replacement_sign() -> None:
    assert clean_text("a\ud83db") == "a\ufffdb"


def test_ids_say_what_they_are() -> None:
    sample = "demo-12-9f3ac2e1"
    variant = child_id(sample, "v", 3, "location")
    answer = child_id(variant, "a", 2, "multi_hop")
    triple = child_id(answer, "t", 11, "a", "b", "c")
    assert label_of(sample) == "Sample"
    assert label_of(variant) == "Variant"
    assert label_of(answer) == "Answer"
    assert label_of(child_id(answer, "j", 0, "age")) == "Judgement"
    assert label_of(child_id(variant, "g", 0, "validity")) == "Judgement"
    assert (position_of(triple), position_of(sample)) == (11, 0)
    assert (source_of(triple), source_of(answer)) == (answer, answer)
