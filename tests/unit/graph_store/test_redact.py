import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.graph_store.redact import redact

SECRETS = [
    "sk-proj-abcdefghij0123456789",
    "hf_AbCdEfGhIjKlMnOp1234",
    "ghp_012345678901234567890123456789012345",
    "Authorization: Bearer abcdefghijkl",
    "authorization: basic dXNlcjpwYXNz",
    "Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx",
    "api_key=abcdef123456",
    "x-api-key: abcdef123456",
    "HF_TOKEN=hunterhunter",
    "password: 'hunter2hunter'",
    '{"password": "hunter2hunter"}',
    '{"client_secret":"hunter2hunter"}',
    "bolt://neo4j:hunter2@host:7687",
    "https://user:pa55@example.invalid/v1?x=1",
]
PROSE = [
    "Order a basic metabolic panel and a basic cardiopulmonary assessment.",
    "Sickle cell trait: a bearer of haemoglobin S, bearer mutation-positive.",
    "Prior authorization: required. The secret is rest; token effort.",
    "pk-pharmacokinetics, hf-preserved-ejection, sk-something-in-words",
    "At 10:30 pm@home, ratio 3:1, see http://example.invalid:8000/a and mail a@b.",
    "Password policies and API keys are explained in the manual.",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_what_has_the_form_of_a_secret_does_not_pass(secret: str) -> None:
    for text in (secret, f"before {secret} after", json.dumps({"e": f"x {secret} y"})):
        shown = redact(text)
        assert "[redacted]" in shown
        for part in ("hunter", "abcdef", "dXNl", "eyJzdWIi", "0123456789", "pa55", "AbCdEf"):
            assert part not in shown


@pytest.mark.parametrize("text", PROSE)
def test_words_of_a_note_pass_untouched(text: str) -> None:
    assert redact(text) == text


def test_values_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", 'plain words "quoted"')
    monkeypatch.setenv("LONGER_SECRET", 'plain words "quoted" and more')
    monkeypatch.setenv("SHORT_TOKEN", "abc")
    monkeypatch.setenv("KEYBOARD", "qwertyuiop")
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "falsehood")
    assert redact('a plain words "quoted" b') == "a [redacted] b"
    assert redact('plain words "quoted" and more') == "[redacted]"
    line = json.dumps({"text": 'say plain words "quoted" now'})
    assert json.loads(redact(line)) == {"text": "say [redacted] now"}
    assert redact("abc qwertyuiop falsehood") == "abc qwertyuiop falsehood"


FRAGMENTS = st.sampled_from(
    [
        *("http://", "x", "@host", ":", '"', "\\", " ", "]", "}", ",", "'", "{"),
        *("token", "password", "secret=", "api_key", "bearer ", "basic ", "Authorization: "),
        *("abcdefgh", "12345678"),
    ]
)
TEXTS = st.lists(FRAGMENTS, max_size=8).map("".join)
NAMES = st.sampled_from(["text", "token", "password", "http://", "api_key=", "x", "authorization:"])
VALUES = TEXTS | st.integers() | st.none() | st.booleans() | st.lists(TEXTS | st.integers())


@given(st.dictionaries(NAMES, VALUES), st.sampled_from([None, (",", ":")]))
def test_a_line_of_json_stays_one_and_keeps_its_fields(
    fields: dict[str, object], separators: tuple[str, str] | None
) -> None:
    kept = json.loads(redact(json.dumps(fields, separators=separators)))
    assert list(kept) == list(fields)
    assert [type(value) for value in kept.values()] == [type(value) for value in fields.values()]


@given(TEXTS)
def test_twice_is_as_once(text: str) -> None:
    assert redact(redact(text)) == redact(text)


def test_a_long_text_takes_no_time() -> None:
    text = "token " * 20_000 + "a" * 100_000 + "://" * 10_000 + "basic " + "9" * 100_000
    assert len(redact(text)) < len(text)
