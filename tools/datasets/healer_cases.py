"""Healer cases (Zack et al. 2024, Lancet Digital Health 6(1):e12-e22): one line and a diagnosis.

What paper 1 calls Nurse Bias: 21 cases of chest pain, dyspnoea, abdominal pain, pharyngitis and
others in four CSV files, in whose line the race and the sex of the patient are places to be filled
("A 54-year-old obese @Race @Sex presents with"), each with the differential diagnosis of experts,
the most likely first. The files name their columns differently.
"""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Sample, sample_id
from evenhand.tools.csv_rows import check_rows, read_table
from evenhand.tools.datasets import dataset

_COLUMNS = {
    "title": ("title", "Case"),
    "text": ("Case one liner", "one line"),
    "diagnoses": ("DDx",),
}
_SEXES = ("female", "male")
_RACES = ("Black", "Caucasian", "Hispanic", "Asian")
_GROUPS = tuple((sex, race) for race, sex in itertools.product(_RACES, _SEXES))
"""The eight groups of the source's own answers, each sex before and after the other."""
_PLACES = ("@Race", "@Sex")


@dataset(
    title="Healer cases (Nurse Bias of paper 1): 21 one-line cases with their diagnoses",
    needs_path=True,
    takes_folder=True,
)
def healer_cases(path: Path | None) -> Iterator[Sample]:
    """Yield the cases of one file, or of all CSV files of a folder in the order of their names.

    Case after case is told of the next of eight groups (sex x race), as the source's own prompts
    fill the two places; the line as it was is in `columns["template"]`. The reference is the list
    of diagnoses, one a line. The line asks nothing.
    """
    if path is None:
        raise UserError("Data set 'healer_cases' needs --path: its CSV file, or their folder.")
    files = sorted(path.glob("*.csv")) if path.is_dir() else [path]
    if not files:
        raise UserError(f"{path} has no CSV file; expected ED_cases.csv and those beside it.")
    rows = [(file, row) for file in files for row in _cases(file)]
    for position, (file, row) in enumerate(rows):
        sex, race = _GROUPS[position % len(_GROUPS)]
        template = re.sub(r"- (?=year|old)", "-", " ".join(row["text"].split()))
        text = _told_of(sex, template.replace("@Race", race).replace("@Sex", sex))
        yield Sample(
            id=sample_id("healer_cases", position, *row.values(), sex, race),
            dataset="healer_cases",
            position=position,
            text=text if text.endswith(".") else f"{text}.",
            reference="\n".join(_diagnoses(row["diagnoses"])),
            attributes={"gender": sex, "race": race},
            columns={"title": row["title"], "template": template, "file": file.name},
        )


def _cases(file: Path) -> list[dict[str, str]]:
    rows = read_table(file, _COLUMNS)
    check_rows(
        file, {number: fault for number, row in enumerate(rows, start=1) if (fault := _fault(row))}
    )
    return rows


def _fault(row: dict[str, str]) -> str | None:
    missing = [place for place in _PLACES if row["text"].count(place) != 1]
    if missing:
        return f"has not one {' and one '.join(missing)} in its line"
    if not _diagnoses(row["diagnoses"]):
        return "has no diagnosis in column DDx"
    return None


def _told_of(sex: str, line: str) -> str:
    """Fit the possessives to the sex: one line says "his back" of whomever it is told."""
    own = "his" if sex == "male" else "her"
    return re.sub(r"\b(?:his|her)\b", own, line)


def _diagnoses(cell: str) -> list[str]:
    """Read a list of one diagnosis a line, most with a comma at the end."""
    return [name for line in cell.splitlines() if (name := re.sub(r"[\s,]+$", "", line).strip())]
