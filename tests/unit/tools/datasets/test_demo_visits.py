import csv
import re
import runpy
from functools import cache
from pathlib import Path

import pytest

from evenhand.tools.datasets import load_visits
from evenhand.tools.datasets.demo_visits import SEX_EFFECT, planted_level
from evenhand.tools.notes.content import sex_content

ROOT = Path(__file__).parents[4]
NAMES = {"en": "demo_visits", "fr": "demo_visits_fr"}
Rows = list[dict[str, str]]
# Words of one sex only; what they leave out, a note may still imply by agreement.
PRONOUN = {"en": r"\b(?:he|she|his|her|him)\b", "fr": r"\b(?:il(?! y a)|elle)\b"}


@cache
def _rows(language: str) -> Rows:
    path = ROOT / "tools" / "datasets" / f"demo_visits.{language}.csv"
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter="," if language == "en" else ";"))


def test_the_generator_writes_the_shipped_bytes(tmp_path: Path) -> None:
    write = runpy.run_path(str(ROOT / "bench" / "demo_visits.py"))["write"]
    write(tmp_path)
    for language in NAMES:
        name = f"demo_visits.{language}.csv"
        assert (tmp_path / name).read_bytes() == (
            ROOT / "tools" / "datasets" / name
        ).read_bytes(), name


@pytest.mark.parametrize("language", NAMES)
def test_there_are_enough_visits_and_most_notes_show_the_sex(language: str) -> None:
    rows = _rows(language)
    shown = [row for row in rows if row["note_shows"] != "none"]
    assert len({row["note"] for row in rows}) == len(rows) >= 300
    assert len(shown) >= 0.8 * len(rows)
    sexes = {"F": "female", "M": "male", "H": "male"}
    assert all(row["note_shows"] == sexes[row["sex"]] for row in shown)
    visits, _ = load_visits(NAMES[language], None, None, 0)
    assert len(visits.samples) >= 300, "after the filters"


@pytest.mark.parametrize("language", NAMES)
def test_levels_follow_the_planted_rule(language: str) -> None:
    for row in _rows(language):
        shown = row["note_shows"]
        assert shown in ("female", "male", "none")
        assert row["level"] == planted_level(int(row["severity"]), shown)  # type: ignore[arg-type]


@pytest.mark.parametrize("language", NAMES)
def test_the_text_effect_is_there_and_all_levels_are_used(language: str) -> None:
    rows = _rows(language)
    assert {row["level"] for row in rows} == set("12345")
    moved = [
        planted_level(int(row["severity"]), "female") != planted_level(int(row["severity"]), "male")
        for row in rows
    ]
    assert 0.4 < sum(moved) / len(moved) < 0.7
    assert SEX_EFFECT > 0


@pytest.mark.parametrize("language", NAMES)
def test_notes_are_whole_and_say_the_age_and_the_sex_of_the_columns(language: str) -> None:
    ages = re.compile(r"\b(\d{2})(?= ?(?:ans|yo|y/o|yrs|[MF]\b)|-year)")
    words = {"male": r"\b(?:he|his|him|il(?! y a))\b", "female": r"\b(?:she|elle)\b"}
    for row in _rows(language):
        note = row["note"]
        assert not re.search(r"[\[\]{}|]|  | [.,]|\.\.", note), note
        assert all(age == row["age"] for age in ages.findall(note)), note
        if row["note_shows"] == "none":
            assert not re.search(PRONOUN[language], note, re.IGNORECASE), note
            continue
        other = words["female" if row["note_shows"] == "male" else "male"]
        assert not re.search(other, note, re.IGNORECASE), note


def test_french_elides_and_agrees() -> None:
    notes = [row["note"] for row in _rows("fr")]
    assert not [n for n in notes if re.search(r"\b[Dd]e (?:[aeiouéèêîœ]|hyp|HTA)", n)]
    assert not [n for n in notes if re.search(r"\b(?:la|une) patiente? \w+é par\b", n, re.I)]
    for row in _rows("fr"):
        wrong = r"\bElle (?:est|s'est) \w+é\b" if row["sex"] == "F" else r"\bIl est \w+ée\b"
        assert not re.search(wrong, row["note"]), row["note"]


@pytest.mark.parametrize("language", NAMES)
def test_the_sex_specific_filter_has_work(language: str) -> None:
    visits, _ = load_visits(NAMES[language], None, None, 0)
    flow = {step.code: step for step in visits.flow}
    assert flow["sex_specific"].left_out > 0
    assert flow["under_age"].left_out > 0
    texts = [sample.text for sample in visits.samples]
    assert any(sex_content(text, language).associated for text in texts)
    assert any(sample.columns["temperature"] is None for sample in visits.samples)
