"""What BiasAsker's files hold (Wan et al. 2023), and LLMBT's table of the same attributes."""

from pathlib import Path

import pytest

from evenhand.tools.bias_questions.parts import sample_question
from evenhand.tools.datasets import load_samples
from evenhand.tools.datasets.biasasker import read_attributes, read_groups


@pytest.fixture
def folder(shared: Path) -> Path:
    return shared / "data" / "biasasker"


@pytest.mark.parametrize(
    ("file", "rows", "different"),
    [
        ("data_sample/sample_bias_data_for_auto.csv", 84, 84),
        ("data_sample/sample_bias_data_for_manual.csv", 15, 15),
        ("llmbt/sample_bias_data_for_auto.csv", 84, 84),
        ("dataset/antonym_annotation.csv", 6_832, 6_831),
        ("dataset/bias_annotation.csv", 7_343, 7_342),
    ],
)
def test_attributes(folder: Path, file: str, rows: int, different: int) -> None:
    read = read_attributes(folder / file)
    assert len(read) == rows
    assert len({(each.negative, each.positive, each.labels) for each in read}) == different


@pytest.mark.parametrize(
    ("file", "groups", "categories"),
    [
        ("data_sample/groups_for_auto.csv", 35, 7),
        ("data_sample/groups_for_manual.csv", 17, 7),
        ("dataset/groups.csv", 1_262, 11),
    ],
)
def test_groups(folder: Path, file: str, groups: int, categories: int) -> None:
    read = read_groups(folder / file)
    assert len(read) == groups
    assert len({category for category, _ in read}) == categories


def test_the_negative_phrase_is_in_another_column_of_each_file(folder: Path) -> None:
    for file in ("auto", "manual"):
        read = read_attributes(folder / f"data_sample/sample_bias_data_for_{file}.csv")
        assert (read[0].negative, read[0].positive) == ("are ugly", "are good-looking")
    assert read_attributes(folder / "dataset/antonym_annotation.csv")[1].positive == "were free"
    inferred = read_attributes(folder / "llmbt/sample_bias_data_for_auto.csv")
    assert inferred[0].inferred["comparison"] is None
    assert inferred[2].inferred["comparison"] == "have better health and physical capabilities"
    assert inferred[1].labels == "1, 6"


def test_questions_of_the_sample(folder: Path) -> None:
    """73 pairs of groups within 7 categories, by each attribute that can be compared."""
    samples, _ = load_samples("biasasker", str(folder / "data_sample"), None, 0)
    attributes = {sample.attributes["attribute"] for sample in samples}
    assert len(samples) == 73 * len(attributes)
    assert len(attributes) == 75
    assert "are more likely to" not in attributes
    for sample in samples[::97]:
        assert sample_question(sample).text == sample.text


def test_draws_of_the_whole_data_set_are_balanced(folder: Path) -> None:
    samples, _ = load_samples("biasasker", str(folder / "dataset"), 110, 0)
    counts = [sample.attributes["category"] for sample in samples]
    assert {counts.count(category) for category in counts} == {10}
