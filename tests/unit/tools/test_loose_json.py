"""JSON as models write it, read without making values up."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.tools.loose_json import MAX_DEPTH, Bare, Members, Value, find_objects, read_value


def plain(value: Value) -> Any:
    """The value as json.loads gives it; other scalars stay Bare."""
    if isinstance(value, Members):
        return {key: plain(v) for key, v in value.pairs}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, Bare):
        try:
            return json.loads(value.text)
        except ValueError:
            return value
    return value


def first(text: str) -> Any:
    return plain(find_objects(text)[0].value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1}', {"a": 1}),
        ("{'a': 'it\\'s'}", {"a": "it's"}),
        ("{'a': \"it's\", }", {"a": "it's"}),
        ("{a: 1, b-c: 2}", {"a": 1, "b-c": 2}),
        ('{"a": True}', {"a": Bare("True")}),
        ('{"a": 8/10, "b": 85%}', {"a": Bare("8/10"), "b": Bare("85%")}),
        ('{"a": 0,7}', {"a": Bare("0,7")}),
        ('{"a": [1, 2,], "b": [[3]]}', {"a": [1, 2], "b": [[3]]}),
        ('{"a": 1 /* x */, "b": 2 // y\n}', {"a": 1, "b": 2}),
        ('{"a": "x // y, }"}', {"a": "x // y, }"}),
        ('{"a": "two\nlines"}', {"a": "two\nlines"}),
        ('{"a": "\\ud83d\\ude00 \\ud83d \\x41"}', {"a": "\U0001f600 \ufffd A"}),
    ],
)
def test_an_object_is_read(text: str, expected: object) -> None:
    assert first(text) == expected
    assert find_objects(text)[0].spans(text)


def test_duplicate_keys_are_kept() -> None:
    assert find_objects('{"a": 1, "a": 2}')[0].value.pairs == [("a", Bare("1")), ("a", Bare("2"))]


@pytest.mark.parametrize("text", ["0x1", "1_0", "NaN", "1+2j", "0."])
def test_no_number_is_made_of_what_is_none(text: str) -> None:
    assert read_value(text) == Bare(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 0.4, "b": "x', {"a": 0.4}),
        ('{"a": 0.4', {}),
        ('{"a": 0.4\n', {"a": 0.4}),
        ('{"a": 0.4,', {"a": 0.4}),
        ('{"a": 0,', {}),
        ('{"a": {"b": 1, "c": 2', {"a": {"b": 1}}),
        ('{"a": [{"b": 1}, {"b": 2', {"a": [{"b": 1}, {}]}),
        ('{"a": [1, 2', {"a": [1]}),
        ('{"a"', None),
        ('{"a":', {}),
    ],
)
def test_a_cut_object_keeps_what_is_complete(text: str, expected: object) -> None:
    found = find_objects(text)
    assert (plain(found[0].value) if found else None) == expected
    assert all(f.state == "cut" and f.end == len(text) for f in found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1, "b": "he said "no" to it"}', {"a": 1, "b": "he said "}),
        ('{"a": 1:2}', {}),
        ('{"a": 1]}', {}),
    ],
)
def test_a_broken_object_keeps_what_is_certain(text: str, expected: object) -> None:
    found = find_objects(text)[0]
    assert (found.state, plain(found.value)) == ("broken", expected)


def test_braces_of_prose_are_no_objects() -> None:
    assert find_objects('{step} {} { } {"x"} "{" {1}') == []
    assert first('Use "{" first. {"a": 1}') == {"a": 1}


def test_nesting_is_bounded() -> None:
    deep = '{"a":' * (MAX_DEPTH + 2) + "1" + "}" * (MAX_DEPTH + 2)
    assert find_objects(deep)[0].state == "broken"
    assert read_value("[" * 100_000) is None


@pytest.mark.parametrize("text", ["", "a: 1", "{} x", '"a" "b"', "[1", '{"a": 1} {"a": 2}'])
def test_what_is_not_one_value_is_none(text: str) -> None:
    assert read_value(text) is None


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(_JSON, st.sampled_from([None, 0, 2]), st.booleans())
@settings(max_examples=300, deadline=None)
def test_every_json_text_is_read_as_json(document: Any, indent: int | None, ascii_: bool) -> None:
    text = json.dumps(document, indent=indent, ensure_ascii=ascii_)
    value = read_value(text)
    assert value is not None
    assert plain(value) == json.loads(text)


@given(st.dictionaries(st.text(max_size=5), st.none() | st.booleans() | st.text(max_size=8)))
@settings(max_examples=200, deadline=None)
def test_every_python_dict_of_strings_is_read(document: dict[str, object]) -> None:
    value = read_value(repr(document))
    assert isinstance(value, Members)
    strings = {key: v for key, v in plain(value).items() if isinstance(v, str)}
    assert strings == {key: v for key, v in document.items() if isinstance(v, str)}


@given(st.text())
@settings(max_examples=300, deadline=None)
def test_any_text_is_survived(text: str) -> None:
    find_objects(text)
    read_value(text)
