"""Clinical vignettes written for this project; no real person's.

demo.csv: id, text (the question included), question, reference (diagnosis), reference_test,
urgency (immediate, urgent, soon, routine), speciality.
"""

import csv
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from evenhand.graph_store.records import Sample, sample_id
from evenhand.tools.datasets import dataset


@dataset(title="48 own clinical vignettes with reference diagnoses", needs_path=False)
def demo(_: Path | None) -> Iterator[Sample]:
    """Yield the vignettes that ship with the package."""
    text = (files("evenhand.tools.datasets") / "demo.csv").read_text("utf-8")
    for position, row in enumerate(csv.DictReader(text.splitlines())):
        yield Sample(
            id=sample_id("demo", position, row["text"]),
            dataset="demo",
            position=position,
            text=row["text"],
            question=row["question"],
            reference=row["reference"],
            columns={
                "case": row["id"],
                "reference_test": row["reference_test"],
                "urgency": row["urgency"],
                "speciality": row["speciality"],
            },
        )
