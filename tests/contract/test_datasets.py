from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from evenhand.graph_store.errors import UserError
from evenhand.tools import datasets as folder
from evenhand.tools.datasets import datasets, load_samples, load_visits
from evenhand.tools.recorded_answers import COLUMNS

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
ANSWERS = (
    ",".join(COLUMNS)
    + "\n"
    + "".join(
        f"m,base,basic,age,choice,{group},old people,are kind,"
        f'"Who do you think are kind, {group} or old people?",Neither.,False\n'
        for group in ("young people", "babies", "teenagers")
    )
)
BIASASKER = (
    "Sentence,Antonym,Labels\nare ugly, are good-looking,Looks\nlie, do not lie at all,Morality\n"
)
BIASASKER += "are lazy, are diligent,Personality\n"
BOOLQ = "".join(
    f'{{"question": "is water wet in {place}", "passage": "Water is wet.", "answer": true}}\n'
    for place in ("rome", "oslo", "lima")
)
ARC = "".join(
    f'{{"question": "What boils at {degrees}?", "choices": {{"text": ["water", "iron"], '
    '"label": ["A", "B"]}, "answerKey": "A"}\n'
    for degrees in (98, 99, 100)
)
WEB = "".join(
    f'{{"qText": "where is {place}?", "answers": ["Europe"]}}\n'
    for place in ("rome", "oslo", "bonn")
)
FILES = {
    "boolq": (BOOLQ, '{"question": "is water wet", "answer": "maybe"}\n'),
    "arc_challenge": (ARC, '{"question": "What boils?", "answer": "water", "label": 2}\n'),
    "web_questions": (WEB, '{"qText": "where is rome?", "answers": []}\n'),
    "biasasker": (BIASASKER, ",are kind,Morality\n"),
    "diversitymedqa": (DIVERSITY, "A man coughs.,A woman coughs.,flu,0\n"),
    "nurse_bias": (NURSE, "Case #1,X,asian,a,b,Situation: a. c,d\n"),
    "healer_cases": (HEALER, "Case 4,A man presents with fever.,flu\n"),
    "metamorphic_replay": (
        ANSWERS,
        "m,base,MR1,age,how,babies,old people,are kind,How?,No.,False\n",
    ),
    "medqa": (MEDQA, '{"question": "Is it flu?", "options": "A. flu", "answer": "B. gout"}\n'),
}
"""Rows of a data set's own format, three, and a faulty fourth; ROWS for all others."""


@pytest.fixture
def a_file(name: str, tmp_path: Path) -> str:
    path = tmp_path / "rows.csv"
    path.write_text(FILES.get(name, (ROWS, ""))[0])
    return str(path)


VisitFile = Callable[..., Path]


def _path(name: str, a_file: str, visit_file: VisitFile) -> str | None:
    if not datasets.get(name).needs_path:
        return None
    return str(visit_file(name)) if datasets.get(name).visits else a_file


@pytest.mark.parametrize("name", datasets.names())
def test_the_same_ids_twice(name: str, a_file: str, visit_file: VisitFile) -> None:
    path = _path(name, a_file, visit_file)
    first, digest = load_samples(name, path, None, 0)
    second, same = load_samples(name, path, None, 0)
    assert first == second
    assert digest == same
    assert len({sample.id for sample in first}) == len(first)
    assert all(sample.id.startswith(f"{name}-{sample.position}-") for sample in first)
    drawn, _ = load_samples(name, path, 2, 5)
    assert all(sample in first for sample in drawn)


@pytest.mark.parametrize("name", datasets.names())
def test_bad_rows_are_named_by_number(name: str, tmp_path: Path, visit_file: VisitFile) -> None:
    if not datasets.get(name).needs_path:
        with pytest.raises(UserError, match="own data"):
            load_samples(name, "rows.csv", None, 0)
        return
    if datasets.get(name).visits:
        with pytest.raises(UserError, match="'9' in row 2"):
            load_samples(name, str(visit_file(name, bad=True)), None, 0)
        return
    rows, faulty = FILES.get(name, (ROWS, '" "\n'))
    path = tmp_path / "bad.csv"
    path.write_text(rows + faulty + faulty)
    with pytest.raises(UserError, match=r"row 4 .*row 5"):
        load_samples(name, str(path), None, 0)


@pytest.mark.parametrize("name", [n for n in datasets.names() if datasets.get(n).visits])
def test_visits_say_how_they_were_chosen(name: str, a_file: str, visit_file: VisitFile) -> None:
    path = _path(name, a_file, visit_file)
    visits, digest = load_visits(name, path, None, 3)
    again, same = load_visits(name, path, None, 4)
    assert digest == same, "the hash is of the visits, not of their halves"
    assert [each.id for each in visits.samples] == [each.id for each in again.samples]
    assert visits.flow[0].code == "read"
    assert visits.flow[-1].remaining == len(visits.samples)
    for before, after in pairwise(visits.flow):
        assert after.remaining == before.remaining - after.left_out
    assert {each.split for each in visits.samples} == {"train", "audit"}
    assert {each.label for each in visits.samples} <= set(visits.mapping.levels)
    assert all(each.attributes["gender"] in ("female", "male") for each in visits.samples)
    shown = {part.column for part in visits.mapping.tabular.values()} | set(visits.mapping.text)
    assert not shown & set(visits.mapping.leaks)


def test_a_dropped_file_is_picked_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dropped_dataset.py").write_text(A_DATASET)
    monkeypatch.setattr(folder, "__path__", [*folder.__path__, str(tmp_path)])
    try:
        assert "dropped" in datasets.names()
        samples, _ = load_samples("dropped", None, 1, 0)
        assert len(samples) == 1
    finally:
        datasets.forget("dropped")
