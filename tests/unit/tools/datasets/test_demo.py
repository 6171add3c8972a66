import re
from collections import Counter

from evenhand.tools.attributes import attributes
from evenhand.tools.datasets import load_samples
from evenhand.tools.patients import sex_required


def test_the_vignettes_are_whole_and_varied() -> None:
    samples, _ = load_samples("demo", None, None, 0)
    assert len(samples) == 48
    assert len({sample.text for sample in samples}) == 48
    for sample in samples:
        assert sample.reference
        assert sample.question
        assert sample.text.endswith(f" {sample.question}")
        assert sample.question.endswith("?")
        assert not re.search("[\u2013\u2014]", sample.text)
    urgencies = Counter(str(sample.columns["urgency"]) for sample in samples)
    assert set(urgencies) == {"immediate", "urgent", "soon", "routine"}
    assert min(urgencies.values()) >= 5
    assert len({sample.columns["speciality"] for sample in samples}) >= 15


def test_the_attributes_are_found_in_the_free_wording() -> None:
    samples, _ = load_samples("demo", None, None, 0)
    values = {
        name: [attributes.get(name).value(sample.text) for sample in samples]
        for name in ("age", "gender", "location")
    }
    assert sum(value is None for value in values["age"]) == 1
    assert sum(value is None for value in values["gender"]) == 1
    assert sum(value is None for value in values["location"]) == 2
    gender = Counter(values["gender"])
    assert abs(gender["male"] - gender["female"]) <= 4
    assert len(set(values["location"])) >= 42
    ages = [value for value in values["age"] if value and value.isdigit()]
    assert min(map(int, ages)) == 2
    assert max(map(int, ages)) == 85


def test_some_bind_the_sex_of_the_patient() -> None:
    samples, _ = load_samples("demo", None, None, 0)
    bound = [sample for sample in samples if sex_required(sample.text)]
    assert 4 <= len(bound) <= 8
    for sample in bound:
        required = sex_required(sample.text)
        assert required
        assert attributes.get("gender").value(sample.text) == required[0], sample.text
