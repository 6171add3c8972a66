"""BiasAsker (Wan et al. 2023, arXiv 2305.12434): groups x biased attributes with their antonyms.

The path is a file of attributes, or the folder that holds it; the groups are read from the file
beside it (groups_for_auto.csv, groups_for_manual.csv, groups.csv), and are the project's own where
there is none. Formats:

| file | negative | positive | encoding |
|---|---|---|---|
| data_sample/sample_bias_data_for_auto.csv | bias_ | bias | GB18030 |
| data_sample/sample_bias_data_for_manual.csv | bias | antonym | GB18030 |
| the same file in LLMBT | bias_ | bias, with inferred meanings | GB18030 |
| dataset/antonym_annotation.csv | Sentence | Antonym | UTF-8 |
| dataset/bias_annotation.csv | Sentence | none: the bias negated | UTF-8 |

Of the complete data set, with its 1,262 groups in 11 categories, each attribute has one pair of
groups in each category. "bias" is the positive phrase in one file and the negative one in another:
the columns beside it tell which. What is asked is worded here, by the three templates.
"""

import logging
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import combinations
from pathlib import Path

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.records import Sample, Scalar, content_hash
from evenhand.tools.bias_questions.grammar import comparison, negated
from evenhand.tools.bias_questions.groups import compared_groups
from evenhand.tools.bias_questions.parts import make_question, question_sample
from evenhand.tools.bias_questions.templates import TEMPLATES
from evenhand.tools.csv_rows import check_rows, read_rows
from evenhand.tools.datasets import dataset

log = logging.getLogger(__name__)

MOST_QUESTIONS = 50_000
"""More comparisons than that are not listed in full: each attribute then has one pair of groups in
each category, drawn from its content."""

Pairs = dict[str, list[tuple[str, str]]]
"""Category -> its pairs of groups."""


@dataclass(frozen=True)
class ImportedAttribute:
    """One row of a file of attributes, as it stands there."""

    row: int
    """From 1, without the header."""
    negative: str
    positive: str
    """"" where the file has none (one row of antonym_annotation.csv)."""
    labels: str
    """"1, 6" or "Ability, Social status": the kinds of bias."""
    inferred: dict[str, Scalar] = field(default_factory=dict)
    """LLMBT: what else follows from either phrase, and how that is compared; None for "."."""


@dataset(
    title="BiasAsker: two groups compared by its attributes, in three templates",
    needs_path=True,
    takes_folder=True,
    balanced_by=("category", "template"),
)
def biasasker(path: Path | None) -> Iterator[Sample]:
    """Yield every comparison once in the positive form; template and order from its content.

    Attributes that cannot be compared ("should be noble") and groups without a plural name
    ("engineer") are left out, and the log says how many.
    """
    if path is None:
        raise UserError("Data set 'biasasker' needs --path: its file of attributes, or the folder.")
    file = _attribute_file(path) if path.is_dir() else path
    pairs = _group_pairs(file)
    attributes = _comparable(read_attributes(file), file.name)
    position = 0
    for phrase, attribute in attributes.items():
        stated: dict[str, Scalar] = {
            "row": attribute.row,
            "negative": attribute.negative,
            "positive": attribute.positive or None,
            "labels": attribute.labels,
        }
        for category, one, other in _compared(pairs, phrase, len(attributes)):
            drawn = int(content_hash(one, other, phrase), 16)
            groups = (other, one) if drawn % 2 else (one, other)
            template = TEMPLATES[drawn // 2 % len(TEMPLATES)]
            made = question_sample(
                make_question(category, *groups, phrase, template), "biasasker", position
            )
            yield made.model_copy(update={"columns": made.columns | stated | attribute.inferred})
            position += 1


def _attribute_file(folder: Path) -> Path:
    names = ("sample_bias_data_for_auto.csv", "antonym_annotation.csv")
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise UserError(
        f"{folder}: no file of attributes of BiasAsker in it; expected {' or '.join(names)}."
    )


_TITLES: tuple[tuple[str, str, str], ...] = (
    ("bias_", "bias", "label"),
    ("bias", "antonym", "label"),
    ("sentence", "antonym", "labels"),
    ("sentence", "", "labels"),
)
"""Columns of the negative phrase, the positive one and the kinds of bias; the first set that a file
has is meant."""
_INFERRED = ("negative_inferred_meaning", "positive_inferred_meaning", "comparison")


def read_attributes(path: Path) -> list[ImportedAttribute]:
    """Read a file of attributes in any of the formats, each row as it stands.

    Returns:
        One a row, in the order of the file, the duplicates that it has included.

    Raises:
        UserError: No file of attributes of BiasAsker, or rows without a phrase.
    """
    header, *rows = read_rows(path, or_encoding="gb18030")
    titles = [title.strip().casefold() for title in header]
    columns = next(
        (names for names in _TITLES if all(name in titles for name in names if name)), None
    )
    if columns is None:
        raise UserError(
            f"{path.name}: its columns are {', '.join(header)}; expected a file of attributes of "
            "BiasAsker: bias_ and bias, bias and antonym, or Sentence, with label or Labels."
        )
    _check(path, rows, len(titles), titles.index(columns[0]))
    cells = [dict(zip(titles, (cell.strip() for cell in row), strict=True)) for row in rows]
    return [
        ImportedAttribute(
            row,
            cell[columns[0]],
            cell.get(columns[1], ""),
            cell[columns[2]].strip("[]"),
            {name: _stated(cell[name]) for name in _INFERRED if name in cell},
        )
        for row, cell in enumerate(cells, start=1)
    ]


def _check(path: Path, rows: Sequence[Sequence[str]], width: int, negative: int) -> None:
    faults = dict[int, str]()
    for number, row in enumerate(rows, start=1):
        if len(row) != width:
            faults[number] = f"has {len(row)} columns, expected {width}"
        elif not row[negative].strip():
            faults[number] = "has an empty cell where a phrase is expected"
    check_rows(path, faults)


def _stated(cell: str) -> str | None:
    return None if cell == "." else " ".join(cell.rstrip(".").split())


def _comparable(attributes: Sequence[ImportedAttribute], name: str) -> dict[str, ImportedAttribute]:
    """Return the attributes that can be compared, by the phrase to ask by, each phrase once."""
    chosen: dict[str, ImportedAttribute] = {}
    left_out = list[int]()
    for attribute in attributes:
        phrase = _favourable(attribute)
        try:
            comparison(phrase)
        except UserError:
            left_out.append(attribute.row)
        else:
            chosen.setdefault(phrase, attribute)
    if not chosen:
        raise UserError(f"{name}: none of its attributes can be compared, such as 'are honest'.")
    if left_out:
        shown = ", ".join(map(str, left_out[:10])) + (" ..." if len(left_out) > 10 else "")
        log.warning(
            "%s: %d of %d attributes cannot be compared and are left out: rows %s",
            *(name, len(left_out), len(attributes), shown),
        )
    return chosen


def _favourable(attribute: ImportedAttribute) -> str:
    """Return the positive phrase, corrected; "" where the negative one has no plain negation."""
    corrected = _corrections()
    positive = corrected["phrases"].get(attribute.positive, attribute.positive)
    if positive:
        return _spelt(positive)
    try:
        return negated(_spelt(attribute.negative))
    except UserError:
        return ""


def _spelt(text: str) -> str:
    words = _corrections()["words"]
    return re.sub(r"[\w'-]+", lambda word: words.get(word[0], word[0]), text)


def read_groups(path: Path) -> list[tuple[str, str]]:
    """Read a file of groups: (category, group) a row, as they stand there."""
    header, *rows = read_rows(path, or_encoding="gb18030")
    titles = [title.strip().casefold() for title in header]
    if not {"category", "group"} <= set(titles):
        raise UserError(f"{path.name}: expected columns category and group; found {header}.")
    category, group = titles.index("category"), titles.index("group")
    faults = {n: "has an empty cell" for n, row in enumerate(rows, start=1) if not all(row[:2])}
    check_rows(path, faults)
    return [(row[category].strip(), row[group].strip()) for row in rows]


def _group_pairs(file: Path) -> Pairs:
    """Return what is compared by the attributes of a file: the groups beside it, else our own."""
    kind = "manual" if "manual" in file.name else "auto"
    names = (f"groups_for_{kind}.csv", "groups.csv")
    beside = next((file.parent / name for name in names if (file.parent / name).is_file()), None)
    pairs: Pairs = {}
    if beside is None:
        for one, other in compared_groups():
            pairs.setdefault(one.category, []).append((one.name, other.name))
        return pairs
    listed = list(dict.fromkeys((category, _spelt(name)) for category, name in read_groups(beside)))
    groups: dict[str, list[str]] = {}
    for category, name in listed:
        if _PLURAL.fullmatch(name):
            groups.setdefault(category, []).append(name)
    if left_out := len(listed) - sum(map(len, groups.values())):
        log.warning(
            "%s: %d of %d groups are left out: no plural name, or one that quantifies",
            *(beside.name, left_out, len(listed)),
        )
    return {category: list(combinations(within, 2)) for category, within in groups.items()}


_PLURAL = re.compile(
    r"(?!(?:all|any|some) )[\w' -]*(?:\b(?:people|folks|\w*men|persons|individuals)\b[\w' -]*|s)",
    re.IGNORECASE,
)


def _compared(pairs: Pairs, phrase: str, attributes: int) -> Iterator[tuple[str, str, str]]:
    for category, within in pairs.items():
        chosen = within
        if sum(map(len, pairs.values())) * attributes > MOST_QUESTIONS and within:
            chosen = [within[int(content_hash(category, phrase), 16) % len(within)]]
        for one, other in chosen:
            yield category, one, other


@cache
def _corrections() -> dict[str, dict[str, str]]:
    text = (files("evenhand.tools.datasets") / "biasasker.toml").read_text("utf-8")
    corrections: dict[str, dict[str, str]] = tomllib.loads(text)
    return corrections
