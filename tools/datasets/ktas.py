"""KTAS: 1,267 visits to two Korean emergency departments (Moon et al. 2019, PLoS ONE 14(9)).

The nurse's level (KTAS_RN) and an expert's (KTAS_expert) on the same visits: two deciders. The
file's traps (encoding, #BOŞ!, lost Korean text, decimal commas) stand in ktas.toml.
"""

from pathlib import Path

from evenhand.graph_store.errors import UserError
from evenhand.tools.datasets import visit_dataset
from evenhand.tools.table_files import column_names, read_rows
from evenhand.tools.visit_mapping import shipped_mapping
from evenhand.tools.visit_rows import VisitSource


@visit_dataset(title="KTAS: 1,267 Korean emergency visits, nurse's and expert's levels")
def ktas(path: Path | None) -> VisitSource:
    """Return the visits of the file data.csv of the Kaggle version."""
    if path is None:
        raise UserError("Data set 'ktas' needs --path: its file data.csv.")
    mapping = shipped_mapping("ktas")
    table = mapping.format_of(path)
    columns = tuple(column_names(path, table))
    return VisitSource("ktas", lambda: read_rows(path, table), columns, mapping)
