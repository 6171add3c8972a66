"""Your own visits: a frozen data set, or a CSV, JSON lines or Parquet file with its mapping.

The mapping lies beside the file, under the file's name with the ending .toml; `evenhand data map`
writes a draft of it, `evenhand data freeze` makes the frozen data set.
"""

from pathlib import Path

from evenhand.graph_store.errors import UserError
from evenhand.tools.datasets import visit_dataset
from evenhand.tools.frozen_visits import frozen_source
from evenhand.tools.table_files import column_names, read_rows
from evenhand.tools.visit_mapping import read_mapping
from evenhand.tools.visit_rows import VisitSource


@visit_dataset(
    title="Your own visits: a frozen folder, or a file with its mapping", takes_folder=True
)
def table(path: Path | None) -> VisitSource:
    """Return the visits of a frozen folder, or of a file whose mapping lies beside it."""
    if path is None:
        raise UserError("Data set 'table' needs --path: a frozen folder, or a file of visits.")
    if path.is_dir():
        return frozen_source(path, "table")
    mapping = path.with_suffix(".toml")
    if not mapping.is_file():
        raise UserError(
            f"{mapping.name} is not beside {path.name}; write a mapping with "
            f"`evenhand data map {path.name}` and complete it."
        )
    return table_source(path, mapping)


def table_source(path: Path, mapping_path: Path, name: str = "table") -> VisitSource:
    """Return the visits of a file, by a mapping that lies anywhere.

    Raises:
        UserError: As read_mapping and find_format.
    """
    mapping = read_mapping(mapping_path)
    how = mapping.format_of(path)
    columns = tuple(column_names(path, how))
    return VisitSource(name, lambda: read_rows(path, how), columns, mapping)
