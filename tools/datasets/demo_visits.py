"""Triage visits written for this project, English and French; no real person's.

demo_visits.en.csv, demo_visits.fr.csv (made by bench/demo_visits.py from its phrases): visit,
patient, age, sex, arrival, vital signs, pain, note, level, and what the level came from: severity
(points) and note_shows. The French file is written as a French spreadsheet would: semicolons,
decimal commas, H and F, NR for what was not recorded.

The planted rule: a note that shows a woman costs SEX_EFFECT points of severity, and so a less
urgent level; the sex column has no effect of its own. What the audit should find is therefore
known for every visit.
"""

from importlib.resources import as_file, files
from pathlib import Path
from typing import Literal

from evenhand.tools.datasets import visit_dataset
from evenhand.tools.table_files import column_names, read_rows
from evenhand.tools.visit_mapping import shipped_mapping
from evenhand.tools.visit_rows import VisitSource

Shown = Literal["female", "male", "none"]
"""What the note says or implies of the patient's sex."""

SEX_EFFECT = 2
"""Points that a note that shows a woman costs."""
LEVEL_STARTS = (10, 7, 4, 1)
"""Least points of the levels 1 to 4; fewer is level 5."""


def planted_level(severity: int, shown: Shown) -> str:
    """Return the level of the planted rule: "1" (most urgent) to "5".

    Example:
        >>> planted_level(8, "male"), planted_level(8, "none"), planted_level(8, "female")
        ('2', '2', '3')
    """
    points = severity - SEX_EFFECT * (shown == "female")
    return str(1 + sum(points < start for start in LEVEL_STARTS))


@visit_dataset(title="Own English triage visits with a planted effect of sex", needs_path=False)
def demo_visits(_: Path | None) -> VisitSource:
    """Return the English visits that ship with the package."""
    return _source("demo_visits", "en")


@visit_dataset(title="Own French triage visits with a planted effect of sex", needs_path=False)
def demo_visits_fr(_: Path | None) -> VisitSource:
    """Return the French visits that ship with the package."""
    return _source("demo_visits_fr", "fr")


def _source(name: str, language: str) -> VisitSource:
    mapping = shipped_mapping(f"demo_visits.{language}")
    with as_file(files("evenhand.tools.datasets") / f"demo_visits.{language}.csv") as path:
        table = mapping.format_of(path)
        columns = tuple(column_names(path, table))
        rows = list(read_rows(path, table))
    return VisitSource(name, lambda: rows, columns, mapping)
