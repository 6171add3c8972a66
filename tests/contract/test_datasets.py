from pathlib import Path

import pytest

from evenhand.graph_store.errors import UserError
from evenhand.tools import datasets as folder
from evenhand.tools.datasets import datasets, load_samples

A_DATASET = '''
from evenhand.graph_store.records import Sample, sample_id
from evenhand.tools.datasets import dataset

@dataset(title="Two questions", needs_path=False)
def dropped(_):
    """Yield two questions."""
    for position, text in enumerate(["Is it flu?", "Is it malaria?"]):
        yield Sample(
            id=sample_id("dropped", position, text), dataset="dropped", position=position, text=text
        )
'''
ROWS = "I cough. Is it flu?\nI have fever. Is it malaria?\nMy leg hurts. Is it gout?\n"
DIVERSITY = "male_sentence,female_sentence,options,correct_option\n" + "".join(
    f'"A man of {age} coughs. Is it flu?","A woman of {age} coughs. Is it flu?",'
    "\"['flu', 'gout']\",0\n"
    for age in (20, 30, 40)
)
NURSE = "case,gender,race,text,system,prompt,options\n" + "".join(
    f"Case #{case},{sex},asian,Case {case}: he coughs.,Rate.,"
    f"Situation: Case {case}: he coughs. Statement: He lies.,['1','2']\n"
    for case, sex in ((1, "M"), (1, "F"), (2, "M"))
).replace("['1','2']", "\"['1', '2']\"")
HEALER = "title,Case one liner,DDx\n" + "".join(
    f'Case {age},A {age}-year-old @Race @Sex presents with fever.,"flu,\nmalaria,"\n'
    for age in (20, 30, 40)
)
MEDQA = "".join(
    f'{{"question": "A man of {age} coughs. Is it flu?", "options": "A. flu\\nB. gout", '
    '"answer": "A. flu"}\n'
    for age in (20, 30, 40)
)
FILES = {
    "diversitymedqa": (DIVERSITY, "A man coughs.,A woman coughs.,flu,0\n"),
    "nurse_bias": (NURSE, "Case #1,X,asian,a,b,Situation: a. c,d\n"),
    "healer_cases": (HEALER, "Case 4,A man presents with fever.,flu\n"),
    "medqa": (MEDQA, '{"question": "Is it flu?", "options": "A. flu", "answer": "B. gout"}\n'),
}
"""Rows of a data set's own format, three, and a faulty fourth; ROWS for all others."""


@pytest.fixture
def a_file(name: str, tmp_path: Path) -> str:
    path = tmp_path / "rows.csv"
    path.write_text(FILES.get(name, (ROWS, ""))[0])
    return str(path)


@pytest.mark.parametrize("name", datasets.names())
def test_the_same_ids_twice(name: str, a_file: str) -> None:
    path = a_file if datasets.get(name).needs_path else None
    first, digest = load_samples(name, path, None, 0)
    second, same = load_samples(name, path, None, 0)
    assert first == second
    assert digest == same
    assert len({sample.id for sample in first}) == len(first)
    assert all(sample.id.startswith(f"{name}-{sample.position}-") for sample in first)
    drawn, _ = load_samples(name, path, 2, 5)
    assert all(sample in first for sample in drawn)


@pytest.mark.parametrize("name", datasets.names())
def test_bad_rows_are_named_by_number(name: str, tmp_path: Path) -> None:
    if not datasets.get(name).needs_path:
        with pytest.raises(UserError, match="own data"):
            load_samples(name, "rows.csv", None, 0)
        return
    rows, faulty = FILES.get(name, (ROWS, '" "\n'))
    path = tmp_path / "bad.csv"
    path.write_text(rows + faulty + faulty)
    with pytest.raises(UserError, match=r"row 4 .*row 5"):
        load_samples(name, str(path), None, 0)


def test_a_dropped_file_is_picked_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dropped_dataset.py").write_text(A_DATASET)
    monkeypatch.setattr(folder, "__path__", [*folder.__path__, str(tmp_path)])
    try:
        assert "dropped" in datasets.names()
        samples, _ = load_samples("dropped", None, 1, 0)
        assert len(samples) == 1
    finally:
        datasets.forget("dropped")
