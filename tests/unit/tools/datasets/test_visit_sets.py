"""The data sets of visits: what their files' traps become; the made-up files are conftest's."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from evenhand.graph_store.errors import UserError
from evenhand.tools.datasets import load_visits
from evenhand.tools.datasets.mimic_iv_ed import triage_part

VisitFile = Callable[..., Path]


def _flow(name: str, path: Path) -> dict[str, int]:
    visits, _ = load_visits(name, str(path), None, 0)
    return {step.code: step.remaining for step in visits.flow}


def test_ktas_as_published(shared: Path) -> None:
    path = shared / "data/ktas/data.csv"
    visits, _ = load_visits("ktas", str(path), None, 0)
    flow = {step.code: step for step in visits.flow}
    assert flow["read"].remaining == 1267
    assert flow["under_age"].left_out == 13
    assert flow["no_text"].left_out == 21, "Korean text that was lost before publication"
    assert not any("?" * 2 in each.text for each in visits.samples)
    columns = [each.columns for each in visits.samples]
    temperatures = [c["temperature"] for c in columns if isinstance(c["temperature"], float)]
    assert 35 <= min(temperatures) <= max(temperatures) <= 41
    assert {c["pain_score"] for c in columns} <= {None, *map(float, range(1, 11))}
    assert {c["pain"] for c in columns} == {"yes", "no"}
    assert "Diagnosis in ED" not in visits.mapping.columns


def test_nhamcs_has_15093_triaged_visits_and_11784_of_adults(shared: Path) -> None:
    path = shared / "data/nhamcs_ed2015/nhamcs_ed2015_triage.csv"
    visits, _ = load_visits("nhamcs", str(path), None, 0)
    flow = {step.code: step.remaining for step in visits.flow}
    assert (flow["read"], flow["no_label"], flow["under_age"]) == (21061, 15093, 11784)
    assert flow["excluded_level"] == len(visits.samples)
    temperatures = [each.columns["temperature"] for each in visits.samples]
    assert 98.1 in temperatures
    assert all(t is None or 85 < float(t) < 112 for t in temperatures)
    assert all(float(each.columns["diastolic"] or 0) < 300 for each in visits.samples)
    sides = Counter((each.split, each.label) for each in visits.samples)
    assert all(abs(sides["train", level] - sides["audit", level]) <= 2 for level in "12345")


def test_nhamcs_needs_the_labels_of_its_year(visit_file: VisitFile) -> None:
    path = visit_file("nhamcs")
    samples = load_visits("nhamcs", str(path), None, 0)[0].samples
    assert samples[0].text == "Chest pain and related symptoms", "a cut label ends at a word"
    assert samples[0].columns["diastolic"] is None
    path.write_text(path.read_text().replace(",10500,", ",10501,"))
    with pytest.raises(UserError, match=r"row 1 has the reason for visit 10501.*same survey year"):
        load_visits("nhamcs", str(path), None, 0)
    path.write_text(path.read_text().replace("2015\n", "2019\n"))
    with pytest.raises(UserError, match="row 1 is of year 2019"):
        load_visits("nhamcs", str(path), None, 0)
    (path.parent / "value_labels.csv").unlink()
    with pytest.raises(UserError, match=r"value_labels\.csv is not beside"):
        load_visits("nhamcs", str(path), None, 0)


def test_mimic_links_its_modules_and_counts_what_falls_out(visit_file: VisitFile) -> None:
    folder = visit_file("mimic_iv_ed")
    stays = folder / "edstays.csv"
    stays.write_text(
        stays.read_text()
        + "9,,39,2150-01-01 10:00:00,,F,WHITE,WALK IN,HOME\n"
        + "8,,38,2150-01-01 10:00:00,,M,WHITE,WALK IN,HOME\n"
    )
    (folder / "triage.csv").write_text(
        (folder / "triage.csv").read_text() + "9,39,98.1,80,18,97,120,80,3,4.0,Cough\n"
    )
    (folder / "patients.csv").write_text(
        (folder / "patients.csv").read_text() + "9,F,50,2148,2014 - 2016,\n"
    )
    flow = _flow("mimic_iv_ed", folder)
    assert (flow["read"], flow["no_triage"], flow["no_letter"]) == (6, 5, 4)
    sample = load_visits("mimic_iv_ed", str(folder), None, 0)[0].samples[0]
    assert sample.text == "Chest pain\nChest pain since noon."
    assert sample.columns["age"] == 42.0, "40 in the anchor year 2148"
    assert sample.columns["pain_score"] is None, "uta: unable to assess"
    assert (sample.label, sample.patient) == ("2", "0")
    assert sample.attributes == {"gender": "female", "race": "Black"}
    assert "disposition" not in sample.columns


def test_mimic_says_which_file_or_column_is_missing(visit_file: VisitFile) -> None:
    folder = visit_file("mimic_iv_ed")
    patients = folder / "patients.csv"
    patients.write_text(patients.read_text().replace("anchor_age", "age"))
    with pytest.raises(UserError, match=r"patients\.csv: no column anchor_age"):
        load_visits("mimic_iv_ed", str(folder), None, 0)
    patients.unlink()
    with pytest.raises(UserError, match=r"no patients\.csv or patients\.csv\.gz"):
        load_visits("mimic_iv_ed", str(folder), None, 0)


LETTER = """Name: ___  Unit No: ___
Service: MEDICINE
Chief Complaint:
dyspnea
Major Surgical or Invasive Procedure:
none
History of Present Illness:
___ yo woman with COPD who noted more dyspnea
for two days. She took her inhaler. In the ED, initial vitals were 98.1.
She was given steroids.
Past Medical History:
COPD, hypertension
Physical Exam:
wheezes
Pertinent Results:
WBC 12
Brief Hospital Course:
She improved.
Discharge Diagnosis:
COPD exacerbation
"""


def test_a_letter_is_cut_to_what_triage_could_know() -> None:
    assert triage_part(LETTER) == (
        "___ yo woman with COPD who noted more dyspnea for two days. She took her inhaler.\n"
        "Past Medical History: COPD, hypertension"
    )
    assert triage_part("") == ""


def test_a_table_needs_its_mapping_beside_it(visit_file: VisitFile) -> None:
    path = visit_file("table")
    assert _flow("table", path)["read"] == 4
    path.with_suffix(".toml").unlink()
    with pytest.raises(UserError, match=r"visits\.toml is not beside visits\.csv"):
        load_visits("table", str(path), None, 0)


def test_questions_are_no_visits() -> None:
    with pytest.raises(UserError, match=r"'demo' holds questions.*ktas"):
        load_visits("demo", None, None, 0)
