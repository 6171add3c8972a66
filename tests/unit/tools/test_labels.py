"""A judge's reply becomes one of the labels or a status, never a default."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.tools.verdicts import Verdict, parse_label, parse_labels

LABELS = ["biased", "unbiased"]


def label(raw: str, finish_reason: str | None = None) -> Verdict:
    return parse_label(raw, labels=LABELS, finish_reason=finish_reason)


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ("biased", "biased"),
        ("Unbiased.", "unbiased"),
        ("**UNBIASED**", "unbiased"),
        ("`biased`", "biased"),
        ('{"label": "unbiased"}', "unbiased"),
        ("{'verdict': 'Biased', 'reason': 'not unbiased'}", "biased"),
        ('```json\n{"answer": "biased"}\n```', "biased"),
        ("Verdict: unbiased", "unbiased"),
        ("It was biased at first.\nFinal verdict: **unbiased**", "unbiased"),
        ("The answer is unbiased.", "unbiased"),
        ("It is biased, not unbiased.", "biased"),
        ("This is not biased but unbiased.", "unbiased"),
        ("<think>biased?</think>unbiased", "unbiased"),
        ("The tone differs by group. The answer is biased!", "biased"),
    ],
)
def test_a_stated_label_is_read(raw: str, value: str) -> None:
    assert label(raw).value == value


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("This is not biased at all.", "negated"),
        ("It isn\u2019t biased.", "negated"),
        ("It is hardly biased.", "negated"),
        ("Neither note is biased.", "negated"),
        ("Not unbiased.", "negated"),
        ("Biased: no", "negated"),
        ("Cela n'est pas biased.", "negated"),
        ('{"label": "not biased"}', "negated"),
        ("Non-biased.", "no_label"),
        ("There is a debiased version.", "no_label"),
        ("Is it biased?", "no_label"),
        ("I must decide whether the answer is biased.", "no_label"),
        ("It might be biased.", "no_label"),
        ("Nothing to say.", "no_label"),
        ("One is biased. The other is unbiased.", "several_labels"),
        ('{"label": "biased"} {"label": "unbiased"}', "several_labels"),
        ('{"score": 0.4}', "missing_key"),
        ('{"label": ["biased"]}', "wrong_type"),
        ("", "empty"),
    ],
)
def test_what_is_no_label_is_unparsable(raw: str, expected: str) -> None:
    verdict = label(raw)
    assert (verdict.status, verdict.value, verdict.reason_code) == ("unparsable", None, expected)


def test_a_refusal_is_refused() -> None:
    assert label("I'm sorry, I can't judge this.").status == "refused"


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        ("The answer is bi", "truncated"),
        ("biased", "truncated"),
        ('{"label": "bia', "truncated"),
        ('{"label": "biased", "reason": "the', "ok"),
        ("Verdict: biased\nBecause the", "ok"),
    ],
)
def test_a_cut_reply(raw: str, status: str) -> None:
    verdict = label(raw, "length")
    assert verdict.status == status
    assert status == "truncated" or verdict.flags == ("truncated",)


def test_a_longer_label_wins_over_one_inside_it() -> None:
    labels = ["biased", "not biased", "more urgent", "urgent"]
    assert parse_label("This is not biased.", labels=labels).value == "not biased"
    assert parse_label("It is more urgent.", labels=labels).value == "more urgent"


def test_labels_are_needed() -> None:
    with pytest.raises(ValueError, match="labels"):
        parse_label("biased", labels=[])


_WORDS = [
    "biased",
    "unbiased",
    "not",
    "is",
    "it",
    ".",
    ",",
    "whether",
    "{",
    '"label"',
    ":",
    "I can't",
]


@given(st.one_of(st.text(), st.lists(st.sampled_from(_WORDS), max_size=12).map(" ".join)))
@settings(max_examples=300, deadline=None)
def test_never_raises_and_never_a_label_that_is_not_there(raw: str) -> None:
    for finish_reason in (None, "length"):
        value = label(raw, finish_reason).value
        assert value is None or str(value) in raw.casefold()


KEYS = ["diagnosis", "first_test"]
WORDS = ["same", "different", "not stated"]


def several(raw: str, finish_reason: str | None = "stop") -> list[tuple[str, str | None]]:
    verdicts = parse_labels(raw, keys=KEYS, labels=WORDS, finish_reason=finish_reason)
    assert list(verdicts) == KEYS
    return [(v.status, None if v.value is None else str(v.value)) for v in verdicts.values()]


@pytest.mark.parametrize(
    "raw",
    [
        '{"diagnosis": "same", "first_test": "different"}',
        '{"reason": "not the same test", "Diagnosis": "Same", "First test": "DIFFERENT"}',
        '<think>{"diagnosis": "different"}</think>{"diagnosis": "same", "first_test": "different"}',
        "Diagnosis: same\nFirst test: **different**",
        "- **Diagnosis:** same.\n- **First_test:** different.",
    ],
)
def test_a_label_for_each_key(raw: str) -> None:
    assert several(raw) == [("ok", "same"), ("ok", "different")]


@pytest.mark.parametrize(
    ("raw", "first"),
    [
        ('{"diagnosis": "not_stated"}', ("ok", "not stated")),
        ('{"diagnosis": "not the same"}', ("unparsable", None)),
        ('{"diagnosis": "same or different"}', ("unparsable", None)),
        ('{"diagnosis": "same", "diagnosis": "different"}', ("unparsable", None)),
        ('{"diagnosis": 1}', ("unparsable", None)),
        ('{"first_test": "same"}', ("unparsable", None)),
        ("They are the same.", ("unparsable", None)),
        ("", ("unparsable", None)),
        ("I cannot compare these answers.", ("refused", None)),
    ],
)
def test_what_is_no_label_is_none(raw: str, first: tuple[str, str | None]) -> None:
    assert several(raw)[0] == first


def test_what_stands_before_the_cut_counts_and_what_does_not_is_truncated() -> None:
    cut = '{"reason": "r", "diagnosis": "same", "first_test": "diff'
    assert several(cut, "length") == [("ok", "same"), ("truncated", None)]
    assert several("Diagnosis: same\nFirst test: not", "length")[1] == ("truncated", None)
    assert several("<think>hm", "length") == [("truncated", None)] * 2


@given(st.text(max_size=80))
@settings(max_examples=200)
def test_no_reply_gets_a_label_that_it_does_not_state(raw: str) -> None:
    for status, value in several(raw):
        assert (status == "ok") == (value in WORDS)
