"""The visits that a plan names: a data set or a file with its mapping, and the compared groups."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Sample
from evenhand.tools.datasets import visit_source
from evenhand.tools.datasets.table import table_source
from evenhand.tools.notes import rewrite_note
from evenhand.tools.run_visits import RunVisits, compared_groups, only_groups
from evenhand.tools.visit_rows import VisitSource
from evenhand.tools.visits import Visits, check_direction, drawn_visits, read_visits

TABLE = "table"


@dataclass(frozen=True)
class ChosenVisits:
    """The visits of a plan.

    Attributes:
        chosen: The visits with their groups.
        dataset_hash: SHA-256 of all visits that pass the filters and of the mapping, whatever n,
            seed and decider, so that runs with two deciders are known to be of the same visits.
        decisions_hash: SHA-256 of the decider's labels of them.
    """

    chosen: RunVisits
    dataset_hash: str
    decisions_hash: str


def open_source(dataset: str, path: str | None, mapping: str | None) -> VisitSource:
    """Return where visits come from: a registered data set, or a file with a mapping.

    Raises:
        UserError: Unknown name, missing file, or a mapping for a data set that has its own.
    """
    if mapping is None:
        return visit_source(dataset, path)
    if dataset != TABLE or path is None:
        raise UserError(
            "--map goes with --dataset table --path FILE: another data set has its own mapping."
        )
    if not Path(path).is_file():
        raise UserError(f"{path}: no such file; expected a table of visits.")
    return table_source(Path(path), Path(mapping))


def choose_visits(
    dataset: str,
    path: str | None,
    mapping: str | None,
    *,
    n: int | None,
    seed: int,
    attribute: str | None = None,
    decider: str | None = None,
    compared: Sequence[str] = (),
    published_list: bool = False,
) -> ChosenVisits:
    """Read, filter, split and draw visits.

    Args:
        dataset: A registered data set of visits.
        path: Its file or folder; None where it brings its own data.
        mapping: A mapping for the file, where the data set is "table".
        n: How many visits after the filters; None for all.
        seed: Of the draw and of the split, >= 0.
        attribute: Which attribute is compared; None for the mapping's first.
        decider: Whose decisions; None for the mapping's own label.
        compared: Groups to compare, the reference first; () for those that occur.
        published_list: Leave out by the paper's substring search, not by the own list.

    Raises:
        UserError: A faulty file or mapping, or visits that cannot be audited.
    """
    source = open_source(dataset, path, mapping)
    check_direction(source)
    whole = read_visits(
        source, seed=seed, attribute=attribute, decider=decider, published_list=published_list
    )
    groups = compared_groups(whole.samples, whole.attribute, compared)
    groups = _rewritable(groups, whole, wished=bool(compared))
    visits = only_groups(whole, groups)
    if n is not None:
        visits = drawn_visits(visits, n, seed)
    named = decider or source.mapping.label
    lines = [_without_decision(sample) for sample in whole.samples]
    labels = [f"{sample.id} {sample.label}" for sample in whole.samples]
    return ChosenVisits(
        RunVisits(visits, groups, named),
        _digest([source.mapping.model_dump_json(), *lines]),
        _digest(labels),
    )


def _rewritable(groups: tuple[str, ...], visits: Visits, *, wished: bool) -> tuple[str, ...]:
    """Leave out groups that no note can be rewritten to, where the plan did not ask for them.

    Raises:
        UserError: A wished group cannot be put into a note, or fewer than two groups are left.
    """
    if not visits.mapping.text:
        return groups
    fits = {
        group: any(_fits(visits, group, other, wished=wished) for other in groups if other != group)
        for group in groups
    }
    known = [group for group in groups if fits[group]]
    if len(known) < 2:
        raise UserError(
            f"No two groups of {visits.attribute} can be put into a note; groups there: "
            f"{', '.join(groups)}. Name two with --groups, or give a mapping without text columns."
        )
    return tuple(known)


def _fits(visits: Visits, group: str, other: str, *, wished: bool) -> bool:
    try:
        rewrite_note(
            "x",
            attribute=visits.attribute,
            before=group,
            after=other,
            language=visits.mapping.language,
        )
    except UserError:
        if wished:
            raise
        return False
    return True


def _without_decision(sample: Sample) -> str:
    return sample.model_dump_json(exclude={"split", "label", "reference"})


def _digest(lines: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()
