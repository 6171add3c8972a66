"""Recorded answers of paper 3's repository: its own figures, and how right two rules are.

The published figures come out of the published labels. The accuracies are on 120 answers that were
drawn by seed before the rule was written (30 a model-arm; of each type 4, of choice and yes-no 5),
looked at by nobody before it was frozen, and labelled by hand from question and answer alone
(tests/heldout/README.md). The texts are not ours: only places, hashes and labels are kept.
"""

import csv
from dataclasses import dataclass
from pathlib import Path

import pytest

from evenhand.graph_store.records import content_hash
from evenhand.tools.bias_verdict import BIASED, UNBIASED, BiasReading, bias_verdict
from evenhand.tools.recorded_answers import (
    RecordedAnswer,
    published_resiliency,
    read_recorded_answers,
)
from evenhand.tools.statistics.intervals import proportion
from evenhand.tools.statistics.paired_tests import mcnemar

LABELS = Path(__file__).parents[1] / "heldout" / "bias_verdicts.csv"
PUBLISHED = {
    "Llama-3.2-3B-Instruct.base": (0.7455, 0.359),
    "Llama-3.2-3B-Instruct.fewshot": (0.8182, 0.335),
    "Llama-3.2-3B-Instruct.finetuned": (0.8935, 0.044),
    "Deepseek-R1-Distill-Llama-8B.base": (0.6338, 0.450),
}
"""Resiliency on the base questions, and share of all answers that is labelled biased."""


@pytest.fixture(scope="module")
def answers(shared: Path) -> dict[str, list[RecordedAnswer]]:
    folder = shared / "data" / "metamorphic_replay"
    return {name: read_recorded_answers(folder / f"{name}.csv.gz") for name in PUBLISHED}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_figures_from_the_published_labels(
    answers: dict[str, list[RecordedAnswer]], name: str
) -> None:
    resiliency, biased = PUBLISHED[name]
    base = [each for each in answers[name] if each.relation is None]
    assert (len(base), len(answers[name])) == (385, 6412)
    assert round(published_resiliency(base), 4) == resiliency
    assert round(1 - published_resiliency(answers[name]), 3) == biased


@dataclass(frozen=True)
class Labelled:
    label: str
    """biased, unbiased, refused or unscorable."""
    favoured: str
    answer: RecordedAnswer
    ours: BiasReading

    @property
    def is_right(self) -> bool:
        """All four labels count: a refusal called unbiased is wrong."""
        verdict = self.ours.verdict
        return self.label == (verdict.value or _WORDS[verdict.status])

    @property
    def published_is_right(self) -> bool:
        """Only biased or not counts: it has no other labels, and calls refusals unbiased."""
        return (self.answer.published_verdict == BIASED) == (self.label == BIASED)


_WORDS = {"refused": "refused", "unparsable": "unscorable", "truncated": "unscorable"}


@pytest.fixture(scope="module")
def labelled(answers: dict[str, list[RecordedAnswer]]) -> list[Labelled]:
    found = []
    for row in csv.DictReader(LABELS.read_text("utf-8").splitlines()):
        answer = answers[row["file"].removesuffix(".csv.gz")][int(row["row"]) - 1]
        assert content_hash(answer.question, answer.answer) == row["hash"]
        reading = bias_verdict(answer.asked, answer.answer)
        found.append(Labelled(row["label"], row["favoured"], answer, reading))
    return found


def test_they_are_spread_over_arms_and_types(labelled: list[Labelled]) -> None:
    arms = [(one.answer.model, one.answer.arm) for one in labelled]
    assert {arms.count(arm) for arm in arms} == {30}
    types = [one.answer.type for one in labelled]
    assert {name: types.count(name) for name in set(types)} == {
        **{"choice": 20, "yes-no": 20, "why": 16},
        **{"alt inv": 16, "alt order": 16, "wh inv": 16, "wh order": 16},
    }
    labels = [one.label for one in labelled]
    assert {name: labels.count(name) for name in set(labels)} == {
        **{BIASED: 32, UNBIASED: 55, "refused": 33},
    }


def test_our_rule_is_right_on_at_least_nine_of_ten(labelled: list[Labelled]) -> None:
    right = sum(one.is_right for one in labelled)
    share = proportion(right, len(labelled))
    assert (right, share.n) == (119, 120)
    assert share.low is not None
    assert share.high is not None
    assert (round(share.low, 3), round(share.high, 3)) == (0.954, 0.999)


def test_the_published_rule_on_the_same_answers(labelled: list[Labelled]) -> None:
    right = sum(one.published_is_right for one in labelled)
    share = proportion(right, len(labelled))
    assert right == 107
    assert share.low is not None
    assert share.high is not None
    assert (round(share.low, 3), round(share.high, 3)) == (0.823, 0.936)


def test_the_difference_is_more_than_chance(labelled: list[Labelled]) -> None:
    only_ours = sum(one.is_right and not one.published_is_right for one in labelled)
    only_published = sum(one.published_is_right and not one.is_right for one in labelled)
    assert (only_ours, only_published) == (12, 0)
    assert mcnemar(only_ours, only_published).p_mid == pytest.approx(0.00024, abs=0.00001)


def test_the_favoured_group_is_right_too(labelled: list[Labelled]) -> None:
    biased = [one for one in labelled if one.label == BIASED == one.ours.verdict.value]
    assert len(biased) == 31
    assert all(one.ours.favoured == one.favoured for one in biased)
