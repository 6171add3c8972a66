"""NHAMCS 2015, emergency departments (CDC, NCHS): US survey visits, one CSV file.

The reasons for visit are codes of five digits; their words come from the file of value labels
that lies beside it (columns variable, code, label). Codes change between survey years: a file
without its labels is refused.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from evenhand.graph_store.errors import UserError
from evenhand.tools.datasets import visit_dataset
from evenhand.tools.table_files import Row, column_names, read_rows
from evenhand.tools.visit_mapping import shipped_mapping
from evenhand.tools.visit_rows import VisitSource

REASONS = ("RFV1", "RFV2", "RFV3")
LABELS = "value_labels.csv"
YEAR = "2015"


@visit_dataset(title="NHAMCS 2015: 21,061 US emergency visits with their triage level")
def nhamcs(path: Path | None) -> VisitSource:
    """Return the visits, the codes of the reasons for visit turned into words."""
    if path is None:
        raise UserError("Data set 'nhamcs' needs --path: its CSV file, value_labels.csv beside it.")
    labels = _reason_labels(path.parent / LABELS)
    mapping = shipped_mapping("nhamcs")
    table = mapping.format_of(path)
    found = column_names(path, table)
    lacking = [name for name in (*REASONS, "YEAR") if name not in found]
    if lacking:
        raise UserError(
            f"{path.name}: no column {', '.join(lacking)}; expected the NHAMCS emergency file of "
            f"{YEAR} as CSV, with the survey's names of its variables."
        )
    columns = (*found, "complaint_1", "complaint_2", "complaint_3")
    rows = _Rows(path, labels)
    return VisitSource("nhamcs", rows.with_words, columns, mapping)


class _Rows:
    def __init__(self, path: Path, labels: dict[str, str]) -> None:
        self._path = path
        self._labels = labels

    def with_words(self) -> Iterator[Row]:
        for number, row in enumerate(read_rows(self._path), start=1):
            if (row["YEAR"] or "").strip() != YEAR:
                raise UserError(
                    f"{self._path.name}: row {number} is of year {row['YEAR']}; the codes of "
                    f"{YEAR} are known here, and they change between years."
                )
            words = {
                f"complaint_{place}": self._words(number, row[name])
                for place, name in enumerate(REASONS, start=1)
            }
            yield {**row, **words}

    def _words(self, number: int, code: str | None) -> str | None:
        key = (code or "").strip()
        if not key or key.startswith("-"):
            return None
        if key not in self._labels:
            raise UserError(
                f"{self._path.name}: row {number} has the reason for visit {key}, which {LABELS} "
                "does not explain; give the labels of the same survey year."
            )
        return self._labels[key]


def _reason_labels(path: Path) -> dict[str, str]:
    """Code -> words; the survey's labels are cut at 40 characters and end there with "..."."""
    if not path.is_file():
        raise UserError(
            f"{path.name} is not beside the NHAMCS file; it explains the codes (columns variable, "
            "code, label)."
        )
    return {
        row["code"] or "": re.sub(r"[\s,(]*\w*\.\.\.$", "", row["label"] or "")
        for row in read_rows(path)
        if row["variable"] == REASONS[0]
    }
