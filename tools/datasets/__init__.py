"""What a data set is: samples in the order of the file, each with an id from its content.

One data set is one file beside this one, a function with the decorator `@dataset` that reads a
file (or its own data) and yields samples; its name is the data set's. Faults of a file are a
UserError that names the rows.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import numpy as np

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Sample
from evenhand.graph_store.registry import Registry, unknown_name
from evenhand.tools.visit_rows import VisitSource
from evenhand.tools.visits import Visits, check_direction, drawn_visits, read_visits

Read = Callable[[Path | None], Iterable[Sample]]


@dataclass(frozen=True)
class Dataset:
    """A data set and where it comes from."""

    name: str
    read: Read
    title: str
    needs_path: bool
    hub: str | None = None
    """Hugging Face id that may stand for the path."""
    hub_file: str | None = None
    """The file read of it, where the id alone names a data set of many files."""
    visits: Callable[[Path | None], VisitSource] | None = None
    """Where its items are visits with a decision: their rows and what the columns mean."""
    takes_folder: bool = False
    """Whether the path may be a folder of such files."""
    balanced_by: tuple[str, ...] = ()
    """Attributes of its samples, of whose values a draw takes equally many; each within the one
    before."""


datasets: Registry[Dataset] = Registry("data set", __name__)


def dataset(
    *,
    title: str,
    needs_path: bool,
    hub: str | None = None,
    hub_file: str | None = None,
    takes_folder: bool = False,
    balanced_by: tuple[str, ...] = (),
) -> Callable[[Read], Read]:
    """Register a function as a data set under its own name."""

    def register(read: Read) -> Read:
        name = read.__name__
        found = Dataset(
            *(name, read, title, needs_path, hub, hub_file),
            takes_folder=takes_folder,
            balanced_by=balanced_by,
        )
        datasets.add(name, found)
        return read

    return register


def visit_dataset(
    *, title: str, needs_path: bool = True, takes_folder: bool = False
) -> Callable[[Callable[[Path | None], VisitSource]], Callable[[Path | None], VisitSource]]:
    """Register a function that returns a source of visits as a data set under its own name."""

    def register(
        source: Callable[[Path | None], VisitSource],
    ) -> Callable[[Path | None], VisitSource]:
        def read(path: Path | None) -> Iterable[Sample]:
            return read_visits(source(path), seed=0).samples

        name = source.__name__
        found = Dataset(name, read, title, needs_path, visits=source, takes_folder=takes_folder)
        datasets.add(name, found)
        return source

    return register


def load_visits(
    name: str,
    path: str | None,
    n: int | None,
    seed: int,
    *,
    attribute: str | None = None,
    decider: str | None = None,
    published_list: bool = False,
) -> tuple[Visits, str]:
    """Read a data set of visits: filtered, drawn, split into halves, with the flow table.

    Args:
        name: A registered data set of visits.
        path: Its file or folder; None where it brings its own data.
        n: How many visits after the filters; None for all.
        seed: Of the draw and of the split, >= 0.
        attribute: Which attribute is compared; None for the mapping's first.
        decider: Whose decisions; None for the mapping's own label.
        published_list: Leave out by the paper's substring search, not by the own list.

    Returns:
        The visits, and the SHA-256 of all that pass the filters, whatever n and seed.

    Raises:
        UserError: Unknown name, no data set of visits, or a faulty file or mapping.
    """
    source = visit_source(name, path)
    check_direction(source)
    whole = read_visits(
        source, seed=seed, attribute=attribute, decider=decider, published_list=published_list
    )
    lines = (each.model_dump_json(exclude={"split"}) for each in whole.samples)
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    return whole if n is None else drawn_visits(whole, n, seed), digest


def visit_source(name: str, path: str | None) -> VisitSource:
    """Return where the visits of a data set come from: rows, and what the columns mean.

    Raises:
        UserError: Unknown name, no data set of visits, or a missing file.
    """
    chosen = datasets.get(name)
    if chosen.visits is None:
        known = [each for each in datasets.names() if datasets.get(each).visits]
        raise UserError(
            f"Data set {name!r} holds questions, not visits with a decision; "
            f"expected one of: {', '.join(known)}."
        )
    return chosen.visits(_find_file(chosen, path))


def load_samples(
    name: str, path: str | None, n: int | None, seed: int, categories: Sequence[str] = ()
) -> tuple[list[Sample], str]:
    """Read a data set and draw n of its samples.

    Args:
        name: A registered data set.
        path: Its file, or its Hugging Face id; None where it brings its own data.
        n: How many samples; None for all. A larger n with the same seed holds the smaller draw.
        seed: Seed of the draw, >= 0.
        categories: Draw from these alone, of a data set whose samples have a category; () for all.

    Returns:
        The samples in the order of the file, and the SHA-256 of the whole data set's content.

    Raises:
        UserError: Unknown name, missing or faulty file, or more samples asked than there are.
    """
    chosen = datasets.get(name)
    samples = list(chosen.read(_find_file(chosen, path)))
    if not samples:
        raise UserError(f"{path or name}: no rows; expected a row for each question.")
    digest = hashlib.sha256("\n".join(each.model_dump_json() for each in samples).encode())
    samples = _of_categories(samples, categories)
    if n is None:
        return samples, digest.hexdigest()
    if not 1 <= n <= len(samples):
        raise UserError(
            f"{n} samples were asked, but {name} has {len(samples)}; "
            f"give a number from 1 to {len(samples)} with --n."
        )
    order = _spread(samples, np.random.default_rng(seed).permutation(len(samples)).tolist())
    drawn = _balanced(samples, order, chosen.balanced_by)[:n]
    return [samples[index] for index in sorted(drawn)], digest.hexdigest()


def _of_categories(samples: list[Sample], categories: Sequence[str]) -> list[Sample]:
    """Return the samples of some categories.

    Raises:
        UserError: A category that no sample has.
    """
    known = dict.fromkeys(each.attributes.get("category", "") for each in samples)
    for name in categories:
        if name not in known:
            raise UserError(unknown_name("category", name, [one for one in known if one]))
    return [each for each in samples if not categories or each.attributes["category"] in categories]


def _spread(samples: Sequence[Sample], order: Sequence[int]) -> list[int]:
    """Put one sample of each patient first, then a second of each: rows of one patient are alike.

    A sample that names no patient is one of its own, so such data sets keep their order.
    """
    taken = Counter[str]()
    turns = list[tuple[int, int]]()
    for index in order:
        patient = samples[index].patient
        turns.append((taken[patient] if patient else 0, index))
        taken.update([patient] if patient else [])
    return [index for _, index in sorted(turns, key=lambda turn: turn[0])]


def _balanced(
    samples: Sequence[Sample], order: Sequence[int], names: Sequence[str]
) -> Sequence[int]:
    """Deal one sample of each value of the first attribute, then a second of each, and so on.

    Which one of a value is next is settled by the other attributes in the same way, so that any
    first n samples are balanced by the first, and by the second within it.
    """
    if not names:
        return order
    by_value: dict[str, list[int]] = {}
    for index in order:
        by_value.setdefault(samples[index].attributes.get(names[0], ""), []).append(index)
    hands = [_balanced(samples, hand, names[1:]) for hand in by_value.values()]
    rounds = zip_longest(*hands)
    return [index for dealt in rounds for index in dealt if index is not None]


def asking_part(text: str) -> str | None:
    """Return the last sentences that ask, where the text ends with one; else None.

    A quotation mark may stand behind it, and "which of the following" asks without its mark.
    """
    asking = list[str]()
    for sentence in reversed(re.split(r"(?<=[.?!])\s+|\n+", text.strip())):
        unmarked = not asking and re.search(r"\bwhich of the following\b", sentence, re.IGNORECASE)
        if not sentence.rstrip("\"'”").endswith("?") and not unmarked:
            break
        asking.insert(0, sentence)
    return " ".join(asking) or None


def _find_file(chosen: Dataset, path: str | None) -> Path | None:
    if path is None:
        if not chosen.needs_path:
            return None
        hub = f", or its Hugging Face id {chosen.hub}" if chosen.hub else ""
        raise UserError(f"Data set {chosen.name!r} needs --path: its file{hub}.")
    if not chosen.needs_path:
        raise UserError(f"Data set {chosen.name!r} brings its own data; leave --path {path} out.")
    file = Path(path).expanduser()
    if file.is_file() or (chosen.takes_folder and file.is_dir()):
        return file
    if file.is_dir():
        raise UserError(f"{path} is a folder; expected a file of data set {chosen.name!r}.")
    if chosen.hub and (path == chosen.hub or path.startswith(f"{chosen.hub}/")):
        return _download(chosen, path)
    hub = f" or the Hugging Face id {chosen.hub}" if chosen.hub else ""
    raise UserError(f"{path}: no such file; expected a file of data set {chosen.name!r}{hub}.")


def _download(chosen: Dataset, path: str) -> Path:
    """Fetch a file of the data set's Hugging Face repository, or find it in the local cache."""
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    repository = chosen.hub or ""
    file_name = path[len(repository) :].strip("/") or chosen.hub_file
    if not file_name:
        raise UserError(
            f"{path} has several files; add one to the id: {path}/equitymedqa_ehai.csv."
        )
    try:
        return Path(hf_hub_download(repository, file_name, repo_type="dataset"))
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError, ValueError) as error:
        reason = "no such file there" if "404" in str(error) else type(error).__name__
        raise UserError(
            f"{file_name} could not be fetched from Hugging Face {repository} ({reason}); "
            "check the network, or download it elsewhere and give the file with --path."
        ) from error
