"""Rewriting notes: exact, or it says that it cannot; every other byte stays."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.graph_store.errors import UserError
from evenhand.tools.notes import rewrite_note
from evenhand.tools.notes.edits import CannotRewrite, Edit, RewrittenNote, apply_edits
from evenhand.tools.notes.gate import check_note

NOTES = [
    json.loads(line)
    for name in ("notes.jsonl", "triage.jsonl")
    for line in (Path(__file__).parent / name).read_text("utf-8").splitlines()
]


def gender(text: str, before: str = "male", language: str = "en", **named: Any) -> RewrittenNote:
    after = "female" if before == "male" else "male"
    return rewrite_note(
        text, attribute="gender", before=before, after=after, language=language, **named
    )


@pytest.mark.parametrize("note", NOTES, ids=[note["text"][:30] for note in NOTES])
def test_own_notes_read_by_hand(note: dict[str, str]) -> None:
    got = gender(note["text"], note["before"], note["language"])
    assert got.status == note["status"]
    assert (got.text if got.is_pair else got.reason) == note["expected"]


@pytest.mark.parametrize("language", ["en", "fr"])
def test_swapping_twice_gives_the_note_back(
    made_notes: Callable[[str, int], list[str]], language: str
) -> None:
    stated = 0
    for text in made_notes(language, 100):
        there = gender(text, "male", language)
        assert there.status in ("rewritten", "unchanged"), (text, there)
        if there.is_pair:
            stated += 1
            back = gender(there.text, "female", language)
            assert back.text == text
    assert stated >= 95


@pytest.mark.parametrize("language", ["en", "fr"])
def test_made_notes_pass_the_gate(
    made_notes: Callable[[str, int], list[str]], language: str
) -> None:
    for text in made_notes(language, 100):
        there = gender(text, "male", language)
        if there.is_pair:
            verdict = check_note(text, there.text, "gender", "male", "female", language)
            assert verdict.accepted, (verdict, there.text)


@pytest.mark.parametrize("note", NOTES, ids=[note["text"][:30] for note in NOTES])
def test_edits_are_all_that_changed(note: dict[str, str]) -> None:
    got = gender(note["text"], note["before"], note["language"])
    assert apply_edits(note["text"], got.edits) == got.text
    for edit in got.edits:
        assert note["text"][edit.start : edit.end] == edit.before


@given(st.text(max_size=200), st.sampled_from(["en", "fr"]))
def test_any_text_gets_a_status(text: str, language: str) -> None:
    got = gender(text, "male", language)
    assert (got.reason is None) == got.is_pair
    assert got.is_pair or got.text == text


@given(
    st.lists(
        st.sampled_from(
            [
                "he",
                "She ",
                "his ",
                "HER",
                " pain\t",
                "\r\n",
                "Dr. ",
                "il ",
                "la patiente ",
                "fatigué",
                ", ",
                ". ",
            ]
        ),
        max_size=12,
    )
)
def test_what_is_no_word_of_gender_stays_in_place(parts: list[str]) -> None:
    text = "".join(parts)
    got = gender(text)
    assert got.text.count("\n") == text.count("\n")
    assert got.text.count("pain\t") == text.count("pain\t")


def test_spans_move_with_the_text() -> None:
    got = gender("He has asthma; his inhaler was empty.")
    start = got.text.index("inhaler")
    at = "He has asthma; his inhaler was empty.".index("inhaler")
    assert got.moved(at, at + 7) == (start, start + 7)


def test_rules_that_read_the_same_words_differently_refuse() -> None:
    twice = [Edit(0, 2, "ab", "x", "r"), Edit(0, 2, "ab", "x", "s")]
    assert apply_edits("abc", twice) == "xc"
    with pytest.raises(CannotRewrite, match="rules_disagree"):
        apply_edits("abc", [Edit(0, 2, "ab", "x", "r"), Edit(1, 3, "bc", "y", "r")])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("His brother called us. He said he was fine.", "ambiguous_pronoun"),
        ("Mr. John Harlow fell.", "given_name"),
        ("The patient, a transgender man, fell.", "explicit_gender_identity"),
        ("He fell. She is pale.", "mixed_gender"),
    ],
)
def test_what_is_unclear_is_refused_with_its_words(text: str, reason: str) -> None:
    got = gender(text)
    assert (got.status, got.reason) == ("refused", reason)
    assert got.evidence


def test_the_spouse_follows_the_policy_that_is_recorded() -> None:
    text = "He fell. His wife says she found him."
    kept, swapped = gender(text), gender(text, spouse="swap")
    assert (kept.text, kept.spouse) == ("She fell. Her wife says she found her.", "keep")
    assert (swapped.text, swapped.spouse) == ("She fell. Her husband says he found her.", "swap")
    assert "spouse_swapped" in swapped.flags


def test_a_long_text_is_refused_and_not_read() -> None:
    got = gender("He fell. " * 30_000)
    assert (got.status, got.reason) == ("refused", "too_long")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"attribute": "disease"}, "no attribute 'disease'"),
        ({"language": "de"}, "no rules for language 'de'"),
        ({"after": "male"}, "before and after"),
        ({"after": "other"}, "male or female"),
        ({"spouse": "drop"}, "no policy 'drop'"),
    ],
)
def test_a_wrong_request_is_one_sentence(changed: dict[str, Any], message: str) -> None:
    asked = {"attribute": "gender", "before": "male", "after": "female", "language": "en"}
    with pytest.raises(UserError, match=message):
        rewrite_note("He fell.", **{**asked, **changed})


@pytest.mark.parametrize(
    ("attribute", "before", "after", "language", "text", "expected"),
    [
        (
            "age",
            "52",
            "81",
            "en",
            "A 52-year-old man, age 52, with 52 pack-years; room 52.",
            "An 81-year-old man, age 81, with 52 pack-years; room 52.",
        ),
        (
            "age",
            "34",
            "71",
            "en",
            "34F with cough. Her 34-year-old brother is well.",
            "71F with cough. Her 34-year-old brother is well.",
        ),
        (
            "age",
            "40",
            "75",
            "fr",
            "Patiente de 40 ans, suivie depuis 40 ans, poids 40 kg.",
            "Patiente de 75 ans, suivie depuis 40 ans, poids 40 kg.",
        ),
        (
            "race",
            "Asian",
            "Black",
            "en",
            "An Asian woman; the Asian nurse saw her.",
            "A Black woman; the Asian nurse saw her.",
        ),
        (
            "race",
            "Black",
            "White",
            "fr",
            "Patiente noire, selles noires.",
            "Patiente blanche, selles noires.",
        ),
        ("location", "Lyon", "Agen", "fr", "Il vient de Lyon, fièvre.", "Il vient d'Agen, fièvre."),
        ("location", "Leeds", "Accra", "en", "She lives in Leeds.", "She lives in Accra."),
    ],
)
def test_other_attributes(
    attribute: str, before: str, after: str, language: str, text: str, expected: str
) -> None:
    got = rewrite_note(text, attribute=attribute, before=before, after=after, language=language)
    assert got.text == expected
    assert check_note(text, got.text, attribute, before, after, language).accepted


@pytest.mark.parametrize(
    ("attribute", "before", "after", "text", "reason"),
    [
        ("age", "34", "6", "34-year-old, smokes since 19.", "age_inconsistent_content"),
        ("age", "34", "60", "34-year-old man, DOB 03/02/1991.", "birth_date"),
        ("location", "Leeds", "Accra", "Lives in Leeds, works in Leeds.", "other_mention"),
    ],
)
def test_other_attributes_that_cannot_be_changed(
    attribute: str, before: str, after: str, text: str, reason: str
) -> None:
    got = rewrite_note(text, attribute=attribute, before=before, after=after, language="en")
    assert (got.status, got.reason) == ("refused", reason)
