"""A reply without its reasoning."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.tools.replies import Reply, without_thoughts


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("answer", "answer"),
        ("<think>a</think>answer", "answer"),
        ("before <think>a</think> after", "before  after"),
        ("a</think>answer", "answer"),
        ("answer<think>a", "answer"),
        ("<think>a<think>b</think>c</think>answer", "answer"),
        ("<think>a</think>b</think>answer", "answer"),
        ("<Reasoning>a</Reasoning>answer", "answer"),
        ("[THINK]a[/THINK]answer", "answer"),
        ("a < b and c > d", "a < b and c > d"),
        ("I think so", "I think so"),
    ],
)
def test_reasoning_is_taken_out(raw: str, text: str) -> None:
    assert without_thoughts(raw) == text


def test_prose_keeps_its_places() -> None:
    reply = Reply.of('a {"b": 1} c {"d": 2} e', None)
    assert reply.prose == "a " + " " * 8 + " c " + " " * 8 + " e"


def test_how_it_ended() -> None:
    assert Reply.of('{"a": 1', "LENGTH").cut
    assert not Reply.of('{"a": 1', "stop").ends_inside
    assert Reply.of('{"a": 1', None).ends_inside
    assert Reply.of('{"a": "b" c}', None).broken


@given(st.lists(st.sampled_from(["<think>", "</think>", "a", "\n"])).map("".join))
def test_no_tag_is_left(raw: str) -> None:
    assert "think>" not in without_thoughts(raw)
