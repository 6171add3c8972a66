"""Numbers and statuses are said as the guide for every page says."""

import pytest

from evenhand.graph_store.records import Change, Measurement, Variant
from evenhand.tools import wording


def _measurement(**fields: object) -> Measurement:
    return Measurement.model_validate(
        {
            "id": "m",
            "status": "ok",
            "metric": "paired_change",
            "arm": "no_hop",
            "groups": ("age",),
            **fields,
        }
    )


def test_a_rate_has_its_interval_n_and_what_was_left_out() -> None:
    one = _measurement(value=0.113, low=0.058, high=0.182, n=104)
    assert wording.value_text(one, "rate") == "11.3 % [5.8, 18.2]"
    assert wording.unscored({"answer_refused": 2, "unparsable": 1}) == (
        "unscored 3 (2 refused, 1 unparsable)"
    )


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.333, "+33.3 points"),
        (-0.012, "\N{MINUS SIGN}1.2 points"),
        (0.0, "0.0 points"),
        (0.0001, "0.0 points"),
    ],
)
def test_a_difference_is_in_signed_points(value: float, said: str) -> None:
    assert wording.number(value, "net_rate") == said


@pytest.mark.parametrize(
    ("p", "said"),
    [(0.03, "p 0.03 (Holm)"), (0.0042, "p 0.004 (Holm)"), (0.0001, "p < 0.001 (Holm)")],
)
def test_a_p_value_names_its_correction(p: float, said: str) -> None:
    assert wording.p_value(p, "Holm") == said


def test_what_is_not_estimable_is_said_in_words_and_never_as_0() -> None:
    one = _measurement(status="not_estimable", reason_code="all_unscored")
    assert wording.value_text(one, "rate") == "not estimable: every answer was unscored"


@pytest.mark.parametrize(
    ("status", "word", "kind"),
    [
        ("answer_refused", "refused", "refused"),
        ("control_answer_truncated", "control: cut off", "unparsable"),
        ("base_answer_error", "base: failed call", "error"),
        ("gate_rejected", "rejected by the gate", "refused"),
        ("out_of_range", "out of range", "unparsable"),
        ("a_status_of_a_plugin", "a status of a plugin", "unparsable"),
    ],
)
def test_a_status_has_a_word_and_one_of_four_signs(status: str, word: str, kind: str) -> None:
    assert (wording.status(status), wording.status_kind(status)) == (word, kind)


def test_groups_and_changes_read_as_words() -> None:
    swap = Change(attribute="age", before="28", after="71")
    variant = Variant(id="v", sample_id="s", arm="isolated", changes=(swap,), made_by="rules")
    assert wording.change_text(variant) == "age 28 to 71"
    assert wording.group("age_gender") == "age + gender" == wording.group("age+gender")
    assert wording.group("skin_tone") == "skin_tone"


@pytest.mark.parametrize(
    ("stored", "said"),
    [
        ("not_stated:age", "the source does not state the age"),
        ("no_value:gender: the patient is pregnant", "the patient is pregnant"),
        ("first test: a -> b", "first test: a \N{RIGHTWARDS ARROW} b"),
        (None, ""),
    ],
)
def test_a_stored_reason_reads_as_words(stored: str | None, said: str) -> None:
    assert wording.why(stored) == said


def test_a_metric_that_is_gone_counts_as_a_plain_number() -> None:
    assert wording.unit_of("paired_change_net") == "net_rate"
    assert wording.unit_of("no_such_metric") == "score"
