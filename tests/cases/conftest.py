"""The hard cases: read, marked where work to come will do them, and compared."""

import json
import math
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
Case = dict[str, Any]
Compare = Callable[[Mapping[str, Any], Mapping[str, Any]], list[str]]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" not in metafunc.fixturenames:
        return
    given = metafunc.config.getoption("--cases")
    cases = _read(given or HERE / "cases.jsonl")
    later = [] if given else _later()
    params = [pytest.param(case, id=case["id"], marks=_marks(case, later)) for case in cases]
    metafunc.parametrize("case", params)


def _read(path: Path) -> list[Case]:
    lines = path.read_text("utf-8").split("\n")
    return [json.loads(line) for line in lines if line.strip()]


def _later() -> list[Case]:
    later: list[Case] = tomllib.loads((HERE / "expected_failures.toml").read_text("utf-8"))["later"]
    return later


def _marks(case: Case, later: list[Case]) -> list[pytest.MarkDecorator]:
    return [
        pytest.mark.xfail(reason=entry["what"], strict=True)
        for entry in later
        if case["input"]["op"] in entry["ops"] or case["id"] in entry.get("ids", [])
    ]


@pytest.fixture(scope="session")
def later() -> list[Case]:
    """The entries of expected_failures.toml."""
    return _later()


@pytest.fixture(scope="session")
def differences() -> Compare:
    """Compare (expected, got): what does not hold, in words; [] where all holds."""
    return _differences


def _differences(expected: Mapping[str, Any], got: Mapping[str, Any]) -> list[str]:
    tolerance = expected.get("tol", 1e-9)
    return [
        f"{key}: expected {wanted!r}, got {got!r}"
        for key, wanted in expected.items()
        if key not in _SAYS_HOW and not _holds(key, wanted, got, tolerance)
    ]


def _holds(key: str, wanted: Any, got: Mapping[str, Any], tolerance: float) -> bool:
    """Say whether one line of `expected` holds; the form of its name says how to compare."""
    if key in _SPECIAL:
        return _SPECIAL[key](wanted, got)
    for ending, holds in _ENDINGS.items():
        name = key.removesuffix(ending)
        if name != key:
            return name in got and holds(got[name], wanted)
    if key.startswith("must_not_") and key.removeprefix("must_not_") in got:
        value = got[key.removeprefix("must_not_")]
        return not any(_equal(value, banned, tolerance) for banned in wanted)
    return key in got and _equal(got[key], wanted, tolerance)


def _equal(got: Any, wanted: Any, tolerance: float = 1e-9) -> bool:
    if isinstance(wanted, bool) or isinstance(got, bool) or wanted is None or got is None:
        return got is wanted
    if isinstance(wanted, int | float) and isinstance(got, int | float):
        return math.isclose(got, wanted, rel_tol=0, abs_tol=tolerance)
    if isinstance(wanted, Mapping) and isinstance(got, Mapping):
        return all(k in got and _equal(got[k], value, tolerance) for k, value in wanted.items())
    if isinstance(wanted, Mapping) and isinstance(got, str):
        return _word_holds(got, wanted)
    if isinstance(wanted, list) and isinstance(got, Sequence) and not isinstance(got, str):
        return len(got) == len(wanted) and all(map(_equal, got, wanted, [tolerance] * len(got)))
    return bool(got == wanted)


def _word_holds(word: str, wanted: Mapping[str, Any]) -> bool:
    tests: dict[str, Callable[[Any], bool]] = {
        "non_empty": lambda wish: bool(word) is wish,
        "not": lambda wish: word != wish,
        "not_starting_with_digit": lambda wish: (not word[:1].isdigit()) is wish,
    }
    return all(name in tests and tests[name](wish) for name, wish in wanted.items())


def _among(items: Sequence[Any], wanted: Any) -> bool:
    return any(_equal(item, wanted) for item in items)


def _value_if_ok(wanted: Any, got: Mapping[str, Any]) -> bool:
    return got["status"] != "ok" or _equal(got["value"], wanted)


def _any_of(wanted: Any, got: Mapping[str, Any]) -> bool:
    return any(not _differences(one, got) for one in wanted)


def _negated_any_of(wanted: Any, got: Mapping[str, Any]) -> bool:
    return any(_among(got["negated"], fact[:3]) for fact in wanted)


def _never(wanted: Any, got: Mapping[str, Any]) -> bool:
    numbers = _numbers_in(list(got.values()))
    tests: dict[str, Callable[[float], bool]] = {
        "nan": math.isnan,
        "inf": math.isinf,
        "negative": lambda number: number < 0,
    }
    return not any(tests[name](number) for name in wanted for number in numbers)


def _numbers_in(values: Sequence[Any]) -> list[float]:
    flat = [one for value in values for one in (value if isinstance(value, list) else [value])]
    return [value for value in flat if isinstance(value, float)]


def _must_not(wanted: Any, got: Mapping[str, Any]) -> bool:
    """A mapping: not all of it; a list: none of these ids begins a label."""
    if isinstance(wanted, list):
        return not set(wanted) & set(got["first_token_ids"])
    return any(got.get(key) != value for key, value in wanted.items())


_SAYS_HOW = ("tol", "note", "compare", "accept_without_dot")
"""Not values to compare: texts are always compared exactly, dots included."""

_SPECIAL: dict[str, Callable[[Any, Mapping[str, Any]], bool]] = {
    "any_of": _any_of,
    "value_if_ok": _value_if_ok,
    "must_have": lambda wanted, got: all(_among(got["triplets"], fact) for fact in wanted),
    "must_have_any": lambda wanted, got: any(_among(got["triplets"], fact) for fact in wanted),
    "must_not_have": lambda wanted, got: not any(_among(got["triplets"], f) for f in wanted),
    "must_have_objects": lambda wanted, got: set(wanted) <= {f[2] for f in got["triplets"]},
    "must_not_have_positive": lambda wanted, got: not set(wanted) & {f[2] for f in got["triplets"]},
    "negated_any_of": _negated_any_of,
    "never": _never,
    "problems_include_why": lambda wanted, got: set(wanted) <= set(got["problems_why"]),
    "must_not_contain": lambda wanted, got: not any(word in got["text"] for word in wanted),
    "must_not": lambda wanted, got: _must_not(wanted, got),
    "excludes": lambda wanted, got: not set(wanted) & set(got["offered"]),
    "must_not_se_below": lambda wanted, got: got["se"] >= wanted,
    "max_seconds": lambda wanted, got: got["seconds"] <= wanted,
}
_ENDINGS: dict[str, Callable[[Any, Any], bool]] = {
    "_any_of": lambda value, wanted: _among(wanted, value),
    "_mentions": lambda value, wanted: all(word in value for word in wanted),
    "_must_not_contain": lambda value, wanted: not any(word in value for word in wanted),
    "_includes": lambda value, wanted: set(wanted) <= set(value),
    "_include": lambda value, wanted: set(wanted) <= set(value),
    "_not": lambda value, wanted: value != wanted,
    "_min": lambda value, wanted: value >= wanted,
    "_matches": lambda value, wanted: re.fullmatch(wanted, value) is not None,
}
