"""A frozen data set: the visits that take part, their halves and their flow, with a hash.

A folder with data.parquet (the mapped columns as text, and the half) and manifest.json (hash of
the rows, mapping, flow table, seed). What is known only after the decision is not in it. Frozen
data read the same on every machine; a row that was changed afterwards is refused.
"""

import hashlib
import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.graph_store.errors import UserError
from evenhand.tools.table_files import Row, read_rows
from evenhand.tools.table_format import TableFormat
from evenhand.tools.visit_mapping import Filters, VisitMapping
from evenhand.tools.visit_rows import SIDE, FlowStep, VisitReader, VisitSource
from evenhand.tools.visits import check_direction, check_visits, with_sides

if TYPE_CHECKING:
    import pyarrow as pa

DATA = "data.parquet"
MANIFEST = "manifest.json"
_FORMAT = 1
_BATCH = 4096


@dataclass(frozen=True)
class Frozen:
    """What was frozen.

    Attributes:
        folder: Where it lies.
        content_sha256: Of the rows in their order, halves included.
        flow: The flow table.
        sides: Visits in each half.
    """

    folder: Path
    content_sha256: str
    flow: tuple[FlowStep, ...]
    sides: dict[str, int]


def freeze_visits(
    source: VisitSource,
    folder: Path,
    *,
    seed: int,
    attribute: str | None = None,
    published_list: bool = False,
) -> Frozen:
    """Filter and split a source of visits and write it as a frozen data set.

    The notes pass through once for choosing and once for writing; they are never all in memory.

    Raises:
        UserError: The folder exists, or the visits cannot be audited (as read_visits); nothing is
            left behind then.
    """
    if folder.exists():
        raise UserError(f"{folder} exists; give a new folder: frozen data are not changed.")
    if not folder.parent.is_dir():
        raise UserError(f"{folder.parent}: no such folder; make it, or freeze elsewhere.")
    check_direction(source)
    reader = VisitReader(source, attribute, published_list=published_list)
    # Only what the halves depend on is kept of a visit.
    kept = [sample.model_copy(update={"text": "", "columns": {}}) for sample in reader.samples()]
    check_visits(kept, reader)
    sides = {each.position: each.split or "" for each in with_sides(kept, reader.attribute, seed)}
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as work:
        new = Path(work) / folder.name
        new.mkdir()
        digest = _write_rows(new / DATA, source, sides)
        _write_manifest(new / MANIFEST, reader, digest, seed, sides, published_list)
        os.replace(new, folder)
    return Frozen(folder, digest, reader.flow(), dict(Counter(sides.values())))


def frozen_source(folder: Path, name: str) -> VisitSource:
    """Return the visits of a frozen data set, after checking that its rows are those frozen.

    Raises:
        UserError: A file is missing or damaged, or a row differs from what was frozen.
    """
    manifest = read_manifest(folder)
    data = folder / DATA
    if not data.is_file():
        raise UserError(f"{folder.name} has no {DATA}; freeze the data again.")
    digest = rows_hash(read_rows(data, TableFormat("parquet")))
    if digest != manifest["content_sha256"]:
        raise UserError(
            f"{folder.name}: the rows of {DATA} are not those that were frozen "
            f"(hash {digest[:12]}, manifest {manifest['content_sha256'][:12]}); freeze again."
        )
    mapping = VisitMapping.model_validate(manifest["mapping"])
    return VisitSource(
        name,
        lambda: read_rows(data, TableFormat("parquet")),
        mapping.columns,
        mapping,
        links=tuple(FlowStep(**step) for step in manifest["flow"]),
        sides=True,
    )


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a frozen data set.

    Raises:
        UserError: There is none, or it is not one of ours.
    """
    try:
        manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
        known = manifest["format"] == _FORMAT
    except FileNotFoundError as error:
        raise UserError(
            f"{folder.name} is no frozen data set: it has no {MANIFEST}; "
            "make one with `evenhand data freeze`."
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{folder.name}: {MANIFEST} is damaged; freeze the data again.") from error
    if not known:
        raise UserError(
            f"{folder.name}: {MANIFEST} has format {manifest['format']}, expected {_FORMAT}; "
            "freeze the data again with this version."
        )
    found: dict[str, Any] = manifest
    return found


def rows_hash(rows: Iterable[Row]) -> str:
    """Return the SHA-256 of rows in their order: the content, whatever the file's bytes."""
    digest = hashlib.sha256()
    for row in rows:
        digest.update(json.dumps(row, ensure_ascii=False, sort_keys=True).encode())
        digest.update(b"\n")
    return digest.hexdigest()


def frozen_mapping(mapping: VisitMapping) -> VisitMapping:
    """Return the mapping of the frozen rows: filters are done, later columns are gone."""
    done = Filters(min_age=None, sex_specific=False)
    return mapping.model_copy(update={"filters": done, "leaks": (), "file": type(mapping.file)()})


def _frozen_rows(source: VisitSource, sides: dict[int, str]) -> Iterator[Row]:
    for position, row in enumerate(source.rows()):
        if position in sides:
            yield {
                **{name: row[name] for name in source.mapping.columns},
                SIDE: sides[position],
            }


def _write_rows(path: Path, source: VisitSource, sides: dict[int, str]) -> str:
    import pyarrow as pa
    from pyarrow import parquet

    schema = pa.schema([(name, pa.string()) for name in (*source.mapping.columns, SIDE)])
    digest = hashlib.sha256()
    with parquet.ParquetWriter(path, schema) as writer:
        for batch in _batches(_frozen_rows(source, sides), schema):
            for row in batch.to_pylist():
                digest.update(json.dumps(row, ensure_ascii=False, sort_keys=True).encode())
                digest.update(b"\n")
            writer.write_batch(batch)
    return digest.hexdigest()


def _batches(rows: Iterator[Row], schema: "pa.Schema") -> Iterator["pa.RecordBatch"]:
    import pyarrow as pa

    held: list[Row] = []
    for row in rows:
        held.append(row)
        if len(held) == _BATCH:
            yield pa.RecordBatch.from_pylist(held, schema=schema)
            held = []
    if held:
        yield pa.RecordBatch.from_pylist(held, schema=schema)


def _write_manifest(
    path: Path,
    reader: VisitReader,
    digest: str,
    seed: int,
    sides: dict[int, str],
    published_list: bool,
) -> None:
    manifest = {
        "format": _FORMAT,
        "source": reader.source.name,
        "content_sha256": digest,
        "rows": len(sides),
        "sides": dict(Counter(sides.values())),
        "seed": seed,
        "attribute": reader.attribute,
        "published_list": published_list,
        "patients_known": reader.mapping.patient is not None,
        "evenhand": version("evenhand"),
        "flow": [asdict(step) for step in reader.flow()],
        "mapping": frozen_mapping(reader.mapping).model_dump(mode="json"),
    }
    path.write_text(json.dumps(manifest, ensure_ascii=False, indent=2) + "\n", "utf-8")
