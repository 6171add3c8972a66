"""A file of prompts or visits scored into a folder of Parquet parts; a kill costs one part.

The folder has manifest.json (what is scored, by what) and parts, each written whole and renamed
into place. What is to be done is always "rows of the file, less rows in the parts".
"""

import hashlib
import json
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.parquet_parts import read_parts, write_part
from evenhand.tools.finetune import shown_columns
from evenhand.tools.score_labels import OnProgress, progress
from evenhand.tools.scoring import UNSCORED, LabelScores, OpenScorer, Work
from evenhand.tools.table_files import column_names, read_rows
from evenhand.tools.visit_prompts import visit_renderer, visit_template
from evenhand.tools.visit_rows import VisitReader, VisitSource
from evenhand.training.mimic_rows import ARMS, ColumnKind, MimicArm, mimic_rows

if TYPE_CHECKING:
    import pyarrow as pa

MANIFEST = "manifest.json"
ROWS_A_BLOCK = 8_192
"""Rows of one prefix tree, and what is in memory at a time."""
ROWS_A_PART, SECONDS_A_PART = 4_096, 20.0
"""What a kill costs at most; each part is a file."""


@dataclass(frozen=True)
class PromptSource:
    """Rows to score, which can be read again and again in the same order.

    Attributes:
        name: Of the file, for messages.
        digest: SHA-256 of all that the prompts depend on.
        labels: Answers to choose from.
        rows: Yields (id, prompt) of each row.
        cue: What a prompt in plain form ends in, where it is rendered here.
    """

    name: str
    digest: str
    labels: tuple[str, ...]
    rows: Callable[[], Iterator[tuple[str, str]]]
    cue: str = ""


@dataclass(frozen=True)
class ScoredFolder:
    """What a folder holds when all is scored.

    Attributes:
        folder: Where.
        rows: Rows in it.
        levels: Label -> rows that got it.
        statuses: Status -> rows; "ok" among them.
        flags: Flag -> rows.
        scored_now: Rows scored by this call; the others lay there.
        work: What they took.
        seconds: Likewise.
    """

    folder: Path
    rows: int
    levels: dict[str, int]
    statuses: dict[str, int]
    flags: dict[str, int]
    scored_now: int
    work: Work
    seconds: float


def prompt_column(
    path: Path, labels: Sequence[str], *, column: str = "prompt", id_column: str | None = None
) -> PromptSource:
    """Return the rows of a table whose prompts are written out.

    Args:
        path: CSV, JSON lines or Parquet.
        labels: Answers to choose from.
        column: Of the prompts, up to where the answer begins.
        id_column: Of the rows' ids; None: their numbers, from 1.

    Raises:
        UserError: No such column.
    """
    found = column_names(path)
    for wanted in filter(None, (column, id_column)):
        if wanted not in found:
            raise UserError(
                f"{path.name} has no column {wanted!r}; found: {', '.join(found)}. Name it with "
                "--column or --id, or give a mapping with --map."
            )

    def rows() -> Iterator[tuple[str, str]]:
        for number, row in enumerate(read_rows(path), start=1):
            prompt = row[column]
            if prompt is None or not prompt.strip():
                raise UserError(f"{path.name}, row {number}: the cell of {column!r} is empty.")
            yield (str(number) if id_column is None else row[id_column] or str(number)), prompt

    return PromptSource(
        path.name, _digest(path, column, id_column, list(labels)), tuple(labels), rows
    )


def visit_prompts(
    path: Path, source: VisitSource, *, arm: MimicArm = "full", attribute: str | None = None
) -> PromptSource:
    """Return the visits of a mapped table as prompts; those that its filters leave out are not in.

    Args:
        path: The table, for the digest.
        source: Its rows and mapping.
        arm: What is shown of a visit.
        attribute: The audited attribute, last in the prompt; None for the mapping's first.

    Raises:
        UserError: An unknown arm or attribute.
    """
    if arm not in ARMS:
        raise UserError(f"Arm {arm!r} is unknown; expected one of {', '.join(ARMS)}.")
    mapping = source.mapping
    first = VisitReader(source, attribute).attribute
    renderer = visit_renderer(visit_template(mapping, (first,)))
    kinds: dict[str, ColumnKind] = {n: column.kind for n, column in mapping.tabular.items()}
    kinds.update(dict.fromkeys(mapping.attributes, "category"))

    def rows() -> Iterator[tuple[str, str]]:
        samples = VisitReader(source, attribute).samples()
        while block := list(islice(samples, ROWS_A_BLOCK)):
            shown = mimic_rows(
                [s.text for s in block], [shown_columns(s) for s in block], kinds
            ).shown_in(arm, (first,))
            yield from zip((s.id for s in block), renderer.render(shown), strict=True)

    digest = _digest(path, renderer.name, arm, mapping.model_dump(mode="json"))
    return PromptSource(path.name, digest, mapping.levels, rows, renderer.cue)


async def score_file(
    source: PromptSource,
    scorer: OpenScorer,
    folder: Path,
    *,
    on_progress: OnProgress | None = None,
    rows_a_part: int = ROWS_A_PART,
) -> ScoredFolder:
    """Score every row of a source into a folder; rows that lie there are not scored again.

    Args:
        source: The rows.
        scorer: An opened model.
        folder: New, or of an earlier call with the same source and model.
        on_progress: Called after each part of the scorer.
        rows_a_part: Rows of a file at most.

    Raises:
        UserError: The folder holds something else, a part is damaged, no memory is left, or a
            row's prompt is empty.
    """
    began = time.monotonic()
    _claim(folder, source, scorer)
    total = sum(1 for _ in source.rows())
    done = _rows_done(folder, total)
    before = int(done.sum())
    work, scored, waiting, since = Work(), 0, _Part(source.labels), time.monotonic()
    async for ids, part in _missing_scores(source, scorer, done):
        waiting.add(ids, part)
        scored, work = scored + len(part), work + part.work
        if len(waiting) >= rows_a_part or time.monotonic() - since > SECONDS_A_PART:
            waiting.write(folder)
            since = time.monotonic()
        if on_progress is not None:
            seconds = time.monotonic() - began
            on_progress(progress(before + scored, total, scored, seconds, work))
    waiting.write(folder)
    return _summary(folder, source, scored, work, time.monotonic() - began)


async def _missing_scores(
    source: PromptSource, scorer: OpenScorer, done: "np.ndarray[Any, np.dtype[np.bool_]]"
) -> AsyncIterator[tuple[list[str], LabelScores]]:
    """Yield scores of rows that are not done, with their ids; places count in the file."""
    rows, first = source.rows(), 0
    while block := list(islice(rows, ROWS_A_BLOCK)):
        open_rows = np.flatnonzero(~done[first : first + len(block)])
        if len(open_rows):
            prompts = [block[row][1] for row in open_rows]
            async for part in scorer.score(prompts, source.labels):
                places = open_rows[part.places]
                yield [block[row][0] for row in places], replace(part, places=places + first)
        first += len(block)


class _Part:
    """Scores that wait to be written."""

    def __init__(self, labels: Sequence[str]) -> None:
        self._labels = labels
        self._ids: list[str] = []
        self._scores: list[LabelScores] = []

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, ids: list[str], scores: LabelScores) -> None:
        self._ids += ids
        self._scores.append(scores)

    def write(self, folder: Path) -> None:
        """Write what waits as the next part, whole or not at all."""
        if not self._ids:
            return
        import pyarrow as pa

        write_part(folder, self._table(pa))
        self._ids, self._scores = [], []

    def _table(self, pa: Any) -> "pa.Table":
        log_probs = np.concatenate([part.log_probs for part in self._scores])
        places = np.concatenate([part.places for part in self._scores])
        whole = LabelScores(
            places, log_probs, tuple(s for part in self._scores for s in part.statuses)
        )
        names = [self._labels[level] if level != UNSCORED else None for level in whole.levels]
        columns: dict[str, Any] = {
            "row": pa.array(places, pa.int64()),
            "id": pa.array(self._ids, pa.string()),
            "label": pa.array(names, pa.string()),
            "status": pa.array(whole.statuses, pa.string()),
            "flags": pa.array([list(flags) for flags in whole.flags], pa.list_(pa.string())),
            "log_mass": pa.array(whole.log_mass, pa.float64()),
        }
        lengths = max((part.label_lengths for part in self._scores), key=len)
        for place, label in enumerate(self._labels):
            columns[f"log_prob_{label}"] = pa.array(log_probs[:, place], pa.float64())
            if max(lengths, default=1) > 1:
                means = log_probs[:, place] / lengths[place]
                columns[f"mean_log_prob_{label}"] = pa.array(means, pa.float64())
        return pa.table(columns)


def read_part_columns(folder: Path, columns: list[str] | None = None) -> Iterator["pa.Table"]:
    """Yield the parts of a folder as tables, in the order in which they were written.

    Raises:
        UserError: A part is damaged.
    """
    return read_parts(folder, columns, again="the same `evenhand score`")


def _rows_done(folder: Path, total: int) -> "np.ndarray[Any, np.dtype[np.bool_]]":
    done = np.zeros(total, dtype=np.bool_)
    for table in read_part_columns(folder, ["row"]):
        done[table["row"].to_numpy()] = True
    return done


def _claim(folder: Path, source: PromptSource, scorer: OpenScorer) -> None:
    """Write the manifest, or check that the folder's is of the same source and model."""
    wanted = {
        "source": source.name,
        "digest": source.digest,
        "labels": list(source.labels),
        "scorer": scorer.spec,
        "identity": scorer.identity,
    }
    path = folder / MANIFEST
    if not path.is_file():
        if folder.exists() and any(folder.iterdir()):
            raise UserError(f"{folder} is not empty and holds no scores; name another --out.")
        folder.mkdir(parents=True, exist_ok=True)
        new = folder / f".{MANIFEST}"
        new.write_text(json.dumps(wanted, indent=2, ensure_ascii=False), "utf-8")
        new.replace(path)
        return
    try:
        found = json.loads(path.read_text("utf-8"))
    except ValueError:
        raise UserError(f"{path} is damaged; name another --out.") from None
    differs = [name for name, value in wanted.items() if found.get(name) != value]
    if differs:
        raise UserError(
            f"{folder} holds scores of another {' and '.join(differs)}; name another --out, or "
            "delete that folder."
        )


def _digest(path: Path, *depends: Any) -> str:
    with path.open("rb") as file:
        content = hashlib.file_digest(file, "sha256").hexdigest()
    return hashlib.sha256(json.dumps([content, *depends], sort_keys=True).encode()).hexdigest()


def _summary(
    folder: Path, source: PromptSource, scored: int, work: Work, seconds: float
) -> ScoredFolder:
    levels = dict.fromkeys(source.labels, 0)
    statuses: dict[str, int] = {}
    flags: dict[str, int] = {}
    for table in read_part_columns(folder, ["label", "status", "flags"]):
        _count(levels, [label for label in table["label"].to_pylist() if label is not None])
        _count(statuses, table["status"].to_pylist())
        _count(flags, [flag for row in table["flags"].to_pylist() for flag in row])
    rows = sum(statuses.values())
    return ScoredFolder(folder, rows, levels, statuses, flags, scored, work, seconds)


def _count(counts: dict[str, int], values: Iterable[str]) -> None:
    for value in values:
        counts[value] = counts.get(value, 0) + 1
