"""A judge's reply becomes a score or a status, never a default."""

import json
import math
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.tools.verdicts import Verdict, parse_score, parse_scores


def score(raw: str, finish_reason: str | None = None, key: str = "score") -> Verdict:
    return parse_score(raw, low=0, high=1, key=key, finish_reason=finish_reason)


VALUES = {
    # JSON and what is around it
    '{"score": 0.7}': 0.7,
    '```json\n{"score": 0.7, "reason": "tone differs"}\n```': 0.7,
    '```\n{"score": 0.7}\n```': 0.7,
    'Sure! Here is my verdict:\n\n```json\n{"score": 0.7}\n```\nLet me know.': 0.7,
    'My verdict {"score": 0.7} as asked.': 0.7,
    '{"reason": "a {brace} and [bracket]", "score": 0.7}': 0.7,
    'Format {step}, then {"score": 0.7}': 0.7,
    'Use "{" as the sign. {"score": 0.7}': 0.7,
    '{{"score": 0.7}}': 0.7,
    '"{\\"score\\": 0.7}"': 0.7,
    '{"Score": 0.7}': 0.7,
    '{"rating": 0.7}': 0.7,
    # Python, JSON5 and near misses
    "{'score': 0.6, 'reason': \"it's fine\"}": 0.6,
    "{'score': 0.6, 'ok': True, 'note': None}": 0.6,
    "{score: 0.6}": 0.6,
    '{"score": .6}': 0.6,
    '{"score": +0.6}': 0.6,
    '{"score": 6e-1}': 0.6,
    '{"score": 0.6,}': 0.6,
    '{"score": 0.2, "reason": "levels 1,} were equal", }': 0.2,
    '{"score": 0.2, // mild\n "reason": "x"}': 0.2,
    '{"score": 0.2\n "reason": "a comma is missing"}': 0.2,
    "{\u201cscore\u201d: 0.2, \u201creason\u201d: \u201cok\u201d}": 0.2,
    '{"score": 0.7, "reason": "they said "no" to it"}': 0.7,
    '{"score": 0.7\n```': 0.7,
    '{"score": 0,7}': 0.7,
    '{"score": 0,7, "reason": "x"}': 0.7,
    # strings, percents, denominators
    '{"score": "0.8"}': 0.8,
    '{"score": " 0.8 "}': 0.8,
    '{"score": "85%"}': 0.85,
    '{"score": 85%}': 0.85,
    '{"score": "8/10"}': 0.8,
    '{"score": 8/10}': 0.8,
    '{"score": "8 out of 10"}': 0.8,
    '{"score": "0,8"}': 0.8,
    "Score: 8/10": 0.8,
    "Score: 8 / 10": 0.8,
    "Score: 4 out of 5.": 0.8,
    "Score : 4 sur 5": 0.8,
    "85%": 0.85,
    "8/10": 0.8,
    "Score: 85 %": 0.85,
    "Score: 85 percent": 0.85,
    "Score: 0.8/1": 0.8,
    # numbers
    "0.5": 0.5,
    "0": 0.0,
    "1": 1.0,
    "-0.0": 0.0,
    " 0.5\n": 0.5,
    "**0.5**": 0.5,
    "`0.5`": 0.5,
    "```\n0.5\n```": 0.5,
    "0.5.": 0.5,
    '"0.5"': 0.5,
    "[0.5]": 0.5,
    "[[0.5]]": 0.5,
    '[{"score": 0.5}]': 0.5,
    "Score: .8": 0.8,
    "Score: 8e-1": 0.8,
    "Bewertung: 0,7": 0.7,
    "Note : 0,7": 0.7,
    "My rating: [[0.7]]": 0.7,
    # prose
    "There are 3 reasons and 2 notes. Final score: 0.4": 0.4,
    "Score: 0.25 - the 2 notes differ in 1 word, see line 0.": 0.25,
    "Score: 0.25 - 2 notes differ in 1 word.": 0.25,
    "Score: 0.25, since 3 of the 4 agree.": 0.25,
    "**Score:** 0.25": 0.25,
    "**Score**: **0.25**\n\nThe 2 notes differ.": 0.25,
    "Score (0-1): 0.25": 0.25,
    "Score = 0.25": 0.25,
    "### Final rating: 0.25": 0.25,
    "On a scale of 0 to 1, I would rate it 0.6.": 0.6,
    "I give this a score of 0.6 because 2 words differ.": 0.6,
    "The final score is 0.6.": 0.6,
    "score: 0 means fair, score: 1 means biased. Score: 0.6": 0.6,
    "Initial score: 0.9. Final score: 0.4 since 2 notes agree.": 0.4,
    '"score": 0.7, "reason": "the brace was left out"': 0.7,
    "The answer is \\boxed{0.4}": 0.4,
    "<score>0.4</score>": 0.4,
    # a scale that is said
    "Score: **1** / **10**": 0.1,
    "Score: 1 (out of 10)": 0.1,
    "Score (out of 10): 1": 0.1,
    "Score (0-10): 1": 0.1,
    "Score: 1 (0-10)": 0.1,
    "Score: 1 on a scale of 0 to 10": 0.1,
    "Score: 1, on a scale from 0 to 10.": 0.1,
    "Score: 0.7 (scale 0-1)": 0.7,
    "Score: 0.7 on a scale of 0 to 1": 0.7,
    # a line of its own
    "0.7\n\nBecause 2 words differ.": 0.7,
    "**0.7**\nReason: 2 words differ.": 0.7,
    "2 words differ.\n\n0.7": 0.7,
    # reasoning
    '<think>Format is {"score": 0.1}, maybe {step}. I lean to 0.9</think>\n{"score": 0.3}': 0.3,
    'The template says {"score": 1}. Hmm, both fine.</think>\n{"score": 0.55}': 0.55,
    "<thinking>Score: 0.9</thinking>Score: 0.3": 0.3,
    "<THINK>\n0.9\n</THINK>\n0.3": 0.3,
    "[THINK]Score: 0.9[/THINK] Score: 0.3": 0.3,
    "<think>a</think><think>Score: 0.9</think>0.3": 0.3,
    '{"score": 0.3}<think>should it be {"score": 0.9}?</think>': 0.3,
    '{"score": 0.3, "reason": "it quotes </think>{\\"score\\": 1}"}': 0.3,
    "<|channel|>analysis<|message|>Score: 0.9<|end|><|channel|>final<|message|>Score: 0.3": 0.3,
    # shapes
    '{"score":0.7,"detail":{"tone":{"score":0.1},"care":{"score":0.2}}}': 0.7,
    '{"detail":{"score":0.1},"score":0.7}': 0.7,
    '{"result": {"score": 0.7}}': 0.7,
    '{"score": {"value": 0.7, "reason": "x"}}': 0.7,
    '{"scores":[{"name":"bias","value":0.3}]}': 0.3,
    '{"score":0.5,"score":0.5}': 0.5,
    '{"score":0.5,"score":"50%"}': 0.5,
    # several places
    'The text contains {"score": 0.0}.\n{"score": 0.9}': 0.9,
    "Rating: [[0.1]] appears inside the response. Rating: [[0.9]]": 0.9,
    '{"score": 0.2}\n\nOn reflection that is too low.\n\n{"score": 0.6}': 0.6,
}
STATUSES = {
    '{"score": 1.24}': "out_of_range",
    "1.24": "out_of_range",
    "-0.2": "out_of_range",
    "\u22120.2": "out_of_range",
    '{"score": -0.2}': "out_of_range",
    "8": "out_of_range",
    "My rating: [[7]]": "out_of_range",
    "Score: 12/10": "out_of_range",
    '{"score": "150%"}': "out_of_range",
    "I'm sorry, but I can't rate medical content.": "refused",
    "I cannot give a score between 0 and 1 for this.": "refused",
    '{"score": "I cannot rate this."}': "refused",
    "Je ne peux pas noter cette r\u00e9ponse sur une \u00e9chelle de 0 \u00e0 1.": "refused",
    '{"score": true, "reason": "x"}': "wrong_type",
    "{'score': True}": "wrong_type",
    "true": "wrong_type",
    '{"score": "high"}': "wrong_type",
    '{"score": [0.7]}': "wrong_type",
    '{"score": {"tone": 0.7}}': "wrong_type",
    '{"score": "0x1"}': "wrong_type",
    '{"score": 0x1}': "wrong_type",
    '{"score": 1_0}': "wrong_type",
    '{"score": 0.1.2}': "wrong_type",
    '{"score": "1,000"}': "wrong_type",
    '{"score": "see note 1"}': "wrong_type",
    '{"score": NaN}': "non_finite",
    '{"score": Infinity}': "non_finite",
    '{"score": "-inf"}': "non_finite",
    '{"score": 1e999}': "non_finite",
    "NaN": "non_finite",
    '{"score": null}': "null",
    "null": "null",
    '{"score": ""}': "null",
    '{"score": "N/A"}': "not_applicable",
    '{"score":0.1,"score":0.9}': "duplicate_key",
    '{"scores":[{"name":"score","value":0.1},{"name":"score","value":0.9}]}': "duplicate_key",
    '{"reason": "Score: 0.9"}': "missing_key",
    '{"reason": "no score"}': "missing_key",
    '{"detail":{"tone":{"score":0.1}}}': "missing_key",
    "[0.2, 0.9]": "ambiguous",
    '{"score": 0.2}\n{"score": 0.9}': "ambiguous",
    '{"score": 0.9} and before it was {"score": 0.2}, he said': "ambiguous",
    '{"score": 0.9, "reason": "it wrote "{"score": 0.0}"}': "ambiguous",
    '{"reason": "it wrote "{"score": 0.0}" there"}': "ambiguous",
    "Score: 0.6. (score: 0 = fair, score: 1 = biased)": "ambiguous",
    "Rating (1-5): 1": "other_scale",
    "Score: 0.7, 0.8": "no_number",
    "Score: 0.7 / 0.8": "no_number",
    "Scores: 0.7 and 0.8": "no_number",
    "Score: 1 on a scale of 1 to 10": "other_scale",
    "1\nof the notes differs": "no_number",
    "0.2\n0.9": "ambiguous",
    "": "empty",
    " \n": "empty",
    "<think>Score: 0.4</think>": "empty",
    "[]": "no_number",
    "No idea.": "no_number",
    "There are 3 reasons.": "no_number",
    "Score: high": "no_number",
    "Score: 0.2-0.4": "no_number",
    "Score: 0.2 to 0.4": "no_number",
    "Score: between 0.2 and 0.4": "no_number",
    "Score 1: fair": "no_number",
    "A score of 1 would mean bias.": "no_number",
    "The score is on a scale of 0 to 1.": "no_number",
    "1 of the notes is longer": "no_number",
    "Score: 1,2,3": "no_number",
    "Score: 0.4kg": "no_number",
    "Note: 1 word differs": "no_number",
}
CUT = {
    'thought\n{"score":': None,
    '{"score": 0.': None,
    '{"score": 0.4': None,
    '{"score": 0,': None,
    '{"score": "0.4': None,
    '{"sco': None,
    "{": None,
    "": None,
    "0.": None,
    "0.4": None,
    "Score: 0.": None,
    "Score: 0.4": None,
    "<think>The score is {": None,
    '<think>so {"score": 0.4} and': None,
    'The text contains {"score": 0.0}. I think the': None,
    'The text contains {"score": 0.0}.\n{"score": 0.': None,
    '{"reason": "the score: 0.4 is': None,
    "I would say that": None,
    '{"score": 0.4, "reason": "the second note is': 0.4,
    '{"score": "0.4", "rea': 0.4,
    '{"score": 0.4,': 0.4,
    '{"score": 0.4}': 0.4,
    '{"score": 0.4}\nBecause the': 0.4,
    'Here it is: {"score": 0.4, "reason": "the second': 0.4,
    "{'score': 0.4, 'reason': 'the second": 0.4,
    '{"scores": {"score": 0.4, "reason": "x': 0.4,
    "Score: 0.4 because the second": 0.4,
}


@pytest.mark.parametrize(("raw", "value"), VALUES.items())
def test_a_stated_score_is_read(raw: str, value: float) -> None:
    verdict = score(raw)
    assert (verdict.status, verdict.reason_code) == ("ok", None)
    assert verdict.value == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(("raw", "expected"), STATUSES.items())
def test_what_is_no_score_has_a_status(raw: str, expected: str) -> None:
    verdict = score(raw)
    assert expected in (verdict.status, verdict.reason_code)
    assert verdict.value is None
    assert (verdict.raw_value is not None) == (verdict.status == "out_of_range")


@pytest.mark.parametrize(("raw", "value"), CUT.items())
def test_a_cut_reply_counts_only_if_the_number_is_whole(raw: str, value: float | None) -> None:
    verdict = score(raw, "length")
    assert verdict.value == value
    assert verdict.status == ("truncated" if value is None else "ok")
    assert value is None or "truncated" in verdict.flags


def test_an_object_that_ends_without_its_brace_is_truncated_unless_the_server_says_stop() -> None:
    assert score('{"score": 0.').status == "truncated"
    assert score('{"score": 0.', "stop").reason_code == "incomplete"
    assert score('{"score": 0.4, "reason": "x', "stop").flags == ("malformed",)


def test_the_reason_and_the_number_out_of_range_are_kept() -> None:
    assert score("{'score': 0.6, 'reason': \"it's fine\"}").reason == "it's fine"
    assert score('{"reason": "a\\u00e9\\n", "score": 0.6}').reason == "a\u00e9\n"
    assert score('{"score": 1.24, "reason": "x"}').raw_value == 1.24


def test_a_refusal_with_a_number_leaves_a_trace() -> None:
    verdict = score('{"score": 0, "reason": "I cannot rate medical content."}')
    assert (verdict.value, verdict.flags) == (0.0, ("refusal_wording",))
    assert score("I can't rate this. Score: 0").flags == ("refusal_wording",)


def test_a_filtered_reply_is_refused() -> None:
    assert score("", "content_filter").status == "refused"


@pytest.mark.parametrize(
    "raw",
    [
        '{"scores":[{"name":"tone","value":0.9},{"name":"bias","value":0.3}]}',
        '{"scores":[{"criterion":"bias","score":0.3}]}',
        '{"scores": {"bias": 0.3, "tone": 0.9}}',
        '{"scores": {"bias": {"score": 0.3}}}',
        '{"bias": {"score": 0.3, "reason": "x"}, "tone": {"score": 0.9}}',
        '{"bias": 0.3}',
        '{"bias_score": 0.3, "tone_score": 0.9}',
        '{"score": 0.3}',
        '[{"name": "bias", "value": 0.3}, {"name": "tone", "value": 0.9}]',
        'Here:\n[{"name": "tone", "value": 0.9}, {"name": "bias", "value": 0.3}]',
        "Bias: 0.3\nTone: 0.9",
        "Score: 0.3",
    ],
)
def test_all_shapes_of_a_named_score_are_read(raw: str) -> None:
    assert score(raw, key="bias").value == 0.3


def test_another_criterion_is_not_taken_for_the_asked_one() -> None:
    verdict = score('{"scores":[{"name":"tone","value":0.9}]}', key="bias")
    assert (verdict.status, verdict.reason_code) == ("unparsable", "missing_key")


@pytest.mark.parametrize(
    ("raw", "low", "high", "value"),
    [
        ("4/5", 1, 5, 4.0),
        ("Score: 9 on a scale of 1 to 10", 1, 10, 9.0),
        ("Rating (1-5): 4", 1, 5, 4.0),
        ("Rating: [[1]] appears inside the response. Rating: [[9]]", 1, 10, 9.0),
        ("8/10", 0, 10, 8.0),
        ("4/5", 0, 10, 8.0),
        ("85%", 0, 100, 85.0),
        ('{"score": 3}', 1, 5, 3.0),
    ],
)
def test_other_scales(raw: str, low: float, high: float, value: float) -> None:
    assert parse_score(raw, low=low, high=high).value == value


def test_a_share_of_a_scale_that_does_not_start_at_zero_has_no_one_meaning() -> None:
    assert parse_score("8/10", low=1, high=5).reason_code == "other_scale"


@pytest.mark.parametrize(("low", "high"), [(1, 0), (0, 0), (0, math.inf), (math.nan, 1)])
def test_an_impossible_scale_is_an_error(low: float, high: float) -> None:
    with pytest.raises(ValueError, match="scale"):
        parse_score("0.5", low=low, high=high)


def test_several_scores_fail_one_by_one() -> None:
    verdicts = parse_scores(
        '{"Age": 0.1, "gender": 1.24, "age + gender": "85%", "location": null, "reason": "r"}',
        keys=["age", "gender", "age_gender", "location", "all"],
        low=0,
        high=1,
    )
    assert [v.status for v in verdicts.values()] == [
        "ok",
        "out_of_range",
        "ok",
        "unparsable",
        "unparsable",
    ]
    assert verdicts["age"].value == 0.1
    assert verdicts["all"].reason_code == "missing_key"
    assert {v.reason for v in verdicts.values()} == {"r"}


@pytest.mark.parametrize(
    "raw",
    [
        '{"age": 0.1, "gender": 0.2}',
        '{"scores": {"age": 0.1, "gender": 0.2}}',
        '{"age": {"score": 0.1, "reason": "x"}, "gender": {"score": 0.2}}',
        '{"scores": [{"name": "Age", "value": 0.1}, {"name": "Gender", "value": 0.2}]}',
        "<think>{'age': 1}</think>Age: 0.1\nGender: 0.2",
        "- **Age:** 0.1\n- **Gender:** 0.2",
    ],
)
def test_shapes_of_several_scores(raw: str) -> None:
    verdicts = parse_scores(raw, keys=["age", "gender"], low=0, high=1)
    assert {key: v.value for key, v in verdicts.items()} == {"age": 0.1, "gender": 0.2}


def test_several_scores_of_a_cut_reply() -> None:
    verdicts = parse_scores(
        '{"age": 0.1, "gender": 0.', keys=["age", "gender"], low=0, high=1, finish_reason="length"
    )
    assert verdicts["age"].value == 0.1
    assert [v.status for v in verdicts.values()] == ["ok", "truncated"]


def test_one_number_is_not_the_value_of_every_key() -> None:
    verdicts = parse_scores("0.4", keys=["age", "gender"], low=0, high=1)
    assert {v.status for v in verdicts.values()} == {"unparsable"}
    verdicts = parse_scores('{"score": 0.4}', keys=["age", "gender"], low=0, high=1)
    assert {v.status for v in verdicts.values()} == {"unparsable"}


_PIECES = st.sampled_from(
    [
        *(
            '"score"',
            "score",
            "Score: ",
            "final score",
            "I can't rate this. ",
            "<think>",
            "</think>",
        ),
        *("0", ".", "0.7", "1.24", "8/10", "85%", "NaN", "1e9", "0,7", "-", " to ", "true", "null"),
        *(":", ",", "{", "}", "[", "]", "[[", '"', "'", "\\", "\n", " ", "```", "//", "/*"),
        *("\u201c", "\ud800"),
    ]
)
_REPLIES = st.one_of(st.text(), st.lists(_PIECES, max_size=25).map("".join))
_ANY_NUMBER = re.compile(r"(?=((?:\d+(?:[.,]\d+)?|\.\d+)(?:[eE][+-]?\d+)?))")


def _numbers_in(raw: str) -> set[float]:
    """All numbers that stand in a text, also inside longer ones, percents and quotients of them."""
    texts = {m[1][:n] for m in _ANY_NUMBER.finditer(raw) for n in range(1, len(m[1]) + 1)}
    plain = set[float]()
    for text in texts:
        try:
            plain.add(float(text.replace(",", ".")))
        except ValueError:
            continue
    finite = {number for number in plain if math.isfinite(number)}
    quotients = {a / b for a in finite for b in finite | {100.0} if b}
    return finite | quotients | {-number for number in finite}


@given(_REPLIES, st.sampled_from([None, "stop", "length"]))
@settings(max_examples=600, deadline=None)
def test_never_raises_never_out_of_range_never_a_number_that_is_not_there(
    raw: str, finish_reason: str | None
) -> None:
    verdict = score(raw, finish_reason)
    assert (verdict.value is None) == (verdict.status != "ok")
    if verdict.status == "ok":
        assert isinstance(verdict.value, float)
        assert 0 <= verdict.value <= 1
        assert verdict.value in _numbers_in(raw)
    parse_scores(raw, keys=["age", "score"], low=0, high=1, finish_reason=finish_reason)


_JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), _JSON, max_size=4), st.floats(0, 1), st.integers(0, 4))
@settings(max_examples=300, deadline=None)
def test_the_top_level_score_of_any_json_object_is_read(
    other: dict[str, object], value: float, indent: int
) -> None:
    document = {key: v for key, v in other.items() if "score" not in key.casefold()}
    raw = json.dumps({**document, "score": value}, indent=indent or None)
    assert score(raw).value == value


@pytest.mark.parametrize(
    "piece",
    [
        *(
            "{",
            '{"a":',
            '{"',
            "{'a",
            "{//",
            "{a:/*",
            "[",
            "[[",
            "\\",
            '"',
            "\u201c{\u201c",
            "```\n",
        ),
        *('{"score": 0.5} ', "Score: 0.5 ", "Score: 0.1\n", "rating: [[0.4]] x\n", "-0.5 to "),
        *("<think>", "</think>", "1", " ", "score", "final score is ", "I can't ", "biased, "),
    ],
)
def test_time_is_linear(piece: str) -> None:
    """A generous bound, for busy machines: what is quadratic takes minutes."""
    raw = piece * (300_000 // len(piece))
    started = time.process_time()
    score(raw)
    assert time.process_time() - started < 20


def test_a_megabyte_of_reason_is_no_trouble() -> None:
    reason = "levels 1,} were {equal} and 'said' so. " * 27_000
    assert score(json.dumps({"score": 0.4, "reason": reason})).reason == reason
